"""The official harness's prompts, taken from a user's checkout and turned into prompt files and a config.

What stands where in the checkout is a table of names (`MAP`); the texts stay the user's own. See
docs/reproducing.md for what is then byte-equal to the official requests.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import yaml

from lmev2.prompts import template_names
from lmev2.prompts.constants import PROMPT_LENGTH, Constant, Placeholder, find_constants
from lmev2.store import write_text

_JUDGE = "evaluation/qa_eval_metrics.py"
_HARNESS = "evaluation/harness.py"
_RUNBOOK = "memory_modules/agentrunbook_r.py"

# Template of ours -> where its text is in a checkout of the official repository.
MAP = {
    "reader.intro": f"{_HARNESS}:build_messages.intro_text",
    "reader.question": f"{_HARNESS}:build_messages.question_block",
    "judge_abstention.system": f"{_JUDGE}:_ABSTENTION_JUDGE_SYSTEM_PROMPT",
    "judge_abstention.user": f"{_JUDGE}:_build_abstention_judge_messages.user_prompt",
    "judge_gotchas.system": f"{_JUDGE}:_GOTCHAS_JUDGE_SYSTEM_PROMPT",
    "judge_gotchas.user": f"{_JUDGE}:_build_gotchas_judge_messages.user_prompt",
    "notes.system": "memory_modules/support.py:NOTE_GENERATION_SYSTEM_PROMPT",
    "notes.repair": "memory_modules/support.py:NOTE_GENERATION_REPAIR_SYSTEM_PROMPT",
    "events.system": f"{_RUNBOOK}:EVENT_GENERATION_SYSTEM_PROMPT",
    "events.repair": f"{_RUNBOOK}:EVENT_GENERATION_REPAIR_SYSTEM_PROMPT",
    "controller.system": f"{_RUNBOOK}:QUERY_GENERATION_SYSTEM_PROMPT",
    "controller.repair": f"{_RUNBOOK}:QUERY_REPAIR_SYSTEM_PROMPT",
    "agent_prompt": "memory_modules/codex.py:DEFAULT_PROMPT",
    "agent_plain": "memory_modules/codex.py:QUESTION_INSTRUCTIONS",
    "agent_workflow": "memory_modules/assets/agentrunbook_c/INSTRUCTION.md",
}
# The reader's two system prompts, one a domain: they become the config's `domains`.
DOMAINS = {domain: f"{_HARNESS}:DOMAIN_SYSTEM_PROMPTS[{domain}]" for domain in ("web", "enterprise")}
INSTRUCTION = f"{_RUNBOOK}:DEFAULT_EMBEDDING_QUERY_INSTRUCTION"
# What is put around the instruction; the official code does it in an expression.
INSTRUCTED = "Instruct: {instruction}\nQuery:"

# Names of theirs -> names of ours, for placeholders.
NAMES = {
    "question_text": "question",
    "reference_answer": "reference",
    "model_full_response": "response",
    "model_final_answer": "answer",
}
# The placeholders that a template may use; those that are not here may use none.
_JUDGED = frozenset({"question", "reference", "response", "answer"})
VALUES = {
    "reader.system": {"environment"},
    "reader.intro": {"empty"},
    "reader.question": {"question"},
    "controller.user": {"pools", "schema"},
    "controller.repair": {"schema"},
    **{f"judge_{kind}.{part}": _JUDGED for kind in ("abstention", "gotchas") for part in ("system", "user")},
}
# Appended to a text that the official code appends something to.
APPENDED = {"reader.intro": "${empty}"}

BACKSPACE = "\boxed"  # where the code meant a backslash and "boxed"
MENDED = "\\boxed"


@dataclass
class Extraction:
    """What came of a checkout.

    Attributes:
        templates: name -> text of a prompt file.
        domains: domain -> system prompt, as the code has it.
        instruction: before each query that is embedded; None if it was not found.
        taken: place -> names of ours that were made of it.
        missing: name of ours -> why it could not be made, though the map has it.
        unmapped: templates of ours that nothing in the map stands for.
        others: texts that nothing of ours was made of, and those that cannot be had.
    """

    templates: dict[str, str] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    instruction: str | None = None
    taken: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    unmapped: list[str] = field(default_factory=list)
    others: list[Constant] = field(default_factory=list)

    @property
    def has_backspace(self) -> bool:
        """Whether a domain's prompt has the backspace character."""
        return any(BACKSPACE in text for text in self.domains.values())


def extract(
    checkout: str | Path, more: Mapping[str, str] | None = None, names: Mapping[str, str] | None = None
) -> Extraction:
    """Take what can be had from a checkout.

    Args:
        checkout: its folder.
        more: template of ours -> place of theirs, on top of `MAP`.
        names: placeholder of theirs -> of ours, on top of `NAMES`.

    Raises:
        CheckoutError: the checkout cannot be read.
    """
    checkout = Path(checkout)
    constants = find_constants(checkout)
    names = {**NAMES, **(names or {})}
    result = Extraction()

    def take(our: str, place: str, values: Iterable[str], *, plain: bool = False) -> str | None:
        """The text at a place, as a template or, if `plain`, as it is; None if it is missing."""
        constant = _constant(checkout, place, constants)
        problem = constant.problem or _unfit(constant, names, values)
        if problem:
            result.missing[our] = f"{place}: {problem}"
            return None
        result.taken.setdefault(place, []).append(our)
        return "".join(map(str, constant.parts)) if plain else to_template(constant, names)

    for our, place in {**MAP, **(more or {})}.items():
        text = take(our, place, VALUES.get(our, ()))
        if text is not None:
            result.templates[our] = text + APPENDED.get(our, "")
    for domain, place in DOMAINS.items():
        text = take(f"domains.{domain}", place, (), plain=True)
        if text is not None:
            result.domains[domain] = text
    if result.domains:
        result.templates["reader.system"] = "${environment}"
    text = take("models.embedding.sampling.query_instruction", INSTRUCTION, (), plain=True)
    result.instruction = None if text is None else INSTRUCTED.format(instruction=text)
    for our in sorted(set(template_names()) - result.templates.keys() - result.missing.keys()):
        result.unmapped.append(our)
    result.others = _others(constants.values(), result.taken)
    return result


def _others(constants: Iterable[Constant], taken: Mapping[str, list[str]]) -> list[Constant]:
    return [
        constant
        for constant in constants
        if constant.place not in taken and (constant.problem or constant.length >= PROMPT_LENGTH)
    ]


def _constant(checkout: Path, place: str, constants: Mapping[str, Constant]) -> Constant:
    """The text at a place: a constant of a Python file, or a whole file of another kind."""
    if place in constants:
        return constants[place]
    file = checkout / place
    if ":" not in place and file.is_file():
        try:
            return Constant(place, 1, (file.read_text(encoding="utf-8"),))
        except UnicodeDecodeError as error:
            return Constant(place, 1, problem=f"it is no UTF-8: {error}")
    return Constant(place, 0, problem="there is no such text in the checkout")


def _unfit(constant: Constant, names: Mapping[str, str], values: Iterable[str]) -> str:
    """Why a text cannot be a prompt of ours; "" if it can."""
    values = set(values)
    for part in constant.parts:
        if isinstance(part, Placeholder) and names.get(part.name, part.name) not in values:
            offer = f"there is {', '.join(sorted(values))}" if values else "the prompt takes none"
            return f"it uses {{{part.name}}}, for which there is no value ({offer}; --name THEIRS=OURS)"
        # Read back, a \r would be a line end; lone surrogates are no UTF-8.
        if isinstance(part, str) and re.search("[\r\ud800-\udfff]", part):
            return "it has a character that a text file cannot hold"
    return ""


def to_template(constant: Constant, names: Mapping[str, str]) -> str:
    """A text as a template of ours: placeholders renamed, dollars doubled; braces are plain text."""
    return "".join(
        part.replace("$", "$$") if isinstance(part, str) else f"${{{names.get(part.name, part.name)}}}"
        for part in constant.parts
    )


def placeholders(template: str) -> set[str]:
    """The names that a template uses."""
    return set(Template(template).get_identifiers())


def write_prompts(extraction: Extraction, folder: str | Path) -> list[Path]:
    """Write the prompt files, `config.yaml` that uses them and, where it differs, `paper-bytes.yaml`.

    `config.yaml` has `\\boxed` where the official code has a backspace; `paper-bytes.yaml`, laid over it, has
    the domains' prompts byte for byte.

    Returns:
        the files written.
    """
    folder = Path(folder)
    written = []
    for name, text in extraction.templates.items():
        # The line end that closes a prompt file is not part of the text.
        written.append(_write(f"{text}\n", folder / f"{name}.md"))
    config: dict = {"prompts": {name: (folder / f"{name}.md").as_posix() for name in extraction.templates}}
    if extraction.domains:
        mended = {domain: text.replace(BACKSPACE, MENDED) for domain, text in extraction.domains.items()}
        config["domains"] = mended
    if extraction.instruction is not None:
        config["models"] = {"embedding": {"sampling": {"query_instruction": extraction.instruction}}}
    written.append(_write(_yaml(config), folder / "config.yaml"))
    if extraction.has_backspace:
        written.append(_write(_yaml({"domains": extraction.domains}), folder / "paper-bytes.yaml"))
    return written


def _yaml(config: Mapping) -> str:
    # Not folded: a text stays on one line, escaped where YAML needs it.
    return yaml.safe_dump(dict(config), sort_keys=True, width=10**6)


def _write(text: str, path: Path) -> Path:
    write_text(text, path)
    return path
