import hashlib
import re
from pathlib import Path

import pytest

from lmev2.prompts import FOLDER, PromptError, Prompts, fill, prompt_params, template_names


def test_params_hold_the_hash_of_each_template_of_the_stems():
    params = prompt_params(("notes.",), {})
    assert set(params) == {name for name in template_names() if name.startswith("notes.")}
    text = (FOLDER / "notes.user.md").read_bytes()
    assert params["notes.user"] == {"sha256": hashlib.sha256(text).hexdigest()}


def test_a_file_of_the_users_takes_the_place_of_a_template(tmp_path):
    mine = tmp_path / "mine.md"
    mine.write_text("Say $word.\n")
    params = prompt_params(("reader.system",), {"reader.system": str(mine), "notes.user": "elsewhere.md"})
    assert params == {
        "reader.system": {"sha256": hashlib.sha256(b"Say $word.\n").hexdigest(), "path": str(mine)}
    }
    assert Prompts(params).fill("reader.system", word="hello") == "Say hello."
    assert Prompts(params).sha256 != Prompts(prompt_params(("reader.system",), {})).sha256


def test_a_missing_file_of_the_users_is_named(tmp_path):
    with pytest.raises(PromptError, match=r"prompts\.reader\.system: there is no file .*nowhere\.md"):
        prompt_params(("reader.",), {"reader.system": str(tmp_path / "nowhere.md")})


def test_a_template_edited_during_a_run_is_not_used(tmp_path):
    mine = tmp_path / "mine.md"
    mine.write_text("old")
    params = prompt_params(("reader.system",), {"reader.system": str(mine)})
    mine.write_text("new")
    with pytest.raises(PromptError, match="was edited after the run began: run again"):
        Prompts(params)


def test_values_are_taken_as_they_are():
    text = "costs $5, ${name}, \\boxed{x}"
    assert fill("Q: $question ($$5)", question=text) == f"Q: {text} ($5)"


@pytest.mark.parametrize("template", ["Pay 5 $", "Pay $5", "Say $other", "Say ${word"])
def test_a_stray_dollar_or_an_unknown_placeholder(template):
    with pytest.raises(PromptError, match=r"the prompt beginning '(Pay|Say).*it may use \['word'\]"):
        fill(template, word="x")


def test_every_template_is_sound():
    for name in template_names():
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        placeholders = set(re.findall(r"\$([a-z_]+)", text))
        filled = fill(text, **dict.fromkeys(placeholders, "value"))
        assert filled == filled.strip()
        assert filled or name == "reader.intro"  # which is for those who want one


def test_prompts_is_a_mapping_of_texts():
    prompts = Prompts(prompt_params(("reader.",), {}))
    assert len(prompts) == len(list(prompts)) == 3
    assert prompts["reader.system"] == Path(FOLDER / "reader.system.md").read_text(encoding="utf-8")
