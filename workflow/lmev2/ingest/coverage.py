"""coverage.jsonl: for each question and hop, every trajectory that holds the evidence (docs/benchmark.md)."""

from pathlib import Path
from typing import Any

from lmev2.ingest.defects import Defect, Place, id_field, text_field
from lmev2.ingest.jsonl import read_jsonl
from lmev2.ingest.known import Known

FILE = "coverage.jsonl"


def read_coverage(
    dataset: Path, questions: Known, trajectories: Known, defects: list[Defect]
) -> list[dict[str, Any]]:
    """The evidence labels as rows of the schema `coverage`, in file order; none without a file.

    A question without hops gives one row with null hop and trajectory, a hop without trajectories one
    row with null trajectory.
    """
    path = dataset / FILE
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = []
    seen: dict[str, int | None] = {}
    for place, row in read_jsonl(path, Place(defects, FILE), "question_id"):
        question_id = id_field(place, row, "question_id", seen)
        if question_id is not None:
            _check_question(place, question_id, "the question", questions)
        anchor = text_field(place, row, "anchor_question_id", nullable=True)
        if anchor is not None:
            _check_question(place, anchor, "the anchor question", questions)
        labels = _hops(place, row, questions.domains.get(question_id), trajectories)
        rows += [
            {"question_id": question_id, **label, "anchor_question_id": anchor}
            for label in labels or [_label(None, None, None)]
        ]
    return rows


def _label(hop: str | None, trajectory_id: str | None, state_indexes: list[int] | None) -> dict[str, Any]:
    return {"hop": hop, "trajectory_id": trajectory_id, "state_indexes": state_indexes}


def _check_question(place: Place, question_id: str, what: str, questions: Known) -> None:
    if questions.lacks(question_id):
        place.add(f"{what} {question_id!r} is not in questions.jsonl", questions.remedy("remove the label"))


def _hops(place: Place, row: dict[str, Any], domain: str | None, known: Known) -> list[dict[str, Any]]:
    hops = row.get("hops")
    if not isinstance(hops, list):
        place.add("the field 'hops' is not a list", 'write [{"hop": name, "trajectories": [...]}, ...]')
        return []
    labels = []
    names = set()
    for position, entry in enumerate(hops):
        here = place.at(part=f"hop {position}")
        name = entry.get("hop") if isinstance(entry, dict) else None
        entries = entry.get("trajectories") if isinstance(entry, dict) else None
        if type(name) not in (str, int) or not isinstance(entries, list):
            here.add("it is no hop", 'write {"hop": name or number, "trajectories": [...]}')
            continue
        if str(name) in names:
            here.add(f"the hop {name!r} occurs twice", "merge the two or rename one")
        names.add(str(name))
        found = [_evidence(here, str(name), evidence, domain, known) for evidence in entries]
        ids = [label["trajectory_id"] for label in found if label]
        for repeated in sorted({trajectory_id for trajectory_id in ids if ids.count(trajectory_id) > 1}):
            here.add(f"the trajectory {repeated!r} is named twice", "merge its state_indexes")
        labels += [label for label in found if label] or [_label(str(name), None, None)]
    return labels


def _evidence(
    place: Place, hop: str, evidence: Any, domain: str | None, known: Known
) -> dict[str, Any] | None:
    indexes = evidence.get("state_indexes") if isinstance(evidence, dict) else None
    trajectory_id = evidence.get("trajectory_id") if isinstance(evidence, dict) else None
    if (
        not isinstance(trajectory_id, str)
        or not isinstance(indexes, list)
        or not all(type(index) is int for index in indexes)
    ):
        place.add("an entry is no evidence", 'write {"trajectory_id": id, "state_indexes": [numbers]}')
        return None
    if known.lacks(trajectory_id):
        place.add(
            f"the trajectory {trajectory_id!r} is not in {known.file}", known.remedy("remove the label")
        )
    if known.differing(domain, [trajectory_id]):
        other = known.domains[trajectory_id]
        place.add(
            f"the trajectory {trajectory_id!r} is of domain {other!r}, the question of {domain!r}",
            "remove the label or mend the domain",
        )
    n_states = known.n_states.get(trajectory_id)
    outside = [index for index in indexes if n_states is not None and not 0 <= index < n_states]
    if outside:
        place.add(
            f"the trajectory {trajectory_id!r} has states 0 to {n_states - 1}, not {outside}",
            "mend the state_indexes",
        )
    return _label(hop, trajectory_id, indexes)
