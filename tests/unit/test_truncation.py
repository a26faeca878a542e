"""Truncation against the reference's vectors, and what holds for every counter."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from lmev2.tokenizer import ImageRule, TokenizerCounter, TokenizerError, counter_of, tokenizer_file
from lmev2.truncation import ENVELOPE, ApproximateCounter, truncate

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/vectors/truncation.jsonl").read_text().splitlines()
]
CONTEXTS = {row["context"]: row["items"] for row in VECTORS if "items" in row}
SECTION = {
    "name": "approximate",
    "revision": "main",
    "chars_per_token": 3,
    "image_patch": 32,
    "image_extra": 2,
    "images": {},
}


def text(content):
    return {"kind": "text", "text": content, "width": None, "height": None}


def image(width, height):
    return {"kind": "image", "text": None, "width": width, "height": height}


def items_of(vector_items):
    return [
        text("x" * item["len"])
        if item["type"] == "text"
        else image(*map(int, item["len"].removesuffix(".png").split("x")))
        for item in vector_items
    ]


@cache
def tiny_tokenizer() -> Tokenizer:
    """A byte-level BPE of a few merges with Qwen's message marks as special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["[12] button 'Save', clickable\n[13] link 'Orders'\n"] * 9, trainer)
    return tokenizer


def counters():
    return [ApproximateCounter(), TokenizerCounter(tiny_tokenizer(), ImageRule(min_pixels=1024))]


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: f"{row['context']}-{row.get('max_tokens', 'all')}")
def test_agrees_with_the_reference(row):
    items = items_of(CONTEXTS[row["context"]])
    if "prefix_tokens" in row:
        assert ApproximateCounter().prefix_tokens(items) == row["prefix_tokens"]
        return
    if "expected_error" in row:
        with pytest.raises(ValueError, match="at least one token"):
            truncate(items, row["max_tokens"], ApproximateCounter())
        return
    cut = truncate(items, row["max_tokens"], ApproximateCounter())
    assert (cut.tokens, cut.kept, cut.tokens_kept, cut.was_truncated) == (
        row["original_tokens"],
        row["kept_items"],
        row["kept_tokens"],
        row["was_truncated"],
    )


ITEMS = st.lists(
    st.one_of(
        st.text(max_size=60).map(text),
        st.tuples(st.integers(1, 400), st.integers(1, 400)).map(lambda size: image(*size)),
    ),
    max_size=12,
)


@pytest.mark.parametrize("counter", counters(), ids=["approximate", "tokenizer"])
@settings(deadline=None, max_examples=80)
@given(items=ITEMS, budget=st.integers(1, 400))
def test_the_kept_prefix_is_within_budget_and_the_longest(counter, items, budget):
    cut = truncate(items, budget, counter)
    assert 0 <= cut.kept <= len(items)
    # Counted anew, as if the prefix were all there is.
    assert counter.prefix_tokens(items[: cut.kept])[-1] == cut.tokens_kept <= budget
    if cut.kept < len(items):
        assert counter.prefix_tokens(items[: cut.kept + 1])[-1] > budget
    assert cut.tokens == counter.prefix_tokens(items)[-1]
    assert cut.was_truncated == (cut.kept < len(items) and cut.tokens > cut.tokens_kept)


@pytest.mark.parametrize("counter", counters(), ids=["approximate", "tokenizer"])
@settings(deadline=None, max_examples=30)
@given(items=ITEMS, small=st.integers(1, 400), more=st.integers(0, 400))
def test_a_larger_budget_never_keeps_less(counter, items, small, more):
    assert truncate(items, small, counter).kept <= truncate(items, small + more, counter).kept


def test_each_text_is_tokenised_once_and_alone():
    seen = []

    class Watched(TokenizerCounter):
        def text(self, text):
            seen.append(text)
            return super().text(text)

    items = [text(f"item {n}") for n in range(50)] + [image(64, 64)]
    truncate(items, 100, Watched(tiny_tokenizer(), ImageRule()))
    assert seen == [*ENVELOPE, *(item["text"] for item in items[:-1])]


def test_a_tokenizer_counts_its_own_tokens():
    counter = TokenizerCounter(tiny_tokenizer(), ImageRule())
    trained = "[12] button 'Save', clickable\n"
    assert counter.text(trained) < len(trained) / 2  # merges are used
    assert counter.text("<|im_end|>") == 1
    assert counter.prefix_tokens([text(trained)]) == [
        0,
        counter.text(trained) + sum(counter.text(part) for part in ENVELOPE),
    ]


def test_truncation_settings_of_the_file_do_not_count(tmp_path):
    tokenizer = Tokenizer.from_str(tiny_tokenizer().to_str())
    tokenizer.enable_truncation(max_length=4)
    tokenizer.enable_padding(length=64)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    counter = counter_of({**SECTION, "name": str(tmp_path / "tokenizer.json")})
    assert counter.text("q" * 40) == 40
    assert counter.text("q") == 1


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((1280, 720), 40 * 22),  # 22.5 rounds to even
        ((64, 64), 64),  # scaled up to 256 x 256
        ((320, 320), 100),
        ((32, 6000), 188),
        ((8000, 8000), 128 * 128),  # scaled down to 4096 x 4096
    ],
)
def test_image_tokens_follow_the_family_rule(size, tokens):
    assert ImageRule().tokens(*size) == tokens + 2


@settings(deadline=None, max_examples=200)
@given(width=st.integers(32, 6000), height=st.integers(32, 6000))
def test_image_tokens_stay_within_the_pixel_limits(width, height):
    rule = ImageRule(min_pixels=4 * 1024, max_pixels=400 * 1024, extra=0)
    assert rule.tokens(width, height) >= 4
    if max(width, height) < 20 * min(width, height):  # a strip keeps one row even when it is too long
        assert rule.tokens(width, height) <= 400


def test_a_config_names_the_counter(tmp_path):
    tiny_tokenizer().save(str(tmp_path / "tokenizer.json"))
    assert counter_of({**SECTION, "chars_per_token": 4}) == ApproximateCounter(4, 32, 2)
    for name in (tmp_path, tmp_path / "tokenizer.json"):
        assert tokenizer_file(str(name)) == tmp_path / "tokenizer.json"
        counter = counter_of({**SECTION, "name": str(name), "images": {"extra": 7, "patch": 14}})
        assert counter.prefix_tokens([image(280, 280)])[-1] - sum(map(counter.text, ENVELOPE)) == 107
    assert tokenizer_file("Qwen/Qwen3.5-9B") is None
    assert tokenizer_file("approximate") is None


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(TokenizerError, match=r"no file .*nowhere/tokenizer\.json"):
        tokenizer_file(str(tmp_path / "nowhere" / "tokenizer.json"))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(TokenizerError, match=r"is not a tokenizer\.json"):
        counter_of({**SECTION, "name": str(tmp_path)})


def test_a_hub_name_without_network_says_what_to_do(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(TokenizerError, match=r"cannot get .*'Qwen/Qwen3\.5-9B'.*give its path"):
        counter_of({**SECTION, "name": "Qwen/Qwen3.5-9B"})
