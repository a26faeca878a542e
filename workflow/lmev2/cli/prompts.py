"""`lmev2 prompts`: the official harness's prompts out of a checkout, as prompt files and a config."""

import argparse
from collections.abc import Sequence

from lmev2.cli.usage import UsageError
from lmev2.prompts import template_names
from lmev2.prompts.official import Extraction, extract, write_prompts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lmev2 prompts`."""
    parser.description = (
        "Take the prompts of the official harness from the Python files of a checkout, without running any "
        "of it, and write them as prompt files with a config that uses them (docs/reproducing.md). What "
        "cannot be taken is listed with the reason. Exit status: 0 all that is in the map was taken, 1 not "
        "all of it, 2 wrong usage or a checkout that cannot be read."
    )
    parser.add_argument("checkout", metavar="CHECKOUT", help="folder of the checkout")
    parser.add_argument(
        "--out", default="prompts", metavar="FOLDER", help="where the files are written (default: prompts)"
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="OURS=PLACE",
        help="take a prompt of ours from another place, such as notes.user=memory_modules/x.py:NAME, "
        "x.py:function.name, x.py:NAME[key] or a text file",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="THEIRS=OURS",
        help="a placeholder of theirs and the one of ours that it becomes",
    )


def run(args: argparse.Namespace) -> int:
    """Extract, write and report; returns the exit status."""
    more = _pairs("--map", args.map)
    for our in more:
        if our not in template_names():
            raise UsageError(f"--map {our}: there is no such prompt; there is {', '.join(template_names())}")
    found = extract(args.checkout, more, _pairs("--name", args.name))
    files = write_prompts(found, args.out)
    print(report(found))
    print(f"\n{len(files)} files written; use them with --configfile {args.out}/config.yaml", end="")
    print(
        f", and {args.out}/paper-bytes.yaml after it for the backspace characters" * found.has_backspace,
        end=".\n",
    )
    return 1 if found.missing else 0


def report(found: Extraction) -> str:
    """What was taken, what of ours keeps its text, and what of theirs has no use."""
    lines = ["Taken:"]
    lines += [f"  {our} <- {place}" for place, ours in sorted(found.taken.items()) for our in sorted(ours)]
    lines += ["", "Prompts of ours that keep their text:"]
    lines += [f"  {our}: {reason}" for our, reason in sorted(found.missing.items())]
    lines += [f"  {our}: nothing in the map stands for it" for our in found.unmapped]
    lines += ["", "Texts of theirs that are not used:"]
    lines += [
        f"  {constant.place} (line {constant.line}): {constant.problem or f'{constant.length} characters'}"
        for constant in found.others
    ] or ["  none"]
    return "\n".join(lines)


def _pairs(option: str, values: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for value in values:
        left, equals, right = value.partition("=")
        if not (left and equals and right):
            raise UsageError(f"{option} {value}: should be like A=B")
        pairs[left] = right
    return pairs
