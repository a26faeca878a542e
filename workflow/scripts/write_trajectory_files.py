"""Write each trajectory as a folder of files, for coding agents."""

from lmev2.insert.files import store_of, write_trajectory_files
from lmev2.job import Job
from lmev2.store import write_table
from lmev2.trajectory import Trajectories

with Job(snakemake, "insert files") as job:
    trajectories = Trajectories(
        snakemake.input.trajectories, snakemake.input.states, job.params["dataset"]["path"]
    )
    progress = job.progress("trajectories", len(trajectories))
    store = store_of(snakemake.output.table)
    table = write_table(
        "files", write_trajectory_files(trajectories, store, progress.step), snakemake.output.table
    )
    progress.close(f"{len(table)} trajectories")
    job.meta(trajectories=len(table), screenshots=sum(table.column("n_screenshots").to_pylist()))
