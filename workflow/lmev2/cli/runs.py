"""`lmev2 runs`: the runs in a folder of experiment results, with the trajectory ids that they will have."""

import argparse
import csv
import sys

from lmev2.cli.usage import dataset_folder
from lmev2.ingest.agentlab.runs import find_runs, read_summary, task_of
from lmev2.ingest.agentlab.unpickle import UnpickleError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lmev2 runs`."""
    parser.description = (
        "List the AgentLab or BrowserGym runs under DATASET as CSV: folder, trajectory id, task, status. Ids "
        "depend on the folder's place under DATASET alone, so that questions, labels and haystacks can be "
        "written for them. Exit status: 0 listed, 1 a run is not read, 2 wrong usage or no such folder."
    )
    parser.add_argument("dataset", metavar="DATASET", help="the dataset folder (dataset.path)")
    parser.add_argument(
        "--modules",
        nargs="+",
        default=[],
        metavar="MODULE",
        help="modules of your own agent (dataset.agentlab.modules)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the list; returns the exit status."""
    dataset = dataset_folder(args.dataset)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["run", "trajectory_id", "task", "status"])
    code = 0
    for found in find_runs(dataset).runs:
        try:
            task = task_of(found.folder, args.modules)
        except UnpickleError as error:
            print(f"lmev2 runs: {found.name}: exp_args.pkl is not read: {error}", file=sys.stderr)
            task, code = "", 1
        writer.writerow([found.name, found.id, task, read_summary(found.folder)[0]])
    return code
