"""Ask one memory for the evidence on every question of a tier, timing each query."""

import asyncio

from lmev2.job import Job, summary
from lmev2.memory.registry import memory_class
from lmev2.memory.services import Services
from lmev2.memory.view import Pool
from lmev2.query import Method, Runner, haystacks_of, question_of
from lmev2.store import read_rows, write_table
from lmev2.trajectory import Trajectories

arm, tier = snakemake.wildcards.method, snakemake.wildcards.tier
with (
    Job(snakemake, f"query {arm} {tier}", section="arm") as job,
    job.door(*job.params["models"], sampling=job.params["sampling"]) as door,
):
    params, prompts = job.params, job.prompts()
    id_, point, reference = (params["method"][key] for key in ("id", "operating_point", "class"))
    method = Method(
        cls=memory_class(reference),
        options=params["options"],
        identity={
            "class": reference,
            "code": params["method_code"],
            "options": params["options"],
            "prompts": prompts.sha256,
            "models": {role: model.identity() for role, model in door.models.items()},
            "best_chunks": params["best_chunks"],
        },
        pools=tuple(params["pools"]),
        concurrency=job.config["methods"][id_]["concurrency"],
    )
    instruction = params["models"].get("embedding", {}).get("sampling", {}).get("query_instruction", "")
    questions = {row["question_id"]: question_of(row) for row in read_rows(snakemake.input.questions)}
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
            lambda repeat: Services(door, prompts, query_instruction=instruction, repeat=repeat),
            journal,
            params["retry_statuses"],
        )
        haystacks = haystacks_of(read_rows(snakemake.input.haystack))
        rows = asyncio.run(runner.run(questions, haystacks, params["repeats"], progress.step))
    rows = [{**row, "method": id_, "operating_point": point, "tier": tier} for row in rows]
    write_table("query", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows)
