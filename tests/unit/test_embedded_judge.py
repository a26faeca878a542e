"""The embedded judge's two rules on invented references."""

import json

import pytest

from lmev2.llm.embedded import chat
from lmev2.llm.embedded.judge import section

QUESTION = "In the field 'Humidity band', is 'Arctic' listed before 'Humid'?"
FLAW = "The question is flawed: 'Arctic' is not a choice; the field offers only Dry, Temperate and Humid."
INSIGHTS = (
    "The lending form keeps silent when the insurer is missing; nothing is stored until an insurer is chosen."
)


def verdict(system: str, reference: str, answer: str, response: str | None = None) -> dict:
    user = (
        f"<question>\n{QUESTION}\n</question>\n<reference>\n{reference}\n</reference>\n"
        f"<response>\n{answer if response is None else response}\n</response>\n<answer>\n{answer}\n</answer>"
    )
    reply = chat.complete([{"role": "system", "content": system}, {"role": "user", "content": user}])
    made = json.loads(reply)
    assert set(made) == {"label", "reason"} and made["label"] in (0, 1) and made["reason"]
    return made


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("There is no 'Arctic' here; it offers only Dry, Temperate, Humid.", 1),
        ("The premise is wrong: Arctic is not offered in that field.", 1),
        ("I have no access to the live environment.", 1),
        ("Arctic does not exist as a humidity band.", 1),
        ("before", 0),
        ("'Arctic' is listed before 'Humid'.", 0),
        ("UNKNOWN", 0),
        ("unknown", 0),
        ("", 0),
        ("I don't know; the memory does not mention it.", 0),
        ("There is no train on Sundays.", 0),
        ("'Arctic' is not shown at first, but it is listed before 'Humid'.", 0),
    ],
)
def test_abstention_rule(answer, label):
    assert verdict("Does the response find the wrong premise?", FLAW, answer)["label"] == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("The insurer is missing, so the form keeps silent.", 1),
        ("Nothing is stored because no insurer is chosen.", 1),
        ("The server is down for repairs; try tomorrow.", 0),
        ("The lending form does not keep silent when the insurer is missing.", 0),
        ("UNKNOWN", 0),
        ("", 0),
    ],
)
def test_gotchas_rule(answer, label):
    assert verdict("At least one insight must be present.", INSIGHTS, answer)["label"] == label


def test_the_rule_is_found_in_the_user_text_when_the_system_text_is_silent():
    user = (
        f"Is the premise found?\n<reference>{FLAW}</reference><response>x</response><answer>before</answer>"
    )
    assert json.loads(chat.complete([{"role": "user", "content": user}]))["label"] == 0


def test_without_an_answer_section_the_response_is_judged():
    user = f"<reference>{FLAW}</reference>\n<response>There is no 'Arctic' in this field.</response>"
    messages = [{"role": "system", "content": "premise"}, {"role": "user", "content": user}]
    assert json.loads(chat.complete(messages))["label"] == 1


def test_section_takes_the_last_one():
    assert section("<answer>a</answer> <answer> b </answer>", "answer") == "b"
    assert section("none", "answer") == ""
