"""A small ingested dataset, built directly in the schemas of the stage files."""

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.accessibility import page_title
from lmev2.llm.reply import usage_columns
from lmev2.records import SCHEMAS
from lmev2.store import write_parquet, write_table
from lmev2.trajectory import Trajectories


def make_trajectories(folder: Path, trees: dict[str, list[str]], *, screenshots: bool = True) -> Trajectories:
    """Trajectories with the given trees; state i > 0 was reached by clicking element i."""
    rows, groups = [], []
    for id_, states in trees.items():
        rows.append(
            {
                "trajectory_id": id_,
                "domain": "web",
                "environment": "env",
                "goal": f"goal of {id_}",
                "outcome": "success",
                "start_url": "http://x/",
                "n_states": len(states),
                "fingerprint": hashlib.sha256("\n".join([id_, *states]).encode()).hexdigest(),
                "family": None,
            }
        )
        groups.append([_state(id_, index, tree, screenshots) for index, tree in enumerate(states)])
    write_table("trajectories", rows, folder / "trajectories.parquet")
    with pq.ParquetWriter(folder / "states.parquet", SCHEMAS["states"]) as writer:
        for group in groups:
            writer.write_table(pa.Table.from_pylist(group, schema=SCHEMAS["states"]))
    return Trajectories(folder / "trajectories.parquet", folder / "states.parquet", folder)


def _state(id_: str, index: int, tree: str, screenshots: bool) -> dict:
    return {
        "trajectory_id": id_,
        "state_index": index,
        "step": index,
        "url": f"http://x/{index}",
        "action": f"click('{index}')" if index else None,
        "thought": f"thought {index}" if index else None,
        "tree": tree,
        "tree_tokens": 1,
        "page_title": page_title(tree),
        "screenshot": f"{id_}/{index}.png" if screenshots else None,
        "screenshot_sha256": f"sha-{id_}-{index}" if screenshots else None,
        "screenshot_width": 64 if screenshots else None,
        "screenshot_height": 32 if screenshots else None,
    }


def write_pool(
    folder: Path, name: str, entries: list[dict], lists: list[list[int]], vectors: np.ndarray
) -> tuple:
    """The three files of a pool; `lists` has each entry's rows of `vectors`."""
    paths = [folder / f"{name}{suffix}.parquet" for suffix in ("", ".embeddings", ".vectors")]
    write_parquet(pa.Table.from_pylist(entries), paths[0])
    rows = [
        {
            "entry_id": entry["entry_id"],
            "trajectory_id": entry["trajectory_id"],
            "vectors": rows,
            "centre_share": 1.0,
            "was_cut": False,
            "digest": str(rows),
            **usage_columns([]),
        }
        for entry, rows in zip(entries, lists, strict=True)
    ]
    write_table("embeddings", rows, paths[1])
    flat = pa.array(vectors.astype(np.float32).ravel())
    write_parquet(pa.table({"vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])}), paths[2])
    return tuple(paths)


def slice_entry(trajectory_id: str, centre: int, last: int) -> dict:
    """A slice of radius 1."""
    return {
        "entry_id": f"{trajectory_id}/{centre}",
        "trajectory_id": trajectory_id,
        "first_state": max(0, centre - 1),
        "centre_state": centre,
        "last_state": min(last, centre + 1),
        "digest": f"{trajectory_id}/{centre}",
    }
