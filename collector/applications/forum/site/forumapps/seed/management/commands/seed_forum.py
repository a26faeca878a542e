"""Fill the empty board with invented, deterministic data."""

import random

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from machina.core.db.models import get_model

Forum = get_model("forum", "Forum")
Topic = get_model("forum_conversation", "Topic")
Post = get_model("forum_conversation", "Post")
TopicPoll = get_model("forum_polls", "TopicPoll")
TopicPollOption = get_model("forum_polls", "TopicPollOption")
User = get_user_model()
BOARDS = {
    "Quayside": {"Rigging talk": "Ropes, knots and blocks", "Lantern bench": "Wicks, glass and burners"},
    "Swap shed": {"For hand-over": "Things that want a new owner", "Wanted": "Things somebody needs"},
    "Harbour office": {"Notices from the office": "Only the office pins here"},
}
CARDS = {
    "Rigging talk": [
        "(ask) Which cord for a cart cover",
        "(show) My four-strand splice",
        "(warn) Gant rope fraying at 40 m",
        "(ask) Bowline or double sheet bend",
        "(show) Block made from ash offcuts",
        "(ask) Cutting static rope cleanly",
        "(warn) Shock cord snapped in frost",
        "(show) Mooring whip after two years",
    ],
    "Lantern bench": [
        "(ask) Wick sizes for the Ostara",
        "(show) Brannock with amber glass",
        "(warn) Heddle cap gets very hot",
        "(ask) Soot on new burners",
        "(show) Bench lamp from scrap tin",
        "(ask) Where to buy flat wick 18 mm",
        "(show) Signal lamp with red slide",
    ],
    "For hand-over": [
        "(sell) 25 EUR pull saw hardly used",
        "(sell) 12 EUR map pouch",
        "(sell) 40 EUR ridge tarp patched",
        "(sell) 8 EUR box of rivets",
        "(sell) 60 EUR bench vice",
    ],
    "Wanted": [
        "(ask) Looking for a drum bag lid",
        "(ask) Need a plumb bob for Saturday",
        "(ask) Any spare gas valve B",
        "(ask) Left rigger glove size 9",
    ],
    "Notices from the office": [
        "(warn) Slip closed on 9 December",
        "(show) New crane timetable",
        "(warn) Gate code changes on Monday",
    ],
}
ANSWERS = [
    "I used the 6 mm braided one and it held a whole winter.",
    "Ask at the shed on Thursday, they keep offcuts.",
    "Mine did the same; a drop of oil on the collar helped.",
    "Careful with that near the fuel store.",
    "Can bring one down at high water tomorrow.",
    "Price seems fair to me.",
    "Try 18 mm, trimmed square, never rounded.",
]


class Command(BaseCommand):
    def handle(self, **options):
        rng = random.Random(901)
        names = ["mira", "harl", "pennywhistle", "okke", "tansy", "brill", "dunstan_q", "selkie"]
        users = [User.objects.create_user(n, f"{n}@slipway.example", "larkspur") for n in names]
        k = 0
        for category, boards in BOARDS.items():
            parent = Forum.objects.create(name=category, type=Forum.FORUM_CAT)
            for board, text in boards.items():
                forum = Forum.objects.create(
                    name=board, description=text, type=Forum.FORUM_POST, parent=parent
                )
                for title in CARDS[board]:
                    k += 1
                    poster = users[1 + k % 7]
                    topic = Topic(
                        forum=forum,
                        subject=title,
                        poster=poster,
                        type=Topic.TOPIC_POST,
                        status=Topic.TOPIC_LOCKED if board.startswith("Notices") else Topic.TOPIC_UNLOCKED,
                        approved=True,
                    )
                    topic.save()
                    Post.objects.create(
                        topic=topic,
                        poster=poster,
                        subject=title,
                        content=f"{title[title.index(')') + 2 :]}. Long story short, this came up at the slip last week and I want to hear what others do.",
                        approved=True,
                    )
                    for j in range(rng.randint(0, 6)):
                        Post.objects.create(
                            topic=topic,
                            poster=users[(k + j * 3) % 8],
                            subject=f"Reply to {title}",
                            content=ANSWERS[(k + j) % 7],
                            approved=True,
                        )
                    if title in ("(ask) Bowline or double sheet bend", "(ask) Wick sizes for the Ostara"):
                        poll = TopicPoll.objects.create(
                            topic=topic,
                            question="Which one do you reach for?",
                            max_options=1,
                            user_changes=False,
                        )
                        for option in (
                            ["Bowline", "Double sheet bend", "Whatever holds"]
                            if "Bowline" in title
                            else ["14 mm", "18 mm", "22 mm"]
                        ):
                            TopicPollOption.objects.create(poll=poll, text=option)
        self.stdout.write(f"topics={Topic.objects.count()} posts={Post.objects.count()}")
