"""How well a place in the context is supported by the words of a question.

The weight of a question word is its inverse document frequency over the distinct lines of the context
itself. A place (line) earns a share of each weight by how near the word stands: on the line, in an
enclosing element or its label, some lines away, in the page's title, address or action, or only in the goal
of the run.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from lmev2.llm.embedded.page import Context
from lmev2.llm.embedded.question import INPUTS, KINDS
from lmev2.llm.embedded.text import NUMBER_STEMS, contains, stem, stems, terms, word_set

_HEADERS = frozenset({"rootwebarea", "url", "action", "thought", "heading"})
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w-]*|\b\w*\d[\w-]*")
_ACTS = frozenset(
    map(
        stem,
        word_set(
            """click press push choose select pick open show offer call enter type fill set use go find see
            look happen appear page form screen user site mark full exact follow new"""
        ),
    )
)
_ANCHOR, _FOCUS, _COMMON, _LACKING = 1.4, 1.4, 0.3, 0.08
_NEAR = 4.0  # lines after which a word counts half
_IN_HEADER, _IN_SEGMENT, _IN_PART = 0.4, 0.25, 0.15
_FEW_STATES = 4


class Evidence:
    """Evidence of the lines of one context for one question.

    Args:
        context: The parsed context.
        text: The question (or a part of it).
        phrases: Quoted names in it; each counts as one more term, as heavy as its words together.
        focus: Words for the thing asked; heavier, also when the context lacks them.
    """

    def __init__(
        self, context: Context, text: str, phrases: Iterable[str] = (), focus: frozenset[str] = frozenset()
    ) -> None:
        self.context = context
        self.asked = terms(text)
        lines = context.lines
        wanted = terms(text) - NUMBER_STEMS
        quoted = {phrase: stems(phrase) for phrase in phrases}
        frequency = dict.fromkeys([*sorted(wanted), *quoted, *(_exact(phrase) for phrase in quoted)], 0)
        distinct: dict[str, frozenset[str]] = {}
        places: list[dict[str, list[int]]] = [{} for _ in context.segments]
        self._keys: list[frozenset[str]] = []
        for index, line in enumerate(lines):
            shown = f"{line.name} {line.value}" if line.value else line.name
            keys = distinct.get(shown)
            if keys is None:
                found = set(wanted & terms(shown))
                if quoted:
                    sequence, name = stems(shown), stems(line.name)
                    for phrase, parts in quoted.items():
                        if contains(sequence, parts):
                            found.add(phrase)
                        if parts == name:
                            found.add(_exact(phrase))
                for term in found:
                    frequency[term] += 1
                keys = distinct[shown] = frozenset(found)
            self._keys.append(keys)
            for key in keys:
                places[line.segment].setdefault(key, []).append(index)
        self.missing = {key for key, count in frequency.items() if not count}
        self.weights = _weights(frequency, 1 + len(distinct), anchors(text, quoted), focus, quoted)
        self.total = sum(self.weights.values()) or 1.0
        self._places = places
        self._headers: list[set[str]] = []
        self._acted: list[set[str]] = []
        part_terms: dict[int, set[str]] = {}
        for segment, place in zip(context.segments, places, strict=True):
            header = {k for k, at in place.items() if any(lines[i].role in _HEADERS for i in at)}
            self._headers.append(header)
            self._acted.append(
                {p for p in quoted if any(lines[i].role == "action" for i in place.get(p, ()))}
            )
            prose = {k for k, at in place.items() if any(lines[i].role in ("goal", "outcome") for i in at)}
            part_terms.setdefault(segment.part, set()).update(prose)
        self._parts = part_terms
        self._previous = _previous_siblings(context)
        self._columns = _column_headers(context)
        self._recurrence, self._fresh = _recurrence(context)
        self._cache: dict[tuple[int, bool], float] = {}

    def covered(self, lines: Iterable[int]) -> float:
        """Return the share of the question's weight whose terms occur anywhere in some lines."""
        found = set().union(*(self._keys[index] for index in lines))
        return sum(weight for key, weight in self.weights.items() if key in found) / self.total

    def label(self, index: int) -> int:
        """Return the line that labels a line (the sibling before it), or -1."""
        return self._previous[index]

    def column(self, index: int) -> int:
        """Return the header of the column that a table cell stands in, or -1."""
        return self._columns.get(index, -1)

    def recurrence(self, text: str) -> float:
        """Return the share of page states that show a text; 0 with fewer than four states.

        Menus, banners and footers have a high share.
        """
        return self._recurrence.get(text, 0.0)

    def fresh(self, index: int) -> bool:
        """Tell whether a line's text is new against the page state before it in the same memory item."""
        return index in self._fresh

    def caused(self, index: int) -> bool:
        """Tell whether a line is new in a state that an action named in the question has led to."""
        return index in self._fresh and bool(self._acted[self.context.lines[index].segment])

    def frame(self, index: int) -> dict[int, float]:
        """Return the lines around a line (enclosing elements, what stands before them) with credits."""
        frame: dict[int, float] = {}
        if index in self._columns:
            frame[self._columns[index]] = 0.9
        credit, at = 0.9, index
        while at >= 0 and credit > 0.45:
            before = self._previous[at]
            # The text before a form field is its label, or the hint of the field before it.
            field = at == index and self.context.lines[at].role in INPUTS
            if before >= 0 and not (field and self.context.lines[before].role != "labeltext"):
                frame.setdefault(before, credit)
            at = self.context.lines[at].parent
            if at >= 0:
                frame.setdefault(at, credit)
            credit -= 0.12
        return frame

    def at(self, index: int, own: bool = True) -> float:
        """Return the evidence of a line as a share (0 to 1) of the question's weight.

        Args:
            index: The line.
            own: Whether words on the line itself count. They do for a passage that is read, not for a name
                that is
                itself the answer.
        """
        key = (index, own)
        if key not in self._cache:
            self._cache[key] = self._score(index, own)
        return self._cache[key]

    def _score(self, index: int, own: bool) -> float:
        segment = self.context.lines[index].segment
        place = self._places[segment]
        header = self._headers[segment]
        part = self._parts.get(self.context.segments[segment].part, set())
        framed: dict[str, float] = {}
        for at, credit in self.frame(index).items():
            for key in self._keys[at]:
                framed[key] = max(credit, framed.get(key, 0.0))
        # A heading or label stands before what it describes, but a form field's hint stands after the field.
        ahead, behind = (0.7, 0.95) if self.context.lines[index].role in INPUTS else (1.0, 0.8)
        score = 0.0
        for term, weight in self.weights.items():
            positions = place.get(term)
            credit = 0.0
            if positions:
                at = bisect_left(positions, index)
                here = at < len(positions) and positions[at] == index
                if here and own:
                    score += weight
                    continue
                if at:
                    credit = ahead / (1 + (index - positions[at - 1]) / _NEAR)
                after = at + here
                if after < len(positions):
                    credit = max(credit, behind / (1 + (positions[after] - index) / _NEAR))
                credit = max(credit, _IN_SEGMENT, framed.get(term, 0.0))
            if credit < _IN_HEADER and term in header:
                credit = _IN_HEADER
            elif credit < _IN_PART and term in part:
                credit = _IN_PART
            score += weight * credit
        return score / self.total


def _exact(phrase: str) -> str:
    """Return the key under which lines named exactly as a quoted phrase are counted."""
    return f"={phrase}"


def anchors(text: str, phrases: Iterable[str]) -> frozenset[str]:
    """Return the stems to be met literally: in quotes, with digits, or capitalised in a sentence."""
    found = {word for phrase in phrases for word in terms(phrase)}
    for match in _NAME.finditer(text):
        found |= terms(match[0])
    return frozenset(found)


def _weights(
    frequency: dict[str, int],
    total: int,
    anchored: frozenset[str],
    focus: frozenset[str],
    phrases: Iterable[str],
) -> dict[str, float]:
    """Weigh the terms: rare ones more, words for controls less, absent ones less unless names."""
    weights = {}
    for term, count in frequency.items():
        weight = math.log(1 + (total - count + 0.5) / (count + 0.5))
        if term in anchored:
            weight *= _ANCHOR
        elif term in KINDS or term in _ACTS:
            weight *= _COMMON if count else _LACKING
        elif term in focus:
            weight *= _FOCUS
        elif not count:
            weight *= _LACKING
        weights[term] = weight
    for phrase in phrases:
        words_in = terms(phrase)
        whole = max(sum(weights[t] for t in sorted(words_in)), weights[phrase])
        weights[phrase] = weights[_exact(phrase)] = whole / 2
    return weights


def _previous_siblings(context: Context) -> list[int]:
    """Return for each line the index of the sibling before it in its segment, or -1."""
    previous, last = [], {}
    for index, line in enumerate(context.lines):
        key = (line.segment, line.parent)
        previous.append(last.get(key, -1) if line.depth >= 0 else -1)
        last[key] = index
    return previous


def _recurrence(context: Context) -> tuple[dict[str, float], set[int]]:
    """Return the share of page states per text, and the lines that are new against the state before."""
    states = [s for s in context.segments if any(context.lines[i].bid for i in range(s.start, s.end))]
    counts: Counter[str] = Counter()
    fresh: set[int] = set()
    before: set[str] = set()
    part = -1
    for state in states:
        names = {context.lines[i].name for i in range(state.start, state.end)}
        counts.update(names)
        if state.part == part:
            fresh |= {i for i in range(state.start, state.end) if context.lines[i].name not in before}
        before, part = names, state.part
    share = {name: n / len(states) for name, n in counts.items()} if len(states) >= _FEW_STATES else {}
    return share, fresh


def _column_headers(context: Context) -> dict[int, int]:
    """Return for each table cell the line of its column's header (by position in the row)."""
    headers: dict[tuple[int, int], list[int]] = {}
    cells: dict[int, int] = {}
    position: dict[int, int] = {}
    tables: dict[int, int] = {}
    for index, line in enumerate(context.lines):
        if line.role in ("table", "grid", "treegrid"):
            tables[line.segment] = index
        if line.role in ("columnheader", "cell", "gridcell", "rowheader") and line.segment in tables:
            table = (line.segment, tables[line.segment])
            if line.role == "columnheader":
                headers.setdefault(table, []).append(index)
                continue
            at = position.get(line.parent, 0)
            position[line.parent] = at + 1
            if at < len(headers.get(table, ())):
                cells[index] = headers[table][at]
    return cells
