"""Questions about the operations desk, with evidence that a machine can look for."""

from collector.questions import (
    ABSTENTION,
    BOX_LETTER,
    BOX_LETTERS,
    BOX_LIST,
    BOX_ORDER,
    BOX_PHRASE,
    BOX_TEXT,
    CHOICE,
    CHOICES,
    GOTCHAS,
    PHRASES,
    PHRASES_IN_ORDER,
    goes_through,
    question,
    shows,
)

DESK = "quillmark-desk"

QUESTIONS = [
    question(
        "e-urgency",
        DESK,
        "static-environment",
        "List the urgency levels of the operations desk from the most to the least urgent, with their full names."
        + BOX_ORDER,
        "P1 Line stopped, P2 Shift at risk, P3 Nuisance, P4 Someday",
        PHRASES_IN_ORDER,
        [
            shows(
                r"option 'P1 Line stopped'",
                r"option 'P2 Shift at risk'",
                r"option 'P3 Nuisance'",
                r"option 'P4 Someday'",
            )
        ],
    ),
    question(
        "e-required",
        DESK,
        "static-environment",
        "Which of these fields in the form 'Raise a slip' are NOT marked as optional?\nA. Floor tag\nB. Lock-out number\nC. Crew affected\nD. Needed by\nE. Case owner"
        + BOX_LETTERS,
        "A, C",
        CHOICES,
        [
            shows(
                r"textbox 'Floor tag'",
                r"combobox 'Crew affected'",
                r"Lock-out number \(Optional\)",
                r"Needed by \(Optional\)",
                r"Case owner \(Optional\)",
            )
        ],
    ),
    question(
        "e-crews",
        DESK,
        "static-environment",
        "Which four choices does the field 'Crew affected' of a slip offer?" + BOX_LIST,
        "Amber crew, Slate crew, Ivory crew, Night relief",
        PHRASES,
        [
            shows(
                r"option 'Amber crew'",
                r"option 'Slate crew'",
                r"option 'Ivory crew'",
                r"option 'Night relief'",
            )
        ],
    ),
    question(
        "e-sieve-tabs",
        DESK,
        "static-environment",
        "The button 'Sieves' above the list of slips opens a panel with two tabs. What are the two tabs called?"
        + BOX_LIST,
        "Keep sieve, Recall sieve",
        PHRASES,
        [shows(r"tab '[^']*Keep sieve'", r"tab '[^']*Recall sieve'")],
    ),
    question(
        "e-release-round",
        DESK,
        "static-environment",
        "Which tasks does the 'Forklift release round' put on a slip? List them in their order." + BOX_ORDER,
        "Brake test, Horn test, Sign the red book, Return key to hook 9",
        PHRASES_IN_ORDER,
        [shows(r"Brake test", r"Horn test", r"Sign the red book", r"Return key to hook 9")],
    ),
    question(
        "e-two-slips",
        DESK,
        "static-environment",
        "Give the crew affected on the slip about exhaust fan 26 and the lock-out number on the slip about printer 32."
        + BOX_LIST,
        "Ivory crew, LO-445",
        PHRASES,
        [
            shows(r"heading 'NW2: Exhaust fan 26 rattles at start", r"Ivory crew"),
            shows(r"heading 'NW2: Printer 32 shows E-41", r"LO-445"),
        ],
        phrase_hops=[["Ivory crew"], ["LO-445"]],
    ),
    question(
        "e-e41-button",
        DESK,
        "static-environment",
        "Slip 46 is about a label printer. Look up the fault named in its headline in the playbook: which button has to be pressed twice at the end?"
        + BOX_PHRASE,
        "Feed",
        PHRASES,
        [
            shows(r"46\. NW2: Printer 32 shows E-41|heading 'NW2: Printer 32 shows E-41"),
            shows(r"press Feed twice"),
        ],
        phrase_hops=[[], ["Feed"]],
    ),
    question(
        "e-abs-attach",
        DESK,
        "static-environment-abs",
        "In the form 'Raise a slip', which file types does the hint below 'Attach File' allow?" + BOX_PHRASE,
        "The question is flawed: the form 'Raise a slip' of this desk has no 'Attach File' field; attachments are switched off here.",
        ABSTENTION,
        [
            shows(
                r"textbox 'Floor tag'",
                r"Lock-out number \(Optional\)",
                r"button 'File slip'",
                absent=[r"Attach File"],
            )
        ],
        anchor="e-required",
    ),
    question(
        "e-abs-p5",
        DESK,
        "static-environment-abs",
        "What is the full name of the urgency level P5 at the operations desk?" + BOX_PHRASE,
        "The question is flawed: there is no level P5; the desk has only P1 Line stopped, P2 Shift at risk, P3 Nuisance and P4 Someday.",
        ABSTENTION,
        [shows(r"option 'P1 Line stopped'", r"option 'P4 Someday'", absent=[r"option 'P5"])],
        anchor="e-urgency",
    ),
    question(
        "e-abs-day-crew",
        DESK,
        "static-environment-abs",
        "In the field 'Crew affected' of a slip, is 'Weekend crew' listed before or after 'Night relief'?"
        + BOX_PHRASE,
        "The question is flawed: 'Weekend crew' is not a choice; the field offers only Amber crew, Slate crew, Ivory crew and Night relief.",
        ABSTENTION,
        [shows(r"option 'Amber crew'", r"option 'Night relief'", absent=[r"Weekend crew"])],
        anchor="e-crews",
    ),
    question(
        "e-p1-due",
        DESK,
        "dynamic-environment",
        "A slip with the urgency 'P1 Line stopped' is sent with all compulsory fields filled in but comes back with an error. What does the desk say is missing?"
        + BOX_PHRASE,
        "due date",
        PHRASES,
        [shows(r"A P1 slip cannot be filed without a due date")],
    ),
    question(
        "e-logged-stages",
        DESK,
        "dynamic-environment",
        "Slip 11 is in the stage 'Logged'. Which stages are offered under 'Move to' when a line is added to it?\nA. Logged, Parts on order, Fixed awaiting nod, Twin\nB. Logged, Fixed awaiting nod, Shut\n"
        "C. Logged, Bounced back, Shut\nD. All six stages\nE. Parts on order, Shut, Twin" + BOX_LETTER,
        "A",
        CHOICE,
        [
            shows(
                r"heading 'KD1: Visitor badge batch 16 misprinted",
                r"radio 'Logged'",
                r"radio 'Parts on order'",
                r"radio 'Twin'",
                absent=[r"radio 'Shut'"],
            )
        ],
        see=["Parts on order", "Twin"],
    ),
    question(
        "e-dependency",
        DESK,
        "dynamic-environment",
        "Slip 29 was in the stage 'Logged' when it was made dependent on the open slip 5. Which two words does its page then add to the stage?"
        + BOX_PHRASE,
        "Open dependencies",
        PHRASES,
        [shows(r"heading 'KD1: Turnstile 18", r"Open dependencies")],
    ),
    question(
        "e-quick-assign",
        DESK,
        "dynamic-environment",
        "On a slip, another holder is chosen in the small list under 'Assigned to' and the button beside it is pressed. What happens at this desk?\nA. The holder changes at once\n"
        "B. A mail form opens\nC. A form with errors appears, saying that a field is required\nD. The slip moves to another lane\nE. Nothing is shown at all"
        + BOX_LETTER,
        "C",
        CHOICE,
        [shows(r"There are errors in the form", r"This field is required", url=r"/update/")],
    ),
    question(
        "e-top-search",
        DESK,
        "dynamic-environment",
        "True or false: the search field at the very top of the operations desk also finds slips that are in the stage 'Parts on order', such as slip 30 about cabinet 20. Mark your final answer as True or "
        "False in \\boxed{}.",
        "False",
        PHRASES,
        [
            shows(
                r"searchbox 'Search:'", url=r"q=(No\+link\+on\+cabinet\+20|cabinet\+20)", absent=[r"30\. TH4"]
            ),
            shows(r"30\. TH4: No link on cabinet 20", r"cell 'Parts on order'"),
        ],
        phrase_hops=[[], []],
        see=["No link on cabinet 20"],
    ),
    question(
        "e-abs-shut",
        DESK,
        "dynamic-environment-abs",
        "After slip 11 was moved from 'Logged' directly to 'Shut', which outcome text was shown below its headline?"
        + BOX_PHRASE,
        "The question is flawed: a slip in the stage Logged cannot be moved to Shut; Shut is not offered (only Logged, Parts on order, Fixed awaiting nod and Twin are).",
        ABSTENTION,
        [
            shows(
                r"heading 'KD1: Visitor badge batch 16 misprinted",
                r"radio 'Parts on order'",
                absent=[r"radio 'Shut'"],
            )
        ],
        anchor="e-logged-stages",
    ),
    question(
        "e-abs-tallies",
        DESK,
        "dynamic-environment-abs",
        "After clicking 'Tallies (moved)' in the side menu, which table is shown first?" + BOX_PHRASE,
        "The question is flawed: the entry 'Tallies (moved)' is disabled; clicking it opens no page, so no table is shown.",
        ABSTENTION,
        [
            shows(
                r"link 'Tallies \(moved\)'.*disabled=True",
                action=r"click",
                only=["desk/tally-1", "desk/tally-2"],
            )
        ],
        anchor="e-got-board",
    ),
    question(
        "e-site-codes",
        DESK,
        "procedure",
        "With which site codes may the headline of a new slip open so that the desk accepts it?" + BOX_LIST,
        "NW2, KD1, TH4",
        PHRASES,
        [shows(r"Headlines open with a site code: NW2:, KD1: or TH4:")],
    ),
    question(
        "e-proc-assign",
        DESK,
        "procedure",
        "A slip shall be given to another colleague. List the controls used, in order, on the slip's page: the tab, the part to unfold, the list in which the colleague is chosen, and the final button."
        + BOX_ORDER,
        "Add a line, Update ticket details, Holder, Save",
        PHRASES_IN_ORDER,
        [
            goes_through(
                r"BID tab 'Add a line'",
                r"BID button 'Update ticket details'",
                r"BID combobox 'Holder'",
                r"BID button 'Save'",
            )
        ],
    ),
    question(
        "e-proc-close",
        DESK,
        "procedure",
        "A slip is in the stage 'Logged' and shall end up in the stage 'Shut'. Through which stage does it have to go first?\nA. Twin\nB. Fixed, awaiting nod\nC. Bounced back\nD. Parts on order only\nE. None, it can be shut at once"
        + BOX_LETTER,
        "B",
        CHOICE,
        [
            shows(r"radio 'Logged'", r"radio 'Fixed, awaiting nod'", absent=[r"radio 'Shut'"]),
            shows(r"radio 'Fixed, awaiting nod'.*", r"radio 'Shut'", absent=[r"radio 'Logged'"]),
        ],
    ),
    question(
        "e-proc-sieve",
        DESK,
        "procedure",
        "How is a filter on stages kept as a shared sieve? Order the buttons that are pressed: Save, Sift now, Sieves, Sift."
        + BOX_ORDER,
        "Sift, Sift now, Sieves, Save",
        PHRASES_IN_ORDER,
        [
            goes_through(
                r"BID button '[^']*Sift'",
                r"BID button 'Sift now'",
                r"BID button '[^']*Sieves'",
                r"BID checkbox 'Share this query[^']*'",
                r"BID button 'Save'",
            )
        ],
    ),
    question(
        "e-abs-p4-date",
        DESK,
        "procedure-abs",
        "When filing a P4 slip, in which field does the due date have to be entered before the desk accepts the slip?"
        + BOX_TEXT,
        "The question is flawed: a due date ('Needed by') is optional; only P1 slips need one, a P4 slip is accepted without it.",
        ABSTENTION,
        [
            shows(
                r"A P1 slip cannot be filed without a due date|P1 slips need a due date",
                r"Needed by \(Optional\)",
            )
        ],
        anchor="e-p1-due",
    ),
    question(
        "e-abs-delete-line",
        DESK,
        "procedure-abs",
        "A slip shall be put on hold with the entry 'Hold' of its menu 'Do'. Which reason has to be chosen in the list that opens?"
        + BOX_TEXT,
        "The question is flawed: the menu 'Do' of a slip has no entry 'Hold'; it is called 'Park' here and it works at once, without a list of reasons.",
        ABSTENTION,
        [shows(r"button 'Do'.*expanded=True", r"Park'", absent=[r" Hold'"])],
        anchor="e-park-menu",
    ),
    question(
        "e-park-menu",
        DESK,
        "static-environment",
        "Which three entries does the menu 'Do' on the page of a slip show?" + BOX_LIST,
        "Edit, Park, Delete",
        PHRASES,
        [shows(r"button 'Do'.*expanded=True", r"Edit'", r"Park'", r"Delete'", url=r"/tickets/\d+/")],
    ),
    question(
        "e-got-update",
        DESK,
        "errors-gotchas",
        "A co-worker writes: 'I wrote my line, chose the stage and pressed Update ticket details. More fields came up, but the slip still shows the old stage the next day. See my screen.' What went wrong?"
        + BOX_TEXT,
        "'Update ticket details' only unfolds more fields (headline, holder, urgency, lane and so on); it does not save anything. The line and the stage are stored only when 'Save' at the very bottom is pressed.",
        GOTCHAS,
        [
            shows(
                r"button 'Update ticket details'.*expanded=True",
                action=r"click|scroll",
                only=["desk/stage-7"],
            ),
            shows(r"Changed Stage from", action=r"^click"),
        ],
        image=("desk/stage-7", 7),
    ),
    question(
        "e-got-board",
        DESK,
        "errors-gotchas",
        "A co-worker writes: 'The wall board shows next to nothing although dozens of slips are open. Has somebody deleted everything?' The screenshot shows their board. What is going on?"
        + BOX_TEXT,
        "Nothing is deleted: the wall board filters by due date and by default shows only slips that are due within 2 weeks. Widen the number of weeks under 'Sift' on the board and apply it to see more.",
        GOTCHAS,
        [
            shows(r"heading 'Parts on order'", r"Drag cards between columns"),
            shows(r"spinbutton 'Filter by due date'"),
        ],
        image=("desk/board-1", 2),
    ),
]
