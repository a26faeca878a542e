import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.boxed import is_unknown, parse_boxed
from lmev2.eval_function import EvalFunctionError, parse_eval_function
from lmev2.judge.evaluators import AnswerError, score_deterministic
from lmev2.judge.normalise import normalise, split_phrases

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def vectors(name):
    lines = (VECTORS / name).read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def test_every_row_of_the_normalisation_vectors():
    functions = {"normalize_phrase": normalise, "split_phrases": split_phrases}
    rows = vectors("normalise.jsonl")
    wrong = [row for row in rows if functions[row["fn"]](row["text"], **row["kwargs"]) != row["expected"]]
    assert len(rows) == 577 and not wrong


def test_every_row_of_the_scoring_vectors():
    wrong = []
    rows = vectors("scoring.jsonl")
    for row in rows:
        response = row["prediction_raw"]
        prediction = parse_boxed(response).prediction if isinstance(response, str) else response
        unknown = isinstance(prediction, str) and is_unknown(prediction)
        score, failed = None, False
        try:
            function = parse_eval_function(row["eval_function"])
            if not function.judged:
                score = score_deterministic(function, prediction, row["answer"])
            elif function.require_non_empty and not prediction:
                score = False
            else:
                failed = True  # the reference has no judge either
        except (EvalFunctionError, AnswerError):
            failed = True
        if (
            prediction != row["parsed_boxed"]
            or unknown != bool(row["is_unknown"])
            or score != row["expected_bool"]
            or failed != bool(row["expected_error"])
            or (row.get("harness_score") is not None and (score and not unknown) != row["harness_score"])
        ):
            wrong.append(row)
    assert len(rows) == 740 and not wrong


def score(text, prediction, answer):
    return score_deterministic(parse_eval_function(text), prediction, answer)


@pytest.mark.parametrize(
    ("text", "prediction", "answer", "right"),
    [
        ("norm_phrase_set_match", "The Blue-Tag, then red", "red; blue tag", True),
        ("norm_phrase_set_match", "bluetag, red", "red; blue tag", False),
        ("norm_phrase_set_match", "a, b", "a, b, b", True),
        ("norm_phrase_set_match_ordered", "a, b", "a, b, b", False),
        ("norm_phrase_set_match_ordered", "red, blue tag", "red; blue tag", True),
        ("norm_phrase_set_match_ordered", "blue tag, red", "red; blue tag", False),
        ("norm_phrase_set_match", "Red", "red", True),
        ("norm_phrase_set_match|lower=false", "Red", "red", False),
        ("norm_phrase_set_match|separators=", "b, a", "a, b", False),
        ("norm_phrase_set_match|separators=", "x a b", "a, b", True),
        ("norm_phrase_set_match", "", "", False),
        ("norm_phrase_set_match|require_non_empty=false", "", "", True),
        ("mc_choice_match", "Option b.", "B", True),
        ("mc_choice_match", "B or C", "B", False),
        ("mc_choice_match", "(b)", "B", False),
        ("mc_choice_match|strip_chars=()", "(b)", "B", True),
        ("mc_choice_match", "", "", False),
        ("mc_choice_set_match", "Final answer: C and A", "A, C", True),
        ("mc_choice_set_match", "A", "A, C", False),
        ("mc_choice_set_match", "A, B, C", "A, C", False),
    ],
)
def test_examples(text, prediction, answer, right):
    assert score(text, prediction, answer) is right


def test_a_reference_that_is_no_text_is_refused():
    with pytest.raises(AnswerError, match="must be a string, not 5"):
        score("norm_phrase_set_match", "5", 5)


def test_a_judged_evaluator_is_refused():
    with pytest.raises(ValueError, match="needs a judge"):
        score("llm_gotchas_checker", "a", "b")


# Upper case without final sigma and dotted I, whose lower case depends on the neighbours.
_text = st.text(st.sampled_from("aAbBéÉ19 ,;-_.'$()|\n\u0301\u2013你"), max_size=20)
_words = st.lists(st.sampled_from(["red", "Blue", "co-op", "1,000", "x_y", "don't"]), min_size=1, max_size=4)


@settings(deadline=None, max_examples=100)
@given(_text)
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


@settings(deadline=None, max_examples=100)
@given(_text)
def test_the_reference_itself_is_right_if_it_holds_any_phrase(answer):
    for name in ("norm_phrase_set_match", "norm_phrase_set_match_ordered"):
        assert score(name, answer, answer) is bool(split_phrases(answer))


@settings(deadline=None, max_examples=100)
@given(_text, _text)
def test_what_is_right_in_order_is_right_without(prediction, answer):
    if score("norm_phrase_set_match_ordered", prediction, answer):
        assert score("norm_phrase_set_match", prediction, answer)


@settings(deadline=None, max_examples=100)
@given(_words, _text, _text)
def test_words_around_the_phrases_do_no_harm(words, before, after):
    answer = "; ".join(words)
    for name in ("norm_phrase_set_match", "norm_phrase_set_match_ordered"):
        assert score(name, f"{before} {answer} {after}", answer)


@settings(deadline=None, max_examples=100)
@given(
    st.sets(st.sampled_from("ABCDEF"), min_size=1),
    st.sets(st.sampled_from("ABCDEF"), min_size=1),
    st.randoms(),
)
def test_sets_of_letters_match_in_any_order(given_letters, answer_letters, random):
    shuffled = random.sample(sorted(given_letters), len(given_letters))
    prediction = f"Options {' and '.join(shuffled)}."
    assert score("mc_choice_set_match", prediction, ", ".join(sorted(answer_letters))) is (
        given_letters == answer_letters
    )
