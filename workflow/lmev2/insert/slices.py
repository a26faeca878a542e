"""The slice pool: for each state the window of states around it."""

from collections.abc import Iterator
from typing import Any

from lmev2.journal import request_key
from lmev2.trajectory import Trajectories


def slice_entries(trajectories: Trajectories, radius: int) -> Iterator[dict[str, Any]]:
    """The rows of `insert/slices.parquet`: one per state, in the order of trajectories and states.

    Args:
        trajectories: all ingested trajectories; only their lengths are read.
        radius: states on each side of the centre; a window ends where its trajectory does.
    """
    for trajectory_id in trajectories:
        last = trajectories.n_states(trajectory_id) - 1
        for centre in range(last + 1):
            window = (max(0, centre - radius), centre, min(last, centre + radius))
            yield {
                "entry_id": f"{trajectory_id}/{centre}",
                "trajectory_id": trajectory_id,
                **dict(zip(("first_state", "centre_state", "last_state"), window, strict=True)),
                "digest": request_key([trajectories.fingerprint(trajectory_id), *window]),
            }
