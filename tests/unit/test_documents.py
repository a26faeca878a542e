"""What the documents say is there."""

import re
from pathlib import Path

import pytest

from lmev2.cli import COMMANDS
from lmev2.records import SCHEMAS

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "config" / "README.md", *(ROOT / "docs").glob("*.md")])


def read(*parts):
    return (ROOT.joinpath(*parts)).read_text(encoding="utf-8")


def test_the_design_names_every_schema_and_no_other():
    rows = re.findall(r"^\| `[^`]+\.parquet` \| `(\w+)` \|", read("docs", "design.md"), re.MULTILINE)
    assert sorted(rows) == sorted(SCHEMAS)


def test_the_readme_is_short_and_names_every_command():
    text = read("README.md")
    assert len(text.splitlines()) <= 150
    assert set(re.findall(r"^\| `lmev2 (\w+)", text, re.MULTILINE)) == set(COMMANDS)


def test_the_document_shows_the_example_as_it_is():
    blocks = re.findall(
        r"^```python\n(.*?)\n```$", read("docs", "adding-a-method.md"), re.MULTILINE | re.DOTALL
    )
    assert "\n\n\n".join(blocks) + "\n" == read("docs", "examples", "keyword_memory.py")


def test_the_document_shows_the_entries_of_the_example():
    text = read("docs", "adding-a-method.md")
    shown = re.search(r"^```yaml\n# docs/examples/keywords.yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown[1] == read("docs", "examples", "keywords.yaml")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_document_names_are_there(document):
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"\]\(([\w./-]+)\)", text)
    missing = [name for name in named if not (document.parent / name).exists()]
    mentioned = re.findall(r"\b(?:docs|config|workflow|resources|profiles)/[\w./-]+\.(?:md|py|yaml)\b", text)
    missing += [name for name in mentioned if not (ROOT / name).exists()]
    mentioned = re.findall(r"(?<![/\w])lmev2/[\w/]+\.py\b", text)
    missing += [name for name in mentioned if not (ROOT / "workflow" / name).exists()]
    assert missing == []
