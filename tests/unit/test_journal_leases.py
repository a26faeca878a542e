"""Leases and parts on a folder that machines share: nothing is paid twice, nobody waits for the dead."""

import asyncio
import errno
import os
import threading
import time
from pathlib import Path

import pytest

from lmev2 import journal as journal_module
from lmev2 import process
from lmev2.journal import Journal, JournalWriteError, request_key

REQUEST = {"a": 1}
KEY = request_key(REQUEST)


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(journal_module, "POLL_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(journal_module, "SYNC_SECONDS", 0.05)
    monkeypatch.setattr(journal_module, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(journal_module, "LEASE_SECONDS", 0.3)


def leases(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.lease*"))


async def good(_: str) -> dict:
    return {"status": "ok"}


async def never(_: str) -> dict:
    raise AssertionError("it was made twice")


@pytest.mark.parametrize("hours", [-1000, 0, 1000])
@pytest.mark.parametrize("owner", ["elsewhere 1 0", ""])  # "": killed before it could sign
def test_a_silent_lease_of_another_machine_is_taken_over_whatever_its_clock_says(tmp_path, owner, hours):
    path = tmp_path / f"{KEY}.lease"
    path.write_text(owner)
    os.utime(path, (time.time() + 3600 * hours,) * 2)
    with Journal(tmp_path) as journal:
        began = time.monotonic()
        assert asyncio.run(journal.once(REQUEST, good)) == {"status": "ok"}
        assert time.monotonic() - began > 0.3
    assert leases(tmp_path) == []


def test_a_lease_that_is_touched_is_respected_even_by_a_clock_that_is_far_off(tmp_path):
    path = tmp_path / f"{KEY}.lease"
    path.write_text("elsewhere 1 0")
    other = Journal(tmp_path)
    ended = threading.Event()

    def work_elsewhere():
        for beat in range(20):
            os.utime(path, (beat + 1, beat + 1))  # in 1970
            time.sleep(0.05)
        other.put(KEY, {"status": "made elsewhere"})
        ended.set()
        path.unlink()

    thread = threading.Thread(target=work_elsewhere)
    thread.start()
    journal = Journal(tmp_path)
    assert asyncio.run(journal.once(REQUEST, never)) == {"status": "made elsewhere"}
    assert ended.is_set()
    thread.join()


def test_an_owner_with_a_busy_event_loop_keeps_its_lease(tmp_path):
    """Two journals as two machines: the owner's making blocks its loop far longer than a lease lasts."""
    made = []

    async def slow(_: str) -> dict:
        made.append("slow")
        time.sleep(1)
        return {"status": "ok"}

    owner, other = Journal(tmp_path), Journal(tmp_path)
    thread = threading.Thread(target=lambda: asyncio.run(owner.once(REQUEST, slow)))
    thread.start()
    while not made:
        time.sleep(0.01)
    assert asyncio.run(other.once(REQUEST, never)) == {"status": "ok"}
    thread.join()


def test_a_lease_is_given_back_once_its_record_is_on_disk(tmp_path, monkeypatch):
    """Or a machine that gets the lease might not find the record."""
    happened = []
    fsync, unlink = os.fsync, Path.unlink
    monkeypatch.setattr(journal_module.os, "fsync", lambda handle: (happened.append("sync"), fsync(handle)))
    monkeypatch.setattr(
        Path, "unlink", lambda path, *how, **more: (happened.append(path.suffix), unlink(path, *how, **more))
    )
    journal = Journal(tmp_path)
    for n in range(3):
        asyncio.run(journal.once({"n": n}, good))
    journal.close()
    assert leases(tmp_path) == []
    first = happened.index("sync")
    assert ".lease" not in happened[:first]
    assert happened.count(".lease") == 3


def test_who_lost_a_lease_does_not_remove_that_of_the_next(tmp_path):
    journal = Journal(tmp_path)
    path = tmp_path / f"{KEY}.lease"

    async def make(_: str) -> dict:
        path.unlink()
        path.write_text("elsewhere 1 0")
        return {"status": "ok"}

    asyncio.run(journal.once(REQUEST, make))
    journal.close()
    assert path.read_text() == "elsewhere 1 0"


def test_overlapping_batches_are_made_once_and_nobody_waits_in_a_circle(tmp_path):
    keys = [request_key(n) for n in range(12)]
    made = []

    async def make(missing: list[str]) -> list[dict]:
        made.extend(missing)
        await asyncio.sleep(0.02)
        return [{"status": "ok"}] * len(missing)

    def ask(some: list[str]) -> None:
        with Journal(tmp_path) as journal:
            asyncio.run(journal.once_many(some, make))

    batches = [keys[:8], keys[:3:-1], keys[2:6], list(reversed(keys))]
    threads = [threading.Thread(target=ask, args=(batch,)) for batch in batches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(made) == sorted(keys)


def test_leases_of_dead_processes_are_swept_when_a_stage_ends(tmp_path):
    dead, living, far = (tmp_path / f"{request_key(n)}.lease" for n in range(3))
    dead.write_text(f"{process.machine()} 999999999 0")
    living.write_text(f"{process.machine()} {os.getpid()} 0")
    far.write_text("elsewhere 999999999 0")
    with Journal(tmp_path):
        pass
    assert sorted(tmp_path.glob("*.lease")) == sorted([living, far])


def test_a_full_disk_that_shows_at_the_sync_stops_the_run(tmp_path, monkeypatch):
    """A network file system takes a write and refuses it later."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal_module.os, "fsync", full)
    journal = Journal(tmp_path)
    journal.put(KEY, {"v": 0})
    with pytest.raises(JournalWriteError, match=r"No space left on device.*make room"):
        journal.close()
    journal.put(request_key(2), {"v": 0})
    time.sleep(0.3)
    with pytest.raises(JournalWriteError, match="No space left on device"):
        journal.put(request_key(3), {"v": 0})


# -- parts that come and go ---------------------------------------------------------------------------


def stale(error: int):
    def raising(*_, **__):
        raise OSError(error, os.strerror(error))

    return raising


@pytest.mark.parametrize("error", [errno.ENOENT, errno.ESTALE])
def test_a_part_that_vanishes_between_listing_and_opening_is_read_under_its_new_name(
    tmp_path, monkeypatch, error
):
    writer = Journal(tmp_path)
    writer.put(KEY, {"v": 0})
    (part,) = tmp_path.glob("*.jsonl")
    writer.compact()
    read = Journal._read_lines
    listed = Path.glob

    def old_listing(folder, pattern):
        return [part] if pattern == "*.jsonl" else [] if pattern == "*.parquet" else listed(folder, pattern)

    monkeypatch.setattr(Path, "glob", old_listing)
    monkeypatch.setattr(
        Journal, "_read_lines", lambda self, path: stale(error)() if path == part else read(self, path)
    )
    assert Journal(tmp_path).get(KEY) == {"v": 0}


def test_an_empty_part_that_is_cleared_away_leaves_no_other(tmp_path, monkeypatch):
    """A process that died within its first line leaves nothing to compact."""
    part = tmp_path / "elsewhere-1-1.jsonl"
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: [part] if pattern == "*.jsonl" else [])
    assert len(Journal(tmp_path)) == 0


def test_a_record_whose_part_was_compacted_elsewhere_is_found_again(tmp_path, monkeypatch):
    writer, reader = Journal(tmp_path), None
    writer.put(KEY, {"v": 0})
    reader = Journal(tmp_path)
    writer.compact()
    opened = Path.open

    def open_stale(path, *how, **more):
        return stale(errno.ESTALE)() if path.suffix == ".jsonl" else opened(path, *how, **more)

    monkeypatch.setattr(Path, "open", open_stale)
    assert reader.get(KEY) == {"v": 0}


def test_a_line_of_which_the_middle_has_not_arrived_is_looked_at_again(tmp_path):
    """A machine may see a file's new length before all of its bytes: what is missing reads as zeros."""
    writer = Journal(tmp_path / "one")
    for n in range(3):
        writer.put(request_key(n), {"v": n})
    (mine,) = (tmp_path / "one").glob("*.jsonl")
    lines = mine.read_bytes().splitlines(keepends=True)
    (tmp_path / "two").mkdir()
    part = tmp_path / "two" / "elsewhere-1-1.jsonl"
    part.write_bytes(lines[0] + b"\0" * (len(lines[1]) - 1) + lines[1][-1:] + lines[2])
    reader = Journal(tmp_path / "two")
    assert len(reader) == 1
    assert reader.damaged == []
    part.write_bytes(b"".join(lines))
    reader.refresh()
    assert len(reader) == 3
    assert reader.damaged == []


def test_a_containers_processes_are_not_taken_for_ours(tmp_path, monkeypatch):
    """Same host name, another process namespace: its process 1 is not our process 1."""
    name = process.machine()
    assert name.startswith(process.socket.gethostname())
    writer = Journal(tmp_path)
    writer.put(KEY, {"v": 0})
    writer.close()
    (part,) = tmp_path.glob("*.jsonl")
    part = part.rename(part.with_name(f"{process.socket.gethostname()}.0badcafe-999999999-1.jsonl"))
    with Journal(tmp_path) as journal:
        journal.put(request_key(1), {"v": 1})
    assert part.exists()
