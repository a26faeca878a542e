"""Backends written for the official harness, unchanged: `class: official` (docs/official-backends.md).

The backend runs in a process of its own, with the interpreter of its environment and its checkout first on
the import path. It is built once per haystack and given what the official harness gives it, but for what the
privacy rule keeps from a memory: its query context has an opaque id and nothing else.
"""

import asyncio
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from lmev2.image import Image
from lmev2.llm.meter import METER
from lmev2.memory.official_process import BackendError, BackendProcess, BackendStoppedError, tail
from lmev2.memory.protocol import Item, Question
from lmev2.memory.registry import MethodClassError
from lmev2.memory.services import Services
from lmev2.provenance import code_digest
from lmev2.store import canonical_json, replacing, write_json
from lmev2.trajectory import Trajectory

# Parameters that the official harness fills in for its own memory types.
_FILES = ("workspace_dir", "trajectories_root_dir")
_AGENT_FILES = (*_FILES, "query_trace_dir", "questions_path")
FILLED_IN = {
    "rag": _FILES,
    "agentrunbook_r": _FILES,
    "codex": _AGENT_FILES,
    "agentrunbook_c": _AGENT_FILES,
    "agentrunbook_c_v2": _AGENT_FILES,
}
# Some backends refuse a row without type; it says nothing.
NO_TYPE = "not-told"


class OfficialMemory:
    """Runs one backend of a checkout of the official repository, or of one with its interface.

    Options:
        checkout: folder of the checkout.
        memory_type: the type under which the backend is registered; or
        module, class: where it is defined. With `memory_type`, `module` is imported first.
        base: the module that has the base class `Memory` and the registry.
        params: the `memory_params`.
        runtime: further arguments of `configure_runtime`.
        python: interpreter of the backend's environment; empty: the one that runs this.
        timeout_s: longest time for building, for one insert and for one query; then it is stopped.
        images: folder in which pictures are kept that the backend makes itself.
        version: raise it when something changes that the code digest does not see.
    """

    roles: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {
        "checkout": "",
        "memory_type": "",
        "module": "",
        "class": "",
        "base": "memory_modules.memory",
        "params": {},
        "runtime": {},
        "python": "",
        "timeout_s": 5400.0,
        "images": "",
        "version": "",
    }

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        self._options = options
        self._services = services
        self._checkout = Path(options["checkout"]).resolve()
        self._workspace = Path(tempfile.mkdtemp(prefix="lmev2-official-"))
        self._inserted: list[Trajectory] = []  # to build it anew after a crash
        self._images: dict[Path, tuple[Image, dict[str, Any]]] = {}
        self._process: BackendProcess | None = None
        self._building = asyncio.Lock()
        self._runs = 0

    @classmethod
    def check(cls, options: Mapping[str, Any]) -> None:
        """Raise `MethodClassError` for options that cannot be run."""
        checkout = Path(options["checkout"])
        if not options["checkout"] or not checkout.is_dir():
            raise MethodClassError(f"options.checkout: there is no folder {options['checkout']!r}")
        if bool(options["memory_type"]) == bool(options["class"]):
            raise MethodClassError("options: name either `memory_type`, or `module` and `class`")
        if options["class"] and not options["module"]:
            raise MethodClassError("options.module: missing; the module that defines options.class")
        for key in ("base", "module"):
            if options[key]:
                _module_file(checkout, options[key], key)
        if not options["base"]:
            raise MethodClassError("options.base: missing; the module with the base class Memory")
        if not options["timeout_s"] > 0:
            raise MethodClassError("options.timeout_s: should be more than 0")
        for key in FILLED_IN.get(options["memory_type"], ()):
            if key in options["params"]:
                raise MethodClassError(
                    f"options.params.{key}: leave it out; it is filled in for each haystack"
                )

    @classmethod
    def code(cls, options: Mapping[str, Any]) -> str:
        """Digest of the checkout's code: all files of the packages of `base` and `module`.

        Python files count by their syntax trees, with what they import from the checkout; others by their
        bytes. A module outside a package counts with the Python files beside it.
        """
        checkout = Path(options["checkout"])
        code, data = set(), set()
        for key in ("base", "module"):
            if not options[key]:
                continue
            file = _module_file(checkout, options[key], key)
            is_alone = "." not in options[key] and file.name != "__init__.py"
            top = checkout / options[key].partition(".")[0]
            for path in checkout.glob("*.py") if is_alone else top.rglob("*"):
                parts = path.relative_to(checkout).parts
                if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
                    (code if path.suffix == ".py" else data).add(path)
        try:
            digest = code_digest(*code)
        except SyntaxError as error:
            raise MethodClassError(
                f"options.checkout: {error.filename}, line {error.lineno}: {error.msg}"
            ) from error
        # By content and name inside the checkout: the digest is the same wherever it lies.
        files = [
            [path.relative_to(checkout).as_posix(), sha256(path.read_bytes()).hexdigest()]
            for path in sorted(data)
        ]
        return sha256(canonical_json([digest, files]).encode()).hexdigest()[:16]

    def expect(self, questions: Sequence[Question]) -> None:
        """Write the questions as the file that the official coding agents look them up in.

        Its rows have an opaque id, text and image, and no label.
        """
        rows = [
            {"id": question.handle, "question_type": NO_TYPE, "question": _asked(question)}
            for question in questions
        ]
        write_json(rows, self._workspace / "questions.json")
        self._images.update(
            {question.image.path.resolve(): (question.image, {}) for question in questions if question.image}
        )

    async def insert(self, trajectory: Trajectory) -> None:
        """Give the backend one trajectory, in the form of the released dataset."""
        for state in trajectory.states:
            if state.screenshot:
                place = {
                    "trajectory_id": trajectory.id,
                    "first_state": state.index,
                    "last_state": state.index,
                }
                self._images[state.screenshot.path.resolve()] = state.screenshot, place
        self._inserted.append(trajectory)
        try:
            if self._process is None:
                self._process = await self._start()
            await self._insert(self._process, trajectory)
        except BackendError:
            await self.close()
            raise

    async def query(self, question: Question) -> list[Item]:
        """The backend's context; its latency is the time that its `query` took, measured beside it.

        Raises:
            BackendError: it failed or took too long; the next query finds it built anew.
        """
        began, answer = time.perf_counter(), {}
        try:
            answer = await self._ask(question)
            items = [self._item(item) for item in answer["context"]]
        finally:
            if answer and (meter := METER.get()):
                meter.not_latency_s += time.perf_counter() - began - answer["seconds"]
        self._services.trace(
            post_query=answer["metadata"], post_query_s=answer["post_query_s"], builds=self._runs
        )
        return items

    async def close(self) -> None:
        """Stop the backend and remove its files; what it has printed goes into the job's log."""
        if self._process:
            await self._process.end()
        if output := tail(self._output) if self._output.exists() else "":
            logging.info("the backend printed:\n%s", output)
        shutil.rmtree(self._workspace, ignore_errors=True)

    @property
    def _output(self) -> Path:
        return self._workspace / "output.log"

    async def _ask(self, question: Question) -> dict[str, Any]:
        image = str(question.image.path.resolve()) if question.image else None
        while True:
            process = await self._rebuilt()
            try:
                return await process.call(
                    "query",
                    self._options["timeout_s"],
                    handle=question.handle,
                    text=question.text,
                    image=image,
                )
            except BackendStoppedError:  # for another query's sake
                continue

    async def _rebuilt(self) -> BackendProcess:
        """The process, made anew with all that was inserted if the one before has ended."""
        async with self._building:
            if self._process is None or not self._process.is_alive:
                process = await self._start()
                try:
                    for trajectory in self._inserted:
                        await self._insert(process, trajectory)
                except BackendError:
                    await process.end()
                    raise
                self._process = process
            return self._process

    async def _start(self) -> BackendProcess:
        self._runs += 1
        folder = self._workspace / f"run-{self._runs}"
        workspace, traces = folder / "workspace", folder / "query_traces"
        for place in (workspace, traces):
            place.mkdir(parents=True)
        places = {
            "{workspace}": str(workspace),
            "{traces}": str(traces),
            "{questions}": str(self._workspace / "questions.json"),
        }
        known = {
            "workspace_dir": places["{workspace}"],
            # Screenshots are given by their absolute paths, so this leads nowhere; and not to the answers.
            "trajectories_root_dir": str(folder),
            "query_trace_dir": places["{traces}"],
            "questions_path": places["{questions}"],
        }
        options = self._options
        filled = {key: known[key] for key in FILLED_IN.get(options["memory_type"], ())}
        runtime = {
            "query_trace_dir": str(traces),
            "generation_temperature": None,
            "generation_top_p": None,
            **options["runtime"],
        }
        setup = {
            **{key: options[key] for key in ("base", "module", "class", "memory_type")},
            "params": {**_placed(options["params"], places), **filled},
            "runtime": _placed(runtime, places),
        }
        try:
            python = options["python"] or sys.executable
            return await BackendProcess.start(
                python, self._checkout, self._output, setup, options["timeout_s"]
            )
        except BackendError as error:
            raise BackendError(f"{self._name}: building it failed: {error}") from error

    async def _insert(self, process: BackendProcess, trajectory: Trajectory) -> None:
        try:
            await process.call(
                "insert", self._options["timeout_s"], trajectory=official_trajectory(trajectory)
            )
        except BackendError as error:
            raise BackendError(f"{self._name}: inserting trajectory {trajectory.id}: {error}") from error

    @property
    def _name(self) -> str:
        options = self._options
        return options["memory_type"] or f"{options['module']}:{options['class']}"

    def _item(self, item: Mapping[str, str]) -> Item:
        if item["type"] == "text":
            return Item("text", text=item["value"], source="official")
        image, place = self._image(Path(item["value"]))
        return Item("image", image=image, source="official", **place)

    def _image(self, path: Path) -> tuple[Image, dict[str, Any]]:
        """The picture that the backend names by a path, and the state that it is of.

        Mostly it is a screenshot of the dataset, reached by a link or copied; the copy goes with the backend.
        """
        if path.resolve() in self._images:
            return self._images[path.resolve()]
        digest = sha256(path.read_bytes()).hexdigest()
        same = [(image, place) for image, place in self._images.values() if image.sha256 == digest]
        if same:
            return same[0] if len(same) == 1 else (same[0][0], {})
        if not self._options["images"]:
            raise BackendError(
                f"the context has a picture of the backend's own making, {path.name}; name a folder in "
                "options.images to keep such pictures in"
            )
        kept = Path(self._options["images"], f"{digest}{path.suffix.lower()}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        if not kept.exists():
            with replacing(kept) as temporary:
                shutil.copyfile(path, temporary)
        with Picture.open(kept) as picture:
            return Image(kept, digest, *picture.size), {}


def official_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as a row of the released trajectories.jsonl, its screenshots as absolute paths."""
    return {
        "id": trajectory.id,
        "domain": trajectory.domain,
        "environment": trajectory.environment,
        "goal": trajectory.goal,
        "outcome": trajectory.outcome,
        "start_url": trajectory.start_url,
        "states": [
            {
                "state_index": state.index,
                "step": state.step,
                "url": state.url,
                "action": state.action,
                "thought": state.thought,
                "accessibility_tree": state.tree,
                "screenshot": str(state.screenshot.path.resolve()) if state.screenshot else None,
            }
            for state in trajectory.states
        ],
    }


def _asked(question: Question) -> str | dict[str, str]:
    if question.image is None:
        return question.text
    return {"text": question.text, "image": str(question.image.path.resolve())}


def _placed(value: Any, places: Mapping[str, str]) -> Any:
    """`value` with its placeholders replaced, at every depth."""
    if isinstance(value, str):
        for name, path in places.items():
            value = value.replace(name, path)
        return value
    if isinstance(value, Mapping):
        return {key: _placed(part, places) for key, part in value.items()}
    return [_placed(part, places) for part in value] if isinstance(value, list | tuple) else value


def _module_file(checkout: Path, module: str, key: str) -> Path:
    """The file of a module in the checkout; `key` is the option that names it."""
    if not all(part.isidentifier() for part in module.split(".")):
        raise MethodClassError(f"options.{key}: {module!r} is not of the form 'package.module'")
    path = checkout.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    raise MethodClassError(f"options.{key}: {checkout} has no module {module!r}")
