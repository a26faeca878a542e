"""Fill the empty desk with invented, deterministic data."""

import random
from datetime import UTC, datetime, timedelta

from django.contrib.auth import get_user_model
from django.contrib.sites.models import Site
from django.core.management import call_command
from django.core.management.base import BaseCommand
from helpdesk.models import (
    ChecklistTemplate,
    CustomField,
    FollowUp,
    KBCategory,
    KBItem,
    PreSetReply,
    Queue,
    SavedSearch,
    Ticket,
    TicketCustomFieldValue,
    UserSettings,
)
from helpdesk.query import query_to_base64

User = get_user_model()
STAFF = [
    ("odile", "Odile", "Vantongeren"),
    ("bram", "Bram", "Hesselgrave"),
    ("sunniva", "Sunniva", "Okonedo-Lisle"),
    ("tobit", "Tobit", "Marrable"),
    ("ines", "Ines", "Calloway-Brandt"),
]
LANES = ["Kiln Floor", "Networks", "Badges and Doors", "Label Printers", "Forklifts", "Site Software"]
HEADLINES = {
    "Kiln Floor": [
        "Kiln {n} thermocouple reads high",
        "Exhaust fan {n} rattles at start",
        "Kiln {n} door switch sticks",
        "Pyrometer {n} needs a new battery",
    ],
    "Networks": [
        "No link on cabinet {n}",
        "Scanner bridge {n} drops at shift change",
        "Slow share on bay {n}",
        "Access point {n} offline",
    ],
    "Badges and Doors": [
        "Turnstile {n} refuses amber badges",
        "Visitor badge batch {n} misprinted",
        "Door {n} held-open alarm",
        "Badge photo missing for crew {n}",
    ],
    "Label Printers": [
        "Printer {n} skips every third label",
        "Ribbon low on printer {n}",
        "Wrong stock loaded in printer {n}",
        "Printer {n} shows E-41",
    ],
    "Forklifts": [
        "Forklift {n} battery will not seat",
        "Horn dead on forklift {n}",
        "Mast drift on forklift {n}",
        "Seat belt frayed on forklift {n}",
    ],
    "Site Software": [
        "Shift log page {n} times out",
        "Roster export {n} has blank rows",
        "Weighbridge form {n} rejects decimals",
        "Stock lookup {n} shows old bins",
    ],
}
REPORTERS = [
    "h.ravensdale",
    "k.oduya-lund",
    "p.thistlewood",
    "m.saltonstall",
    "g.ferrant",
    "l.quennell",
    "a.brockhurst",
    "d.winterbourne",
]


class Command(BaseCommand):
    def handle(self, **options):
        rng = random.Random(7718)
        Site.objects.update_or_create(
            pk=1, defaults={"domain": "127.0.0.1:8103", "name": "Quillmark Operations Desk"}
        )
        call_command("loaddata", "emailtemplate.json", verbosity=0)
        users = []
        for name, first, last in STAFF:
            users.append(
                User.objects.create_user(
                    name,
                    f"{name}@quillmark.example",
                    "quillmark",
                    first_name=first,
                    last_name=last,
                    is_staff=True,
                    is_superuser=(name == "odile"),
                )
            )
        for user in users:
            settings, _ = UserSettings.objects.get_or_create(user=user)
            settings.tickets_per_page = 10
            settings.save()
        lanes = {
            title: Queue.objects.create(
                title=title, slug=title.lower().replace(" ", "-"), allow_public_submission=True
            )
            for title in LANES
        }
        fields = [
            CustomField.objects.create(
                name="floor_tag",
                label="Floor tag",
                data_type="varchar",
                max_length=12,
                required=True,
                ordering=1,
                help_text="Yellow plate on the nearest pillar, such as C-14.",
                staff_only=False,
            ),
            CustomField.objects.create(
                name="crew",
                label="Crew affected",
                data_type="list",
                required=True,
                ordering=2,
                empty_selection_list=True,
                staff_only=False,
                help_text="Amber crew, Slate crew, Ivory crew or Night relief.",
                list_values="Amber crew\nSlate crew\nIvory crew\nNight relief",
            ),
            CustomField.objects.create(
                name="tagout",
                label="Lock-out number",
                data_type="varchar",
                max_length=10,
                required=False,
                ordering=3,
                staff_only=False,
                help_text="Only if the machine is locked out.",
            ),
        ]
        for title, body in [
            (
                "Asked for the plate",
                "Please send the floor tag from the yellow plate so that we can find the spot.",
            ),
            ("Spare drawn", "A spare was drawn from cage 5 and fitted."),
            ("Second visit", "We will return on the next Slate crew shift."),
        ]:
            PreSetReply.objects.create(name=title, body=body)
        for title, tasks in [
            ("Kiln restart round", ["Check gas valve B", "Log idle temperature", "Call the shift lead"]),
            ("Badge desk round", ["Count amber stock", "Empty the misprint tray"]),
            (
                "Forklift release round",
                ["Brake test", "Horn test", "Sign the red book", "Return key to hook 9"],
            ),
        ]:
            ChecklistTemplate.objects.create(name=title, task_list=tasks)
        base = datetime(2026, 9, 7, 6, 0, tzinfo=UTC)
        tickets = []
        for i in range(66):
            lane = LANES[(i * 5) % 6]
            head = HEADLINES[lane][(i // 6) % 4].format(n=rng.randint(2, 38))
            site = ["NW2", "KD1", "TH4"][i % 3]
            status = [1, 1, 6, 3, 1, 4, 2, 1, 3][i % 9]
            due = (base + timedelta(days=110 + i)) if i % 4 == 0 else None
            ticket = Ticket.objects.create(
                title=f"{site}: {head}",
                queue=lanes[lane],
                priority=[3, 2, 4, 3, 1, 3, 2][i % 7],
                status=status,
                assigned_to=users[i % 5] if i % 4 else None,
                submitter_email=f"{REPORTERS[i % 8]}@quillmark.example",
                description=f"{head}. Seen on the {['early', 'late', 'night'][i % 3]} shift; crew carried on with the spare.",
                due_date=due,
                resolution="Part changed and tested." if status in (3, 4) else None,
            )
            TicketCustomFieldValue.objects.create(
                ticket=ticket, field=fields[0], value=f"{'ABCDE'[i % 5]}-{rng.randint(3, 29)}"
            )
            TicketCustomFieldValue.objects.create(
                ticket=ticket,
                field=fields[1],
                value=["Amber crew", "Slate crew", "Ivory crew", "Night relief"][i % 4],
            )
            if i % 5 == 0:
                TicketCustomFieldValue.objects.create(
                    ticket=ticket, field=fields[2], value=f"LO-{rng.randint(200, 899)}"
                )
            for k in range(i % 3):
                line = FollowUp.objects.create(
                    ticket=ticket,
                    title="Comment",
                    user=users[(i + k) % 5],
                    public=False,
                    date=base + timedelta(hours=19 * i + 2 + k),
                    comment=[
                        "Looked at it with the shift lead; waiting for the part from cage 5.",
                        "Same fault as last month, see the red book.",
                    ][k],
                )
                FollowUp.objects.filter(pk=line.pk).update(date=base + timedelta(hours=19 * i + 2 + k))
            Ticket.objects.filter(pk=ticket.pk).update(
                created=base + timedelta(hours=19 * i), modified=base + timedelta(hours=19 * i + 3)
            )
            tickets.append(ticket)
        for name, slug, items in [
            (
                "Kilns",
                "kilns",
                [
                    (
                        "Kiln will not relight",
                        "Close gas valve B for 90 seconds, then hold the green button until lamp 3 blinks.",
                    ),
                    (
                        "Door switch sticks",
                        "Brush the switch plate and spray with compound 11; never use oil.",
                    ),
                    (
                        "Thermocouple swap",
                        "Swap only when the display shows below 140 degrees and note the old serial in the red book.",
                    ),
                ],
            ),
            (
                "Badges",
                "badges",
                [
                    (
                        "Amber badge refused",
                        "Re-code the badge at door 6; the turnstiles only learn new badges from there.",
                    ),
                    (
                        "Reprint a visitor badge",
                        "Use tray 2 and the blue ribbon; the black ribbon smears on visitor stock.",
                    ),
                ],
            ),
            (
                "Printers",
                "printers",
                [
                    (
                        "Error E-41",
                        "Open the left flap, turn the platen knob two clicks back, close the flap and press Feed twice.",
                    ),
                    (
                        "Label stock codes",
                        "Stock S-70 is for cartons, S-72 for pallets, and S-75 for cold store.",
                    ),
                ],
            ),
            (
                "Forklifts",
                "forklifts",
                [
                    ("Battery will not seat", "Check the grey spacer under the tray; it must face the mast."),
                    (
                        "Releasing a truck",
                        "A truck is released only after the red book is signed and the key hangs on hook 9.",
                    ),
                ],
            ),
        ]:
            category = KBCategory.objects.create(
                name=name,
                title=name,
                slug=slug,
                description=f"Notes on {name.lower()} kept by the desk.",
                public=True,
            )
            for order, (title, text) in enumerate(items):
                KBItem.objects.create(
                    category=category,
                    title=title,
                    question=title + "?",
                    answer=text,
                    order=order,
                    enabled=True,
                )
        SavedSearch.objects.create(
            user=users[0],
            title="Line stops this week",
            shared=True,
            query=query_to_base64(
                {
                    "filtering": {"priority__in": [1]},
                    "filtering_null": {},
                    "sorting": "created",
                    "sortreverse": False,
                    "search_string": "",
                }
            ),
        )
        self.stdout.write(f"tickets={Ticket.objects.count()} kb={KBItem.objects.count()}")
