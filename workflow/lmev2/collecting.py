"""The collector as jobs of the workflow: it runs in environments of its own (docs/collecting.md)."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lmev2.errors import UserError

COLLECTOR = Path(__file__).parents[2] / "collector"

# The environment that drives the browser; each application's is named as the application.
BROWSER = "browser"

# What of the collector has a say in a recorded run, next to the application.
_RECORDING = ("acts.py", "browser.py", "django.py", "recorder.py", "registry.py", "servers.py")


class CollectorError(UserError):
    """The collector failed; its own words are in the job's log."""


def applications() -> list[str]:
    """The names of all applications, without importing them."""
    folder = COLLECTOR / "applications"
    packages = (path.parent.name for path in folder.glob("*/__init__.py"))
    modules = (path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return sorted({*packages, *modules})


def recording_digest(application: str) -> str:
    """Digest of what decides an application's runs: its module without its questions, and the recorder."""
    own = (f"applications/{application}.py", f"applications/{application}/**/*")
    return sources_digest(*_RECORDING, *own, without="questions.py")


def sources_digest(*patterns: str, without: str = "") -> str:
    """Digest of the collector's files that fit one of the patterns, by their names and contents.

    Args:
        patterns: relative to the collector; `**/*` for all.
        without: name of files that do not count.
    """
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in COLLECTOR.glob(pattern)}):
        made = path.suffix == ".mo" or "__pycache__" in path.parts
        if path.is_file() and not made and path.name != without:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(COLLECTOR).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:16]


def run_collector(arguments: Sequence[str], log: str, python: Path | None = None) -> None:
    """Run `python -m collector` and append what it says to the log.

    Args:
        arguments: its command line; paths are relative to the folder that we are in.
        log: the job's log.
        python: interpreter of the environment to run it in; this one's if None.

    Raises:
        CollectorError: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(COLLECTOR.parent)}
    with Path(log).open("a") as file:
        done = subprocess.run(
            [str(python or sys.executable), "-m", COLLECTOR.name, *arguments],
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
    if done.returncode:
        raise CollectorError(f"`python -m collector {arguments[0]}` failed; its words are in {log}")
