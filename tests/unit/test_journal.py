import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmev2 import journal as journal_module
from lmev2.journal import (
    Journal,
    JournalDamageError,
    JournalMissError,
    JournalWriteError,
    request_key,
)
from lmev2.process import machine

KEYS = [request_key(n) for n in range(20)]


def records(folder: Path) -> dict[str, dict]:
    journal = Journal(folder)
    return {key: journal.get(key) for key in KEYS if key in journal}


def leases(folder: Path) -> list[Path]:
    return list(folder.glob("*.lease"))


def part_of(folder: Path) -> Path:
    (part,) = folder.glob("*.jsonl")
    return part


def test_records_survive_a_process_that_never_closed(tmp_path):
    writer = Journal(tmp_path)
    writer.put(KEYS[0], {"text": "a\u2028b\n", "n": 1.5})
    assert Journal(tmp_path).get(KEYS[0]) == {"text": "a\u2028b\n", "n": 1.5}


def test_a_torn_last_line_is_ignored_at_every_length(tmp_path):
    writer = Journal(tmp_path)
    writer.put(KEYS[0], {"v": 0})
    first = part_of(tmp_path).stat().st_size
    writer.put(KEYS[1], {"v": 1})
    whole = part_of(tmp_path).read_bytes()
    for length in range(first, len(whole)):
        part_of(tmp_path).write_bytes(whole[:length])
        assert records(tmp_path) == {KEYS[0]: {"v": 0}}


def test_a_damaged_line_is_reported_and_the_others_kept(tmp_path):
    writer = Journal(tmp_path)
    for n in range(3):
        writer.put(KEYS[n], {"v": n})
    writer.close()
    part = part_of(tmp_path)
    lines = part.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'{"v":1}', b'{"v":7}')
    part.write_bytes(b"\n".join(lines))
    reader = Journal(tmp_path)
    assert {key for key in KEYS if key in reader} == {KEYS[0], KEYS[2]}
    assert len(reader.damaged) == 1
    assert part.name in reader.damaged[0]


def test_compaction_keeps_every_record_and_leaves_one_parquet_part(tmp_path):
    writer = Journal(tmp_path)
    for n, key in enumerate(KEYS):
        writer.put(key, {"v": n})
    other = Journal(tmp_path)  # knows the line part, which is about to go
    writer.compact()
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [".parquet"]
    expected = {key: {"v": n} for n, key in enumerate(KEYS)}
    assert records(tmp_path) == expected
    assert {key: writer.get(key) for key in KEYS} == expected
    assert {key: other.get(key) for key in KEYS} == expected


def test_the_first_record_of_a_key_counts(tmp_path):
    first, second = Journal(tmp_path), Journal(tmp_path)
    first.put(KEYS[0], {"v": "first"})
    first.compact()
    second.put(KEYS[0], {"v": "second"})
    second.compact()
    third = Journal(tmp_path)
    third.put(KEYS[0], {"v": "third"})
    assert third.get(KEYS[0]) == {"v": "first"}
    assert records(tmp_path)[KEYS[0]] == {"v": "first"}


def test_dead_processes_parts_are_compacted_living_ones_are_not(tmp_path):
    code = f"from lmev2.journal import Journal; Journal({str(tmp_path)!r}).put({KEYS[0]!r}, {{'v': 0}})"
    subprocess.run([sys.executable, "-c", code], check=True)
    living = Journal(tmp_path)
    living.put(KEYS[1], {"v": 1})
    mine = Journal(tmp_path)
    mine._own = None
    _, pid, _ = living._own.stem.rsplit("-", 2)
    assert int(pid) == os.getpid()
    mine.compact()
    assert living._own.exists()
    assert len(list(tmp_path.glob("*.parquet"))) == 1
    living.put(KEYS[2], {"v": 2})
    assert len(records(tmp_path)) == 3


def test_a_full_disk_is_a_clear_error_and_leaves_no_torn_line(tmp_path, monkeypatch):
    writer = Journal(tmp_path)
    writer.put(KEYS[0], {"v": 0})
    write = os.write

    def full(handle, data):
        if len(data) < 40:  # the rest of a line of which half was written
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[:60])

    monkeypatch.setattr(journal_module.os, "write", full)
    with pytest.raises(JournalWriteError, match=r"No space left.*earlier records are safe"):
        writer.put(KEYS[1], {"v": 1})
    monkeypatch.undo()
    writer.put(KEYS[2], {"v": 2})
    assert set(records(tmp_path)) == {KEYS[0], KEYS[2]}


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_asked(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalWriteError, match=r"file.*cannot write to the journal"):
        Journal(tmp_path / "file")

    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    async def never(_):
        raise AssertionError("asked, although the reply could not have been kept")

    journal = Journal(tmp_path / "journal")
    monkeypatch.setattr(journal_module.os, "open", refuse)
    with pytest.raises(JournalWriteError, match="Read-only file system"):
        asyncio.run(journal.once({"n": 1}, never))
    with pytest.raises(JournalWriteError, match="Read-only file system"):
        journal.put(KEYS[0], {"v": 0})


def test_a_replay_writes_nothing(tmp_path):
    with Journal(tmp_path / "none", replay=True) as journal:
        assert len(journal) == 0
    assert not (tmp_path / "none").exists()
    writer = Journal(tmp_path)
    writer.put(KEYS[0], {"v": 0})
    writer.close()
    dead = part_of(tmp_path)
    dead = dead.rename(dead.with_name(dead.name.replace(f"-{os.getpid()}-", "-999999999-")))
    before = sorted(tmp_path.rglob("*"))
    with Journal(tmp_path, replay=True) as journal:
        assert journal.get(KEYS[0]) == {"v": 0}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_part_is_named_and_nothing_is_asked_again_by_itself(tmp_path):
    with Journal(tmp_path) as writer:
        writer.put(KEYS[0], {"v": 0})
    (part,) = tmp_path.glob("*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    with pytest.raises(JournalDamageError, match=f"{part.name}.*is damaged.*restore"):
        Journal(tmp_path)


def test_once_makes_a_record_once_over_tasks(tmp_path):
    made = []

    async def run() -> None:
        writer = Journal(tmp_path)

        async def make(key: str) -> dict:
            made.append(key)
            await asyncio.sleep(0.01)
            return {"status": "ok", "n": len(made)}

        found = await asyncio.gather(*(writer.once({"a": 1}, make) for _ in range(5)))
        assert found == [{"status": "ok", "n": 1}] * 5

    asyncio.run(run())
    assert len(made) == 1


def test_once_makes_a_record_once_over_processes(tmp_path):
    log = tmp_path / "made"
    code = f"""
import asyncio
from lmev2.journal import Journal
async def main():
    journal = Journal({str(tmp_path / "journal")!r})
    async def make(key):
        with open({str(log)!r}, "a") as file:
            file.write(key + "\\n")
        await asyncio.sleep(0.05)
        return {{"status": "ok"}}
    for n in range(10):
        await journal.once({{"n": n}}, make)
    journal.compact()
asyncio.run(main())
"""
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    made = log.read_text().split()
    assert sorted(made) == sorted(set(made))
    assert len(made) == 10


def test_a_lease_of_a_dead_process_is_taken_over(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    writer = Journal(tmp_path)
    key = request_key({"a": 1})
    (tmp_path / f"{key}.lease").write_text(f"{machine()} {dead.pid} 0")

    async def make(_: str) -> dict:
        return {"status": "ok"}

    async def run() -> dict:
        return await asyncio.wait_for(writer.once({"a": 1}, make), 5)

    assert asyncio.run(run()) == {"status": "ok"}
    writer.close()
    assert leases(tmp_path) == []


def test_an_error_is_not_recorded_and_frees_the_lease(tmp_path):
    writer = Journal(tmp_path)

    async def fail(_: str) -> dict:
        raise RuntimeError("server gone")

    async def good(_: str) -> dict:
        return {"status": "ok"}

    with pytest.raises(RuntimeError, match="server gone"):
        asyncio.run(writer.once({"a": 1}, fail))
    assert asyncio.run(writer.once({"a": 1}, good)) == {"status": "ok"}


def test_statuses_that_are_not_good_enough_are_asked_again_and_then_count(tmp_path):
    def maker(status: str, calls: list):
        async def make(key: str) -> dict:
            calls.append(key)
            return {"status": status}

        return make

    def ask(status: str, again: tuple = ()) -> dict:
        return asyncio.run(Journal(tmp_path).once({"a": 1}, maker(status, calls), again=again))

    calls: list[str] = []
    assert ask("length_no_answer") == {"status": "length_no_answer"}
    assert ask("ok") == {"status": "length_no_answer"}  # final unless told otherwise
    assert ask("refusal", again=("length_no_answer",)) == {"status": "refusal"}
    assert ask("ok", again=("length_no_answer",)) == {"status": "refusal"}
    assert ask("ok", again=("refusal",)) == {"status": "ok"}
    assert ask("never", again=("refusal", "length_no_answer")) == {"status": "ok"}
    assert len(calls) == len(set(calls)) == 3


def test_a_replay_makes_nothing(tmp_path):
    async def make(_: str) -> dict:
        raise AssertionError("a replay must not call")

    async def record(_: str) -> dict:
        return {"status": "refusal"}

    asyncio.run(Journal(tmp_path).once({"a": 1}, record))
    replay = Journal(tmp_path, replay=True)
    assert asyncio.run(replay.once({"a": 1}, make, again=("refusal",))) == {"status": "refusal"}
    with pytest.raises(JournalMissError, match="no record of 1 request"):
        asyncio.run(replay.once({"a": 2}, make))
    with pytest.raises(JournalMissError):
        replay.put(KEYS[0], {})


def test_once_many_asks_for_what_is_missing_only(tmp_path):
    writer = Journal(tmp_path)
    writer.put(KEYS[1], {"v": 1})
    asked = []

    async def make(keys: list[str]) -> list[dict]:
        asked.append(keys)
        return [{"v": KEYS.index(key)} for key in keys]

    made = asyncio.run(writer.once_many([KEYS[2], KEYS[1], KEYS[0], KEYS[2]], make))
    assert asked == [[KEYS[2], KEYS[0]]]
    assert made == {KEYS[0], KEYS[2]}
    assert asyncio.run(writer.once_many(KEYS[:3], make)) == set()


def test_keys_are_of_content_not_of_order(tmp_path):
    assert request_key({"a": 1, "b": [1, 2]}) == request_key({"b": [1, 2], "a": 1})
    assert request_key({"a": 1, "b": [1, 2]}) != request_key({"a": 1, "b": [2, 1]})
