"""What an import finds in the runs."""

from collections.abc import Mapping
from dataclasses import dataclass

# Kinds: a record that cannot be used, or is not there; a field that we read otherwise than it was recorded; a
# figure of aggregated_metrics.json that does not follow from the records.
LEFT_OUT, DIFFERENCE, AGGREGATE = "left out", "difference", "aggregate"


@dataclass(frozen=True)
class Finding:
    """One line of the report; `kind` is `LEFT_OUT`, `DIFFERENCE` or `AGGREGATE`."""

    kind: str
    domain: str
    file: str
    line: int | None
    question_id: str
    field: str
    recorded: str
    here: str

    @property
    def place(self) -> str:
        """File and, where there is one, line."""
        return f"{self.file}:{self.line}" if self.line else self.file


def file_of(run: Mapping[str, str], name: str) -> str:
    """How findings name a file of a run (`ImportedRun.params`), which may lie inside an archive."""
    return f"{run['place']}{'!' + run['inside'] if run['inside'] else ''}/{name}"
