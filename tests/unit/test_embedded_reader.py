"""The extractive reader on an invented application: a museum's register of loans."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.llm.embedded import chat
from lmev2.llm.embedded.reader import read

FORM = """Slice of trajectory t1, states 1-2
Goal: Register a loan of the bronze heron.
Outcome: success
Actions:
1. click('12')  # link 'New loan'
2. select_option('30', 'Dry')  # combobox 'Humidity band'
3. click('44')  # button 'Book it in'
4. click('52')  # button 'Print label'
State 1
URL: http://museum.test/loans/new
Action: click('12')  # link 'New loan'
Tree:
RootWebArea 'New loan', focused
\t[10] navigation '', visible
\t\t[11] list '', visible
\t\t\t[12] link 'New loan', clickable
\t\t\t[13] link 'Lenders', clickable
\t\t\t[14] link 'Ledger (closed)', disabled=True
\t[20] heading 'New loan'
\t[21] LabelText ''
\t\tStaticText 'Lender (Optional)'
\t[22] textbox 'Lender (Optional)'
\t[25] LabelText ''
\t\tStaticText 'Object mark'
\t[26] textbox 'Object mark', required
\tStaticText 'Printed on the green tag, such as H-204.'
\t[29] LabelText ''
\t\tStaticText 'Humidity band'
\t[30] combobox 'Humidity band' value='-- select --', hasPopup='menu'
\t\tMenuListPopup ''
\t\t\t[31] option '-- select --', selected=True
\t\t\t[32] option 'Dry', selected=False
\t\t\t[33] option 'Temperate', selected=False
\t\t\t[34] option 'Humid', selected=False
\tStaticText 'Loan classes: L1 Short, L2 Season or L3 Permanent.'
\t[44] button 'Book it in', clickable
State 2
URL: http://museum.test/loans/new
Action: click('44')  # button 'Book it in'
Tree:
RootWebArea 'New loan', focused
\t[10] navigation '', visible
\t\t[11] list '', visible
\t\t\t[12] link 'New loan', clickable
\t\t\t[13] link 'Lenders', clickable
\t\t\t[14] link 'Ledger (closed)', disabled=True
\t[20] heading 'New loan'
\t[50] alert ''
\t\tStaticText 'The loan cannot be booked: an object mark must begin with the wing letter.'
\t[51] button 'Dismiss', clickable
\t[44] button 'Book it in', clickable
"""
OBJECT = """Slice of trajectory t2, states 0-0
Goal: Who keeps the bronze heron?
State 0
URL: http://museum.test/objects/204
Tree:
RootWebArea 'Bronze heron'
\t[5] heading 'Bronze heron'
\tStaticText 'KEEPER'
\t[6] paragraph ''
\t\tStaticText 'Ottoline Marsh'
\t[7] button 'More', expanded=True
\t[8] list ''
\t\t[9] listitem ''
\t\t\t[10] link 'Move'
\t\t[11] listitem ''
\t\t\t[12] link 'Clean'
\t\t[13] listitem ''
\t\t\t[14] button 'Withdraw'
\t[16] tablist ''
\t\t[17] tab 'History', selected=True
\t\t[18] tab 'Condition', selected=False
\t[20] list ''
\t\t[21] listitem ''
\t\t\tStaticText 'Insurance value 4200 crowns'
\t[30] table ''
\t\t[31] row ''
\t\t\t[32] columnheader 'Room'
\t\t\t[33] columnheader 'Since'
\t\t[34] row ''
\t\t\t[35] cell 'Gallery 7'
\t\t\t[36] cell 'May'
"""
LISTING = " Mark your final answer as a comma-separated list of short phrases in \\boxed{}."
ORDERED = " Mark your final answer as a comma-separated list of short phrases, in order, in \\boxed{}."
PHRASE = " Mark your final answer as a short phrase in \\boxed{}."
LETTER = " Mark your final answer as a single letter in \\boxed{}."
LETTERS = (
    " More than one option may be correct."
    " Mark your final answer as a comma-separated list of letters in \\boxed{}."
)


def ask(question: str, *parts: str) -> str:
    """Return what the reader boxes."""
    reply = read(question, parts or (FORM, OBJECT))
    boxes = re.findall(r"\\boxed\{([^{}]*)\}", reply)
    assert len(boxes) == 1
    return boxes[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which three choices does the field 'Humidity band' offer?" + LISTING, "Dry, Temperate, Humid"),
        (
            "Which three entries does the menu 'More' on the page of an object show?" + LISTING,
            "Move, Clean, Withdraw",
        ),
        ("What are the two tabs on the page of the bronze heron called?" + LISTING, "History, Condition"),
        ("Which loan classes are there?" + LISTING, "L1 Short, L2 Season, L3 Permanent"),
        ("Who is the keeper of the bronze heron?" + PHRASE, "Ottoline Marsh"),
        ("What is the insurance value of the bronze heron?" + PHRASE, "4200 crowns"),
        ("In which room does the table of the bronze heron place it?" + PHRASE, "Gallery 7"),
        (
            "Order the controls that are used to register a loan: Book it in, New loan, Print label."
            + ORDERED,
            "New loan, Book it in, Print label",
        ),
        (
            "A loan is registered. List the controls, in order: the link that opens the form, the list in "
            "which the band is chosen, and the button that books it." + ORDERED,
            "New loan, Humidity band, Book it in",
        ),
        (
            "Which of these fields in the form 'New loan' are NOT marked as optional?\nA. Lender\n"
            "B. Object mark\nC. Humidity band" + LETTERS,
            "B, C",
        ),
        (
            "Which of these entries are in the menu 'More' of an object?\nA. Lenders\nB. Clean\nC. Withdraw"
            + LETTERS,
            "B, C",
        ),
        (
            "Which humidity bands does the form offer?\nA. Dry, Temperate, Humid\nB. Dry, Wet\nC. All eight"
            + LETTER,
            "A",
        ),
        (
            "Which of these humidity bands does the field not offer?\nA. Dry\nB. Arctic\nC. Humid" + LETTER,
            "B",
        ),
        (
            "What must an object mark begin with?\nA. The year\nB. The wing letter\nC. The name of the lender"
            + LETTER,
            "B",
        ),
    ],
)
def test_formats_and_kinds(question, answer):
    assert ask(question) == answer


def test_message_after_an_action_is_the_answer():
    question = "What does the error text say after 'Book it in' is pressed?" + PHRASE
    assert "object mark must begin with the wing letter" in ask(question)


def test_sentences_format_returns_the_telling_sentence():
    question = (
        "A colleague writes: 'I press Book it in and the object mark is refused.' What is wrong?"
        " Mark your final answer as one or two sentences in \\boxed{}."
    )
    assert "must begin with the wing letter" in ask(question)


def test_hints_of_notes_are_read():
    note = "Hints: loans\n- Loans for the annexe are booked by the porter, not in this form."
    question = (
        "Who books the loans for the annexe? Mark your final answer as one or two sentences in \\boxed{}."
    )
    assert "booked by the porter" in ask(question, note)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the name of the cloakroom attendant in Bruges?" + PHRASE, (FORM,)),
        ("Which four choices does the field 'Glaze' offer?" + LISTING, (OBJECT,)),
        ("What is the keeper called?" + PHRASE, ("",)),
        (
            "True or false: trams stop at the quay. Mark your final answer as True or False in \\boxed{}.",
            (OBJECT,),
        ),
        ("Which?\nA. Trams\nB. Ferries" + LETTER, (OBJECT,)),
    ],
)
def test_unsupported_is_unknown(question, parts):
    assert ask(question, *parts) == "UNKNOWN"


def test_truth_follows_the_polarity_of_the_passage():
    tail = " Mark your final answer as True or False in \\boxed{}."
    page = (
        "RootWebArea 'Lending rules'\n\t[2] paragraph ''\n"
        "\t\tStaticText 'Glass objects cannot travel by rail.'\n"
        "\t[3] paragraph ''\n\t\tStaticText 'Bronze objects travel by rail every Monday.'\n"
    )
    assert ask("True or false: glass objects can travel by rail." + tail, page) == "False"
    bronze = page.replace("Glass objects cannot travel by rail.", "The rules are read aloud.")
    assert ask("True or false: bronze objects travel by rail." + tail, bronze) == "True"


def test_missing_name_in_a_well_covered_place_is_a_flaw():
    answer = ask("In the field 'Humidity band', is 'Arctic' listed before or after 'Humid'?" + PHRASE)
    assert answer == "There is no 'Arctic' here; it offers only Dry, Temperate, Humid."


def test_missing_code_of_a_shown_series_is_a_flaw():
    answer = ask("What is the full name of the loan class L7?" + PHRASE)
    assert answer.startswith("There is no L7 here") and "L3" in answer


def test_disabled_control_is_a_flaw_unless_the_question_knows_it():
    answer = ask("After clicking 'Ledger (closed)', which column comes first?" + PHRASE)
    assert "'Ledger (closed)' is disabled" in answer
    assert "cannot be used" not in ask(
        "Which link, as 'Ledger (closed)', is disabled on every page?" + PHRASE
    )


def test_move_to_a_value_that_is_not_offered_is_a_flaw():
    page = (
        "State 1\nRootWebArea 'Loan 31'\n\t[2] heading 'Loan 31'\n\tStaticText 'Booked'\n"
        "\t[4] radiogroup 'Next'\n\t\t[5] radio 'Booked'\n\t\t[6] radio 'Packed'\n"
    )
    answer = ask(
        "After loan 31 was moved from 'Booked' straight to 'Returned', what was shown?" + PHRASE, page
    )
    assert answer == "'Returned' is not offered from 'Booked'; it offers only Booked, Packed."


@pytest.mark.parametrize(
    "brought_up", ["a mark such as 'QQ 1' is given", "'QQ 1' is entered as 'Object mark'"]
)
def test_examples_and_inputs_are_no_premises(brought_up):
    assert not ask(f"When {brought_up}, what must an object mark begin with?" + PHRASE).startswith(
        "There is no"
    )


def test_a_control_that_an_action_used_exists():
    answer = ask("In the form 'New loan', which button is pressed before 'Print label'?" + PHRASE)
    assert not answer.startswith("There is no")


def test_braces_in_the_page_do_not_unbalance_the_box():
    page = "RootWebArea 'Keys'\n\t[1] heading 'Gate key'\n\tStaticText 'Gate key: {K}\\\\9'\n"
    assert ask("What is the gate key?" + PHRASE, page)


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x0b\u2028\u0085",
        "[1] button 'unclosed",
        "\t\t\t\t[9] option",
        "State 3",
        "[a1] link '\\x', url=",
        "長い見出し 'ボタン' を押す",
        "'" * 5000,
        "RootWebArea ''\n" + "\t" * 400 + "[1] button 'deep'",
        "[1] textbox 'a' value='b\\'",
    ],
)
def test_odd_contexts_are_read_without_an_error(text):
    assert ask("Which button is 'Book it in'?" + PHRASE, text)


def test_non_latin_text():
    page = "RootWebArea '設定'\n\t[1] combobox '言語'\n\t\t[2] option '日本語'\n\t\t[3] option 'Ελληνικά'\n"
    question = "Which two options does the field '言語' offer?" + LISTING
    assert ask(question, page) == "日本語, Ελληνικά"


def test_a_long_context_takes_a_bounded_time():
    import time

    row = "\t[{0}] link 'Record {0} of the long register', clickable\n\t\tStaticText 'kept in room {0}'\n"
    page = "RootWebArea 'Register'\n" + "".join(row.format(i) for i in range(7000)) + "x" * 100_000
    start = time.process_time()
    ask("Which link is shown for record 4711 in the register?" + PHRASE, page, FORM)
    assert time.process_time() - start < 10  # about 1 s; linear in the text


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=300), max_size=4), st.text(max_size=200))
def test_never_fails_and_boxes_once(parts, question):
    reply = read(question, parts)
    assert reply.count("\\boxed{") == 1 and reply == read(question, parts)
    assert reply.endswith("}")


def test_chat_reads_the_last_question_and_ignores_images():
    messages = [
        {"role": "system", "content": "Answer from memory."},
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": OBJECT.replace("Bronze heron", "Bronze heron <question>x</question>", 1),
                },
                {"type": "image", "image": "ignored"},
                {
                    "type": "text",
                    "text": "<question>\nWho is the keeper of the heron?" + PHRASE + "\n</question>",
                },
            ],
        },
    ]
    assert "\\boxed{Ottoline Marsh}" in chat.complete(messages)
    assert chat.complete(messages) == chat.complete(messages)


def test_chat_without_tags_takes_the_last_part_as_the_question():
    parts = [{"type": "text", "text": t} for t in (OBJECT, "Who is the keeper of the bronze heron?" + PHRASE)]
    assert "\\boxed{Ottoline Marsh}" in chat.complete([{"role": "user", "content": parts}])


@pytest.mark.parametrize(
    "messages", [[], [{"role": "user", "content": ""}], [{"role": "user", "content": None}]]
)
def test_chat_on_nothing_is_unknown(messages):
    assert "\\boxed{UNKNOWN}" in chat.complete(messages)
