import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.boxed import Boxed, Found, is_unknown, parse_boxed


@pytest.mark.parametrize(
    ("response", "prediction", "found"),
    [
        ("  plain text\n", "plain text", Found.NONE),
        ("", "", Found.NONE),
        (r"\boxed{ A }", "A", Found.ONE),
        (r"\boxed{A} no: \boxed{B}", "B", Found.SEVERAL),
        (r"\boxed{\boxed{A}}", "A", Found.SEVERAL),
        (r"\boxed{\frac{1}{2}} tail }", r"\frac{1}{2}", Found.ONE),
        (r"\boxed{abc", "abc", Found.UNCLOSED),
        (r"\boxed{A} then \boxed{f(x) = {y} + ", "f(x) = {y} +", Found.UNCLOSED),
        (r" \boxed{} ", r"\boxed{}", Found.EMPTY),
        (r"\boxed{A} then \boxed{ }", r"\boxed{A} then \boxed{ }", Found.EMPTY),
        ("A \\boxed{", "A \\boxed{", Found.EMPTY),
        (r"\boxed {A}", r"\boxed {A}", Found.NONE),
        ("\\boxed{two\nlines}", "two\nlines", Found.ONE),
    ],
)
def test_what_the_last_box_holds(response, prediction, found):
    assert parse_boxed(response) == Boxed(prediction, found)


_text_without_braces = st.text(st.characters(exclude_characters="{}\\"))


@settings(deadline=None, max_examples=100)
@given(_text_without_braces, st.text("ab {}", max_size=12), _text_without_braces)
def test_balanced_content_survives_any_prose_around_it(before, content, after):
    depth = lowest = 0
    for character in content:
        depth += (character == "{") - (character == "}")
        lowest = min(lowest, depth)
    boxed = parse_boxed(f"{before}\\boxed{{{content}}}{after}")
    if depth == lowest == 0 and content.strip():
        assert boxed == Boxed(content.strip(), Found.ONE)
    elif depth > 0 and lowest == 0:
        assert boxed.found == Found.UNCLOSED


@settings(deadline=None, max_examples=100)
@given(st.text("\\boxed{} a"))
def test_the_prediction_is_stripped_and_blank_only_for_a_blank_response(response):
    prediction = parse_boxed(response).prediction
    assert prediction == prediction.strip()
    assert bool(prediction) == bool(response.strip())


@pytest.mark.parametrize("prediction", ["UNKNOWN", "unknown", " Unknown\n"])
def test_unknown_in_any_case(prediction):
    assert is_unknown(prediction)


@pytest.mark.parametrize("prediction", ["unknown.", "UNKNOWN UNKNOWN", r"\text{UNKNOWN}", "", "not known"])
def test_only_the_bare_word_is_unknown(prediction):
    assert not is_unknown(prediction)
