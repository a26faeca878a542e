"""Fixtures that tests of the whole chain share."""

import fcntl
import logging
from pathlib import Path

import pytest
from project import copy_project, snakemake, write_data


def once_for_all_workers(tmp_path_factory: pytest.TempPathFactory, name: str, make) -> Path:
    """A folder that the first pytest-xdist worker makes and all workers read."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            assert not folder.exists(), (
                f"{folder} could not be made: see the error of the first test that needed it"
            )
            make(folder)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="session")
def unrun(tmp_path_factory) -> Path:
    """A copy of the project with a small dataset, not run yet. Do not change it: clone it."""

    def make(folder: Path) -> None:
        write_data(copy_project(folder) / "data")

    return once_for_all_workers(tmp_path_factory, "unrun", make)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, unrun) -> Path:
    """A copy of the project with a finished small run. Do not change it: clone it."""

    def make(folder: Path) -> None:
        copy_project(folder)
        write_data(folder / "data")
        snakemake(folder)

    return once_for_all_workers(tmp_path_factory, "finished", make)


@pytest.fixture
def root_logger():
    """A script sends the root logger to its log file; put back what was there."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield
    for handler in logger.handlers:
        if handler not in handlers:
            handler.close()
    logger.handlers[:], logger.level = handlers, level
