"""The extractive engine knows nothing of the bundled dataset, and answers alike in every process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import lmev2.llm.embedded
from lmev2.llm.embedded.text import quoted, word_set

ROOT = Path(__file__).parents[2]
# Product names and renamed things of the bundled applications (its data card).
OWN_WORDS = word_set(
    """
    larkspur slipway quillmark oscar machina helpdesk django satchel slip slips chit chits depot
    carriage shortfall gangway sieve sieves sift lantern stove kiln forklift playbook crew lane
    urgency dispatch aisle bin gate county voucher tallies rounds
    """
)


def sources() -> str:
    folder = Path(lmev2.llm.embedded.__file__).parent
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))).lower()


def test_no_word_of_the_bundled_applications():
    text = sources()
    assert [word for word in sorted(OWN_WORDS) if re.search(rf"\b{word}\b", text)] == []


def test_no_phrase_of_the_bundled_questions_and_answers():
    text = sources()
    phrases = set()
    with (ROOT / "resources/mini/questions.jsonl").open(encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            phrases.update(quoted(row["question"]))
            if not row["eval_function"].startswith("llm"):
                phrases.update(part.strip() for part in re.split("[,;]", row["answer"]))
    named = [phrase for phrase in sorted(phrases) if len(phrase.split()) > 1]
    assert len(named) > 40
    assert [phrase for phrase in named if phrase.lower() in text] == []


def test_replies_do_not_depend_on_the_process():
    code = (
        "import json, pathlib, sys\nfrom lmev2.llm.embedded.reader import read\n"
        "page = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')\n"
        "for line in page.split('\\n\\n')[1:]:\n    print(read(line, [page]))\n"
    )
    replies = set()
    for seed in ("1", "2", "3"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).with_name("test_embedded_reader.py"))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        replies.add(done.stdout)
    assert len(replies) == 1 and replies.pop().count("boxed") > 10
