"""Policies on the Larkspur Supply shop (buyer side) and its control room (staff side)."""

import re

from collector.acts import Job, check, click, fill, infeasible, press, say, scroll, select

PORT = 8101
SHOP = f"http://127.0.0.1:{PORT}"
SHOP_ENV = "larkspur-shop"
DASH_ENV = "larkspur-control-room"


def _sign_in(email):
    def login(page):
        page.goto(f"{SHOP}/accounts/login/")
        page.fill("#id_login-username", email)
        page.fill("#id_login-password", "larkspur")
        page.click("button[name=login_submit]")

    return login


# ---------------------------------------------------------------- buyer side
def open_product(title: str, word: str | None = None):
    yield fill("Search", word or title, f"I will look for {title} with the search box.")
    yield click("button", "Search", "Run the search.")
    yield click("link", title, f"{title} is in the results; open its page.", nth=1)


def dispatch(title, *, carriage, spot="own", address=None, note="", fix=None, end="sealed"):
    """Reserve one item and walk through the dispatch desk."""
    if spot == "own":
        yield from open_product(title)
    yield click(
        "button", "Reserve item", "There is no 'Add to basket' here; 'Reserve item' must be the same thing."
    )
    yield click("button", "Open satchel", "The item is reserved. The satchel is this shop's basket.")
    if spot == "own":
        yield scroll(2000, "The way on must be at the end of the page.")
    yield click("link", "Go to dispatch desk", "Next, the dispatch desk, which replaces the checkout.")
    if spot == "own":
        yield click("button", "Ship to this address", "The saved delivery spot is right, so use it.")
    else:
        first, last, street, gate, town, code = address
        yield fill("First name *", first, "A new delivery spot is needed. First name.")
        yield fill("Last name *", last, "Last name.")
        yield fill("Street and number *", street, "Street.")
        yield fill("Gate code *", gate, "There is an extra field, the gate code.")
        yield fill("Town *", town, "Town.")
        yield fill("Post/Zip-code *", code, "Postcode.")
        if note:
            yield fill("Driver note", note, "Put the request for the driver into the driver note.")
        view = yield click("button", "Next station", "Go on to the next station.")
        if end == "note":
            yield scroll(500, "The page came back to the address form; look further down.")
            yield say(
                "Your order has been placed with the driver note.",
                "The note is in the field, so the order should be on its way.",
            )
            return
        if end == "gate":
            yield fill(
                "Gate code *", gate.lower(), "It complains about the gate code. Try it in small letters."
            )
            yield click("button", "Next station", "Try again.")
            yield scroll(300, "Still on the same page. Read the message again.")
            yield infeasible(
                "The dispatch desk rejects the gate code.", "I don't have another gate code, so I stop here."
            )
            return
        if fix and view.has("Gate codes look like"):
            yield fill(
                "Gate code *",
                fix,
                "Gate codes need two capitals, a dash and two digits, so write it that way.",
            )
            yield click("button", "Next station", "Send the form again.")
    nth = {"slow": 0, "rail": 1, "night": 2}[carriage]
    yield click("button", "Select option", f"Choose the {carriage} carriage.", nth=nth)
    yield click("link", "Next station", "Nothing to pay online: the driver collects. Go on.")
    if spot == "own":
        yield scroll(2000, "Check the totals of the last look.")
    yield click("button", "Seal the order", "Last look is fine; 'Seal the order' places it.")
    yield say(f"The order for {title} is sealed.", "The confirmation shows the order number.")


def price_lookup(title, answer, *, word=None, wrong=None):
    yield fill("Search", word or title, f"Search for {title}.")
    yield click("button", "Search", "Run the search.")
    if wrong:
        yield click("link", wrong, f"{wrong} looks close enough.", nth=0)
        yield scroll(300, "Find the bin label in the product table.")
        yield say(answer, "That is the bin label shown here.")
        return
    yield click("link", title, "Open the product page.", nth=1)
    yield scroll(420, "The bin label must be in the product information table below.")
    yield say(answer, "Found it in the table.")


def aisle(aisle_name, order, answer, *, naive=False, pages=0):
    yield click("button", "Aisles", "The categories are under 'Aisles'.")
    yield click("link", aisle_name, f"Go to the aisle {aisle_name}.", nth=0)
    if naive:
        yield scroll(500, "Read the prices on this page.")
        yield say(answer, "This one is the best on the page I can see.")
        return
    yield select("Arrange by", order, f"'Arrange by' sorts the list; choose {order}.")
    yield scroll(380, "Look at the first product and its price.")
    for _ in range(pages):
        yield click("link", "next", "Check the next page as well.")
    yield say(answer, "The list is sorted, so the first entry is the answer.")


def field_note(title, headline, mark, body, *, fix=None):
    yield from open_product(title)
    yield click("link", "File a field note", "Reviews are called field notes here.")
    yield fill("Headline *", headline, "Headline of the note.")
    yield select("Mark *", mark, "Give the mark.")
    yield fill("What happened in use *", body, "Write what happened in use.")
    view = yield click("button", "Submit field note", "Submit the note.")
    if view.has("at least 12 characters") or view.has("at least 8 words"):
        if not fix:
            yield scroll(400, "The form is still here. Maybe it needs time.")
            yield say("The field note is submitted.", "I pressed submit, so it should be done.")
            return
        yield fill("Headline *", fix[0], "The headline is too short; use a longer one.")
        yield fill("What happened in use *", fix[1], "And make the text longer as well.")
        yield click("button", "Submit field note", "Submit again.")
    yield say("The field note is filed and waits for moderation.", "The page confirms it.")


def parking_list(name, *, fix=None, look=None):
    yield click("link", "My locker", "Parking lists should be in my locker.")
    yield click("link", "Parking lists", "These are this shop's wish lists.")
    yield click("link", "Open a parking list", "Start a new one.")
    yield fill("Name *", name, "Name the list as asked.")
    if look:
        yield select("Who may look *", look, "Set who may look.")
    view = yield click("button", "Save", "Save the list.")
    if view.has("season tag such as"):
        if not fix:
            yield fill("Name *", name.title(), "Perhaps it wants capitals.")
            yield click("button", "Save", "Save again.")
            yield infeasible(
                "The shop does not accept the name of the list.", "It refuses every spelling I tried."
            )
            return
        yield fill("Name *", fix, "Names need a season tag in front.")
        yield click("button", "Save", "Save again.")
    yield say(f"The parking list {fix or name} exists now.", "It is in the table.")


def chit(title, code, *, stubborn):
    yield from open_product(title)
    yield click("button", "Reserve item", "Reserve the item first.")
    yield click("button", "Open satchel", "Open the satchel to enter the code.")
    yield scroll(400, "Look for the code field below the items.")
    if stubborn:
        yield click("button", "Apply chit", "Press 'Apply chit'; a field may open.")
        yield scroll(200, "Nothing opened. Look around the totals.")
        yield click("button", "Apply chit", "Try the button once more.")
        yield say(f"I could not find a field for the chit {code}.", "The button does not react.")
    else:
        yield infeasible(
            "Chits cannot be redeemed online in this shop; they are handed in at the depot counter.",
            "The text says that chits cannot be redeemed online, and the button is disabled.",
        )


def past_dispatch(question_word, answer, *, number=None, only_first=False, pages=1):
    yield click("link", "My locker", "My orders should be in the locker.")
    yield click("link", "Past dispatches", "Orders are called past dispatches.")
    yield scroll(450, "The list starts below the filter.")
    if only_first:
        yield say(answer, f"The {question_word} on this page is enough.")
        return
    for _ in range(pages):
        yield click("link", "next", "Four per page, so look at the next page too.")
        yield scroll(450, "Read this page.")
    if number:
        yield click("link", number, f"Open order {number}.")
        yield scroll(350, "Read the lines.")
    yield say(answer, "That answers the question.")


def delivery_spot(values, *, country=True):
    yield click("link", "My locker", "Addresses are in the locker.")
    yield click("link", "Delivery spots", "'Delivery spots' is the address book.")
    yield click("link", "Add a new address", "Add one.")
    for label, value in values:
        yield fill(label, value, f"Fill in {label.rstrip(' *').lower()}.")
    if country:
        yield select("Country *", "Ireland", "The country must be chosen although there is only one.")
    yield click("button", "Save", "Save the spot.")
    if country:
        yield say("The delivery spot is saved.", "It is listed now.")
    else:
        yield scroll(400, "The form is still open. Is something missing?")
        yield click("button", "Save", "Press save again.")
        yield say("The delivery spot is saved.", "No error text is shown at the top, so it should be saved.")


# ---------------------------------------------------------------- staff side
def open_menu(menu, item, why):
    yield click("button", menu, why)
    yield click("link", item, f"'{item}' is in the menu {menu}.")


def move_order(number, state, *, offered=True):
    yield from open_menu("Dispatch", "Orders", "Orders are under Dispatch in this control room.")
    yield fill("Order number:", number, "Search for the order number.")
    view = yield click("button", "Search", "Search.")
    if "/orders/" + number not in view.url:
        view = yield click("link", number, "Open the order.")
    yield scroll(520 if offered else 1150, "The state form should be below the lines.")
    if offered:
        yield select("New order status *", state, f"Choose {state}.")
        yield click("button", "Move along", "Move the order along.")
        yield say(f"Order {number} is now {state}.", "The status table shows the new state.")
    else:
        yield infeasible(
            f"Order {number} cannot be moved to {state}: the list does not offer it.",
            f"{state} is not in the list of next states, so it cannot be done directly.",
        )


def bulk_move(numbers, state, *, status):
    yield from open_menu("Dispatch", "Orders", "Go to the order list.")
    yield click("link", "More filters", "Open the longer filter form.")
    yield select("Status", status, f"Only orders in {status}.")
    yield click("button", "Search", "Search.", nth=-1)
    for number in numbers:
        yield click("checkbox", "", f"Tick order {number}.", nth=1 + numbers.index(number))
    yield select("", state, f"Set the new state {state} for the ticked orders.", after="Move order along")
    yield scroll(500, "The line below the box lists the states in use.")
    yield click("button", "Move along", "Apply to the ticked orders.")
    yield say(f"The orders are now {state}.", "The button was pressed, so the orders should have moved.")


def desk_log(number, text, *, fix=None):
    yield from open_menu("Dispatch", "Orders", "Find the order first.")
    yield fill("Order number:", number, "Type the order number.")
    view = yield click("button", "Search", "Search.")
    if "/orders/" + number not in view.url:
        yield click("link", number, "Open the order.")
    yield click("link", "Desk log", "Notes are kept in the desk log tab.")
    yield fill(re.compile("Message"), text, "Write the note.")
    view = yield click("button", "Log entry", "Log it.")
    if view.has("desk tag"):
        if not fix:
            yield say(f"The note is on order {number}.", "I pressed 'Log entry', done.")
            return
        yield click("link", "Desk log", "An error appeared; open the desk log again.")
        yield fill(re.compile("Message"), fix, "The note has to begin with a desk tag.")
        yield click("button", "Log entry", "Log it again.")
    yield click("link", "Desk log", "Check that the entry is there.")
    yield say(f"The note is logged on order {number}.", "The entry is in the desk log.")


def issue_chit(name, code, end, usage, campaign, *, fix=None, skip_campaign=False):
    yield from open_menu("People", "Chits", "Vouchers are called chits and sit under People.")
    yield click("link", re.compile("Issue a chit|Create new voucher|Issue"), "Issue a new chit.")
    yield fill("Name *", name, "Name of the chit.")
    yield fill("Code *", code, "The code.")
    yield fill("End datetime *", end, "When it ends.")
    yield press("textbox", "End datetime *", "Escape", "Close the calendar.")
    yield select("Redeemable *", usage, "How often it may be used.")
    if not skip_campaign:
        yield select("Campaigns behind this chit *", campaign, "Pick the campaign.", role="listbox")
    view = yield click("button", "Save", "Save the chit.")
    if view.has("exactly 8 letters"):
        if not fix:
            yield fill("Code *", code + "-A", "It did not like the code; make it different.")
            yield click("button", "Save", "Save again.")
            yield infeasible("The chit code is refused.", "The code is refused again; I stop.")
            return
        yield fill("Code *", fix, "Codes must have exactly 8 characters.")
        view = yield click("button", "Save", "Save again.")
    if skip_campaign:
        yield scroll(300, "The form is still open; look below.")
        yield click("button", "Save", "Save again.")
        yield say(f"The chit {name} is issued.", "All the fields I was given are filled in.")
        return
    yield say(f"The chit {name} with code {fix or code} is issued.", "It is in the list.")


def edit_product(title, *, bin_label=None, alarm=None, fix=None, giveup=False):
    yield from open_menu("Goods", "Products", "Products are under Goods.")
    yield fill("Product title:", title, "Search by title.")
    yield click("button", "Search", "Search.")
    yield click("link", title, "Open the product.")
    if bin_label:
        yield fill("Bin label *", bin_label, "Change the bin label.")
    if alarm:
        yield click("link", "Stock and pricing", "The alarm level is on the stock section.")
        yield fill(
            "", alarm, "The second number in the row is the alarm level; set it.", nth=1, role="spinbutton"
        )
    view = yield click("button", "Save and continue editing", "Save and stay on the page.")
    if view.has("four digits") or view.has("was not valid"):
        if giveup or not fix:
            yield say(f"{title} is updated.", "Saved.")
            return
        if alarm:
            yield click("link", "Stock and pricing", "The data was not valid; see the stock section again.")
            yield fill("", fix, "The level may not be below 4.", nth=1, role="spinbutton")
        else:
            yield fill("Bin label *", fix, "Bin labels are LK- and four digits.")
        yield click("button", "Save and continue editing", "Save again.")
    yield say(f"{title} is updated.", "The page reports that the product was updated.")


def shortfall(answer, *, wrong_menu=False, depot=None, pages=1):
    if wrong_menu:
        yield click("button", "Goods", "Low stock alerts belong to the catalogue, so open Goods.")
        yield click("link", "Products", "There is no stock alert entry; try the product list.")
        yield click("link", "next", "Maybe the list shows stock on the next page.")
        yield click("link", "Control room", "No stock column. Back to the start page.")
        yield say(answer, "I could not find a list of shortfalls.")
        return
    yield click("link", "Control room", "See what the start page says about stock.")
    yield from open_menu(
        "Dispatch", "Shortfall board", "The start page says that the shortfall board is under Dispatch."
    )
    for _ in range(pages):
        yield click("link", "next", "Go through the board page by page.")
    yield say(answer, "Read from the board.")


def moderate(title, product, state, *, wrong=False):
    yield from open_menu("Goods", "Field notes", "Reviews are under Goods as field notes.")
    if wrong:
        yield click("link", title, "Open the first note with that headline.", nth=0)
        yield select("Status:", state, f"Set it to {state}.")
        yield click("button", "Save", "Save.")
        yield say("The field note is handled.", "Saved.")
        return
    yield scroll(250, "Look for the note about the right product.")
    yield click("link", title, f"This one is about {product}.")
    yield select("Status:", state, f"Set the state to {state}.")
    yield click("button", "Save", "Save it.")
    yield say(f"The field note on {product} is {state.lower()}.", "The list shows the new state.")


def buyer(name, answer, *, field="Name:", detour=False):
    if detour:
        yield click("button", "Dispatch", "Buyers might be listed with the orders.")
        yield click("link", "Orders", "Look at the orders.")
    yield from open_menu("People", "Buyers", "Customers are called buyers.")
    yield fill(field, name, "Search for the buyer.")
    view = yield click("button", "Search", "Search.")
    if view.has("View"):
        yield click("link", "View", "Open the buyer.")
        yield scroll(300, "Read the page.")
    yield say(answer, "That is what the page shows.")


def report(kind, *, tries=2):
    yield click("link", "Reports", "The reports have their own entry.")
    yield select("Report Type:", kind, "Choose the report.")
    for _ in range(tries):
        yield click("button", "Generate report", "Generate it.")
    if tries > 1:
        yield click("button", "Notices", "Perhaps reports can be found elsewhere, under Notices.")
        yield click("link", "Letter templates", "Look here.")
        yield say("I could not generate the report.", "I found no other place.")
    else:
        yield infeasible(
            "Reports are switched off on this server.",
            "The page says that reports are switched off and the button is disabled.",
        )


def filter_orders(status, answer, *, by_date=False):
    yield from open_menu("Dispatch", "Orders", "Open the order list.")
    if by_date:
        yield scroll(400, "Count the orders on this page by hand.")
        yield click("link", "next", "And on the next one.")
        yield say(answer, "This should be about right.")
        return
    yield click("link", "More filters", "Use the longer filter.")
    yield select("Status", status, f"Filter on {status}.")
    yield click("button", "Search", "Search.", nth=-1)
    yield scroll(600, "See how many pages there are.")
    yield say(answer, "Counted from the filtered list.")


def turnover(answer, *, status=None):
    yield from open_menu("Dispatch", "Turnover", "Sums are on the Turnover page.")
    yield scroll(300, "The breakdown by state is below.")
    if status:
        yield click("link", status, f"Follow the link {status}.")
    yield say(answer, "Read from the table.")


def collection(name, *, aisle_name=None):
    yield from open_menu("Goods", "Collections", "Ranges are called collections.")
    yield click("link", re.compile("Start a collection|Create new range"), "Start a new one.")
    yield fill("Name *", name, "Name it.")
    yield check("Is public?", "Make it public.")
    if aisle_name:
        yield select("Included Categories", aisle_name, f"Include the aisle {aisle_name}.", role="listbox")
    yield click("button", "Save", "Save.")
    yield say(f"The collection {name} exists.", "It is in the list.")


def jobs() -> list[Job]:
    out: list[Job] = []

    def shop(key, family, goal, outcome, policy, start="/catalogue/", **more):
        out.append(
            Job(
                f"shop/{key}",
                family,
                "shop",
                "web",
                SHOP_ENV,
                goal,
                outcome,
                SHOP + start,
                policy,
                _sign_in("mira@larkspur.example"),
                **more,
            )
        )

    def dash(key, family, goal, outcome, policy, start="/dashboard/", **more):
        out.append(
            Job(
                f"dash/{key}",
                family,
                "dash",
                "web",
                DASH_ENV,
                goal,
                outcome,
                SHOP + start,
                policy,
                _sign_in("dash@larkspur.example"),
                **more,
            )
        )

    shop(
        "dispatch-1",
        "shop_dispatch",
        "Buy one Bench lantern Sorrel, have it sent to my saved address with the cheapest carriage.",
        "success",
        lambda: dispatch("Bench lantern Sorrel", carriage="slow"),
    )
    shop(
        "dispatch-2",
        "shop_dispatch",
        "Order one Tape Loddon 5 m for Fenna Stanewick, 22 Kiln Lane, gate code qx44, Tarrow, D15 X220, by rail parcel.",
        "success",
        lambda: dispatch(
            "Tape Loddon 5 m",
            carriage="rail",
            spot="new",
            address=("Fenna", "Stanewick", "22 Kiln Lane", "qx44", "Tarrow", "D15 X220"),
            fix="QX-44",
        ),
        start="/catalogue/tape-loddon-5-m_55/",
        max_steps=17,
    )
    shop(
        "dispatch-3",
        "shop_dispatch",
        "Order one Felt glove Anwick for Osric Brindlewood, 8 Kiln Lane, gate code qx 19, Ludwick, D11 X803.",
        "failure",
        lambda: dispatch(
            "Felt glove Anwick",
            carriage="slow",
            spot="new",
            address=("Osric", "Brindlewood", "8 Kiln Lane", "QX 19", "Ludwick", "D11 X803"),
            end="gate",
        ),
        start="/catalogue/felt-glove-anwick_50/",
        max_steps=17,
    )
    shop(
        "dispatch-4",
        "shop_dispatch",
        "Order one Spirit level Arden for Linnet Abernook, 5 Kiln Lane, gate code QX-27, Wexcombe, D20 X118, and ask the driver to ring twice at the "
        "green door behind the boat shed.",
        "failure",
        lambda: dispatch(
            "Spirit level Arden",
            carriage="slow",
            spot="new",
            address=("Linnet", "Abernook", "5 Kiln Lane", "QX-27", "Wexcombe", "D20 X118"),
            note="Ring twice at the green door behind the boat shed, please",
            end="note",
        ),
        start="/catalogue/spirit-level-arden_56/",
        max_steps=17,
    )
    shop(
        "price-1",
        "shop_bin_label",
        "What is the bin label of the Pellet stove Hartle?",
        "success",
        lambda: price_lookup("Pellet stove Hartle", "LK-1478", word="Hartle"),
    )
    shop(
        "price-2",
        "shop_bin_label",
        "Tell me the bin label of the Ridge tarp Ennick.",
        "success",
        lambda: price_lookup("Ridge tarp Ennick", "LK-1166"),
    )
    shop(
        "price-3",
        "shop_bin_label",
        "What is the bin label of the large Roll bag Tideway (30 l)?",
        "failure",
        lambda: price_lookup(
            "Roll bag Tideway 30 l", "LK-1543", word="Tideway", wrong="Roll bag Tideway 12 l"
        ),
    )
    shop(
        "aisle-1",
        "shop_aisle_extreme",
        "Which product in the aisle Stoves costs the least?",
        "success",
        lambda: aisle("Stoves", "Price low to high", "Gas stove Marl at 12.19 euros."),
    )
    shop(
        "aisle-2",
        "shop_aisle_extreme",
        "Which product in the aisle Hand tools costs the most?",
        "success",
        lambda: aisle("Hand tools", "Price high to low", "Offset driver Nyle at 91.12 euros."),
    )
    shop(
        "aisle-3",
        "shop_aisle_extreme",
        "Which lantern is the cheapest?",
        "failure",
        lambda: aisle("Lanterns", "", "Dock lantern Brannock at 25.60 euros.", naive=True),
    )
    shop(
        "note-1",
        "shop_field_note",
        "Leave a 4 star review for the Deck bag Corran saying that the strap slips when wet.",
        "success",
        lambda: field_note(
            "Deck bag Corran",
            "Strap slips",
            "4",
            "Strap slips when wet.",
            fix=("Strap slips when wet", "Good bag for the quay, but the strap slips when it is wet."),
        ),
        max_steps=16,
    )
    shop(
        "note-2",
        "shop_field_note",
        "Rate the Chainsaw glove Dorrit 2 stars with the title 'Too thin'.",
        "failure",
        lambda: field_note(
            "Chainsaw glove Dorrit",
            "Too thin",
            "2",
            "The palm wore through after three days of light pruning work.",
        ),
    )
    shop(
        "park-1",
        "shop_parking_list",
        "Create a wish list called 'porch lamps' for summer 2027.",
        "success",
        lambda: parking_list("porch lamps", fix="S27-porch lamps"),
    )
    shop(
        "park-2",
        "shop_parking_list",
        "Make a public wish list named 'gift ideas'.",
        "failure",
        lambda: parking_list("gift ideas", look="Public - Everybody can see the wish list"),
    )
    shop(
        "chit-1",
        "shop_chit",
        "Use the code QUAYRAIN on a Drum bag Halse in my basket.",
        "failure",
        lambda: chit("Drum bag Halse", "QUAYRAIN", stubborn=True),
    )
    shop(
        "chit-2",
        "shop_chit",
        "Apply the voucher BENCH026 to one Rivet set Culver.",
        "success",
        lambda: chit("Rivet set Culver", "BENCH026", stubborn=False),
    )
    shop(
        "past-1",
        "shop_past_dispatch",
        "How many items were in my order 100327?",
        "success",
        lambda: past_dispatch("order", "Four: 4 x Trail stove Penn.", number="100327"),
        start="/accounts/profile/",
    )
    shop(
        "past-2",
        "shop_past_dispatch",
        "What is the number of my oldest order?",
        "failure",
        lambda: past_dispatch("lowest number", "100381", only_first=True),
    )
    shop(
        "spot-1",
        "shop_delivery_spot",
        "Add a delivery address for Hesper Marchbank, 31 Kiln Lane, gate QX-52, Penmarrow, D18 X377.",
        "success",
        lambda: delivery_spot(
            [
                ("First name *", "Hesper"),
                ("Last name *", "Marchbank"),
                ("First line of address *", "31 Kiln Lane"),
                ("Third line of address *", "QX-52"),
                ("City *", "Penmarrow"),
                ("Post/Zip-code *", "D18 X377"),
            ]
        ),
    )
    shop(
        "spot-2",
        "shop_delivery_spot",
        "Save a delivery address for Ivo Thornquist, 40 Kiln Lane, gate QX-16, Aldwater, D22 X904.",
        "failure",
        lambda: delivery_spot(
            [
                ("First name *", "Ivo"),
                ("Last name *", "Thornquist"),
                ("First line of address *", "40 Kiln Lane"),
                ("Third line of address *", "QX-16"),
                ("City *", "Aldwater"),
                ("Post/Zip-code *", "D22 X904"),
            ],
            country=False,
        ),
    )

    dash(
        "move-1",
        "dash_move_order",
        "Put order 100459 into the pick queue.",
        "success",
        lambda: move_order("100459", "Pick queue"),
    )
    dash(
        "move-2",
        "dash_move_order",
        "Send order 100444 to the dock audit.",
        "success",
        lambda: move_order("100444", "Dock audit"),
    )
    dash(
        "move-3",
        "dash_move_order",
        "Mark order 100447, which is in dock audit, as boxed.",
        "failure",
        lambda: move_order("100447", "Boxed", offered=False),
    )
    dash(
        "move-4",
        "dash_bulk_move",
        "Mark the two newest orders that are still Received as Boxed.",
        "failure",
        lambda: bulk_move(["100483", "100477"], "Boxed", status="Received"),
    )
    dash(
        "move-5",
        "dash_bulk_move",
        "Move the two newest orders in the pick queue to Boxed in one go.",
        "success",
        lambda: bulk_move(["100462", "100459"], "Boxed", status="Pick queue"),
    )
    dash(
        "log-1",
        "dash_desk_log",
        "Note on order 100438 that the buyer wants the invoice by post.",
        "success",
        lambda: desk_log(
            "100438", "Buyer wants the invoice by post.", fix="[BILL] Buyer wants the invoice by post."
        ),
    )
    dash(
        "log-2",
        "dash_desk_log",
        "Add a note to order 100429: second parcel follows on Friday.",
        "failure",
        lambda: desk_log("100429", "Second parcel follows on Friday."),
    )
    dash(
        "chit-1",
        "dash_issue_chit",
        "Create a voucher 'Barge day', code BARGE, valid until 31 March 2027, once per customer, with the campaign First bench.",
        "success",
        lambda: issue_chit(
            "Barge day",
            "BARGE",
            "2027-03-31 18:00:00",
            "Can only be used once per customer",
            "First bench",
            fix="BARGE027",
        ),
        max_steps=16,
    )
    dash(
        "chit-2",
        "dash_issue_chit",
        "Create a voucher 'Lamp week' with the code LAMPWEEK-27 until 1 May 2027 for Quay rain fund.",
        "failure",
        lambda: issue_chit(
            "Lamp week",
            "LAMPWEEK-27",
            "2027-05-01 18:00:00",
            "Can be used once by one customer",
            "Quay rain fund",
        ),
    )
    dash(
        "chit-3",
        "dash_issue_chit",
        "Issue a voucher 'Mast week' with the code MASTWEEK, one use, until 15 April 2027.",
        "failure",
        lambda: issue_chit(
            "Mast week",
            "MASTWEEK",
            "2027-04-15 18:00:00",
            "Can be used once by one customer",
            "",
            skip_campaign=True,
        ),
    )
    dash(
        "prod-1",
        "dash_edit_product",
        "Change the bin label of the Mesh tarp Ribble to LK-3127.",
        "success",
        lambda: edit_product("Mesh tarp Ribble", bin_label="LK3127", fix="LK-3127"),
    )
    dash(
        "prod-2",
        "dash_edit_product",
        "Set the low stock threshold of the Dial caliper Prewett to 2.",
        "failure",
        lambda: edit_product("Dial caliper Prewett", alarm="2", giveup=True),
    )
    dash(
        "prod-3",
        "dash_edit_product",
        "Set the low stock threshold of the Canvas tarp Holm as low as the system allows.",
        "success",
        lambda: edit_product("Canvas tarp Holm", alarm="1", fix="4"),
    )
    dash(
        "short-1",
        "dash_shortfall",
        "Which product of Depot Harrow on the low stock list has the highest threshold and no stock left, first in the list?",
        "success",
        lambda: shortfall("Plumb bob Ketton", pages=0),
    )
    dash(
        "short-2",
        "dash_shortfall",
        "Is the Trail stove Penn on the low stock list, and which depot keeps it?",
        "success",
        lambda: shortfall("Yes, Depot Selby.", pages=1),
    )
    dash(
        "short-3",
        "dash_shortfall",
        "List the low stock alerts of Depot Winscale.",
        "failure",
        lambda: shortfall("I could not find the low stock alerts.", wrong_menu=True),
    )
    dash(
        "mod-1",
        "dash_moderate",
        "Reject the newest review of the Drum bag Halse.",
        "success",
        lambda: moderate("Held up through a wet week on the quay", "Drum bag Halse", "Rejected"),
    )
    dash(
        "mod-2",
        "dash_moderate",
        "Approve the review 'Packed badly but works as promised' of the Map pouch Sedge.",
        "failure",
        lambda: moderate("Packed badly but works as promised", "Map pouch Sedge", "Approved", wrong=True),
    )
    dash(
        "buyer-1",
        "dash_buyer",
        "What is the e-mail address of the customer Osric Brindlewood?",
        "success",
        lambda: buyer("Brindlewood", "osric.brindlewood@post.example"),
    )
    dash(
        "buyer-2",
        "dash_buyer",
        "When did Rowena Carrowmoor register?",
        "failure",
        lambda: buyer("rowena carrowmoor", "I found no such buyer.", field="Letter address:", detour=True),
    )
    dash(
        "report-1",
        "dash_report",
        "Generate the report of orders placed.",
        "failure",
        lambda: report("Orders placed", tries=2),
    )
    dash(
        "report-2",
        "dash_report",
        "Download the user analytics report.",
        "success",
        lambda: report("User analytics", tries=1),
    )
    dash(
        "filter-1",
        "dash_filter_orders",
        "How many pages of orders are in the state Voided?",
        "success",
        lambda: filter_orders("Voided", "Two pages."),
    )
    dash(
        "filter-2",
        "dash_filter_orders",
        "How many orders are in Dock audit?",
        "failure",
        lambda: filter_orders("Dock audit", "3", by_date=True),
    )
    dash(
        "turn-1",
        "dash_turnover",
        "How many orders were handed to the carrier so far?",
        "success",
        lambda: turnover("7", status="Handed to carrier"),
    )
    dash(
        "coll-1",
        "dash_collection",
        "Create a public range 'Storm box' with everything in Dry bags.",
        "success",
        lambda: collection("Storm box", aisle_name="Dry bags"),
    )
    return out
