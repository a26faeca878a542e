"""Prompt templates: the `*.md` files of this folder, each replaceable by a file of the user's.

Placeholders are `$name` (`string.Template`); a literal dollar sign is `$$`. The line end that closes the file
is not part of the text; all other white space is.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

from lmev2.errors import UserError

FOLDER = Path(__file__).parent


class PromptError(UserError):
    """A template is missing or asks for a value that it is not given."""


def template_names() -> list[str]:
    """The names of all templates."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def prompt_files(stems: tuple[str, ...], overrides: Mapping[str, str]) -> dict[str, Path]:
    """Name -> file of the templates whose names begin with one of `stems`, the user's files first."""
    names = [name for name in template_names() if name.startswith(stems)]
    return {name: Path(overrides.get(name, FOLDER / f"{name}.md")) for name in names}


def prompt_params(stems: tuple[str, ...], overrides: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For a rule's params: name -> sha256 of the text, and the user's path where one is set.

    Raises:
        PromptError: a file of the user's does not exist.
    """
    params = {}
    for name, path in prompt_files(stems, overrides).items():
        if not path.is_file():
            raise PromptError(f"prompts.{name}: there is no file {path}")
        params[name] = {"sha256": _sha256(_read(path)), **({"path": str(path)} if name in overrides else {})}
    return params


class Prompts(Mapping[str, str]):
    """The templates that a rule's params name: name -> text."""

    def __init__(self, params: Mapping[str, Mapping[str, str]]) -> None:
        self._texts = {
            name: _read(Path(entry.get("path", FOLDER / f"{name}.md"))) for name, entry in params.items()
        }
        for name, text in self._texts.items():
            if _sha256(text) != params[name]["sha256"]:
                raise PromptError(f"prompt {name!r} was edited after the run began: run again")

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def fill(self, name: str, **values: str) -> str:
        """The template `name` with its placeholders replaced."""
        return fill(self[name], **values)

    @property
    def sha256(self) -> str:
        """One digest over all templates."""
        return _sha256("".join(f"{name}:{_sha256(text)}" for name, text in sorted(self._texts.items())))


def fill(template: str, **values: str) -> str:
    """Replace the placeholders of `template`; values are taken as they are.

    Raises:
        PromptError: it has a placeholder without value, or a stray dollar sign.
    """
    try:
        return Template(template.removesuffix("\n")).substitute(values)
    except (KeyError, ValueError) as error:
        raise PromptError(
            f"the prompt beginning {template.strip()[:60]!r}: {error}; it may use {sorted(values)}"
        ) from error


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
