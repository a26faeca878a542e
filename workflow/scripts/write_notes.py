"""Have the controller write a procedure note and a hint note on each trajectory."""

from lmev2.insert.notes import write_notes
from lmev2.job import Job, summary
from lmev2.rows import gather_rows
from lmev2.store import write_table
from lmev2.trajectory import Trajectories

with Job(snakemake, "insert notes") as job, job.door("controller") as door:
    trajectories = Trajectories(
        snakemake.input.trajectories, snakemake.input.states, job.params["dataset"]["path"]
    )
    prompts, progress = job.prompts(), job.progress("trajectories", len(trajectories))
    work = [lambda id_=id_: write_notes(door, trajectories[id_], prompts) for id_ in trajectories]
    # Whole trajectories: only as many as keep the model busy are held at a time.
    at_once = 2 * door.models["controller"].limits["concurrency"]
    rows = [row for pair in door.run(gather_rows(work, progress.step, at_once)) for row in pair]
    write_table("notes", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows)
