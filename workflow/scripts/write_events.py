"""Have the controller tell what each step of each trajectory changed."""

from lmev2.insert.events import write_event
from lmev2.job import Job, summary
from lmev2.rows import gather_rows
from lmev2.store import write_table
from lmev2.trajectory import Trajectories

with Job(snakemake, "insert events") as job, job.door("controller") as door:
    trajectories = Trajectories(
        snakemake.input.trajectories, snakemake.input.states, job.params["dataset"]["path"]
    )
    prompts = job.prompts()
    work = [
        lambda id_=id_, post=post: write_event(door, trajectories[id_], post, prompts)
        for id_ in trajectories
        for post in range(1, trajectories.n_states(id_))
    ]
    progress = job.progress("steps", len(work))
    # Two trees a step: only as many as keep the model busy are held at a time.
    at_once = 2 * door.models["controller"].limits["concurrency"]
    rows = door.run(gather_rows(work, progress.step, at_once))
    write_table("events", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows, trees_cut=sum(row["trees_cut"] for row in rows))
