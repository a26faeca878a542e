"""Write the explorer's file of each trajectory that is in a haystack, and its pictures."""

from pathlib import Path

from lmev2.explorer.screenshots import Screenshots, Settings
from lmev2.explorer.trajectories import write_trajectories
from lmev2.job import Job
from lmev2.store import read_table
from lmev2.trajectory import Trajectories

with Job(snakemake, "explore trajectories") as job:
    given, pictures = snakemake.input, Path(snakemake.output.pictures)
    shown = {
        id_
        for path in given.haystacks
        for id_ in read_table(path, ["trajectory_id"]).column("trajectory_id").unique().to_pylist()
    }
    counts = write_trajectories(
        Trajectories(given.trajectories, given.states, job.params["dataset"]["path"]),
        shown,
        Path(snakemake.output.data),
        pictures,
        Screenshots(pictures.parent, Settings(**job.params["options"])),
    )
    job.meta(**counts)
