"""The embedded engines and the prompts are general: no word of the mini dataset's applications is in them."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MINI = ROOT / "resources" / "mini"
PACKAGE = ROOT / "workflow" / "lmev2"

# Words that the deployments have of their own, single ones, which no rule can tell from plain English.
OF_THEIR_OWN = (
    *("satchel", "chit", "chits", "slip", "slips", "sieve", "sieves", "sift", "tally", "tallies"),
    *("carriage", "depot", "playbook", "playbooks", "shortfall", "courier", "forklift", "crane", "stove"),
    *("oscar", "machina", "helpdesk", "gate code", "control room", "dispatch desk", "stock phrase"),
    *("desk log", "desk tag", "season tag", "office board", "stage flow", "red book"),
)
# Of the questions, but as plain as any page's: they may occur in a general text.
PLAIN = {
    *("assigned to", "move to", "where to", "attach file", "select option", "generate report", "a dash"),
    *("due date", "two digits", "two capitals", "add a line", "state county", "status changes"),
    *("low stock alerts", "ship to this address", "look up", "move order", "edit product", "past dispatch"),
    *("bulk move", "move stage", "delivery spot", "pin card"),
}


def plain(text):
    """Lower-case words with single spaces; identifiers and file names fall into their words."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)  # CamelCase
    return " ".join(re.findall(r"[a-z]+\d*|\d+", text.lower()))


@cache
def words_of_mini():
    rows = (MINI / "questions.jsonl").read_text(encoding="utf-8").split("\n")
    questions = [json.loads(row) for row in rows if row]
    families = json.loads((MINI / "families.json").read_text(encoding="utf-8"))
    phrases = set(OF_THEIR_OWN)
    for question in questions:
        phrases.add(question["environment"])
        phrases.add(question["environment"].partition("-")[0])
        phrases.update(re.findall(r"(?<!\w)'([^']{3,60})'(?!\w)", question["question"]))
        if question["eval_function"].startswith("norm_phrase"):
            phrases.update(re.split("[,;]", question["answer"]))
    phrases.update(entry["family"].partition("_")[2] for entry in families.values())
    phrases = {plain(phrase) for phrase in phrases}
    own = {plain(phrase) for phrase in OF_THEIR_OWN} | {"larkspur", "slipway", "quillmark"}
    # Single words of questions and answers ("Save", "8") prove nothing; codes such as KD1 do.
    return own | {phrase for phrase in phrases - PLAIN if " " in phrase or re.search(r"[a-z]\d", phrase)}


FILES = sorted(path for pattern in ("*.py", "*.md") for path in PACKAGE.rglob(pattern))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_word_of_the_mini_dataset(path):
    text = f" {plain(path.read_text(encoding='utf-8'))} "
    assert [word for word in sorted(words_of_mini()) if f" {word} " in text] == []


def test_the_words_are_found_where_they_are():
    words = words_of_mini()
    assert {"satchel", "larkspur", "gate code", "kd1", "rail parcel", "parking list"} <= words
    assert len(words) > 80
    text = f" {plain((MINI / 'trajectories.jsonl').read_text(encoding='utf-8'))} "
    found = [word for word in words if f" {word} " in text]
    assert len(found) > 60
