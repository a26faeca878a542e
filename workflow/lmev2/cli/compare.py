"""`lmev2 compare`: two files of per-question scores, paired by question."""

import argparse
import csv
import io
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path

from lmev2.cli.streams import standard_input
from lmev2.stats.bootstrap import LatticeTooFineError, exact, monte_carlo
from lmev2.stats.mcnemar import exact_mcnemar
from lmev2.stats.scores import list_ids

DESCRIPTION = """\
Compare two arms, paired by question. Each file is CSV with the columns question_id and score, a number
from 0 to 1; other columns are ignored. Several rows of one question are repeats and are averaged first.
Printed are both accuracies, the difference A - B with its 95 % interval, the exact paired-bootstrap
p-values (one-sided: A better than B) and McNemar's exact test.

exit code: 0 compared, 1 files that cannot be compared, 2 wrong usage or a missing file
"""
# A plain decimal number; of a length and with an exponent that keep it a number of sane size.
_NUMBER = re.compile(r"[+-]?(?=.{1,50}$)(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_COLUMNS = ("question_id", "score")

Scores = dict[str, list[Fraction]]


class ScoreFileError(ValueError):
    """A score file that cannot be used; the message names file and line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lmev2 compare`."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("a", metavar="A.csv", help="scores of arm A; - for standard input")
    parser.add_argument("b", metavar="B.csv", help="scores of arm B; - for standard input")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--resamples",
        type=_positive,
        default=100_000,
        help="Monte Carlo resamples where scores are too fine for the exact computation (default: 100000)",
    )
    parser.add_argument(
        "--seed", type=_natural, default=0, help="seed of the Monte Carlo resamples (default: 0)"
    )


def run(args: argparse.Namespace) -> int:
    """Compare the two files and print the result; returns the exit status."""
    if args.a == args.b == "-":
        print("lmev2 compare: only one of the files can be standard input", file=sys.stderr)
        return 2
    try:
        a, b = read_scores(args.a), read_scores(args.b)
        result = compare(a, b, resamples=args.resamples, seed=args.seed)
    except OSError as error:
        print(f"lmev2 compare: cannot read {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except ScoreFileError as error:
        print(f"lmev2 compare: {error}", file=sys.stderr)
        return 1
    result = {"a": args.a, "b": args.b} | result
    print(json.dumps(result, indent=2, ensure_ascii=False) if args.json else _render(result))
    return 0


def read_scores(path: str) -> Scores:
    """Scores per question of a CSV file (`-`: standard input), exactly as written.

    Raises:
        OSError: the file cannot be read.
        ScoreFileError: not UTF-8 or not CSV, a column missing or twice, no rows, an empty question_id, or
            a score that is no number in [0, 1].
    """
    data = standard_input().read() if path == "-" else Path(path).read_bytes()
    name = "standard input" if path == "-" else path
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScoreFileError(f"{name}, line {line}: not UTF-8 text") from error
    # Other columns may hold whole contexts; the limit, 128 KiB a cell, is the process's: it is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    scores: Scores = {}
    try:
        header = next(reader, [])
        for column in _COLUMNS:
            if header.count(column) != 1:
                found = ", ".join(header) or "nothing"
                raise ScoreFileError(
                    f"{name}, line 1: needs one column {column!r} in the header; found {found}"
                )
        id_at, score_at = (header.index(column) for column in _COLUMNS)
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise ScoreFileError(
                    f"{name}, line {reader.line_num}: {len(row)} cells where the header has {len(header)}"
                )
            if not row[id_at].strip():
                raise ScoreFileError(f"{name}, line {reader.line_num}: empty question_id")
            scores.setdefault(row[id_at], []).append(
                _parse_score(row[score_at], f"{name}, line {reader.line_num}")
            )
    except csv.Error as error:
        raise ScoreFileError(f"{name}, line {reader.line_num}: not valid CSV: {error}") from error
    if not scores:
        raise ScoreFileError(f"{name}: a header without rows; there is nothing to compare")
    return scores


def compare(a: Scores, b: Scores, *, resamples: int = 100_000, seed: int = 0) -> dict[str, object]:
    """Compare arm `a` with arm `b`; the number of repeats may differ between and within the arms.

    Returns:
        n, accuracy_a, accuracy_b, difference (a - b), low, high (95 %), p_one_sided (a better than b),
        p_two_sided, p_mcnemar, wins, losses, ties, bootstrap ("exact" or "monte_carlo"), and for
        Monte Carlo resamples, seed and p_standard_error (of p_one_sided).

    Raises:
        ScoreFileError: the arms have different questions.
    """
    if a.keys() != b.keys():
        raise ScoreFileError(
            "the files hold different questions, so they cannot be compared; "
            f"only in A: {list_ids(list(a.keys() - b.keys())) or 'none'}; "
            f"only in B: {list_ids(list(b.keys() - a.keys())) or 'none'}"
        )
    questions = sorted(a)
    means_a = [sum(a[q], Fraction()) / len(a[q]) for q in questions]
    means_b = [sum(b[q], Fraction()) / len(b[q]) for q in questions]
    differences = [x - y for x, y in zip(means_a, means_b, strict=True)]
    denominator = math.lcm(*(difference.denominator for difference in differences))
    units = [int(difference * denominator) for difference in differences]
    how: dict[str, object] = {"bootstrap": "exact"}
    try:
        test = exact(units, denominator)
    except LatticeTooFineError:
        test = monte_carlo(units, denominator, resamples=resamples, seed=seed)
        how = {
            "bootstrap": "monte_carlo",
            "resamples": resamples,
            "seed": seed,
            "p_standard_error": test.standard_error,
        }
    return {
        "n": test.n,
        "accuracy_a": float(sum(means_a) / test.n),
        "accuracy_b": float(sum(means_b) / test.n),
        "difference": test.difference,
        "low": test.low,
        "high": test.high,
        "p_one_sided": test.p_one_sided,
        "p_two_sided": test.p_two_sided,
        "p_mcnemar": exact_mcnemar(test.wins, test.losses),
        "wins": test.wins,
        "losses": test.losses,
        "ties": test.n - test.wins - test.losses,
    } | how


def _parse_score(text: str, where: str) -> Fraction:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ScoreFileError(f"{where}: score {text[:60]!r} is not a number; write a number from 0 to 1")
    score = Fraction(text)
    if not 0 <= score <= 1:
        raise ScoreFileError(f"{where}: score {text} is not in [0, 1]")
    return score


def _natural(text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _positive(text: str) -> int:
    value = _natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _render(result: dict[str, object]) -> str:
    exactly = result["bootstrap"] == "exact"
    kind = "exact" if exactly else f"Monte Carlo, {result['resamples']} resamples, seed {result['seed']}"
    error = "" if exactly else f" (standard error {result['p_standard_error']:.2g})"
    return "\n".join(
        [
            f"questions             {result['n']}: A better {result['wins']}, B better {result['losses']}, "
            f"equal {result['ties']}",
            f"accuracy A            {result['accuracy_a']:.4f}  ({result['a']})",
            f"accuracy B            {result['accuracy_b']:.4f}  ({result['b']})",
            f"difference A - B      {result['difference']:+.4f}  95 % interval "
            f"[{result['low']:+.4f}, {result['high']:+.4f}]",
            f"paired bootstrap      {kind}",
            f"  p, A better than B  {_p(result['p_one_sided'])}{error}",
            f"  p, two-sided        {_p(result['p_two_sided'])}",
            f"McNemar's exact p     {_p(result['p_mcnemar'])}",
        ]
    )


def _p(value: object) -> str:
    return f"{value:.4f}" if float(value) >= 0.0001 else f"{value:.1e}"
