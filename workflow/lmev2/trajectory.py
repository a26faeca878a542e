"""A recorded run as methods see it, and the states file read one trajectory at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow.parquet as pq

from lmev2.accessibility import annotate_actions
from lmev2.image import Image
from lmev2.store import read_rows, read_table


@dataclass(frozen=True)
class State:
    """One state of a run. `action` led from the state before to this one; state 0 has none.

    `step` is the number that the dataset gives the state, most often its index.
    """

    index: int
    url: str
    action: str | None
    thought: str | None
    tree: str
    screenshot: Image | None
    step: int


@dataclass(frozen=True)
class Trajectory:
    """One run: its goal, how it ended ("success", "failure", other words or None) and its states."""

    id: str
    domain: str
    goal: str
    outcome: str | None
    start_url: str
    environment: str
    states: tuple[State, ...]

    @cached_property
    def annotated_actions(self) -> list[str | None]:
        """The actions by state (the one that led to it), each with the element that it touched."""
        return annotate_actions(
            [state.action for state in self.states], [state.tree for state in self.states]
        )

    @property
    def numbered_actions(self) -> list[str]:
        """The annotated actions as lines; an action's number is that of the state that it led to."""
        return [f"{number}. {action}" for number, action in enumerate(self.annotated_actions) if action]


class Trajectories(Mapping[str, Trajectory]):
    """The ingested trajectories by id; states are read from their row group when asked for.

    Args:
        trajectories: `ingest/trajectories.parquet`.
        states: `ingest/states.parquet`, one row group a trajectory in the order of `trajectories`.
        dataset: folder that screenshot paths are relative to.
    """

    def __init__(self, trajectories: str | Path, states: str | Path, dataset: str | Path = ".") -> None:
        self._rows = {row["trajectory_id"]: row for row in read_rows(trajectories)}
        self._group = {trajectory: group for group, trajectory in enumerate(self._rows)}
        self._path = Path(states)
        self._dataset = Path(dataset)
        self._read = lru_cache(maxsize=256)(self._read_one)

    @cached_property
    def _states(self) -> pq.ParquetFile:
        return pq.ParquetFile(self._path)

    def __getitem__(self, trajectory_id: str) -> Trajectory:
        return self._read(trajectory_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def fingerprint(self, trajectory_id: str) -> str:
        """sha256 over everything that a method can see of it."""
        return self._rows[trajectory_id]["fingerprint"]

    def n_states(self, trajectory_id: str) -> int:
        """How many states it has, without reading them."""
        return self._rows[trajectory_id]["n_states"]

    def goal(self, trajectory_id: str) -> str:
        """Its goal, without reading its states."""
        return self._rows[trajectory_id]["goal"]

    def page_titles(self, trajectory_id: str) -> tuple[str, ...]:
        """Page titles by state, without reading its trees; "" where a tree names none."""
        return self._page_titles[trajectory_id]

    @cached_property
    def _page_titles(self) -> dict[str, tuple[str, ...]]:
        titles = read_table(self._path, ["page_title"]).column("page_title").to_pylist()
        found, start = {}, 0
        for trajectory_id, row in self._rows.items():
            found[trajectory_id] = tuple(titles[start : start + row["n_states"]])
            start += row["n_states"]
        return found

    def _read_one(self, trajectory_id: str) -> Trajectory:
        row = self._rows[trajectory_id]
        states = self._states.read_row_group(self._group[trajectory_id]).to_pylist()
        if any(state["trajectory_id"] != trajectory_id for state in states) or len(states) != row["n_states"]:
            raise ValueError(
                f"{self._path}: row group of trajectory {trajectory_id} does not hold its states"
            )
        return Trajectory(
            id=trajectory_id,
            domain=row["domain"],
            goal=row["goal"],
            outcome=row["outcome"],
            start_url=row["start_url"],
            environment=row["environment"],
            states=tuple(
                State(
                    index=state["state_index"],
                    url=state["url"],
                    action=state["action"],
                    thought=state["thought"],
                    tree=state["tree"],
                    screenshot=self._screenshot(state),
                    step=state["step"],
                )
                for state in states
            ),
        )

    def _screenshot(self, state: dict) -> Image | None:
        if state["screenshot"] is None:
            return None
        return Image(
            path=self._dataset / state["screenshot"],
            sha256=state["screenshot_sha256"],
            width=state["screenshot_width"],
            height=state["screenshot_height"],
        )
