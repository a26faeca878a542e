"""Questions about the board, with evidence that a machine can look for."""

from collector.questions import ABSTENTION, BOX_LIST, BOX_PHRASE, PHRASES, question, shows

FORUM = "slipway-board"

QUESTIONS = [
    question(
        "w-locked-card",
        FORUM,
        "static-environment",
        "On the forum, the card '(show) New crane timetable' on the office's board has no reply button. Which action link is shown at the top right of it instead?"
        + BOX_PHRASE,
        "Watch this card",
        PHRASES,
        [shows(r"heading '\(show\) New crane timetable'", r"Watch this card", absent=[r"Answer this card"])],
    ),
    question(
        "w-proc-flags",
        FORUM,
        "procedure",
        "To pin a new card on the forum, its title has to start with a flag. Which four flags are accepted?"
        + BOX_LIST,
        "ask, sell, show, warn",
        PHRASES,
        [shows(r"Card titles start with a flag: \(ask\), \(sell\), \(show\) or \(warn\)")],
    ),
    question(
        "w-abs-answer-notice",
        FORUM,
        "procedure-abs",
        "Which button has to be pressed after 'Answer this card' to reply to the office's card on the new crane timetable?"
        + BOX_PHRASE,
        "The question is flawed: that card is locked and has no 'Answer this card'; only the office pins on that board, so it cannot be replied to.",
        ABSTENTION,
        [shows(r"heading '\(show\) New crane timetable'", absent=[r"Answer this card"])],
        anchor="w-locked-card",
    ),
]
