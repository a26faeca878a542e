"""`lmev2 official`: check official run folders and leaderboard packages, as the leaderboard's tools do."""

import argparse
from pathlib import Path

from lmev2.official.check import check_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lmev2 official`."""
    parser.description = (
        "Check finished official runs and leaderboard packages: files, fields, names, models, every question "
        "once, and every aggregate counted anew from the records (docs/official.md). Nothing is written. "
        "Exit status: 0 sound, 1 problems, 2 wrong usage or nothing of the kind."
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a run folder, a package folder or a package (.tar.gz)",
    )


def run(args: argparse.Namespace) -> int:
    """Check each path and print what is wrong; returns the exit status."""
    found = False
    for path in args.paths:
        problems = check_path(Path(path))
        print(*problems or [f"{path}: sound"], sep="\n")
        found |= bool(problems)
    return int(found)
