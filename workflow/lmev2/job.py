"""What every script does around its one call: log, progress, the door to the models, the meta file."""

import logging
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmev2.errors import UserError
from lmev2.journal import Journal
from lmev2.llm.door import Door
from lmev2.llm.models import model_of
from lmev2.money.budget import Budget, BudgetError
from lmev2.money.usage import usage_by_role
from lmev2.progress import Progress
from lmev2.prompts import Prompts
from lmev2.provenance import file_sha256, write_meta


class Job:
    """One Snakemake job.

    `params` hold all that changes the result; from `config` only what never does is read: endpoints,
    limits, prices, the place of the journal.

    Args:
        snakemake: the object that Snakemake gives to a script.
        title: how progress lines name the job.
        section: name of a param that is a mapping of further params.
    """

    def __init__(self, snakemake: Any, title: str, *, section: str = "") -> None:
        self.snakemake = snakemake
        self.title = title
        self.params: dict[str, Any] = dict(snakemake.params.items())
        self.params.update(self.params.pop(section, {}))
        self.config: Mapping[str, Any] = snakemake.config
        self.roles: tuple[str, ...] = ()  # of the models that the job may ask
        self._progress: Progress | None = None

    def __enter__(self) -> "Job":
        Path(self.snakemake.log[0]).write_bytes(b"")
        logging.basicConfig(
            filename=self.snakemake.log[0],
            filemode="a",  # programs that the job starts append their words, too
            level=logging.INFO,
            format="%(levelname)s %(message)s",
            force=True,
        )
        logging.info("%s", self.title)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        if error is None:
            return
        if not isinstance(error, UserError):
            logging.error("%s", "".join(traceback.format_exception(error)))
        else:
            logging.error("%s", error)
            print(f"[{self.title}] {error}", file=sys.stderr, flush=True)
            if isinstance(error, BudgetError) and self._progress:
                self._progress.close("the rest is left to do")
            sys.exit(1)

    def progress(self, unit: str, total: int | None = None) -> Progress:
        """A progress line for this job."""
        self._progress = Progress(self.title, unit, total)
        return self._progress

    def prompts(self) -> Prompts:
        """The templates that the params name."""
        return Prompts(self.params["prompts"])

    def door(self, *roles: str, sampling: Mapping[str, Mapping[str, Any]] | None = None) -> Door:
        """The door to the models of `roles`; `sampling` has values of an operating point, which win."""
        self.roles = roles
        models = {role: model_of(role, self.config, (sampling or {}).get(role)) for role in roles}
        journal = self.config["journal"]
        door = Door(
            models,
            journal["path"],
            replay=journal["replay"],
            again=self.params.get("retry_statuses", ()),
            budget=Budget(self.config["budget"], journal["path"]),
            slots={role: self.snakemake.resources.get(f"{role}_slots", 0) for role in roles},
        )
        for notice in door.damaged:
            logging.warning("%s", notice)
        return door

    def journal(self, namespace: str) -> Journal:
        """A namespace of the journal."""
        section = self.config["journal"]
        return Journal(Path(section["path"]) / namespace, replay=section["replay"])

    def meta(self, rows: Iterable[Mapping[str, Any]] = (), **counts: Any) -> None:
        """Write the meta file beside the job's output.

        Args:
            rows: the rows written; their statuses are counted and their usage is summed by role.
            counts: further counts.
        """
        rows = list(rows)
        statuses = Counter(row["status"] for row in rows if "status" in row)
        write_meta(
            self.snakemake.output.meta,
            stage=self.snakemake.rule,
            params=self.params,
            counts={"rows": len(rows), "status": dict(statuses), **counts},
            usage=usage_by_role(rows, self.roles[0]) if self.roles else {},
            # With the inputs' digests the meta files form a chain down to the dataset's own files.
            inputs={path: file_sha256(path) for path in sorted(self.snakemake.input) if Path(path).is_file()},
        )


def summary(rows: Iterable[Mapping[str, Any]]) -> str:
    """One line on the outcomes of some rows, e.g. `52 ok, 2 query_failed`."""
    return ", ".join(
        f"{count} {status}" for status, count in sorted(Counter(row["status"] for row in rows).items())
    )
