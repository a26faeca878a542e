"""The journal: everything that was paid for, kept from the moment it arrives.

A journal is a folder of parts. Each process appends to a part of its own, a line a record:

    <crc32, 8 hex digits> <key, 64 hex digits> <value, JSON>\\n

so a killed process leaves at most a torn last line, which readers skip. When a stage completes, its
part is rewritten as Parquet (`compact`). Nothing is ever changed or removed otherwise: a key's first
record counts. Parts carry machine and process in their names and no file is locked, so several jobs and
several machines can share one folder, over a network file system, too:

- A lease, a file named by a key, stands for an item that is being made. Creating one exclusively is the
  only thing that has to be atomic.
- The owner touches its leases every few seconds. Who waits takes a lease for abandoned when it has not
  changed for a minute by its own clock, whatever time the file has.
- A lease is given back once its record is on disk, so that the next one to hold it can read the record.
  It lies beside the parts: an NFS client that has created a file in a folder looks at the folder anew.
"""

import asyncio
import hashlib
import json
import os
import re
import threading
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.errors import UserError
from lmev2.process import is_alive, is_gone, machine
from lmev2.store import canonical_json, replacing

SYNC_SECONDS = 1.0
# Who waits for a lease looks first so soon, later at most so often.
POLL_SECONDS = (0.05, 1.0)
BEAT_SECONDS = 5.0
# A lease of another machine counts as abandoned when its owner has not touched it for this long.
LEASE_SECONDS = 60.0
LEASE = ".lease"
ROWS_PER_GROUP = 512

_LINE = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{64}) (.*)", re.DOTALL)


class JournalWriteError(UserError):
    """A record could not be written: the disk is full, or the folder cannot be written to."""


class JournalDamageError(UserError):
    """A part that was written whole cannot be read any more."""


class JournalMissError(UserError):
    """A replay asked for something that was never recorded."""


def request_key(request: Any) -> str:
    """The journal key of a request: sha256 of its canonical JSON."""
    return hashlib.sha256(canonical_json(request).encode()).hexdigest()


@lru_cache(maxsize=4)
def _row_group(path: Path, group: int) -> list[str]:
    return pq.ParquetFile(path).read_row_group(group, columns=["value"]).column("value").to_pylist()


class Journal:
    """One namespace of the journal, open for reading and appending.

    Args:
        folder: created if missing.
        replay: True forbids new records; `once` then raises `JournalMissError` for an unknown key.
    """

    def __init__(self, folder: str | Path, *, replay: bool = False) -> None:
        self.folder = Path(folder)
        self.replay = replay
        if not replay:  # which writes nothing, so that a journal can be handed on read-only
            with _writing(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
        # key -> (part, offset, length) | (part, group, row)
        self._where: dict[str, tuple[Path, int, int]] = {}
        self._read_to: dict[Path, int] = {}
        self._own: Path | None = None
        self._handle: int | None = None
        self._unsynced = False
        self._sync_error: OSError | None = None
        self._held: dict[Path, str] = {}  # leases of this process, with what it wrote into them
        self._to_give_back: list[Path] = []  # those whose record is not synced yet
        self._keeper: threading.Thread | None = None
        self._guard = threading.RLock()
        self._locks: dict[str, asyncio.Lock] = {}
        self.damaged: list[str] = []
        self.refresh()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close() if kind else self.compact()

    # -- reading ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have recorded since the last look."""
        with self._guard:
            # In order of birth, so that everybody agrees which record of a key is the first.
            for path in sorted([*self.folder.glob("*.jsonl"), *self.folder.glob("*.parquet")], key=_birth):
                with _unless_gone():
                    try:
                        self._read_part(path)
                    except OSError as error:
                        if not is_gone(error):
                            raise
                        self._read_part(path.with_suffix(".parquet"))  # compacted since it was listed

    def _read_part(self, path: Path) -> None:
        self._read_parquet(path) if path.suffix == ".parquet" else self._read_lines(path)

    def _read_lines(self, path: Path) -> None:
        start = self._read_to.get(path, 0)
        with path.open("rb") as part:  # opened before its size is asked for, or NFS may tell an old one
            if os.fstat(part.fileno()).st_size <= start:
                return
            part.seek(start)
            for line in part:
                # Torn, or still being written: from afar, the rest may be there before what precedes it.
                if not line.endswith(b"\n") or (b"\0" in line and not self._is_here(path)):
                    break
                match = _LINE.fullmatch(line[:-1])
                if match and int(match[1], 16) == zlib.crc32(line[9:-1]):
                    self._where.setdefault(match[2].decode(), (path, start + match.start(3), len(match[3])))
                else:
                    self.damaged.append(f"{path}: unreadable record at byte {start}; its item is asked again")
                start += len(line)
        self._read_to[path] = start

    def _read_parquet(self, path: Path) -> None:
        if path in self._read_to:
            return
        try:
            part = pq.ParquetFile(path)
        except pa.ArrowInvalid as error:
            raise JournalDamageError(
                f"{path}: a part of the journal is damaged ({error}); restore the file from a copy, or move "
                "it away: what it recorded is then asked, and paid, again"
            ) from error
        for group in range(part.num_row_groups):
            for row, key in enumerate(part.read_row_group(group, columns=["key"]).column("key").to_pylist()):
                known = self._where.get(key)
                if known is None or known[0] == path.with_suffix(".jsonl"):
                    self._where[key] = (path, group, row)
        self._read_to[path] = 1

    @staticmethod
    def _is_here(part: Path) -> bool:
        """Whether a part is of a process of this machine."""
        return part.stem.rsplit("-", 2)[0] == machine()

    def __contains__(self, key: str) -> bool:
        return key in self._where

    def __len__(self) -> int:
        return len(self._where)

    def __iter__(self) -> Iterator[str]:
        """All keys, as they were recorded."""
        return iter(list(self._where))

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of `key`, or None."""
        with self._guard:
            while (where := self._where.get(key)) is not None:
                path, first, second = where
                try:
                    if path.suffix == ".parquet":
                        return json.loads(_row_group(path, first)[second])
                    with path.open("rb") as part:
                        part.seek(first)
                        return json.loads(part.read(second))
                except OSError as error:
                    if not is_gone(error):
                        raise
                    # Its writer has compacted it meanwhile: look again under the new name.
                    del self._where[key]
                    self.refresh()
            return None

    def recorded(self, request: dict[str, Any], again: Collection[str] = ()) -> dict[str, Any] | None:
        """The record of `request` that `once` would return without making it, or None."""
        record = self.get(self._newest(request)[0])
        return None if record is None or record["status"] in again else record

    def _newest(self, request: dict[str, Any]) -> tuple[str, str]:
        """The key of the newest record of `request`, and the key that a further one would have."""
        key, retries = request_key(request), 0
        while (later := request_key({**request, "retry": retries + 1})) in self:
            key, retries = later, retries + 1
        return key, later

    # -- writing ----------------------------------------------------------------------------------

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Record `value` under `key`; it is on its way to disk when this returns, synced within a second.

        Raises:
            JournalWriteError: the record cannot be written; the part stays readable.
        """
        if self.replay:
            raise JournalMissError(f"{self.folder}: a replay records nothing")
        body = f"{key} {canonical_json(value)}".encode()
        line = b"%08x %s\n" % (zlib.crc32(body), body)
        with self._guard:
            handle = self._open_own()
            offset = os.lseek(handle, 0, os.SEEK_END)
            try:
                written = 0
                while written < len(line):
                    written += os.write(handle, line[written:])
            except OSError as error:
                os.ftruncate(handle, offset)  # no torn line in the middle of the part
                raise _unwritable(self._own, error) from error
            self._where.setdefault(key, (self._own, offset + 74, len(line) - 75))
            self._read_to[self._own] = offset + len(line)
            self._unsynced = True
            self._keep()

    def _open_own(self) -> int:
        if self._sync_error is not None:
            raise _unwritable(self._own, self._sync_error) from self._sync_error
        if self._handle is None:
            name = f"{machine()}-{os.getpid()}-{time.time_ns():x}.jsonl"
            self._own = self.folder / name
            with _writing(self._own):
                self._handle = os.open(self._own, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        return self._handle

    def _keep(self) -> None:
        """See that a thread syncs what was written and touches the leases, until there is neither.

        A thread, as a busy event loop must not look dead to those who wait.
        """
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep_on, name=f"journal {self.folder}", daemon=True)
            self._keeper.start()

    def _keep_on(self) -> None:
        beat_at = time.monotonic()
        while True:
            time.sleep(SYNC_SECONDS)
            with self._guard:
                self._sync()
                if not self._held:
                    self._keeper = None
                    return
                held = list(self._held)
            if time.monotonic() - beat_at >= BEAT_SECONDS:
                beat_at = time.monotonic()
                for path in held:
                    with suppress(OSError):  # given back meanwhile; or the next beat may do
                        os.utime(path)

    def _sync(self) -> None:
        """Bring what was written to disk, then give back the leases that stood for it.

        A network file system may tell only now that the disk is full: the next `put` or `close` raises that.
        """
        with self._guard:
            if self._unsynced and self._handle is not None:
                try:
                    os.fsync(self._handle)
                except OSError as error:
                    self._sync_error = error
            self._unsynced = False
            while self._to_give_back:
                self._give_back(self._to_give_back.pop())

    def close(self) -> None:
        """Sync and close this process's part."""
        with self._guard:
            self._sync()
            if self._handle is not None:
                handle, self._handle = self._handle, None
                try:
                    os.close(handle)
                except OSError as error:
                    self._sync_error = error
            if self._sync_error is not None:
                error, self._sync_error = self._sync_error, None
                raise _unwritable(self._own, error) from error

    def compact(self) -> None:
        """Close this process's part; rewrite it, and those of this machine's dead processes, as Parquet."""
        self.close()
        for path in [] if self.replay else sorted(self.folder.glob("*.jsonl")):
            pid = int(path.stem.rsplit("-", 2)[1])
            if path == self._own or (self._is_here(path) and not is_alive(pid)):
                try:
                    self._compact_part(path)
                except OSError as error:
                    if not is_gone(error):  # another process was faster
                        raise _unwritable(path.with_suffix(".parquet"), error) from error
        self._own = None
        self._sweep()

    def _sweep(self) -> None:
        """Remove leases of this machine's dead processes: nobody may ask for those items again."""
        for path in [] if self.replay else self.folder.glob(f"*{LEASE}"):
            with _unless_gone():
                if _has_ended(owner := path.read_text()):
                    _clear(path, owner)

    def _compact_part(self, path: Path) -> None:
        self._read_lines(path)
        records = {}
        with path.open("rb") as part:
            for line in part:
                match = _LINE.fullmatch(line[:-1])
                if match and int(match[1], 16) == zlib.crc32(line[9:-1]):
                    records.setdefault(match[2].decode(), match[3].decode())
        if records:
            table = pa.table({"key": list(records), "value": list(records.values())})
            with replacing(path.with_suffix(".parquet")) as temporary:
                pq.write_table(table, temporary, compression="zstd", row_group_size=ROWS_PER_GROUP)
        path.unlink()
        with self._guard:
            self._read_to.pop(path, None)
            if records:
                self._read_parquet(path.with_suffix(".parquet"))

    # -- paying once ------------------------------------------------------------------------------

    async def once(
        self,
        request: dict[str, Any],
        make: Callable[[str], Awaitable[dict[str, Any]]],
        *,
        again: Collection[str] = (),
    ) -> dict[str, Any]:
        """The record of `request`, made now by `make(key)` if nobody has made it.

        `make` runs at most once for a key over all tasks, processes and machines that share the
        folder (a lease stands for it meanwhile). What it raises is raised here and not recorded.

        Args:
            request: anything that is JSON; its sha256 is the key.
            make: makes the record, a dict with a `status`.
            again: statuses that are not good enough: a record that has one is made once more, under a
                key of its own, and counts from then on.
        """

        async def make_one(keys: list[str]) -> list[dict[str, Any]]:
            return [await make(keys[0])]

        key, later = self._newest(request)
        record = self.get(key)
        if record is None or (record["status"] in again and not self.replay):
            key = key if record is None else later
            await self.once_many([key], make_one)
            record = self.get(key)
        return record

    async def once_many(
        self, keys: Sequence[str], make: Callable[[list[str]], Awaitable[list[dict[str, Any]]]]
    ) -> set[str]:
        """See that every one of `keys` has a record; `make` gets those that lack one, in order.

        Returns:
            the keys that were made now.

        Raises:
            JournalMissError: in replay, when a key has no record.
        """
        missing = list(dict.fromkeys(key for key in keys if key not in self))
        if not missing:
            return set()
        if self.replay:
            raise JournalMissError(
                f"{self.folder} has no record of {len(missing)} request(s), the first {missing[0]}; "
                "a replay makes no call: use the journal of the run that is replayed, and its config"
            )
        async with AsyncExitStack() as leases:
            for key in sorted(missing):  # all in one order, so that nobody waits in a circle
                await leases.enter_async_context(self._lease(key))
            self.refresh()
            missing = [key for key in missing if key not in self]
            if missing:
                for key, value in zip(missing, await make(missing), strict=True):
                    self.put(key, value)
        return set(missing)

    @asynccontextmanager
    async def _lease(self, key: str) -> AsyncIterator[None]:
        try:
            async with self._locks.setdefault(key, asyncio.Lock()):
                path = self.folder / f"{key}{LEASE}"
                await self._take(path)
                try:
                    yield
                finally:
                    with self._guard:
                        if self._unsynced and key in self:
                            self._to_give_back.append(path)
                        else:
                            self._give_back(path)
        finally:
            self._locks.pop(key, None)  # a lock is of use in one event loop only

    async def _take(self, path: Path) -> None:
        """Wait until the lease is ours."""
        me = f"{machine()} {os.getpid()} {time.time_ns():x}"
        pause, most = POLL_SECONDS
        seen: tuple[str, int] | None = None  # what the other one wrote, and its last touch
        waited = 0.0  # since then; pauses only, as a look may take minutes while a file server is away
        while True:
            with _writing(path):
                if _create(path, me):
                    break
            with _unless_gone():
                found = path.read_text(), path.stat().st_mtime_ns
                if found != seen:
                    seen, waited = found, 0.0
                if _has_ended(found[0]) or waited > LEASE_SECONDS:
                    _clear(path, found[0])
                    continue
            await asyncio.sleep(pause)
            waited += pause
            pause = min(2 * pause, most)
        with self._guard:
            self._held[path] = me
            self._keep()

    def _give_back(self, path: Path) -> None:
        """Remove a lease of ours, unless it was taken for abandoned and is somebody else's now."""
        me = self._held.pop(path)
        with suppress(OSError):  # without a touch it counts as abandoned in a minute
            if path.read_text() == me:
                path.unlink()


@contextmanager
def _unless_gone() -> Iterator[None]:
    """Do the block as far as its file is there."""
    try:
        yield
    except OSError as error:
        if not is_gone(error):
            raise


def _unwritable(path: Path, error: OSError) -> JournalWriteError:
    return JournalWriteError(
        f"{path}: cannot write to the journal ({error.strerror}); all earlier records are safe: "
        "make room and see that the folder can be written to, then run again"
    )


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def _birth(part: Path) -> tuple[int, str]:
    return int(part.stem.rpartition("-")[2], 16), part.name


def _create(path: Path, owner: str) -> bool:
    """Create a lease and sign it; False if it is there."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return False
    os.write(handle, owner.encode())
    os.close(handle)
    return True


def _clear(path: Path, owner: str) -> None:
    """Clear away the lease of an owner that is gone, so that the next try to create it can succeed."""
    aside = path.with_name(f"{path.name}.{machine()}-{os.getpid()}-{time.time_ns():x}")
    path.rename(aside)
    if aside.read_text() != owner:  # somebody was faster, and this lease is new: give it back
        with suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink()


def _has_ended(owner: str) -> bool:
    """Whether the process `machine pid time` that signed a lease is one of ours that is dead."""
    place, _, rest = owner.partition(" ")
    return place == machine() and not is_alive(int(rest.split(" ")[0]))
