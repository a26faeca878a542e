"""Ask one memory for the evidence on every question of a tier, timing each query."""

from pathlib import Path

from lmev2.agent.spec import agent_spec, make_agent
from lmev2.agent.usage import MeteredAgent
from lmev2.insert.files import TrajectoryFiles
from lmev2.job import Job, summary
from lmev2.memory.oracle_questions import TABLE as ORACLE_TABLE
from lmev2.memory.oracle_questions import oracle_questions
from lmev2.memory.paper_mode import TABLE, paper_questions
from lmev2.memory.services import Services
from lmev2.memory.view import Pool
from lmev2.query import Runner, haystacks_of, method_of, question_of, trace_counts
from lmev2.shards import shard_of
from lmev2.store import read_rows, write_table
from lmev2.trajectory import Trajectories

arm, tier = snakemake.wildcards.method, snakemake.wildcards.tier
shard = shard_of(snakemake.wildcards)
with (
    Job(snakemake, f"query {arm} {tier}{shard}", section="arm") as job,
    job.door(*job.params["models"], sampling=job.params["sampling"]) as door,
):
    params, prompts = job.params, job.prompts()
    id_, point = params["method"]["id"], params["method"]["operating_point"]
    method = method_of(params, door.models, prompts, job.config["methods"][id_]["concurrency"])
    instruction = params["models"].get("embedding", {}).get("sampling", {}).get("query_instruction", "")
    questions = {row["question_id"]: question_of(row) for row in read_rows(snakemake.input.questions)}
    if private := snakemake.input.get(TABLE):  # only where the arm's options ask for it
        questions = paper_questions(questions, read_rows(private))
    if labels := snakemake.input.get(ORACLE_TABLE):  # only of a pilot study
        questions = oracle_questions(questions, read_rows(labels))
    questions = {id_: question for id_, question in questions.items() if shard.holds(id_)}
    agent = files = None
    if params["agent"]:
        # A finished query needs no agent: a replay runs where nothing is installed.
        replaying = job.config["journal"]["replay"]
        hidden = [Path.cwd(), Path(job.config["journal"]["path"])]
        agent = None if replaying else MeteredAgent(make_agent(agent_spec(job.config), hidden), door.budget)
        files = TrajectoryFiles(snakemake.input.files)
    progress = job.progress("questions", len(questions) * params["repeats"])
    with job.journal("query") as journal:
        runner = Runner(
            method,
            Trajectories(snakemake.input.trajectories, snakemake.input.states, params["dataset"]["path"]),
            {
                pool: Pool(
                    *(snakemake.input[f"{pool}_{part}"] for part in ("entries", "embeddings", "vectors")),
                    params["best_chunks"],
                )
                for pool in params["pools"]
            },
            lambda repeat: Services(
                door, prompts, query_instruction=instruction, repeat=repeat, agent=agent, files=files
            ),
            journal,
            params["retry_statuses"],
        )
        haystacks = haystacks_of(read_rows(snakemake.input.haystack))
        rows = door.run(runner.run(questions, haystacks, params["repeats"], progress.step))
    rows = [{**row, "method": id_, "operating_point": point, "tier": tier} for row in rows]
    write_table("query", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows, **trace_counts(rows))
