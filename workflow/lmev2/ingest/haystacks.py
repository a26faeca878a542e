"""haystacks/lme_v2_{tier}.json: for each question the ordered trajectories that a memory is given."""

from collections import Counter
from pathlib import Path

from lmev2.ingest.defects import Defect, Place
from lmev2.ingest.jsonl import read_json_object
from lmev2.ingest.known import Known

_MAX_NAMED = 5


def haystack_file(tier: str) -> str:
    """Path of a tier's haystack file inside the dataset folder."""
    return f"haystacks/lme_v2_{tier}.json"


def read_haystack(dataset: Path, tier: str, defects: list[Defect]) -> dict[str, list[str]] | None:
    """The haystacks of a tier by question id, with the defects of the file taken by itself filed.

    None where the file cannot be read; a haystack that is no list of ids comes back empty.
    """
    place = Place(defects, haystack_file(tier))
    haystacks = read_json_object(
        dataset / place.file, place, "put it into the dataset folder, or leave the tier out"
    )
    if haystacks is None:
        return None
    result = {}
    for question_id, members in haystacks.items():
        here = place.at(id=question_id)
        result[question_id] = []
        if not isinstance(members, list) or not set(map(type, members)) <= {str}:
            here.add("the haystack is not a list of trajectory ids", "write [id, id, ...]")
            continue
        if not members:
            here.add("the haystack is empty", "name its trajectories, or remove the question")
        repeated = []
        if len(set(members)) < len(members):
            repeated = [member for member, times in Counter(members).items() if times > 1]
        _add(here, repeated, "the haystack names trajectories more than once", "keep one of each")
        result[question_id] = members
    return result


def check_haystack(
    haystacks: dict[str, list[str]], tier: str, questions: Known, trajectories: Known, defects: list[Defect]
) -> None:
    """File what is wrong between the haystacks of a tier, the questions and the trajectories."""
    place = Place(defects, haystack_file(tier))
    for question_id in questions.domains:
        if question_id not in haystacks:
            place.at(id=question_id).add(
                "the question has no haystack", "add its list of trajectory ids, or remove the question"
            )
    unknown: dict[str | None, list[str]] = {}
    for question_id, members in haystacks.items():
        here = place.at(id=question_id)
        if questions.lacks(question_id):
            here.add(
                f"the haystack is for a question that is not in {questions.file}",
                questions.remedy("remove the haystack"),
            )
        unique = list(dict.fromkeys(members))
        unknown[question_id] = trajectories.lacking(unique)
        domain = questions.domains.get(question_id)
        _add(
            here,
            trajectories.differing(domain, unique),
            "the haystack names trajectories of another domain than its question's",
            "a haystack holds trajectories of its question's domain only",
        )
    if not trajectories.complete:
        # One unreadable row would otherwise come back in every haystack that names it.
        unknown = {None: sorted({member for members in unknown.values() for member in members})}
    for question_id, members in unknown.items():
        _add(
            place.at(id=question_id),
            members,
            f"the haystack names trajectories that are not in {trajectories.file}",
            trajectories.remedy("remove them or add the trajectories"),
        )


def _add(place: Place, ids: list[str], message: str, remedy: str) -> None:
    if ids:
        more = f", ... ({len(ids)} in all)" if len(ids) > _MAX_NAMED else ""
        place.add(f"{message}: {', '.join(map(repr, ids[:_MAX_NAMED]))}{more}", remedy)
