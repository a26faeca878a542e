"""Where trajectories come from: a file in the released format, or folders of experiment results.

Whatever the source, its rows have the released layout and go through the same checks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from lmev2.ingest.agentlab.report import write_report
from lmev2.ingest.agentlab.results import Options, Results
from lmev2.ingest.defects import Defect, Place
from lmev2.ingest.goals import GoalRewrites
from lmev2.ingest.jsonl import read_jsonl

Rows = Iterator[tuple[Place, dict[str, Any]]]

AGENTLAB = "agentlab"  # the value of dataset.source


class Source(Protocol):
    """Trajectories, one at a time.

    Attributes:
        file: how messages name them.
        if_empty: message and remedy where there are none.
        reports: names of the files that `write_reports` writes.
    """

    file: str
    if_empty: tuple[str, str]
    reports: tuple[str, ...]

    def rows(self, dataset: Path, families: dict[str, str | None], defects: list[Defect]) -> Rows:
        """Yield rows of trajectories.jsonl with their places; file what cannot be read.

        A source that knows families enters those that `families` lacks.
        """

    def notices(self) -> list[str]:
        """What to tell, once all rows were read."""

    def write_reports(self, folder: Path) -> None:
        """Write the reports, once all rows were read."""


class TrajectoriesFile:
    """trajectories.jsonl, in the released layout or an older one."""

    file = "trajectories.jsonl"
    if_empty = "the file has no rows", "write one trajectory a line"
    reports = ()

    def rows(self, dataset: Path, families: dict[str, str | None], defects: list[Defect]) -> Rows:
        """See `Source`."""
        return read_jsonl(dataset / self.file, Place(defects, self.file), "id")

    def notices(self) -> list[str]:
        """See `Source`."""
        return []

    def write_reports(self, folder: Path) -> None:
        """See `Source`."""


class ExperimentResults:
    """A folder of AgentLab or BrowserGym experiment results (docs/benchmark.md)."""

    file = "the experiment results"
    if_empty = "there is no run: no folder holds exp_args.pkl", "put the results into the dataset folder"
    reports = "agentlab_runs.csv", "agentlab.md"

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._results = Results(Options(**options))

    def rows(self, dataset: Path, families: dict[str, str | None], defects: list[Defect]) -> Rows:
        """See `Source`."""
        return self._results.rows(dataset, families, defects)

    def notices(self) -> list[str]:
        """See `Source`."""
        return self._results.notices()

    def write_reports(self, folder: Path) -> None:
        """See `Source`."""
        table, report = self.reports
        write_report(self._results, folder / table, folder / report)


class RewrittenGoals:
    """Another source with goals that a file rewrites (see `lmev2.ingest.goals`)."""

    def __init__(self, source: Source, path: Path) -> None:
        self._source, self._path = source, path
        self._rewrites = GoalRewrites()
        self.file, self.if_empty = source.file, source.if_empty
        self.reports = *source.reports, "goal_rewrites.csv"

    def rows(self, dataset: Path, families: dict[str, str | None], defects: list[Defect]) -> Rows:
        """See `Source`."""
        self._rewrites = GoalRewrites.read(self._path, defects)
        return self._rewrites.apply(self._source.rows(dataset, families, defects))

    def notices(self) -> list[str]:
        """See `Source`."""
        return [*self._source.notices(), *self._rewrites.notices()]

    def write_reports(self, folder: Path) -> None:
        """See `Source`."""
        self._source.write_reports(folder)
        self._rewrites.write_report(folder / self.reports[-1])


def open_source(section: Mapping[str, Any]) -> Source:
    """The source that the config's section `dataset` (or what a rule has of it) describes."""
    source: Source = TrajectoriesFile()
    if section.get("source") == AGENTLAB:
        source = ExperimentResults(section["agentlab"])
    path = section.get("goal_rewrites")
    return RewrittenGoals(source, Path(path)) if path else source
