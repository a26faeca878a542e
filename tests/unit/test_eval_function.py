import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.eval_function import (
    DETERMINISTIC,
    EVALUATORS,
    JUDGED,
    EvalFunction,
    EvalFunctionError,
    parse_eval_function,
)


def options(text):
    return parse_eval_function(f"norm_phrase_set_match|{text}").options


def test_the_typical_text():
    function = parse_eval_function(
        "norm_phrase_set_match|lower=true|normalize_hyphen=true|strip_punct=true|separators=,;|require_non_empty=true"
    )
    assert function == EvalFunction(
        "norm_phrase_set_match",
        {
            "lower": True,
            "normalize_hyphen": True,
            "strip_punct": True,
            "separators": [",", ";"],
            "require_non_empty": True,
        },
    )
    assert not function.judged


def test_the_six_evaluators():
    assert {"llm_gotchas_checker", "llm_abstention_checker"} == JUDGED
    assert len(DETERMINISTIC) == 4 and not DETERMINISTIC & JUDGED
    for name in EVALUATORS:
        assert parse_eval_function(name) == EvalFunction(name, {})
        assert parse_eval_function(name).judged == (name in JUDGED)


def test_blanks_and_empty_parts_do_not_count():
    assert parse_eval_function(" mc_choice_match || strip_chars = . | ") == EvalFunction(
        "mc_choice_match", {"strip_chars": "."}
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("none", None),
        ("Null", None),
        ("0", 0),
        ("-3", -3),
        ("1.5", 1.5),
        ("yes", "yes"),
        ("", ""),
        ("a=b", "a=b"),
    ],
)
def test_values(text, value):
    found = options(f"lower={text}")["lower"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "on"), [("yes", True), ("1", True), ("0", False), ("none", False), ("", False)]
)
def test_switches_work_by_truth(text, on):
    function = parse_eval_function(f"norm_phrase_set_match|require_non_empty={text}")
    assert function.require_non_empty is on


def test_switches_are_on_by_default():
    assert parse_eval_function("llm_gotchas_checker").require_non_empty


@pytest.mark.parametrize(
    ("text", "separators"),
    [
        (",;", [",", ";"]),
        ("and", ["a", "n", "d"]),
        ("", []),
        ("[]", []),
        ('[" and ",";"]', [" and ", ";"]),
        (r'["\n"]', ["\n"]),
        ('["a"', ["[", '"', "a", '"']),
        ("{}", ["{", "}"]),
        ("0", ["0"]),
        ("=", ["="]),
        ("|", []),
    ],
)
def test_separators(text, separators):
    assert options(f"separators={text}")["separators"] == separators


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        (None, "is empty"),
        ("|lower=true", "'' is not an evaluator"),
        ("norm_phrase_match", "did you mean 'norm_phrase_set_match'"),
        ("Norm_Phrase_Set_Match", "not an evaluator"),
        ("os", "use one of llm_abstention_checker, "),
        ("norm_phrase_set_match|lower", "'lower' has no '='"),
        ("norm_phrase_set_match|=1", "'=1' has no key"),
        ("norm_phrase_set_match|lower=1|lower=0", "'lower' is given twice"),
        ("norm_phrase_set_match|separator=,", "did you mean 'separators'"),
        ('norm_phrase_set_match|separators=["|"]', "has no '='"),
        ("norm_phrase_set_match_ordered|separators=none", "separators=None is no list of strings"),
        ("norm_phrase_set_match|separators=[1]", "separators=.* is no list of strings"),
        ("mc_choice_match|strip_chars=1", "strip_chars=1 is no text"),
    ],
)
def test_a_fault_is_named_with_its_remedy(text, message):
    with pytest.raises(EvalFunctionError, match=message) as caught:
        parse_eval_function(text)
    assert repr(text) in str(caught.value)


def test_other_evaluators_ignore_options_that_they_do_not_know():
    assert parse_eval_function("mc_choice_match|lower=true|separators=none").name == "mc_choice_match"


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(["", *sorted(EVALUATORS)]), st.text('|= [],;"1ae\\', max_size=20))
def test_any_text_parses_or_raises_the_one_error(name, rest):
    try:
        function = parse_eval_function(f"{name}{rest}")
    except EvalFunctionError:
        return
    assert function.name in EVALUATORS and "" not in function.options


def test_ingest_can_use_it_without_the_judge():
    code = "import sys, lmev2.eval_function; sys.exit('lmev2.judge' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
