"""Goal sanitisation (paper, appendix A.1): goals replaced wherever a trajectory repeats them.

A file maps original goals to rewritten ones. Where a trajectory has the original goal, the goal is replaced,
and so is every repetition of it in the trees, actions and thoughts of its states.
"""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmev2.ingest.defects import Defect, Place, text_field
from lmev2.ingest.jsonl import read_json_object, read_jsonl
from lmev2.store import write_csv

# A Python string literal, as names stand in trees and texts in actions.
_LITERAL = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_IF_MISSING = "mend dataset.goal_rewrites"

# Field of a state (released layout or an older one) -> what the report calls it.
_FIELDS = {
    "accessibility_tree": "trees",
    "text": "trees",
    "action": "actions",
    "thought": "thoughts",
    "thoughts": "thoughts",
}
_PLACES = ("goals", *dict.fromkeys(_FIELDS.values()))


@dataclass
class Rewrite:
    """One original goal, its new text, and where it was found.

    Attributes:
        original: the goal as trajectories have it; white space counts as one space.
        rewritten: what stands in its place.
        trajectories: ids of those that have the goal.
        replaced: number of replacements by place: goals, trees, actions, thoughts.
        left: repetitions that were recognised but stand in a quotation of their own kind, and so were left.
    """

    original: str
    rewritten: str
    trajectories: list[str] = field(default_factory=list)
    replaced: Counter[str] = field(default_factory=Counter)
    left: int = 0

    def __post_init__(self) -> None:
        words = self.original.split()
        self._plain = re.compile(r"\s+".join(map(re.escape, words)))
        self._plain_or_literal = re.compile(f"(?P<plain>{self._plain.pattern})|{_LITERAL}")
        # Quoted in whatever way, the letters and digits stay what they are.
        self._sure = max(re.findall("[A-Za-z0-9]+", self.original), key=len, default="")
        self._quoted = re.compile(r"(?:\s|\\+[ntr])+".join(map(_with_backslashes, words)))

    def apply(self, text: str, *, literals: bool = True) -> tuple[str, int]:
        """Replace the goal in a text; with the number of replacements.

        Inside a Python literal it is replaced in the text that the literal stands for, and the literal
        is written anew, so that quotes in goals stay right. With `literals` off, quotes are those of
        prose and mean nothing.
        """
        if self._sure not in text:
            return text, 0
        count = 0

        def replaced(match: re.Match[str]) -> str:
            nonlocal count
            if not literals or match["plain"]:
                count += 1
                return self.rewritten
            new, n = self._within(match[0])
            count += n
            return new

        new = (self._plain_or_literal if literals else self._plain).sub(replaced, text)
        self.left += not count and bool(self._quoted.search(text))
        return new, count

    def _within(self, literal: str) -> tuple[str, int]:
        if self._sure not in literal:
            return literal, 0
        try:
            with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # unknown escapes
                value = ast.literal_eval(literal)
        except (SyntaxError, ValueError):
            return literal, 0
        value, count = self._plain.subn(lambda _: self.rewritten, value)
        return repr(value) if count else literal, count


def _with_backslashes(word: str) -> str:
    """A pattern for a word in which quotes and backslashes may be escaped."""
    parts = re.findall(r"""\\*['"]|\\+|[^\\'"]+""", word)
    return "".join(
        r"\\*" + part[-1] if part[-1] in "'\"" else r"\\+" if part[0] == "\\" else re.escape(part)
        for part in parts
    )


class GoalRewrites:
    """The rewritten goals of a dataset."""

    def __init__(self, rewrites: Iterable[Rewrite] = ()) -> None:
        self.rewrites = {_squeezed(rewrite.original): rewrite for rewrite in rewrites}

    @classmethod
    def read(cls, path: Path, defects: list[Defect]) -> "GoalRewrites":
        """Read the mapping, and file what is wrong with it.

        The file is one JSON object, original goal to rewritten one, or (`.jsonl`) has one object
        `{"original": …, "rewritten": …}` a line.
        """
        place = Place(defects, path.as_posix())
        found: dict[str, Rewrite] = {}
        for here, original, rewritten in _entries(path, place):
            if not rewritten.strip():
                here.add(f"the goal {original!r} is rewritten to nothing", "give it a text")
            elif _squeezed(original) in found:
                here.add(f"the goal {original!r} occurs twice, white space aside", "keep one entry")
            else:
                found[_squeezed(original)] = Rewrite(original, rewritten)
        return cls(found.values())

    def apply(self, rows: Iterable[tuple[Place, dict[str, Any]]]) -> Iterator[tuple[Place, dict[str, Any]]]:
        """The rows of trajectories.jsonl (in any layout) with rewritten goals."""
        for place, row in rows:
            self._rewrite(row)
            yield place, row

    def _rewrite(self, row: dict[str, Any]) -> None:
        metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else {}
        holders = [(holder, key) for holder in (row, metadata) for key in ("goal", "original_goal")]
        goals = [(holder, key, _goal(holder.get(key))) for holder, key in holders if key in holder]
        rewrite = next((self.rewrites[goal] for *_, goal in goals if goal in self.rewrites), None)
        if rewrite is None:
            return
        rewrite.trajectories.append(str(row.get("id")))
        for holder, key, goal in goals:
            if goal == _squeezed(rewrite.original):
                holder[key] = rewrite.rewritten
                rewrite.replaced["goals"] += 1
        states = row.get("states" if "states" in row else "content")
        for state in states if isinstance(states, list) else ():
            observation = state.get("observation") if isinstance(state, dict) else None
            for holder in (state, observation):
                for key, name in _FIELDS.items() if isinstance(holder, dict) else ():
                    if isinstance(text := holder.get(key), str):
                        holder[key], count = rewrite.apply(text, literals=name != "thoughts")
                        rewrite.replaced[name] += count

    def notices(self) -> list[str]:
        """What to tell in short: what was replaced, and what was not found."""
        if not self.rewrites:
            return []
        found = [rewrite for rewrite in self.rewrites.values() if rewrite.trajectories]
        total: Counter[str] = Counter()
        for rewrite in found:
            total.update(rewrite.replaced)
        lines = [
            f"goals rewritten in {sum(len(rewrite.trajectories) for rewrite in found)} trajectories: "
            + ", ".join(f"{total[name]} in {name}" for name in _PLACES)
        ]
        if missing := len(self.rewrites) - len(found):
            lines.append(f"{missing} of {len(self.rewrites)} goals to rewrite are no trajectory's goal")
        if left := sum(rewrite.left for rewrite in found):
            lines.append(f"{left} texts repeat a goal in another quotation and were left as they are")
        return lines

    def write_report(self, path: str | Path) -> None:
        """Write a CSV file with one line a rewritten goal: where it was replaced, and where not."""
        rows = [
            {
                "original": rewrite.original,
                "rewritten": rewrite.rewritten,
                "found": len(rewrite.trajectories),
                **{name: rewrite.replaced[name] for name in _PLACES},
                "left": rewrite.left,
                "trajectories": " ".join(rewrite.trajectories),
            }
            for rewrite in self.rewrites.values()
        ]
        write_csv(path, rows, ["original", "rewritten", "found", *_PLACES, "left", "trajectories"])


def _entries(path: Path, place: Place) -> Iterator[tuple[Place, str, str]]:
    if path.suffix == ".jsonl":
        for here, row in read_jsonl(path, place, "original"):
            original, rewritten = (
                text_field(here, row, "original"),
                text_field(here, row, "rewritten", blank=True),
            )
            if original is not None and rewritten is not None:
                yield here, original, rewritten
        return
    mapping: Mapping[str, Any] = read_json_object(path, place, _IF_MISSING) or {}
    for original, rewritten in mapping.items():
        here = place.at(id=original)
        if not original.strip() or not isinstance(rewritten, str):
            here.add("it is no pair of goals", 'write {"original goal": "rewritten goal", ...}')
        else:
            yield here, original, rewritten


def _squeezed(goal: str) -> str:
    return " ".join(goal.split())


def _goal(value: Any) -> str | None:
    """A goal as older and newer layouts hold it: text, or the list of its parts."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " ".join(value)
    return _squeezed(value) if isinstance(value, str) else None
