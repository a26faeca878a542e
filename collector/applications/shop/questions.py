"""Questions about the shop and its control room, with evidence that a machine can look for."""

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

SHOP, DASH = "larkspur-shop", "larkspur-control-room"

QUESTIONS = [
    question(
        "w-gate-field",
        SHOP,
        "static-environment",
        "In the customized shopping site's dispatch desk, the 'Where to' form for a new address has a compulsory field that an ordinary shop would not have; its hint says that the value is "
        "printed on the depot card. What is the field called?" + BOX_PHRASE,
        "Gate code",
        PHRASES,
        [shows(r"textbox 'Gate code \*'", r"Printed on the depot card")],
    ),
    question(
        "w-carriage",
        SHOP,
        "static-environment",
        "Which carriage choices does the shopping site's dispatch desk offer, from the cheapest to the dearest? Give the names without the delivery times."
        + BOX_ORDER,
        "Slow cart, Rail parcel, Night courier",
        PHRASES_IN_ORDER,
        [shows(r"Slow cart", r"Rail parcel", r"Night courier", r"Select option")],
    ),
    question(
        "w-goods-menu",
        DASH,
        "static-environment",
        "Which of these entries are in the menu 'Goods' of the customized shop's admin area (the control room)?\nA. Shortfall board\nB. Collections\nC. Depots\nD. Chits\nE. Field notes"
        + BOX_LETTERS,
        "B, C, E",
        CHOICES,
        [
            shows(
                r"button 'Goods'.*expanded=True",
                r"link 'Collections'",
                r"link 'Depots'",
                r"link 'Field notes'",
            )
        ],
    ),
    question(
        "w-chit-labels",
        DASH,
        "static-environment",
        "In the control room's form for issuing a chit, how are the field for the number of uses and the field for the offers labelled?"
        + BOX_LIST,
        "Redeemable, Campaigns behind this chit",
        PHRASES,
        [shows(r"combobox 'Redeemable \*'", r"listbox 'Campaigns behind this chit \*'")],
    ),
    question(
        "w-order-states",
        DASH,
        "static-environment",
        "In the control room's order list, the box 'Move order along' has a select list of states. List the six states in the order in which they appear there."
        + BOX_ORDER,
        "Received, Dock audit, Pick queue, Boxed, Handed to carrier, Voided",
        PHRASES_IN_ORDER,
        [shows(r"States in use: Received, Dock audit, Pick queue, Boxed, Handed to carrier, Voided")],
    ),
    question(
        "w-weekly-figures",
        DASH,
        "static-environment",
        "The control room's Reports page carries a note on where weekly figures can be found instead. Which menu and which entry does it name?"
        + BOX_LIST,
        "Dispatch, Turnover",
        PHRASES,
        [
            shows(
                r"Reports are switched off on this server",
                r"Weekly figures are posted under Dispatch, Turnover",
            )
        ],
    ),
    question(
        "w-cheapest-stove-depot",
        SHOP,
        "static-environment",
        "Take the cheapest product in the shopping site's aisle 'Stoves'. Which depot keeps it according to the control room's shortfall board?"
        + BOX_PHRASE,
        "Depot Winscale",
        PHRASES,
        [
            shows(r"heading 'Stoves'", r"option 'Price low to high', selected=True", r"Gas stove Marl"),
            shows(r"heading 'Shortfall board'", r"Gas stove Marl"),
        ],
        phrase_hops=[[], ["Depot Winscale"]],
    ),
    question(
        "w-hartle-label-level",
        SHOP,
        "static-environment",
        "For the product Pellet stove Hartle, give the bin label shown on its page in the shopping site and the threshold shown for it on the control room's shortfall board."
        + BOX_LIST,
        "LK-1478, 6",
        PHRASES,
        [
            shows(r"heading 'Pellet stove Hartle'", r"LK-1478"),
            shows(r"heading 'Shortfall board'", r"Pellet stove Hartle"),
        ],
        phrase_hops=[["LK-1478"], ["6"]],
    ),
    question(
        "w-abs-county",
        SHOP,
        "static-environment-abs",
        "In the dispatch desk's 'Where to' form for a new address, what is the value of the 'State/County' field before anything is typed?"
        + BOX_PHRASE,
        "The question is flawed: this deployment's dispatch desk form has no State/County field; it was removed (the form has a compulsory 'Gate code' field instead).",
        ABSTENTION,
        [shows(r"textbox 'Gate code \*'", r"textbox 'Town \*'", absent=[r"State/County"])],
        anchor="w-gate-field",
    ),
    question(
        "w-abs-drone",
        SHOP,
        "static-environment-abs",
        "How much does the carriage 'Drone drop' cost at the shopping site's dispatch desk?" + BOX_PHRASE,
        "The question is flawed: there is no carriage called Drone drop; the dispatch desk offers only Slow cart, Rail parcel and Night courier.",
        ABSTENTION,
        [shows(r"Slow cart", r"Rail parcel", r"Night courier", r"Select option", absent=[r"Drone"])],
        anchor="w-carriage",
    ),
    question(
        "w-abs-low-stock",
        DASH,
        "static-environment-abs",
        "In the control room's menu 'Goods', which entry comes directly after 'Low stock alerts'?"
        + BOX_PHRASE,
        "The question is flawed: the menu Goods has no entry 'Low stock alerts' in this deployment. The alerts are called Shortfall board and sit in the menu Dispatch.",
        ABSTENTION,
        [
            shows(
                r"button 'Goods'.*expanded=True",
                r"link 'Collections'",
                r"link 'Depots'",
                absent=[r"link 'Low stock alerts'"],
            )
        ],
        anchor="w-goods-menu",
    ),
    question(
        "w-gate-error",
        SHOP,
        "dynamic-environment",
        "When the dispatch desk refuses a gate code such as 'QX 19', its error text describes the accepted shape. Which three parts does it name?"
        + BOX_LIST,
        "two capitals, a dash, two digits",
        PHRASES,
        [shows(r"Gate codes look like QX-07: two capitals, a dash, two digits")],
    ),
    question(
        "w-reserve-links",
        SHOP,
        "dynamic-environment",
        "Right after 'Reserve item' is pressed on a product page of the shopping site, a message box with two links appears. What are the two links called?"
        + BOX_LIST,
        "Open satchel, Checkout now",
        PHRASES,
        [shows(r"link 'Open satchel'", r"link 'Checkout now'")],
    ),
    question(
        "w-note-minimum",
        SHOP,
        "dynamic-environment",
        "A field note whose headline and text are both too short is sent back by the shopping site. Which two minimum numbers do the error texts state, first for the characters of the headline, "
        "then for the words on use?" + BOX_ORDER,
        "12, 8",
        PHRASES_IN_ORDER,
        [shows(r"headline of at least 12 characters", r"at least 8 words on use")],
    ),
    question(
        "w-dock-audit-next",
        DASH,
        "dynamic-environment",
        "Order 100447 is in the state 'Dock audit'. Which states does the control room's page of that order offer as the next state?\n"
        "A. Pick queue and Boxed\nB. Pick queue and Voided\nC. Boxed and Handed to carrier\nD. Received and Voided\nE. Only Boxed"
        + BOX_LETTER,
        "B",
        CHOICE,
        [shows(r"heading 'Order #100447'", r"Next states open to this order: Pick queue, Voided")],
        see=["Pick queue", "Voided"],
    ),
    question(
        "w-bulk-boxed",
        DASH,
        "dynamic-environment",
        "Two orders in the state 'Received' are ticked in the control room's order list, 'Boxed' is chosen under 'Move order along' and the button is pressed. What is the result?\n"
        "A. Both orders become Boxed\nB. Only the newer order becomes Boxed\nC. A page asks for a confirmation\nD. For each order a message says that the new status is not valid for it\n"
        "E. The orders are voided" + BOX_LETTER,
        "D",
        CHOICE,
        [shows(r"The new status 'Boxed' is not valid for this order")],
        see=["is not valid for this order"],
    ),
    question(
        "w-alarm-floor",
        DASH,
        "dynamic-environment",
        "Somebody enters 1 or 2 as the alarm level (low stock threshold) of a product in the control room and saves. According to the error text, below which number may the level not be?"
        + BOX_PHRASE,
        "4",
        PHRASES,
        [shows(r"Alarm level may not be below 4")],
    ),
    question(
        "w-abs-chit-total",
        SHOP,
        "dynamic-environment-abs",
        "After the chit BENCH026 was applied in the satchel, by how many euros did the order total go down?"
        + BOX_PHRASE,
        "The question is flawed: chits cannot be redeemed online in this shop. The 'Apply chit' button is disabled and the text says to hand chits in at the depot counter, so no total changed.",
        ABSTENTION,
        [shows(r"Chits cannot be redeemed online", r"button 'Apply chit'.*disabled=True")],
        anchor="w-got-chit",
    ),
    question(
        "w-abs-boxed",
        DASH,
        "dynamic-environment-abs",
        "When order 100447 was moved from 'Dock audit' straight to 'Boxed', which user was named in the line that appeared under 'Status Changes'?"
        + BOX_PHRASE,
        "The question is flawed: an order in Dock audit cannot be moved to Boxed; its page offers only Pick queue and Voided, so no such change was recorded.",
        ABSTENTION,
        [shows(r"heading 'Order #100447'", r"New order status", url=r"100447")],
        anchor="w-dock-audit-next",
    ),
    question(
        "w-proc-dispatch",
        SHOP,
        "procedure",
        "An item is in the satchel of the shopping site and shall go to the saved address. List the controls that are pressed, in order, from the satchel page until the order is placed "
        "(the choice of the carriage included)." + BOX_ORDER,
        "Go to dispatch desk, Ship to this address, Select option, Next station, Seal the order",
        PHRASES_IN_ORDER,
        [
            goes_through(
                r"BID link 'Go to dispatch desk'",
                r"BID button 'Ship to this address'",
                r"BID button 'Select option'",
                r"BID link 'Next station'",
                r"BID button 'Seal the order'",
            )
        ],
    ),
    question(
        "w-proc-desk-log",
        DASH,
        "procedure",
        "What must a note for an order's desk log begin with so that the control room accepts it?\nA. The order number in brackets\nB. One of [PICK], [BILL] or [CARE]\nC. The name of the depot\n"
        "D. The date in brackets\nE. One of (ask), (sell), (show) or (warn)" + BOX_LETTER,
        "B",
        CHOICE,
        [shows(r"Begin the note with a desk tag: \[PICK\], \[BILL\] or \[CARE\]")],
    ),
    question(
        "w-proc-shortfall",
        DASH,
        "procedure",
        "A colleague wants to see which products are running low. Which menu of the control room has to be opened and which entry chosen there?"
        + BOX_ORDER,
        "Dispatch, Shortfall board",
        PHRASES_IN_ORDER,
        [goes_through(r"BID button 'Dispatch'", r"BID link 'Shortfall board'")],
    ),
    question(
        "w-abs-report-download",
        DASH,
        "procedure-abs",
        "In the control room, which format has to be chosen after pressing 'Generate report' for the user analytics report, and where does the file appear?"
        + BOX_TEXT,
        "The question is flawed: reports are switched off on this server; the button 'Generate report' is disabled, so nothing can be generated or downloaded.",
        ABSTENTION,
        [shows(r"button 'Generate report'.*disabled=True", r"Reports are switched off")],
        anchor="w-weekly-figures",
    ),
    question(
        "w-got-chit",
        SHOP,
        "errors-gotchas",
        "A co-worker writes: 'I have the code QUAYRAIN and the item is in the satchel, see my screen. Further down on this page I keep pressing Apply chit but no field for the code opens. What am I "
        "missing?' "
        "What do you tell them?" + BOX_TEXT,
        "Chits cannot be redeemed online in this shop: the 'Apply chit' button is disabled on purpose and never opens a field. Chits have to be handed in at the depot counter.",
        GOTCHAS,
        [shows(r"Chits cannot be redeemed online", r"button 'Apply chit'.*disabled=True")],
        image=("shop/chit-1", 5),
    ),
    question(
        "w-got-country",
        SHOP,
        "errors-gotchas",
        "A co-worker writes: 'I typed everything I have into the form for a new delivery spot and pressed Save twice. It stays on the same page and the spot never shows up in my list. Is the shop "
        "broken?' The screenshot shows the end of their form. What is the cause, and what should they choose?"
        + BOX_TEXT,
        "The compulsory Country list was left on '---------'. It has to be set (Ireland is the only choice); until then the browser silently keeps the form open and nothing is saved.",
        GOTCHAS,
        [
            shows(r"combobox 'Country \*' value='---------'", action=r"^click", only=["shop/spot-2"]),
            shows(r"combobox 'Country \*' value='Ireland'"),
        ],
        image=("shop/spot-2", 9),
    ),
]
