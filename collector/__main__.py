"""The collector's command line: python -m collector COMMAND, see docs/collecting.md."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from collector.acts import Job, PolicyError
from collector.datacard import datacard
from collector.dataset import build_dataset
from collector.environments import install, python_of
from collector.registry import load_applications, load_jobs
from collector.servers import serving

Command = Callable[[argparse.Namespace], int]
LEAVE_OUT = Path(__file__).with_name("leave_out.txt")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 1 jobs or questions failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m collector", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, about: str, run: Command, *shared: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(run=run)
        if "environments" in shared:
            sub.add_argument("--environments", type=Path, required=True, help="folder of the environments")
        if "only" in shared:
            sub.add_argument("--only", nargs="*", default=[], help="beginnings of keys of jobs; default: all")
        return sub

    command("list", "print the jobs: application, key, family, outcome, goal", _list)
    sub = command("install", "make the environments", _install, "environments")
    sub.add_argument("applications", nargs="*", help="default: all")
    for name, about, run in (
        ("record", "serve an application with a fresh database and record its jobs into OUT", _record),
        (
            "experiments",
            "the same under BrowserGym's own loop: a result folder for each job in OUT",
            _experiments,
        ),
    ):
        sub = command(name, about, run, "environments", "only")
        sub.add_argument("application")
        sub.add_argument("out", type=Path)
    sub = command("build", "make the dataset TARGET of recorded folders", _build)
    sub.add_argument("target", type=Path)
    sub.add_argument("recorded", type=Path, nargs="+")
    sub.add_argument("--partial", action="store_true", help="leave out questions for which runs are lacking")
    about = "serve an application and print the trees of some pages, for writing policies"
    sub = command("show", about, _show, "environments")
    sub.add_argument("application")
    sub.add_argument("paths", nargs="+", help="such as /catalogue/")
    options = parser.parse_args(arguments)
    return options.run(options)


def _list(options: argparse.Namespace) -> int:
    for name, application in load_applications().items():
        for job in application.jobs():
            print(name, job.key, job.family, job.outcome, job.goal, sep="\t")
    return 0


def _install(options: argparse.Namespace) -> int:
    install(options.environments, options.applications)
    return 0


def _chosen(options: argparse.Namespace) -> list[Job]:
    jobs = load_jobs([options.application])
    return [job for job in jobs if not options.only or job.key.startswith(tuple(options.only))]


def _serving(options: argparse.Namespace, state: Path) -> Any:
    name = options.application
    application = load_applications([name])[name]
    return serving(name, application, python_of(options.environments, name), state)


def _record(options: argparse.Namespace) -> int:
    from collector.recorder import record  # the browser's environment has what it needs, no other has

    raw = options.out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for old in raw.glob("*.json"):
        old.unlink()
    failed = []
    with _serving(options, options.out / "state"):
        for number, job in enumerate(_chosen(options)):
            try:
                row = record(job, options.out)
            except PolicyError as error:  # one policy that does not fit must not stop the others
                failed.append(job.key)
                print(f"{job.key}: {error}", file=sys.stderr, flush=True)
                continue
            row |= {"_key": job.key, "_family": job.family, "_app": job.app, "_number": number}
            text = json.dumps(row, ensure_ascii=False, indent=1)
            (raw / f"{job.id}.json").write_text(text, encoding="utf-8")
            print(f"{job.key}: {len(row['states'])} states, {job.outcome}", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}; mend the policies in collector/applications", file=sys.stderr)
    return bool(failed)


def _experiments(options: argparse.Namespace) -> int:
    from collector.experiments import run_experiment

    with _serving(options, options.out / "_state"):
        for job in _chosen(options):
            print(job.key, run_experiment(job, options.out), flush=True)
    return 0


def _build(options: argparse.Namespace) -> int:
    questions = [each for application in load_applications().values() for each in application.questions]
    leave_out = [line for line in LEAVE_OUT.read_text().split("\n") if line and not line.startswith("#")]
    built = build_dataset(options.recorded, questions, options.target, leave_out, partial=options.partial)
    for problem in built.problems:
        print(problem, file=sys.stderr)
    if built.problems:
        return 1
    (options.target / "DATACARD.md").write_text(datacard(options.target), encoding="utf-8")
    print(f"{options.target}: {built.trajectories} trajectories, {built.questions} questions")
    if built.left_out:
        print(f"{len(built.left_out)} questions left out, as runs are lacking: {', '.join(built.left_out)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from collector.recorder import open_site, tree_text

    job = load_jobs([options.application])[0]
    base = "/".join(job.start_url.split("/")[:3])
    with _serving(options, options.environments / "_state"):
        environment = open_site(base + options.paths[0], "Look.", job.login, job.delay)
        try:
            observation, _ = environment.reset(seed=0)
            for path in options.paths[1:]:
                print(f"== {observation['url']}\n{tree_text(observation)}")
                observation, *_ = environment.step(f"goto({base + path!r})")
            print(f"== {observation['url']}\n{tree_text(observation)}")
        finally:
            environment.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
