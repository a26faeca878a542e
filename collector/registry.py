"""The applications: each is one module of `collector.applications`, found by being there."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from collector import applications
from collector.acts import Job


class Server(Protocol):
    """How an application is deployed on this machine."""

    def prepare(self, python: Path, state: Path) -> None:
        """Make a fresh database with seed data under `state`, an empty folder."""

    def command(self, python: Path, port: int) -> tuple[list[str], Path]:
        """The command that serves it on 127.0.0.1, and the folder to run it in."""


@dataclass(frozen=True)
class Application:
    """A web application with the policies that act on it and the questions about it.

    Attributes:
        port: where it listens, on the loopback interface.
        requirements: pip requirement file of the environment that its server runs in.
        server: how it is deployed.
        jobs: the trajectories to record, in order: later ones see what earlier ones have changed.
        questions: as `collector.questions.question` makes them.
    """

    port: int
    requirements: Path
    server: Server
    jobs: Callable[[], list[Job]]
    questions: Sequence[dict[str, Any]] = ()


def load_applications(names: Sequence[str] = ()) -> dict[str, Application]:
    """The applications by name (or those of `names`), sorted.

    Raises:
        SystemExit: a name is unknown, a module has no APPLICATION, or two jobs have the same id or port.
    """
    there = sorted(module.name for module in pkgutil.iter_modules(applications.__path__))
    if unknown := sorted(set(names) - set(there)):
        raise SystemExit(f"there is no application {', '.join(unknown)}; there is {', '.join(there)}")
    found = {}
    for name in there:
        module = importlib.import_module(f"collector.applications.{name}")
        if not isinstance(getattr(module, "APPLICATION", None), Application):
            raise SystemExit(f"{module.__file__} defines no APPLICATION (docs/collecting.md)")
        found[name] = module.APPLICATION
    _check(found)
    return {name: application for name, application in found.items() if not names or name in names}


def _check(found: dict[str, Application]) -> None:
    ids: set[str] = set()
    ports: dict[int, str] = {}
    for name, application in found.items():
        if (other := ports.setdefault(application.port, name)) != name:
            raise SystemExit(f"the applications {other} and {name} have the same port {application.port}")
        for job in application.jobs():
            if job.id in ids:
                raise SystemExit(f"{name}: two jobs share the id of {job.key}; give them other keys")
            ids.add(job.id)


def load_jobs(names: Sequence[str] = ()) -> list[Job]:
    """All jobs of the applications."""
    return [job for application in load_applications(names).values() for job in application.jobs()]
