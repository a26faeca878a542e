"""How far verdicts of judges agree: flip rate and Cohen's kappa."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from lmev2.records import ROW_KEY

Pair = tuple[int, int]


def flip_rate(pairs: Sequence[Pair]) -> float | None:
    """Share of pairs of verdicts on one answer that differ; None without pairs."""
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else None


def cohens_kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement of two raters beyond chance; None without pairs, or where both always say the same thing.

    (observed - expected) / (1 - expected), the expected agreement from each rater's own shares.
    """
    if not pairs:
        return None
    n = len(pairs)
    observed = sum(a == b for a, b in pairs) / n
    first, second = (sum(pair[i] for pair in pairs) / n for i in (0, 1))
    expected = first * second + (1 - first) * (1 - second)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def compare_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Per evaluator (and "all"): one row a pair of askings of one judge, and one for the two judges.

    Args:
        verdicts: rows of the `verdicts` table.

    Returns:
        `evaluator`, `comparison` ("judge repeats", "second_judge repeats" or "judge and second_judge"),
        `answers` (with readable verdicts to compare), `pairs`, `flip_rate`, `kappa` (the mean over pairs of
        askings where it is defined), `unreadable` verdicts.
    """
    answers: dict[tuple, dict[str, dict[int, int | None]]] = defaultdict(lambda: defaultdict(dict))
    for row in verdicts:
        key = (row["evaluator"], *(row[key] for key in ROW_KEY))
        answers[key][row["judge"]][row["asking"]] = row["label"]
    rows = []
    for evaluator in ["all", *sorted({key[0] for key in answers})]:
        mine = [judges for key, judges in answers.items() if evaluator in ("all", key[0])]
        for name, sides in _comparisons(mine):
            rounds = [_pairs(mine, *pair) for pair in sides]
            pairs = [pair for found in rounds for pair in found]
            kappas = [kappa for found in rounds if (kappa := cohens_kappa(found)) is not None]
            rows.append(
                {
                    "evaluator": evaluator,
                    "comparison": name,
                    "answers": len(mine),
                    "pairs": len(pairs),
                    "flip_rate": flip_rate(pairs),
                    "kappa": sum(kappas) / len(kappas) if kappas else None,
                    "unreadable": sum(
                        label is None
                        for judges in mine
                        for judge in {judge for side in sides for judge, _ in side}
                        for label in judges.get(judge, {}).values()
                    ),
                }
            )
    return rows


Side = tuple[str, int]  # judge, asking


def _comparisons(
    answers: Sequence[Mapping[str, Mapping[int, int | None]]],
) -> Iterator[tuple[str, list[tuple[Side, Side]]]]:
    askings = {
        judge: sorted({asking for judges in answers for asking in judges.get(judge, ())})
        for judge in ("judge", "second_judge")
    }
    for judge, numbers in askings.items():
        if len(numbers) > 1:
            yield f"{judge} repeats", [((judge, a), (judge, b)) for a, b in combinations(numbers, 2)]
    if askings["second_judge"]:
        yield "judge and second_judge", [(("judge", 0), ("second_judge", 0))]


def _pairs(
    answers: Sequence[Mapping[str, Mapping[int, int | None]]], first: Side, second: Side
) -> list[Pair]:
    """The verdicts of both sides on the answers where both are readable."""
    found = [[judges.get(judge, {}).get(asking) for judge, asking in (first, second)] for judges in answers]
    return [(a, b) for a, b in found if a is not None and b is not None]
