"""Starts and stops the servers of the applications, on the loopback interface only."""

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector.registry import Application

_SECONDS_TO_START = 60


@contextmanager
def serving(name: str, application: Application, python: Path, state: Path) -> Iterator[None]:
    """Serve an application with a fresh database as long as the block runs.

    Args:
        name: the application's.
        application: what to serve.
        python: interpreter of its environment.
        state: folder for its database and log; emptied first.

    Raises:
        SystemExit: it does not start; the message names its log.
    """
    state = state.resolve()
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    application.server.prepare(python, state)
    command, folder = application.server.command(python, application.port)
    log = state / "server.log"
    environment = {**os.environ, "COLLECTOR_STATE": str(state)}
    with log.open("w") as file:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True
        )
    try:
        _wait(name, application.port, process, log)
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def _wait(name: str, port: int, process: subprocess.Popen, log: Path) -> None:
    url = f"http://127.0.0.1:{port}/"
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.5)
        try:
            urllib.request.urlopen(url, timeout=5).read()
        except OSError:
            continue
        # Something else at this port would answer, too: then ours has ended.
        if process.poll() is None:
            print(f"{name}: {url}", flush=True)
            return
    raise SystemExit(f"{name} did not start at {url}, see {log}")
