"""Reading a question's form."""

import pytest

from lmev2.llm.embedded.question import answer_format, parse_question, roles_of
from lmev2.llm.embedded.text import quoted, sentences, stem, terms

BOX = " in \\boxed{}."


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("Mark your final answer as a single letter" + BOX, "letter"),
        ("Mark your final answer as a comma-separated list of letters" + BOX, "letters"),
        ("Mark your final answer as True or False" + BOX, "truth"),
        ("Mark your final answer as a short phrase" + BOX, "phrase"),
        ("Mark your final answer as a comma-separated list of short phrases" + BOX, "list"),
        ("Mark your final answer as a comma-separated list of short phrases, in any order," + BOX, "list"),
        ("Mark your final answer as a comma-separated list of short phrases, in order," + BOX, "ordered"),
        ("Mark your final answer as one or two sentences" + BOX, "sentences"),
        ("Just answer.", "phrase"),
    ],
)
def test_answer_format(tail, expected):
    assert answer_format("Which trams run in the list of letters? " + tail) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Which two trams run?", 2),
        ("What three parts does it name?", 3),
        ("List the six wings in order.", 6),
        ("Which 4 wings are open?", 4),
        ("Which trams run?", None),
        ("Who keeps the key of wing 4?", None),
        ("Which one is it?", None),
        ("What are the 'two rivers' called?", None),
    ],
)
def test_count(text, count):
    assert parse_question(text).count == count


def test_options_are_separated_from_the_text():
    question = parse_question("Which?\nA. Red one\nB. Blue, or green\nMark it as a single letter" + BOX)
    assert question.options == {"A": "Red one", "B": "Blue, or green"} and question.text == "Which?"


def test_items_to_order_and_described_steps():
    ordered = " Mark your final answer as a comma-separated list of short phrases, in order," + BOX
    assert parse_question("Order the buttons: Seal, Weigh, Print." + ordered).given == [
        "Seal",
        "Weigh",
        "Print",
    ]
    steps = parse_question(
        "List the controls in order: the tab, the list of bands, and the final button." + ordered
    )
    assert steps.given == [] and steps.steps == ["the tab", "the list of bands", "the final button"]


def test_roles_and_kinds():
    assert "button" in parse_question("Which button prints the label?").roles
    assert parse_question("How many crates are kept?").numeric
    assert parse_question("What does the error message say?").long_text
    assert "combobox" in roles_of("the list of bands") and roles_of("the heron") == frozenset()


def test_quotes_ignore_apostrophes():
    assert quoted("the museum's form 'New loan' isn't \"Old loan\" or “Gift”") == [
        "New loan",
        "Old loan",
        "Gift",
    ]


def test_words_and_sentences():
    assert (
        stem("bands") == stem("band") and stem("registered") == stem("register") and stem("class") == "class"
    )
    assert terms("Which of the bands are offered?") == frozenset({"band", stem("offered")})
    assert sentences("One. Two!\nThree") == ["One.", "Two!", "Three"]


def test_the_last_option_is_kept_where_it_ends_without_a_full_stop():
    text = "Which lamp is lit?\nA. Red\nB. Only green Mark your final answer as a single letter in \\boxed{}."
    assert parse_question(text).options == {"A": "Red", "B": "Only green"}
