import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.accessibility import parse_line
from lmev2.memory.embedding_text import EmbeddingTexts, Recipe, clean_line, question_query_text, slice_texts
from lmev2.tokens import CHARS_PER_TOKEN

TREES = ["[1] link 'One'", "[1] link 'Two'\n[2] button 'Save'", "[1] link 'Three'"]


def test_the_papers_rule_is_the_trees_with_their_state_numbers():
    made = slice_texts(TREES, [4, 5, 6], 5, Recipe())
    assert made == EmbeddingTexts(
        ["State 4\n[1] link 'One'\nState 5\n[1] link 'Two'\n[2] button 'Save'\nState 6\n[1] link 'Three'\n"],
        1.0,
        False,
    )


def test_cutting_may_lose_the_centre_and_centre_first_keeps_it():
    trees = ["a" * 60, "b" * 30, "c" * 60]
    cut = slice_texts(trees, [0, 1, 2], 1, Recipe(max_tokens=20))
    assert cut == EmbeddingTexts(["State 0\n" + "a" * 52], 0.0, True)
    part = slice_texts(trees, [0, 1, 2], 1, Recipe(max_tokens=30))
    assert part.texts == ["State 0\n" + "a" * 60 + "\nState 1\n" + "b" * 13]
    assert part.centre_share == 13 / 30
    first = slice_texts(trees, [0, 1, 2], 1, Recipe("centre_first", max_tokens=20))
    assert first == EmbeddingTexts(["State 1\n" + "b" * 30 + "\nState 0\n" + "a" * 13], 1.0, True)


def test_chunks_stay_within_a_state_and_occur_once():
    made = slice_texts(["a\nb\nc\n\nd", "a\nb\nc\nx"], [0, 1], 1, Recipe("chunks"))
    assert made == EmbeddingTexts(["a\nb\nc", "d", "x"], 1.0, False)


def test_a_long_line_is_cut_in_chunks_too():
    made = slice_texts(["a" * 1_500_000 + "\nb"], [0], 0, Recipe("chunks", max_tokens=10, chunk_lines=1))
    assert made.texts == ["a" * 30, "b"]
    assert made.was_cut
    assert made.centre_share == 31 / 1_500_001


@pytest.mark.parametrize("long_text", ["cut", "centre_first", "chunks"])
@pytest.mark.parametrize("clean", [False, True])
def test_empty_trees_have_no_text(long_text, clean):
    recipe = Recipe(long_text, clean=clean)
    assert slice_texts(["", " \n\t"], [0, 1], 0, recipe) == EmbeddingTexts([], 1.0, False)
    beside = slice_texts(["", "[1] link 'Here'"], [0, 1], 0, recipe)
    assert "Here" in beside.texts[-1]


def test_only_text_without_content_is_dropped_by_cleaning():
    assert slice_texts(["[1] list '', visible\n[2] listitem ''"], [0], 0, Recipe(clean=True)).texts == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("\t[77] link 'Tarps', clickable, visible, url='http://x/2/'", "link Tarps"),
        ("\t[a9] link 'Tarps'", "link Tarps"),
        ("\tStaticText 'Total:'", "Total:"),
        ("[3] textbox 'Search' value='rope', clickable, focused", "textbox Search value=rope"),
        ("[4] option 'Newest', selected=False", "option Newest"),
        ("[4] option 'Newest', selected=True", "option Newest selected"),
        ("[5] checkbox '', checked='true', required", "checkbox checked required"),
        ("[6] list '', visible", ""),
        ("stray, text", "stray, text"),
    ],
)
def test_clean_line(line, text):
    assert clean_line(parse_line(line)) == text


_trees = st.lists(st.text(alphabet="ab \n\t'[]1", max_size=40), min_size=1, max_size=3)
_recipes = st.builds(
    Recipe,
    st.sampled_from(["cut", "centre_first", "chunks"]),
    st.integers(1, 20),
    st.integers(1, 4),
    st.booleans(),
)


@settings(deadline=None, max_examples=200)
@given(_trees, st.integers(0, 2), _recipes)
def test_texts_keep_the_limit_and_the_share_tells_what_is_lost(trees, centre, recipe):
    centre = min(centre, len(trees) - 1)
    made = slice_texts(trees, range(len(trees)), centre, recipe)
    assert all(text.strip() for text in made.texts)
    assert all(len(text) <= recipe.max_tokens * CHARS_PER_TOKEN for text in made.texts)
    assert len(set(made.texts)) == len(made.texts)
    assert 0 <= made.centre_share <= 1
    assert made.was_cut or made.centre_share == 1


@pytest.mark.parametrize(
    "options",
    [{"long_text": "chunk"}, {"max_tokens": 0}, {"chunk_lines": 0}],
    ids=lambda options: str(options),
)
def test_wrong_recipes_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Recipe(**options)


def test_the_centre_must_be_in_the_slice():
    with pytest.raises(ValueError, match="centre state 3"):
        slice_texts(["a"], [0], 3, Recipe())


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (
            "What is it called? Mark your final answer as a short phrase in \\boxed{}.",
            "What is it called?",
        ),
        (
            "Which?\nA. Pears\nB. Figs More than one option may be correct. "
            "Mark your final answer as a comma-separated list of letters in \\boxed{}.",
            "Which?\nA. Pears\nB. Figs",
        ),
        ("In which year? Answer with a number (e.g. 1999) in \\boxed{}.", "In which year?"),
        ("Please answer with one word. Where is it?", "Where is it?"),
        ("Where?\nYour final answer should be a list, one entry a line", "Where?"),
        ("Who? Give your answer in \\boxed{}. The screen shows a form.", "Who?  The screen shows a form."),
        ("What did they answer with a smile? Give the names only.", None),
        ("Answer with yes or no.", None),
    ],
)
def test_answer_format_sentences(question, query):
    assert question_query_text(question, True) == (query or question)
    assert question_query_text(question, False) == question
