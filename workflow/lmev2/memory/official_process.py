"""The process in which a backend of the official harness runs (`official_program`), seen from outside."""

import asyncio
import itertools
import json
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmev2.errors import UserError
from lmev2.memory import official_program

PROGRAM = Path(official_program.__file__).resolve()
GRACE_S = 5  # for a cancelled query to end the programs that it has started
LONGEST_LINE = 2**31  # bytes; a trajectory or a context is one line
TAIL = 20  # lines of output that are shown when the process ends unasked


class BackendError(UserError):
    """The backend failed; the message says where and how."""


class BackendGoneError(BackendError):
    """The process ended while it was asked."""


class BackendStoppedError(BackendGoneError):
    """The process was stopped for no fault of this request: another one took too long."""


class BackendProcess:
    """A running backend. Make one with `start`.

    Args:
        process: the process, leader of its own group.
        connection: both ends of the socket to it.
        output: file with what it prints.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        output: Path,
    ) -> None:
        self._process = process
        self._reader, self._writer = connection
        self._output = output
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future] = {}
        self._ended: BackendGoneError | None = None  # what a request then raises
        self._listening = asyncio.ensure_future(self._listen())
        self._watching = asyncio.ensure_future(self._watch())

    @classmethod
    async def start(
        cls, python: str, checkout: Path, output: Path, setup: Mapping[str, Any], timeout_s: float
    ) -> "BackendProcess":
        """Start the process and build the backend in it.

        Args:
            python: the interpreter.
            checkout: first folder that it imports from, and its current folder.
            output: file that its output is appended to.
            setup: what `official_program.build` takes, and `runtime`.
            timeout_s: longest time for all of it.

        Raises:
            BackendError: the interpreter cannot be started, or building failed.
        """
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            with output.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *(python, str(PROGRAM), str(theirs.fileno()), str(checkout)),
                    pass_fds=[theirs.fileno()],
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=checkout,
                    env=environment,
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            raise BackendError(f"{python}: cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
        backend = cls(process, await asyncio.open_connection(sock=ours, limit=LONGEST_LINE), output)
        try:
            await backend.call("start", timeout_s, **setup)
        except BaseException:
            await backend.end()
            raise
        return backend

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._ended is None

    async def call(self, do: str, timeout_s: float, **values: Any) -> dict[str, Any]:
        """One request and its reply.

        Raises:
            BackendError: the backend raised an error, or did not reply in time and was stopped.
            BackendGoneError: the process ended during the request.
        """
        if self._ended:
            raise self._ended
        number = next(self._numbers)
        self._waiting[number] = reply = asyncio.get_running_loop().create_future()
        try:
            self._send({"n": number, "do": do, **values})
            answer = await asyncio.wait_for(asyncio.shield(reply), timeout_s)
        except TimeoutError:
            await self._stop(reply)
            raise BackendError(f"no answer to {do} within {timeout_s:g} s: the backend was stopped") from None
        finally:
            del self._waiting[number]
        if "error" in answer:
            with self._output.open("a", encoding="utf-8") as log:
                log.write(answer.get("traceback", ""))
            raise BackendError(answer["error"])
        return answer

    async def end(self) -> None:
        """Stop it, and all that it has started."""
        self._ended = self._ended or BackendGoneError("the backend was closed")
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        await self._watching
        self._writer.close()

    async def _stop(self, reply: asyncio.Future) -> None:
        """Let a request that took too long end its own programs, then stop the process."""
        self._ended = BackendStoppedError("the backend was stopped, as another request took too long")
        self._send({"n": 0, "do": "cancel"})
        await asyncio.wait([reply], timeout=GRACE_S)
        if reply.done() and not reply.cancelled():
            reply.exception()  # seen
        else:
            reply.cancel()
        await self.end()

    def _send(self, request: Mapping[str, Any]) -> None:
        self._writer.write(json.dumps(request).encode() + b"\n")

    async def _listen(self) -> None:
        with suppress(ConnectionError):
            while line := await self._reader.readline():
                answer = json.loads(line)
                reply = self._waiting.get(answer["n"])
                if reply and not reply.done():
                    reply.set_result(answer)

    async def _watch(self) -> None:
        """When the process has ended, all that still wait for it learn so."""
        status = await self._process.wait()
        await asyncio.wait([self._listening], timeout=1)  # for replies on their way
        self._listening.cancel()
        self._ended = self._ended or BackendGoneError(_exit(status, self._output))
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(self._ended)


def _exit(status: int, output: Path) -> str:
    how = f"exited with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
    lines = tail(output).splitlines()[-TAIL:]
    return f"the backend's process {how}" + (f"; its last words: {' / '.join(lines)}" if lines else "")


def tail(output: Path, most: int = 20_000) -> str:
    """The end of what the process has printed, at most so many bytes."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - most))
        return file.read().decode("utf-8", "replace").strip()
