"""Embed the entries of one pool, each distinct text once."""

from lmev2.insert.embedding import DOCUMENTS, embed_entries
from lmev2.job import Job
from lmev2.memory.embedding_text import Recipe
from lmev2.store import read_rows, write_parquet, write_table
from lmev2.trajectory import Trajectories

pool = snakemake.wildcards.pool
with Job(snakemake, f"insert embeddings of {pool}") as job, job.door("embedding") as door:
    recipe = Recipe(**job.params["recipe"])
    trajectories = Trajectories(snakemake.input.trajectories, snakemake.input.states)
    entries = read_rows(snakemake.input.entries)
    progress = job.progress("entries", len(entries))
    texts = ((entry, DOCUMENTS[pool](entry, trajectories, recipe)) for entry in entries)
    limits = door.models["embedding"].limits
    batch = limits["batch"] * limits["concurrency"]  # as many texts as keep all requests in flight
    rows, vectors = door.run(embed_entries(door, texts, batch, progress.at))
    write_table("embeddings", rows, snakemake.output.table)
    write_parquet(vectors, snakemake.output.vectors)
    progress.close(f"{len(vectors)} distinct texts")
    job.meta(
        rows,
        entries=len(rows),
        vectors=len(vectors),
        entries_without_vector=sum(not row["vectors"] for row in rows),
        entries_cut=sum(row["was_cut"] for row in rows),
        centre_share_mean=sum(row["centre_share"] for row in rows) / max(1, len(rows)),
    )
