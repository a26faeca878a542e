"""Where a result comes from: the digest of the code behind it, versions, git state, the meta file.

Snakemake does not see edits in an imported package. Each rule therefore carries
`code=code_digest(<its script>)` in its params: a digest over the script and all that it imports of
this package, found from the import statements themselves. It is taken over the syntax trees without
docstrings, so comments, docstrings and layout rerun nothing.
"""

import ast
import hashlib
import importlib.metadata
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import lmev2
from lmev2.store import write_json

PACKAGE = Path(lmev2.__file__).parent
# Versions of these can change a result.
LIBRARIES = (
    "duckdb",
    "matplotlib",
    "numpy",
    "openai",
    "pandas",
    "pillow",
    "pyarrow",
    "scipy",
    "tokenizers",
    "wordllama",
)


def code_digest(*files: str | Path, leave_out: tuple[str, ...] = ()) -> str:
    """Digest of `files` and of every module that they import, directly or not, from their own package.

    Args:
        files: Python files (scripts, modules of this package, a user's plug-in).
        leave_out: files and folders of this package that do not count.

    Returns:
        16 hex digits.
    """
    queue = [Path(file).resolve() for file in files]
    # Python looks beside the script or plug-in first, wherever below it the import stands.
    folders = {path.parent for path in queue} | {PACKAGE.parent}
    closure: set[Path] = set()
    while queue:
        path = queue.pop()
        if path not in closure and not any(path.is_relative_to(PACKAGE / part) for part in leave_out):
            closure.add(path)
            roots = frozenset(folders | {_import_root(path)})
            queue.extend(file for name in _module(path)[1] for file in _files_of(name, roots))
    # By content alone: the digest is the same wherever the project lies.
    return hashlib.sha256("".join(sorted(_module(path)[0] for path in closure)).encode()).hexdigest()[:16]


@cache
def _module(path: Path) -> tuple[str, frozenset[str]]:
    """Digest of one file's syntax tree, and what it imports: dotted names, relative ones as paths."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # Null characters are a value error without a place, too deep nesting is either of the last two.
        if isinstance(error, SyntaxError) and error.filename:
            raise
        raise SyntaxError(str(error) or "nested too deeply", (str(path), 1, 0, "")) from error
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.parents[node.level - 1]
            base = package.joinpath(*node.module.split(".")) if node.module else package
            names.update(str(base / alias.name) for alias in node.names)
        _drop_docstring(node)
    try:
        words = ast.dump(tree)
    except RecursionError as error:
        raise SyntaxError(str(error), (str(path), 1, 0, "")) from error
    return hashlib.sha256(words.encode()).hexdigest(), frozenset(names)


def _drop_docstring(node: ast.AST) -> None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        first = node.body[0] if node.body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            node.body = node.body[1:] or [ast.Pass()]


@cache  # a Snakefile asks for a digest of each rule and method, and they import much the same
def _files_of(name: str, roots: frozenset[Path]) -> tuple[Path, ...]:
    """The files behind an imported name that lie below one of `roots`: packages on the way, module."""
    if name.startswith("/"):
        candidates = [Path(name), Path(name).parent]
    else:
        parts = name.split(".")
        candidates = [root.joinpath(*parts[:length]) for root in roots for length in range(1, len(parts) + 1)]
    files = (file for path in candidates for file in (path.with_suffix(".py"), path / "__init__.py"))
    return tuple(file.resolve() for file in files if file.is_file())


@cache
def _import_root(path: Path) -> Path:
    """The folder that the absolute name of a module of a package starts from."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def file_sha256(path: str | Path) -> str:
    """sha256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_state(folder: str | Path = PACKAGE) -> dict[str, Any]:
    """Commit and whether tracked files differ from it; nulls outside a git checkout."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", folder, *arguments], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    status = git("status", "--porcelain", "--untracked-files=no")
    return {"commit": git("rev-parse", "HEAD"), "dirty": None if status is None else bool(status)}


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of the libraries that can change a result."""
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": sys.version.split()[0], "lmev2": lmev2.__version__, **libraries}


def write_meta(
    path: str | Path, *, stage: str, params: Mapping[str, Any], counts: Mapping[str, Any], **more: Any
) -> None:
    """Write the `*.meta.json` of a stage file: what it was made from and what is in it.

    It holds no times of day, so a replay writes the same bytes.

    Args:
        path: the meta file.
        stage: name of the rule.
        params: the rule's params: config section, code digest, prompts, models.
        counts: rows in all and by status, and what else the stage counts.
        more: further sections: `usage` by role, `inputs` with their sha256.
    """
    meta = {"stage": stage, "params": dict(params), "counts": dict(counts), **more}
    write_json({**meta, "git": git_state(), "versions": versions()}, path)
