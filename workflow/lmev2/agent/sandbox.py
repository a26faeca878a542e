"""Where an agent's process runs: a bubblewrap container of its own, or, if the config says so, none.

Inside bubblewrap there are the system's programs, Python, the agent's program and the question's folder,
all read-only, and memory-backed folders of bounded size to write in. No home, no project, no other
process, no network. See docs/agents.md for what each line guards against.
"""

import asyncio
import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from lmev2.agent.inside import launcher
from lmev2.agent.interface import (
    MOST_OUTPUT,
    MOST_STDERR,
    MOST_STDOUT,
    OUTPUT_FILE,
    AgentSetupError,
    Attempt,
)

INSTALL_HINT = (
    "install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap), or set "
    "models.agent.isolation: none, which lets the agent read and write whatever you can; every output says so"
)
FOLDER = "/sandbox"  # the working folder, the same in every sandbox, so that prompts are the same
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("alternatives", "group", "passwd", "nsswitch.conf", "localtime"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
)
_GRACE_S = 2.0  # for the rest of the output once the process has ended


@dataclass(frozen=True)
class Program:
    """What is to run.

    Attributes:
        command: its words; None for a shell that is served command by command (`Shell`).
        environment: variables of its own.
        mounts: files and folders that it needs to read: path -> path inside.
        model_socket: Unix socket of the model's proxy, None if it needs no model.
    """

    command: Sequence[str] | None
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)
    model_socket: str | None = None


class Sandbox:
    """Runs programs in a question's folder.

    Args:
        isolation: "bubblewrap" or "none".
        disk_mb: most megabytes that an agent can write, in its folder and in its temporary folder each.
        hidden: folders that must not be seen even where they lie in a system folder.

    Raises:
        AgentSetupError: bubblewrap is asked for and missing, or may not make containers here.
    """

    def __init__(self, isolation: str, *, disk_mb: int = 256, hidden: Sequence[Path] = ()) -> None:
        self.isolated = isolation == "bubblewrap"
        self.disk_bytes = disk_mb * 1_000_000
        self.hidden = [Path(path).resolve() for path in hidden]
        if self.isolated:
            self._bwrap = shutil.which("bwrap")
            if self._bwrap is None:
                raise AgentSetupError(
                    f"agents run in a bubblewrap sandbox, and there is no bwrap: {INSTALL_HINT}"
                )

    def check(self) -> None:
        """Try the container once.

        Raises:
            AgentSetupError: bubblewrap is there but cannot make one (some containers forbid it).
        """
        if not self.isolated:
            return
        words = [*self._container(str(Path(sys.executable).resolve()), {}), "--", "true"]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise AgentSetupError(
                f"bubblewrap cannot make a sandbox on this machine ({done.stderr.strip()[:300]}): allow "
                "unprivileged user namespaces (in Docker: --security-opt seccomp=unconfined), or set "
                "models.agent.isolation: none; every output says so"
            )

    async def run(self, workspace: Path, program: Program, *, timeout_s: float) -> Attempt:
        """Run `program` to its end, or kill it and all that it started after `timeout_s` seconds."""
        began = time.perf_counter()
        async with self._started(workspace, program) as running:
            code = await running.wait(timeout_s)
            seconds = time.perf_counter() - began
            await running.end()
            stdout, stderr, result = await running.rest()
        output, fault = _output(result)
        if code is None:
            output, fault = None, f"out of time after {timeout_s:g} s"
        times = _line_seconds(stdout, [(end, at - began) for end, at in running.arrivals])
        return Attempt(code, seconds, _text(stdout), _text(stderr), output, fault, line_seconds=times)

    @asynccontextmanager
    async def shell(self, workspace: Path) -> AsyncIterator["Shell"]:
        """A sandbox that stays while commands are given to it one by one."""
        async with self._started(workspace, Program(None)) as running:
            yield Shell(running)

    @asynccontextmanager
    async def _started(self, workspace: Path, program: Program) -> AsyncIterator["_Running"]:
        serving = program.command is None
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", buffering=0) as result:
            try:
                process = subprocess.Popen(
                    self.command(workspace, program, writing),
                    stdin=subprocess.PIPE if serving else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    cwd=workspace,
                    env=_environment(str(workspace)),
                    start_new_session=True,
                    pass_fds=[writing],
                )
            finally:
                os.close(writing)
            running = _Running(process, result, serving=serving)
            try:
                yield running
            finally:
                await running.end()
                await running.close()

    def command(self, workspace: Path, program: Program, result_fd: int) -> list[str]:
        """The words that start the launcher with `program`, in the container if there is one."""
        python = str(Path(sys.executable).resolve())
        spec: dict[str, Any] = {
            "command": program.command,
            "environment": dict(program.environment),
            "collect": {OUTPUT_FILE: MOST_OUTPUT},
            "result_fd": result_fd,
            "model": program.model_socket and ("/run/model.sock" if self.isolated else program.model_socket),
        }
        if not self.isolated:
            return [python, "-I", "-S", launcher.__file__, json.dumps(spec)]
        mounts = {launcher.__file__: "/run/launcher.py", **program.mounts}
        if program.model_socket:
            mounts[program.model_socket] = "/run/model.sock"
        mounts |= {str(path.resolve()): f"{FOLDER}/{path.name}" for path in sorted(workspace.iterdir())}
        return [
            *self._container(python, mounts),
            "--",
            python,
            "-I",
            "-S",
            "/run/launcher.py",
            json.dumps(spec),
        ]

    def _container(self, python: str, mounts: Mapping[str, str]) -> list[str]:
        words = [
            self._bwrap,
            "--unshare-all",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--hostname",
            "sandbox",
        ]
        words += ["--uid", "1000", "--gid", "1000", "--clearenv"]
        for name, value in _environment("/home/agent").items():
            words += ["--setenv", name, value]
        shown = []
        for path in _SYSTEM:
            if Path(path).is_symlink():
                words += ["--symlink", str(Path(path).readlink()), path]
            elif Path(path).is_dir():
                words += ["--ro-bind", path, path]
                shown.append(Path(path))
        words += [word for name in _ETC for word in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]
        for path in self.hidden:
            if any(path.is_relative_to(system) for system in shown):
                words += ["--tmpfs", str(path)]
        prefix = str(Path(sys.base_prefix).resolve())
        if not any(Path(python).is_relative_to(system) for system in shown):
            words += ["--ro-bind", prefix, prefix]
        words += ["--proc", "/proc", "--dev", "/dev"]
        for path in (FOLDER, "/tmp", "/home/agent"):
            words += ["--size", str(self.disk_bytes), "--tmpfs", path]
        for source, target in mounts.items():
            words += ["--ro-bind", source, target]
        return [*words, "--chdir", FOLDER, "--remount-ro", "/dev", "--remount-ro", "/"]


class _Running:
    """A started process: its streams are drained from the beginning, whatever it writes."""

    def __init__(self, process: subprocess.Popen, result: BinaryIO, *, serving: bool) -> None:
        self.process = process
        self._serving = serving
        streams = [(process.stderr, MOST_STDERR), (result, 2 * MOST_OUTPUT)]
        if not serving:
            streams.insert(0, (process.stdout, MOST_STDOUT))
        self._kept = [bytearray() for _ in streams]
        self.arrivals: list[tuple[int, float]] = []  # of the first stream: bytes there by then, clock
        self._tasks = [
            asyncio.ensure_future(_drain(file, most, kept, [] if number else self.arrivals))
            for number, ((file, most), kept) in enumerate(zip(streams, self._kept, strict=True))
        ]

    async def wait(self, timeout_s: float) -> int | None:
        """The exit code, None after `timeout_s` seconds."""
        try:
            return await asyncio.to_thread(self.process.wait, timeout_s)
        except subprocess.TimeoutExpired:
            return None

    async def end(self) -> None:
        """End its whole process group; a container's other groups die with its first process."""
        if self._serving and self.process.poll() is None:
            # Its shell command has a group of its own, which only the launcher knows.
            self.process.terminate()
            await self.wait(1)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    async def rest(self) -> list[bytes]:
        """What it wrote; a survivor that holds a stream open is not waited for."""
        await asyncio.wait(self._tasks, timeout=_GRACE_S)
        return [bytes(kept) for kept in self._kept]

    async def close(self) -> None:
        """Stop listening."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()


class Shell:
    """Shell commands in one sandbox, one after the other: what they write stays for the next."""

    def __init__(self, running: _Running) -> None:
        self._running = running

    async def run(self, command: str, *, timeout_s: float, most_bytes: int) -> dict[str, Any]:
        """Run one command: {"exit_code" (None: out of time), "output", "cut" (bytes left out)}.

        Raises:
            ConnectionError: the sandbox is gone.
        """
        process = self._running.process
        request = {"command": command, "timeout_s": timeout_s, "most_bytes": most_bytes}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        line = await asyncio.to_thread(_line, process.stdout)
        if not line.endswith(b"\n"):
            raise ConnectionError("the sandbox ended")
        return json.loads(line)

    async def close(self) -> tuple[bytes | None, str, str]:
        """End the sandbox: the output file, why there is none, and the error stream."""
        self._running.process.stdin.close()
        await self._running.wait(_GRACE_S)
        stderr, result = await self._running.rest()
        output, fault = _output(result)
        return output, fault, _text(stderr)


async def _drain(file: BinaryIO, most: int, kept: bytearray, arrivals: list[tuple[int, float]]) -> None:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    try:
        while chunk := await reader.read(65536):
            kept += chunk[: max(0, most - len(kept))]
            arrivals.append((len(kept), time.perf_counter()))
    finally:
        transport.close()


def _line_seconds(data: bytes, arrivals: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """When each line of `data` was there as a whole; `arrivals` tell how many bytes were there when."""
    if not arrivals:
        return ()
    ends = accumulate(len(line) + 1 for line in data.split(b"\n"))
    known = [end for end, _ in arrivals]
    return tuple(arrivals[min(bisect_left(known, end), len(known) - 1)][1] for end in ends)


def _line(file: BinaryIO) -> bytes:
    """One line of an unbuffered stream."""
    return io.BufferedReader(io.FileIO(file.fileno(), closefd=False)).readline()


def _environment(home: str) -> dict[str, str]:
    """All that an agent's environment holds: nothing of ours, so no key."""
    folders = (str(Path(sys.executable).resolve().parent), "/usr/local/bin", "/usr/bin", "/bin")
    return {"PATH": ":".join(dict.fromkeys(folders)), "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb"}


def _output(result: bytes) -> tuple[bytes | None, str]:
    try:
        found = json.loads(result)[OUTPUT_FILE]
    except ValueError:
        return None, "the agent was ended before its output could be fetched"
    if "fault" in found:
        return None, f"{OUTPUT_FILE} {found['fault']}"
    return base64.b64decode(found["data"]), ""


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "replace")
