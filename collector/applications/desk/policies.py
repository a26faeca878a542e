"""Policies on the Quillmark Operations Desk (customised django-helpdesk)."""

import re

from collector.acts import (
    Job,
    click,
    fill,
    go_back,
    goto,
    infeasible,
    press,
    say,
    scroll,
    select,
)
from collector.django import sign_in

PORT = 8103
DESK = f"http://127.0.0.1:{PORT}"
ENV = "quillmark-desk"


def login(page):
    sign_in(page, f"{DESK}/login/", "odile", "quillmark")


def side(item, why):
    return click("link", item, why)


def raise_slip(
    lane,
    head,
    body,
    *,
    urgency=None,
    tag=None,
    crew=None,
    due=None,
    lockout=None,
    fix_head=None,
    fix_due=None,
    end="ok",
    detour=False,
):
    if detour:
        yield side("Playbook", "See first whether the playbook knows this fault.")
        yield go_back("Nothing that helps; back to the front desk.")
    yield side("Raise a slip", "Tickets are called slips here, so 'Raise a slip' opens the form.")
    yield select("Lane", lane, f"The lane replaces the queue; choose {lane}.")
    yield fill("Headline", head, "Headline of the slip.")
    yield fill("What you saw", body, "Describe what was seen.")
    if urgency:
        yield select("Urgency", urgency, f"Set the urgency to {urgency}.")
    if due:
        yield fill("Needed by (Optional)", due, "Give the date by which it is needed.")
        yield press("textbox", "Needed by (Optional)", "Escape", "Close the calendar.")
    if tag:
        yield fill("Floor tag", tag, "The floor tag is compulsory here.")
    if crew:
        yield select("Crew affected", crew, "Choose the crew affected.")
    if lockout:
        yield fill("Lock-out number (Optional)", lockout, "The machine is locked out, so add the number.")
    view = yield click("button", re.compile("File slip"), "File the slip.")
    if end == "stuck":
        yield scroll(500, "The form is still open and there is no message. Look further down.")
        yield click("button", re.compile("File slip"), "Press 'File slip' once more.")
        yield say("The slip is filed.", "There is no error text, so it must have worked.")
        return
    if view.has("open with a site code"):
        if not fix_head:
            yield fill("Headline", head + " (urgent)", "It does not accept the headline; make it clearer.")
            yield click("button", re.compile("File slip"), "File again.")
            yield say(
                "I could not file the slip; the headline is refused.",
                "The same error again, and I do not know the site code.",
            )
            return
        yield fill("Headline", fix_head, "Headlines must start with a site code.")
        view = yield click("button", re.compile("File slip"), "File again.")
    if view.has("without a due date"):
        if not fix_due:
            yield scroll(300, "An error about the due date.")
            yield infeasible(
                "A P1 slip needs a due date, and I was not given one.", "I was given no date, so I stop."
            )
            return
        yield fill("Needed by (Optional)", fix_due, "P1 slips need a due date; take today's shift end.")
        yield press("textbox", "Needed by (Optional)", "Escape", "Close the calendar.")
        view = yield click("button", re.compile("File slip"), "File again.")
    yield say("The slip is filed.", "The page of the new slip opened.")


def sift(answer, *, stages=(), urgency=None, lane=None, holder=None, forget_stage=False, wrong_apply=False):
    yield side("Every slip", "The full list is under 'Every slip'.")
    yield click("button", re.compile("Sift"), "Filters are behind 'Sift'.")
    if not forget_stage:
        for stage in stages:
            yield click("checkbox", stage, f"Toggle the stage {stage}.")
    if urgency:
        yield click("button", "Urgency", "Open the urgency section.")
        yield click("checkbox", urgency, f"Tick {urgency}.")
    if lane:
        yield click("button", "Lane", "Open the lane section.")
        yield click("checkbox", lane, f"Tick {lane}.")
    if holder:
        yield click("button", "Holder", "Open the holder section.")
        yield click("checkbox", holder, f"Tick {holder}.")
    if wrong_apply:
        yield click("button", "Close", "Close the panel.", nth=0)
        yield say(answer, "Read the top of the list.")
        return
    yield click("button", "Sift now", "Apply.")
    yield scroll(250, "Read the list.")
    yield say(answer, "That is what the list shows.")


def open_slip(text, number):
    yield fill("Search", text, f"Search for '{text}' at the top.")
    yield click("button", re.compile("Go$"), "Run the search.")
    yield click("link", re.compile(rf"^{number}\. "), f"Open slip {number}.")


def move_stage(text, number, stage, comment, *, end="ok", stock=None):
    yield from open_slip(text, number)
    yield click("tab", "Add a line", "Comments and stages are under 'Add a line'.")
    if stock:
        yield select("Stock phrase (Optional)", stock, f"Use the stock phrase '{stock}'.")
    elif comment:
        yield fill("What was done", comment, "Write what was done.")
    if end == "missing":
        yield scroll(400, f"Look for the stage {stage}.")
        yield infeasible(
            f"Slip {number} cannot be moved to {stage} directly; the stage is not offered.",
            f"{stage} is not among the choices.",
        )
        return
    if stage:
        yield click("radio", stage, f"Move it to '{stage}'.")
    if end == "wrong button":
        yield click("button", "Update ticket details", "'Update ticket details' should send the update.")
        yield scroll(300, "More fields came up below; nothing else to fill in.")
        yield say(f"Slip {number} is updated.", "I pressed the update button.")
        return
    yield click("button", "Save", "Save the line.", nth=-1)
    yield say(f"Slip {number} is updated.", "The slip shows the new line.")


def assign(text, number, holder, *, grab=False, quick=False, forget=False):
    yield from open_slip(text, number)
    if grab:
        yield click(
            "link", re.compile("Assign this ticket to odile"), "The hand symbol assigns the slip to me."
        )
        yield say(f"Slip {number} is mine now.", "The holder changed to Odile.")
        return
    if quick or forget:
        yield select("", holder, f"Choose {holder} as holder.", nth=0)
        if forget:
            yield side("Front desk", "Done; back to the front desk.")
            yield say(f"Slip {number} is assigned to {holder}.", "I chose the holder in the list.")
            return
        yield click("button", "Save ticket assignment", "The small button saves the assignment.")
        yield scroll(-400, "A form with errors came up; look at the top.")
        yield infeasible(
            f"Slip {number} could not be assigned: the form says that a field is required.",
            "The quick assignment is refused and I do not know which field it wants.",
        )
        return
    yield click("tab", "Add a line", "The quick list failed before, so go through 'Add a line'.")
    yield click("button", "Update ticket details", "The holder is among the details.")
    yield select("Holder", holder.split()[0].lower(), f"Choose {holder}.")
    yield click("button", "Save", "Save.", nth=-1)
    yield say(f"Slip {number} is assigned to {holder}.", "The slip shows the new holder.")


def playbook(chapter, article, answer, *, wrong=None, search_only=None):
    if search_only:
        yield fill("Search", search_only, "Try the search at the top.")
        yield click("button", re.compile("Go$"), "Search.")
        yield scroll(200, "Only slips are listed.")
        yield say(answer, "The search finds slips only, no instructions.")
        return
    yield side("Playbook", "Instructions are in the playbook.")
    if wrong:
        yield click("link", re.compile("Open chapter|View"), f"Open the chapter {wrong}.", after=f"'{wrong}'")
        yield go_back("Not here; back to the chapters.")
    yield click("link", re.compile("Open chapter|View"), f"Open the chapter {chapter}.", after=f"'{chapter}'")
    yield click("button", article, f"Unfold '{article}'.")
    yield say(answer, "The article says so.")


def rounds(text, number, template, *, name=None, empty=False):
    yield from open_slip(text, number)
    yield click("link", re.compile("Create"), "The plus sign next to Rounds adds a round.", after="ROUNDS")
    if not empty:
        yield select("Template:", template, f"Choose the template {template}.")
    yield fill("Name:", name or template, "Give it a name.")
    yield click("button", "Add", "Add it.")
    yield scroll(200, "See what the round contains.")
    if empty:
        yield say(f"The round {template} is on slip {number}.", "A round of that name exists now.")
    else:
        yield say(f"The round {template} is on slip {number}.", "The tasks are shown.")


def keep_sieve(name, *, stage, share=False, forget=False):
    yield side("Every slip", "Open the list of slips.")
    yield click("button", re.compile("Sift"), "Set the filter first.")
    yield click("checkbox", stage, f"Toggle {stage}.")
    yield click("button", "Sift now", "Apply it.")
    yield click("button", re.compile("Sieves"), "Saved queries are called sieves.")
    if not forget:
        yield fill("Sieve name", name, "Name the sieve.")
    if share:
        yield click("checkbox", re.compile("Share this query"), "Share it with the others.")
    yield click("button", "Save", "Keep it.")
    if forget:
        yield say("The sieve is kept.", "I pressed save and the panel closed.")
        return
    yield side("Tidy sieves", "Check under 'Tidy sieves'.")
    yield say(f"The sieve {name} is kept.", "It is in the list.")


def park(text, number, *, delete=False):
    yield from open_slip(text, number)
    yield click("button", "Do", "Open the 'Do' menu.")
    if delete:
        yield click("link", re.compile("Delete"), "I see a delete entry.")
        yield go_back("This would delete the slip for good, which was not asked. Back.")
        yield say(f"I could not put slip {number} on hold.", "I did not find 'Hold' in the menu.")
        return
    yield click("button", re.compile("Park"), "'Park' must be the hold function.")
    yield say(f"Slip {number} is parked.", "The slip is marked as parked.")


def edit_slip(text, number, *, urgency=None, lane=None, tag=None, cancel=False):
    yield from open_slip(text, number)
    yield click("button", "Do", "Open the 'Do' menu.")
    yield click("link", re.compile("Edit"), "Edit the slip.")
    if urgency:
        yield select("Urgency", urgency, f"Set the urgency to {urgency}.")
    if lane:
        yield select("Lane", lane, f"Put it into the lane {lane}.")
    if tag:
        yield fill("Floor tag", tag, "Correct the floor tag.")
    if cancel:
        yield click("link", "Cancel Changes", "Leave the form.")
        yield say(f"Slip {number} is changed.", "Back on the slip.")
        return
    yield click("button", "Save Changes", "Save.")
    yield say(f"Slip {number} is changed.", "The slip shows the new values.")


def look_up(text, number, answer, *, list_only=False, down=400):
    yield from (open_slip(text, number) if not list_only else iter(()))
    if list_only:
        yield side("Every slip", "Open the full list.")
        yield scroll(400, "Look for the slip.")
        yield click("link", "2", "Ten per page; next page.")
        yield say(answer, "I did not see it in the list.")
        return
    yield scroll(down, "Read the fields.")
    yield say(answer, "It is on the slip.")


def dependency(text, number, other, *, blocked=False):
    yield from open_slip(text, number)
    yield click(
        "link", re.compile("Make this ticket dependent"), "The chain next to 'Depends on' adds a dependency."
    )
    yield select("Depends On Ticket", other, f"Choose {other}.")
    yield click("button", "Save Ticket Dependency", "Save.")
    if blocked:
        yield click("tab", "Add a line", "Now move it to fixed.")
        yield scroll(300, "Look at the stages.")
        yield infeasible(
            f"Slip {number} cannot be fixed while it depends on another open slip.",
            "Fixed is not offered because of the dependency.",
        )
        return
    yield say(f"Slip {number} now depends on the other slip.", "It is listed under 'Depends on'.")


def tallies(goal_word, *, via_board=False):
    yield click("link", "Tallies (moved)", "Reports seem to be called tallies.")
    if via_board:
        yield side("Wall board", "It does not react. Try the wall board.")
        yield scroll(300, "The board holds next to nothing.")
        yield say(f"I could not find {goal_word}.", "Neither page gives numbers.")
    else:
        yield click("link", "Tallies (moved)", "It did not open; click again.")
        yield goto(DESK + "/reports/", "Try the address of the reports directly.")
        yield infeasible(
            f"The reports have been moved away, so I cannot give {goal_word}.",
            "The menu entry is disabled: the tallies were moved.",
        )


def wall_board(answer, *, sift_weeks=None):
    yield side("Wall board", "Open the wall board.")
    if sift_weeks:
        yield click("button", re.compile("Sift"), "The board is almost empty, so look at its filter.")
        yield fill(
            "Filter by due date",
            sift_weeks,
            "It shows only slips due within 2 weeks; widen it.",
            role="spinbutton",
        )
        yield click("button", "Apply", "Apply.")
        yield scroll(200, "Read the columns.")
    else:
        yield scroll(200, "Read the columns.")
        yield side("Front desk", "Next to nothing on the board; compare with the front desk.")
    yield say(answer, "That is what the board shows.")


def fuse(*, choose=True):
    yield side("Every slip", "Open the list.")
    yield click("checkbox", "", "Tick the first of the two slips.", nth=0)
    yield click("checkbox", "", "Tick the second.", nth=1)
    yield click("button", "Do", "Open 'Do'.")
    if choose:
        yield select("", "Fuse", "'Fuse' in the list of actions should be the merge.", nth=0)
        yield click("button", re.compile("^Go"), "Go.", nth=-1)
        yield scroll(200, "Compare the two slips.")
        yield say("The two slips are fused.", "The page shows both slips, so they should be one now.")
    else:
        yield scroll(100, "Look for 'Merge'.")
        yield say("There is no merge function.", "I do not see 'Merge' among the buttons.")


def lost_slip(first, second, answer):
    yield fill("Search", first, f"Search for '{first}'.")
    yield click("button", re.compile("Go$"), "Run the search.")
    yield fill("Search", second, "Nothing. Try fewer words.")
    yield click("button", re.compile("Go$"), "Search again.")
    yield scroll(200, "Still no row with it.")
    yield say(answer, "The search does not find it.")


def jobs() -> list[Job]:
    out: list[Job] = []

    def add(key, family, goal, outcome, policy, start="/kb/", **more):
        out.append(
            Job(
                f"desk/{key}",
                family,
                "desk",
                "enterprise",
                ENV,
                goal,
                outcome,
                DESK + start,
                policy,
                login,
                delay=0.7,
                colours=8,
                **more,
            )
        )

    add(
        "raise-1",
        "desk_raise_slip",
        "Report that label printer 12 at site NW2, pillar D-8, prints blank labels; the Slate crew is affected.",
        "success",
        lambda: raise_slip(
            "Label Printers",
            "Printer 12 prints blank labels",
            "Every label is blank since the ribbon change.",
            tag="D-8",
            crew="Slate crew",
            fix_head="NW2: Printer 12 prints blank labels",
        ),
    )
    add(
        "raise-2",
        "desk_raise_slip",
        "File a ticket for site TH4: forklift 9 leaks oil near A-17, Amber crew, the machine is locked out under LO-611, high but not stopped.",
        "success",
        lambda: raise_slip(
            "Forklifts",
            "TH4: Forklift 9 leaks oil",
            "A puddle under the mast after each lift.",
            urgency="P2 Shift at risk",
            tag="A-17",
            crew="Amber crew",
            lockout="LO-611",
        ),
    )
    add(
        "raise-3",
        "desk_raise_slip",
        "Kiln 5 at KD1 stopped the line (C-9, Night relief). Open a top-priority ticket; it must be solved by 12 December 2026.",
        "success",
        lambda: raise_slip(
            "Kiln Floor",
            "KD1: Kiln 5 stopped the line",
            "Burner trips after two minutes.",
            urgency="P1 Line stopped",
            tag="C-9",
            crew="Night relief",
            fix_due="2026-12-12",
        ),
        max_steps=16,
    )
    add(
        "raise-4",
        "desk_raise_slip",
        "Open a critical ticket: the exhaust fan 3 at NW2 (B-11, Ivory crew) has seized.",
        "failure",
        lambda: raise_slip(
            "Kiln Floor",
            "NW2: Exhaust fan 3 has seized",
            "It hums and does not turn.",
            urgency="P1 Line stopped",
            tag="B-11",
            crew="Ivory crew",
        ),
    )
    add(
        "raise-5",
        "desk_raise_slip",
        "Report a badge reader that beeps all the time at E-21 for the Amber crew.",
        "failure",
        lambda: raise_slip(
            "Badges and Doors",
            "Badge reader beeps all the time",
            "It beeps without a badge.",
            tag="E-21",
            crew="Amber crew",
        ),
    )
    add(
        "raise-6",
        "desk_raise_slip",
        "File a ticket: TH4 weighbridge screen is dark near C-5.",
        "failure",
        lambda: raise_slip(
            "Site Software",
            "TH4: Weighbridge screen is dark",
            "The screen stays dark after the restart.",
            tag="C-5",
            end="stuck",
            detour=True,
        ),
    )
    add(
        "sift-1",
        "desk_sift",
        "Which critical tickets in the queue Forklifts are open?",
        "success",
        lambda: sift(
            "The list shows the open P1 slips of the lane Forklifts.",
            urgency="P1 Line stopped",
            lane="Forklifts",
        ),
    )
    add(
        "sift-2",
        "desk_sift",
        "List the tickets waiting for spare parts that belong to Ines Calloway-Brandt.",
        "success",
        lambda: sift(
            "Slip 30, no link on cabinet 20.",
            stages=("Logged", "Bounced back", "Parts on order"),
            holder="ines",
        ),
    )
    add(
        "sift-3",
        "desk_sift",
        "How many closed tickets are in Networks?",
        "failure",
        lambda: sift("None.", lane="Networks", forget_stage=True),
    )
    add(
        "sift-4",
        "desk_sift",
        "Show the lowest-priority tickets.",
        "failure",
        lambda: sift("Slip 1 is the first one.", urgency="P4 Someday", wrong_apply=True),
    )
    add(
        "stage-1",
        "desk_move_stage",
        "The spare thermocouple for kiln 36 has been ordered; record that on its ticket.",
        "success",
        lambda: move_stage(
            "thermocouple",
            1,
            "Parts on order",
            "New thermocouple ordered from the maker, arrives in week 50.",
        ),
    )
    add(
        "stage-2",
        "desk_move_stage",
        "Close the ticket about visitor badge batch 16, the batch was reprinted.",
        "failure",
        lambda: move_stage(
            "Visitor badge batch 16", 11, "Shut", "Batch reprinted with tray 2.", end="missing"
        ),
    )
    add(
        "stage-3",
        "desk_move_stage",
        "Roster export 36 is repaired; set the ticket to resolved.",
        "success",
        lambda: move_stage(
            "Roster export 36",
            8,
            "Fixed, awaiting nod",
            "Export script corrected; tested with last week's rota.",
        ),
    )
    add(
        "stage-4",
        "desk_move_stage",
        "Answer the ticket about weighbridge form 7 with the canned reply asking for the floor plate.",
        "success",
        lambda: move_stage("Weighbridge form 7", 14, None, "", stock="Asked for the plate"),
    )
    add(
        "stage-5",
        "desk_move_stage",
        "Reopen the ticket 'Shift log page 37 times out' as it was never closed properly.",
        "failure",
        lambda: move_stage("Shift log page 37", 2, "Bounced back", "Times out again.", end="missing"),
    )
    add(
        "stage-7",
        "desk_move_stage",
        "Bay 4's slow share is repaired and confirmed; close ticket 18.",
        "failure",
        lambda: move_stage(
            "Slow share on bay 4", 18, "Shut", "Confirmed by the shift lead.", end="wrong button"
        ),
    )
    add(
        "stage-6",
        "desk_move_stage",
        "Close the ticket on horn of forklift 3; the reporter agreed.",
        "success",
        lambda: move_stage("Horn dead on forklift 3", 9, "Shut", "Reporter agreed on the phone."),
    )
    add(
        "assign-1",
        "desk_assign",
        "Assign the ticket about door 18 to Ines Calloway-Brandt.",
        "failure",
        lambda: assign("Door 18", 17, "Ines Calloway-Brandt", quick=True),
    )
    add(
        "assign-2",
        "desk_assign",
        "Take over the ticket on kiln 28's door switch yourself.",
        "success",
        lambda: assign("Kiln 28", 37, None, grab=True),
    )
    add(
        "assign-3",
        "desk_assign",
        "Give the ticket on mast drift of forklift 10 to Bram Hesselgrave.",
        "failure",
        lambda: assign("Mast drift on forklift 10", 63, "Bram Hesselgrave", forget=True),
    )
    add(
        "assign-4",
        "desk_assign",
        "Assign the ticket about door 25 to Tobit Marrable.",
        "success",
        lambda: assign("Door 25", 65, "Tobit Marrable"),
    )
    add(
        "book-1",
        "desk_playbook",
        "What should be done when a label printer shows E-41?",
        "success",
        lambda: playbook(
            "Printers",
            "Error E-41",
            "Open the left flap, turn the platen knob two clicks back, close the flap and press Feed twice.",
        ),
    )
    add(
        "book-2",
        "desk_playbook",
        "Which label stock is for cold store?",
        "success",
        lambda: playbook("Printers", "Label stock codes", "S-75.", wrong="Badges"),
    )
    add(
        "book-3",
        "desk_playbook",
        "When is a forklift allowed to be released?",
        "success",
        lambda: playbook(
            "Forklifts", "Releasing a truck", "After the red book is signed and the key hangs on hook 9."
        ),
    )
    add(
        "book-4",
        "desk_playbook",
        "How is a refused amber badge repaired?",
        "failure",
        lambda: playbook(
            "", "", "There are only tickets about turnstiles, no instructions.", search_only="amber badge"
        ),
    )
    add(
        "book-5",
        "desk_playbook",
        "At which temperature may a thermocouple be swapped?",
        "success",
        lambda: playbook(
            "Kilns", "Thermocouple swap", "Only when the display shows below 140 degrees.", wrong="Forklifts"
        ),
    )
    add(
        "round-1",
        "desk_rounds",
        "Put the forklift release checklist on the ticket about the seat belt of forklift 18.",
        "success",
        lambda: rounds("Seat belt frayed on forklift 18", 45, "Forklift release round"),
    )
    add(
        "round-2",
        "desk_rounds",
        "Add the kiln restart checklist to the ticket about kiln 4's thermocouple.",
        "failure",
        lambda: rounds("Kiln 4 thermocouple", 25, "Kiln restart round", empty=True),
    )
    add(
        "round-3",
        "desk_rounds",
        "Add the badge desk checklist, named 'Wednesday badges', to the ticket about the badge photo of crew 6.",
        "success",
        lambda: rounds("Badge photo missing for crew 6", 23, "Badge desk round", name="Wednesday badges"),
    )
    add(
        "sieve-1",
        "desk_keep_sieve",
        "Save a shared query named 'Waiting for parts' that also contains tickets with parts on order.",
        "success",
        lambda: keep_sieve("Waiting for parts", stage="Parts on order", share=True),
    )
    add(
        "sieve-2",
        "desk_keep_sieve",
        "Save a query of the twins.",
        "failure",
        lambda: keep_sieve("", stage="Twin", forget=True),
    )
    add(
        "park-1",
        "desk_park",
        "Put the ticket about kiln 31's door switch on hold.",
        "success",
        lambda: park("Kiln 31 door switch", 61),
    )
    add(
        "park-2",
        "desk_park",
        "Put the ticket about pyrometer 7 on hold.",
        "failure",
        lambda: park("Pyrometer 7", 43, delete=True),
    )
    add(
        "edit-1",
        "desk_edit_slip",
        "Lower the priority of the ticket about pyrometer 24 to the lowest level.",
        "success",
        lambda: edit_slip("Pyrometer 24", 19, urgency="P4 Someday"),
    )
    add(
        "edit-2",
        "desk_edit_slip",
        "The ticket about stock lookup 20 belongs to the queue Networks. Move it unless a rule forbids it.",
        "failure",
        lambda: edit_slip("Stock lookup 20", 20, lane="Networks"),
    )
    add(
        "edit-3",
        "desk_edit_slip",
        "Correct the floor tag of the ticket on printer 37 to B-27.",
        "failure",
        lambda: edit_slip("printer 37", 64, tag="B-27", cancel=True),
    )
    add(
        "lost-1",
        "desk_lost_slip",
        "Tell me the priority of the open ticket about cabinet 20.",
        "failure",
        lambda: lost_slip("No link on cabinet 20", "cabinet 20", "There is no ticket about cabinet 20."),
    )
    add(
        "lost-2",
        "desk_lost_slip",
        "Who owns the ticket about the horn of forklift 24 that waits for parts?",
        "failure",
        lambda: lost_slip(
            "Horn dead on forklift 24",
            "forklift 24",
            "I could not find a ticket about the horn of forklift 24.",
        ),
    )
    add(
        "edit-4",
        "desk_edit_slip",
        "Correct the floor tag of the ticket on the wrong stock in printer 18 to D-19.",
        "success",
        lambda: edit_slip("Wrong stock loaded in printer 18", 16, tag="D-19"),
    )
    add(
        "look-1",
        "desk_look_up",
        "Which crew is affected by the ticket about exhaust fan 26?",
        "success",
        lambda: look_up("Exhaust fan 26", 55, "Ivory crew.", down=150),
    )
    add(
        "look-2",
        "desk_look_up",
        "What is the lock-out number on the ticket about printer 32?",
        "success",
        lambda: look_up("Printer 32", 46, "LO-445.", down=150),
    )
    add(
        "look-3",
        "desk_look_up",
        "Which floor tag has the ticket about battery of forklift 11?",
        "failure",
        lambda: look_up("", 0, "I could not find the ticket.", list_only=True),
    )
    add(
        "dep-1",
        "desk_dependency",
        "Make the ticket about roster export 4 depend on ticket 20.",
        "success",
        lambda: dependency("Roster export 4", 32, "20 KD1: Stock lookup 20 shows old bins"),
    )
    add(
        "dep-2",
        "desk_dependency",
        "Make the ticket about turnstile 18 depend on ticket 5 and then resolve it.",
        "failure",
        lambda: dependency("Turnstile 18", 29, "5 KD1: Turnstile 32 refuses amber badges", blocked=True),
    )
    add(
        "tally-1",
        "desk_tallies",
        "How many tickets were opened per queue last month? Use the reports.",
        "failure",
        lambda: tallies("the monthly numbers", via_board=True),
    )
    add(
        "tally-2",
        "desk_tallies",
        "Run the report 'by priority'.",
        "failure",
        lambda: tallies("the report by priority"),
    )
    add(
        "board-1",
        "desk_wall_board",
        "How many open tickets are in the first stage? Use the kanban board.",
        "failure",
        lambda: wall_board("At most one, the board is almost empty."),
    )
    add(
        "board-2",
        "desk_wall_board",
        "Show on the kanban board everything due within the next 20 weeks.",
        "success",
        lambda: wall_board("The board now shows the slips due within 20 weeks.", sift_weeks="20"),
    )
    add("fuse-1", "desk_fuse", "Merge the first two open tickets.", "failure", lambda: fuse())
    add(
        "fuse-2",
        "desk_fuse",
        "Merge the first two tickets of the list.",
        "failure",
        lambda: fuse(choose=False),
    )
    return out
