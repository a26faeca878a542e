"""A folder of results as trajectories in the released layout, with a table of what became of each run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmev2.ingest.agentlab.notes import Note
from lmev2.ingest.agentlab.runs import (
    ARGUMENTS,
    GOAL,
    SUMMARY,
    Found,
    Run,
    Status,
    find_runs,
    read_goal,
    read_summary,
    task_of,
)
from lmev2.ingest.agentlab.steps import read_steps, states_of, step_files, unreadable
from lmev2.ingest.agentlab.tasks import Site, site_of
from lmev2.ingest.agentlab.unpickle import UnpickleError
from lmev2.ingest.defects import Defect, Place, counted

# What becomes of a run that did not simply end: values of dataset.agentlab.errors and .incomplete.
BY_REWARD, UNKNOWN, LEAVE_OUT = "by_reward", "unknown", "leave_out"


@dataclass(frozen=True)
class Options:
    """The config's section `dataset.agentlab`.

    Attributes:
        tasks: which runs belong to which domain and environment, see `site_of`.
        modules: modules of the user's own agent, see `unpickle.load`.
        errors: outcome of runs that ended with an error: BY_REWARD, UNKNOWN or LEAVE_OUT.
        incomplete: outcome of runs without summary: UNKNOWN or LEAVE_OUT.
    """

    tasks: Sequence[dict[str, Any]] = ()
    modules: Sequence[str] = ()
    errors: str = BY_REWARD
    incomplete: str = UNKNOWN


@dataclass
class Outcome:
    """What became of one run: a row of the table of runs."""

    run: Run
    status: Status
    task: str = ""
    site: Site | None = None
    outcome: str | None = None
    left_out: str = ""  # why; empty for a run that is kept
    states: int = 0
    notes: Counter[Note] = field(default_factory=Counter)


class Results:
    """The runs of a folder.

    Attributes:
        found: what lies in the folder, once `rows` has begun.
        outcomes: one a run, whole once `rows` has ended.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self.found = Found([], [], [], [])
        self.outcomes: list[Outcome] = []

    def rows(
        self, dataset: Path, families: dict[str, str | None], defects: list[Defect]
    ) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Yield each run as a row of trajectories.jsonl with its place; what is wrong is filed.

        A run whose family is not in `families` is entered there under the name of its task.
        """
        self.found = find_runs(dataset)
        for run in self.found.runs:
            place = Place(defects, run.name)  # without an id: labels may name this run, once it is mended
            before = len(defects)
            try:
                status, summary = read_summary(run.folder)
            except OSError as error:
                place.add(f"{SUMMARY} cannot be opened ({error.strerror})", "make it a file that can be read")
                continue
            outcome = Outcome(run, status)
            self.outcomes.append(outcome)
            row = self._row(dataset, outcome, summary, place)
            if row is not None and len(defects) == before:
                families.setdefault(run.id, outcome.task)
                yield place.at(id=run.id), row

    def _row(
        self, dataset: Path, outcome: Outcome, summary: dict[str, Any], place: Place
    ) -> dict[str, Any] | None:
        options, run = self._options, outcome.run
        try:
            outcome.task = task_of(run.folder, options.modules)
        except UnpickleError as error:
            place.add(*unreadable(ARGUMENTS, error))
            return None
        if not _is_text([run.name, outcome.task], place):
            return None
        fate = self._fate(outcome.status)
        if fate == LEAVE_OUT:
            outcome.left_out = f"status {outcome.status}"
            return None
        if fate == BY_REWARD:
            outcome.outcome = "success" if summary["cum_reward"] > 0 else "failure"
        outcome.site = site_of(outcome.task, run.name, options.tasks)
        if outcome.site is None:
            place.add(
                f"no entry of dataset.agentlab.tasks fits the task {outcome.task!r}",
                f"add {{task: {outcome.task!r}, domain: …, environment: …}}",
            )
        before = len(place.defects)
        notes, complete = outcome.notes, outcome.status is not Status.INCOMPLETE
        steps = read_steps(run.folder, place, options.modules, complete=complete, notes=notes)
        if isinstance(n_steps := summary.get("n_steps"), int):
            notes[Note.STEPS_NOT_SAVED] += max(0, n_steps + 1 - len(step_files(run.folder)))
        states = list(states_of(steps, run.folder, dataset, notes))
        first = next((step.observation for step in steps if step.observation is not None), None)
        try:
            goal = read_goal(run.folder, options.modules, first, notes)
        except UnpickleError as error:
            place.add(*unreadable(GOAL, error))
        if len(place.defects) > before or outcome.site is None:
            return None
        outcome.states = len(states)
        if not states:
            outcome.left_out = "no state was seen"
            return None
        row = {
            "id": run.id,
            "domain": outcome.site.domain,
            "environment": outcome.site.environment,
            "goal": goal,
            "outcome": outcome.outcome,
            "start_url": states[0]["url"],
            "states": states,
        }
        texts = [goal, *(value for state in states for value in state.values())]
        return row if _is_text(texts, place) else None

    def _fate(self, status: Status) -> str:
        fates = {Status.DONE: BY_REWARD, Status.ERROR: self._options.errors}
        return fates.get(status, self._options.incomplete)

    def notices(self) -> list[str]:
        """What to tell of the runs, in short."""
        lines = []
        left_out = Counter(outcome.left_out for outcome in self.outcomes if outcome.left_out)
        for reason, number in sorted(left_out.items()):
            lines.append(f"{counted(number, 'run')} left out ({reason})")
        if self.found.hidden:
            lines.append(f"{counted(len(self.found.hidden), 'run')} left out (in folders with _ or . before)")
        if self.found.archives:
            lines.append(f"{counted(len(self.found.archives), 'zip file')} not read")
        if self.found.links:
            lines.append(
                f"{counted(len(self.found.links), 'folder')} not looked into (links: put copies there)"
            )
        return lines


def _is_text(values: Iterable[Any], place: Place) -> bool:
    """Whether all texts among `values` can be written as UTF-8; a defect is filed where one cannot."""
    for text in values:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            place.add(
                f"the text {text!r:.60} is no UTF-8 (it holds a lone surrogate)",
                "mend the name if it is the folder's, or put _ before it to leave the run out",
            )
            return False
    return True
