"""Let the reader answer every question from its truncated context."""

from functools import partial

from lmev2.job import Job, summary
from lmev2.query import question_of
from lmev2.reader import Reader
from lmev2.records import ROW_KEY
from lmev2.rows import gather_rows
from lmev2.shards import shard_of
from lmev2.store import read_rows, write_table
from lmev2.tokenizer import counter_of

shard = shard_of(snakemake.wildcards)
with (
    Job(snakemake, f"read {snakemake.wildcards.method} {snakemake.wildcards.tier}{shard}") as job,
    job.door("reader") as door,
):
    counter = counter_of(job.params["tokenizer"])
    reader = Reader(
        door,
        job.prompts(),
        job.params["domains"],
        job.params["context_tokens"],
        counter,
        retruncate=job.params["on_overflow"] == "retruncate",
    )
    # The reader sees text, image, domain and environment of a question, nothing else of it.
    columns = ["question_id", "domain", "environment", "text", "image", "image_sha256"]
    places = {row["question_id"]: row for row in read_rows(snakemake.input.questions, columns)}
    questions = {id_: question_of(row) for id_, row in places.items()}
    queries = [row for row in read_rows(snakemake.input.queries) if shard.holds(row["question_id"])]

    async def answer(query):
        if job.params["answered"]:
            return reader.take(query)
        id_ = query["question_id"]
        return await reader.read(questions[id_], places[id_], query)

    progress = job.progress("questions", len(queries))
    work = [partial(answer, query) for query in queries]
    answers = door.run(gather_rows(work, progress.step))
    rows = [
        {**{key: query[key] for key in ROW_KEY}, **answer}
        for query, answer in zip(queries, answers, strict=True)
    ]
    write_table("read", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows, truncated=sum(row["was_truncated"] for row in rows))
