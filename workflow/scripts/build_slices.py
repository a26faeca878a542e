"""Build the slice pool: one window of states around each state."""

from lmev2.insert.slices import slice_entries
from lmev2.job import Job
from lmev2.store import write_table
from lmev2.trajectory import Trajectories

with Job(snakemake, "insert slices") as job:
    trajectories = Trajectories(snakemake.input.trajectories, snakemake.input.states)
    table = write_table("slices", slice_entries(trajectories, job.params["radius"]), snakemake.output.table)
    job.meta(entries=len(table), trajectories=len(trajectories))
