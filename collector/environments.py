"""The virtual environments: one that drives the browser, one for each application's server."""

import subprocess
import sys
import venv
from pathlib import Path

from collector.registry import load_applications

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def python_of(environments: Path, name: str) -> Path:
    """The interpreter of an application's environment; of the browser's for the name `browser`."""
    return (environments / name / "bin" / "python").absolute()


def install(environments: Path, names: list[str]) -> None:
    """Make the environments of some applications and of the browser, or bring them up to date."""
    files = {name: application.requirements for name, application in load_applications(names).items()}
    for name, file in {"browser": REQUIREMENTS, **files}.items():
        print(f"{name}: {file}", flush=True)
        venv.create(environments / name, with_pip=True)
        pip = [python_of(environments, name), "-m", "pip", "install", "--quiet", "--requirement", file]
        subprocess.run(pip, check=True, stdout=sys.stderr)
