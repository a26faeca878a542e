"""`lmev2 validate`: the data check alone, without writing anything."""

import argparse
import json
import os
import sys

from lmev2.cli.usage import dataset_folder
from lmev2.ingest.dataset import validate_dataset
from lmev2.ingest.report import report_json, report_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lmev2 validate`."""
    parser.description = (
        "Check a dataset folder in the official format: all files, fields, ids, references, evaluators and "
        "images. Nothing is written. All defects are listed together, each with file, line and id. "
        "Exit status: 0 sound, 1 defects, 2 wrong usage or no such folder."
    )
    parser.add_argument("dataset", metavar="DATASET", help="the dataset folder")
    parser.add_argument(
        "--tiers",
        nargs="+",
        default=["small", "medium"],
        metavar="TIER",
        help="tiers whose haystacks/lme_v2_TIER.json is checked (default: small medium)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with the counts and every defect"
    )


def run(args: argparse.Namespace) -> int:
    """Check the dataset and print the report; returns the exit status."""
    counts, defects = validate_dataset(
        dataset_folder(args.dataset),
        args.tiers,
        progress=_show_progress if sys.stderr.isatty() else None,
        workers=os.cpu_count() or 1,
    )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if args.json:
        print(json.dumps(report_json(args.dataset, args.tiers, counts, defects), indent=2))
    else:
        print(report_text(args.dataset, counts, defects))
    return 1 if defects else 0


def _show_progress(done: int) -> None:
    print(f"\r{done:,} trajectories", end="", file=sys.stderr, flush=True)
