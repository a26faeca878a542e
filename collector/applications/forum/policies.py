"""Policies on The Slipway (customised django-machina board)."""

import re

from collector.acts import Job, click, fill, infeasible, say, scroll
from collector.django import sign_in

PORT = 8102
FORUM = f"http://127.0.0.1:{PORT}"
ENV = "slipway-board"


def login(page):
    sign_in(page, f"{FORUM}/login/", "mira", "larkspur")


def pin_card(board, title, story, *, fix=None, longer=None):
    yield click("link", board, f"Open the board {board}.")
    yield click("link", re.compile("Pin a card"), "New topics are pinned as cards here.")
    yield fill("Title of the card", title, "Title of the card.")
    yield fill("Story", story, "The text goes into the story.")
    view = yield click("button", "Pin it", "Pin it.")
    if view.has("start with a flag"):
        if not fix:
            yield fill("Title of the card", title.upper(), "The title is refused; write it in capitals.")
            yield click("button", "Pin it", "Pin it again.")
            yield say("The board does not accept my card.", "It is refused again.")
            return
        yield fill("Title of the card", fix, "Titles need a flag such as (ask) in front.")
        view = yield click("button", "Pin it", "Pin it again.")
    if view.has("not pinned"):
        if not longer:
            yield scroll(200, "The card is back in the form.")
            yield say("The card is pinned.", "I pressed 'Pin it'.")
            return
        yield fill("Story", longer, "The story is too short; tell more.")
        yield click("button", "Pin it", "Pin it again.")
    yield say("The card is pinned.", "The card is on the board now.")


def answer_card(board, title, text, *, locked=False):
    yield click("link", board, f"Open the board {board}.")
    yield click("link", title, "Open the card.")
    if locked:
        yield scroll(500, "Look for a way to reply at the end.")
        yield click("link", "2", "Maybe it is on the last page.", nth=0)
        yield infeasible(
            "The card is locked; there is no 'Answer this card' on it.",
            "No reply button on either page: only the office pins here.",
        )
        return
    yield click("link", re.compile("Answer this card"), "Replying is called 'Answer this card'.", nth=0)
    yield fill(re.compile("Message|Story"), text, "Write the answer.")
    yield click("button", "Pin it", "Send it.")
    yield say("The answer is on the card.", "It is shown below the card.")


def dig(word, answer, *, naive=None, open_title=None):
    if naive:
        yield click("link", naive, f"Look on the board {naive}.")
        yield scroll(300, "Read the titles on this page.")
        yield scroll(400, "And the end of the page.")
        yield say(answer, "It is not on this page, so it does not exist.")
        return
    yield fill("Search", word, f"Search for {word}.", role="searchbox")
    yield click("button", "Search", "Run the search.", nth=0)
    if open_title:
        yield click("link", open_title, "Open the card found.", nth=0)
        yield scroll(200, "Read it.")
    yield say(answer, "That is what the card says.")


def hands(board, title, option, *, again=False):
    view = yield click("link", board, f"Open the board {board}.")
    if not view.has(title):
        yield click("link", "2", "Six cards per page; the older ones are on page 2.", nth=0)
    yield click("link", title, "Open the card with the poll.")
    if again:
        yield scroll(150, "Look at the show of hands.")
        yield scroll(-150, "No radio buttons any more, only the counts.")
        yield say("My vote is changed.", "I could not pick another option, but it should be fine.")
        return
    yield click("radio", option, f"Choose {option}.")
    yield click("button", "Pin it", "The button under the poll says 'Pin it'; press it.")
    yield say(f"I voted for {option}.", "The counts are shown.")


def jobs() -> list[Job]:
    out: list[Job] = []

    def add(key, family, goal, outcome, policy, start="/", **more):
        out.append(
            Job(
                f"forum/{key}",
                family,
                "forum",
                "web",
                ENV,
                goal,
                outcome,
                FORUM + start,
                policy,
                login,
                **more,
            )
        )

    add(
        "pin-1",
        "forum_pin_card",
        "Post a question in Rigging talk: how to stop a deck bag strap from slipping when wet.",
        "success",
        lambda: pin_card(
            "Rigging talk",
            "Strap slips when wet",
            "How do you stop it?",
            fix="(ask) Strap slips when wet",
            longer="The strap of my deck bag slips as soon as it is wet. How do you stop yours?",
        ),
    )
    add(
        "pin-2",
        "forum_pin_card",
        "Offer a canvas tarp for 30 EUR in 'For hand-over'.",
        "failure",
        lambda: pin_card(
            "For hand-over",
            "30 EUR canvas tarp",
            "30 EUR, canvas tarp, two patches, pick up at the slip after low water.",
        ),
    )
    add(
        "pin-3",
        "forum_pin_card",
        "Warn people in Lantern bench that the Ostara cap cracks.",
        "failure",
        lambda: pin_card("Lantern bench", "(warn) Ostara cap cracks", "Mine cracked yesterday."),
    )
    add(
        "answer-1",
        "forum_answer",
        "Reply to 'Need a plumb bob for Saturday' that you can lend one.",
        "success",
        lambda: answer_card(
            "Wanted",
            "(ask) Need a plumb bob for Saturday",
            "I can lend you mine, come to the shed on Friday before five.",
        ),
    )
    add(
        "answer-2",
        "forum_answer",
        "Reply to the office's notice on the new crane timetable and ask about Sundays.",
        "failure",
        lambda: answer_card("Notices from the office", "(show) New crane timetable", "", locked=True),
    )
    add(
        "dig-1",
        "forum_search",
        "Find the thread on where to buy flat wick and tell which width it is about.",
        "success",
        lambda: dig(
            "wick", "It is about flat wick of 18 mm.", open_title="(ask) Where to buy flat wick 18 mm"
        ),
    )
    add(
        "dig-2",
        "forum_search",
        "Is there a thread about cutting cord for a cart cover?",
        "failure",
        lambda: dig("", "There is no such thread.", naive="Rigging talk"),
    )
    add(
        "hands-1",
        "forum_poll",
        "Vote for 'Double sheet bend' in the poll on bowline or double sheet bend.",
        "success",
        lambda: hands("Rigging talk", "(ask) Bowline or double sheet bend", "Double sheet bend"),
    )
    add(
        "hands-2",
        "forum_poll",
        "Change your vote in the bowline poll to 'Bowline'.",
        "failure",
        lambda: hands("Rigging talk", "(ask) Bowline or double sheet bend", "Bowline", again=True),
    )
    return out
