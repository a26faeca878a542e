"""The journal among processes, and on a bad day: a torn tail, a full disk, a half-written table."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pyarrow as pa
import pytest

from lmev2.journal import Journal, JournalWriteError, request_key
from lmev2.store import read_table, write_parquet

# Makes 40 items through one journal and notes each making in a file; argv: folder, file, step of the order.
WORKER = """
import asyncio, os, sys
from lmev2.journal import Journal

folder, made, step = sys.argv[1], sys.argv[2], int(sys.argv[3])

async def make(item):
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{item}\\n".encode())
    os.close(handle)
    await asyncio.sleep(0.01)
    return {"status": "ok", "item": item}

async def main():
    with Journal(folder) as journal:
        items = list(range(40))[::step]
        slots = asyncio.Semaphore(4)
        async def one(item):
            async with slots:
                return await journal.once({"item": item}, lambda key: make(item))
        records = await asyncio.gather(*[one(item) for item in items])
        assert [record["item"] for record in records] == items

asyncio.run(main())
"""


def records(folder):
    """Keys of all readable records, from a fresh look at the folder."""
    journal = Journal(folder)
    keys = {request_key({"item": item}) for item in range(100)}
    found = {key for key in keys if key in journal}
    journal.close()
    return found


async def made(item):
    return {"status": "ok", "item": item}


def put(journal, item):
    return asyncio.run(journal.once({"item": item}, lambda key: made(item)))


@pytest.mark.slow
def test_processes_that_share_a_journal_make_each_key_once(tmp_path):
    folder, log = tmp_path / "journal", tmp_path / "made"
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(folder), str(log), str(step)])
        for step in (1, -1, 1, -1)
    ]
    assert [worker.wait(timeout=60) for worker in workers] == [0] * len(workers)
    assert Counter(log.read_text().split()) == Counter({str(item): 1 for item in range(40)})
    assert len(records(folder)) == 40
    assert list(folder.glob("*.lease")) == []


def test_a_torn_tail_costs_its_own_record_only(tmp_path):
    journal = Journal(tmp_path)
    for item in range(3):
        put(journal, item)
    journal.close()
    (part,) = tmp_path.glob("*.jsonl")
    part.write_bytes(part.read_bytes()[:-5])
    assert records(tmp_path) == {request_key({"item": item}) for item in range(2)}
    with Journal(tmp_path) as again:
        assert put(again, 2)["item"] == 2
    assert len(records(tmp_path)) == 3


def test_a_full_disk_is_a_clear_error_and_the_journal_goes_on_afterwards(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    put(journal, 0)
    write, room = os.write, 30

    def full(handle, data):
        nonlocal room
        if room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count, room = write(handle, data[:room]), 0  # a part of the line still fits
        return count

    with monkeypatch.context() as patch:
        patch.setattr("lmev2.journal.os.write", full)
        with pytest.raises(JournalWriteError, match=r"No space left on device.*make room"):
            journal.put(request_key({"item": 1}), {"status": "ok", "item": 1})
    assert records(tmp_path) == {request_key({"item": 0})}
    put(journal, 1)
    journal.close()
    assert len(records(tmp_path)) == 2
    assert Journal(tmp_path).damaged == []


def test_a_half_written_table_is_never_read_as_done(tmp_path):
    """The writer dies by kill -9 with half of the new file on disk."""
    path = tmp_path / "table.parquet"
    old = pa.table({"value": [1, 2, 3]})
    write_parquet(old, path)
    script = (
        "import sys, time\n"
        "from lmev2.store import replacing\n"
        "with replacing(sys.argv[1]) as temporary:\n"
        "    temporary.write_bytes(open(sys.argv[1], 'rb').read()[:100])\n"
        "    print('half', flush=True)\n"
        "    time.sleep(60)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "half\n"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert read_table(path) == old
    assert sorted(tmp_path.glob("*.parquet")) == [path]
    # In a journal, too: what compaction left half done is no part, and its lines are still there.
    folder = tmp_path / "journal"
    journal = Journal(folder)
    put(journal, 0)
    journal.close()
    (part,) = folder.glob("*.jsonl")
    half = next(tmp_path.glob(".table.parquet.*"))
    half.rename(folder / f".{part.stem}.parquet.x.tmp")
    assert records(folder) == {request_key({"item": 0})}


def test_a_dead_process_leaves_no_lease_that_others_wait_for(tmp_path):
    script = (
        "import asyncio, os, sys\n"
        "from lmev2.journal import Journal\n"
        "async def die(key): os.kill(os.getpid(), 9)\n"
        "asyncio.run(Journal(sys.argv[1]).once({'item': 0}, die))\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False).returncode == -9
    assert len(list(tmp_path.glob("*.lease"))) == 1
    began = time.monotonic()
    with Journal(tmp_path) as journal:
        put(journal, 0)
    assert time.monotonic() - began < 2
    assert list(tmp_path.glob("*.lease")) == []
