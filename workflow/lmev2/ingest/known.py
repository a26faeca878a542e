"""The ids of a file that other files of the dataset refer to."""

from collections.abc import Iterable


class Known:
    """Every row of questions.jsonl or trajectories.jsonl whose id could be read, sound or not.

    References are checked against all of them, so that one defect is not reported twice.

    Attributes:
        file: the file's path inside the dataset folder.
        domains: id to domain, None where the domain is wrong.
        n_states: trajectory id to number of states, None where the trajectory has a defect.
        complete: the file was there and the id of every line could be read.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.domains: dict[str, str | None] = {}
        self.n_states: dict[str, int | None] = {}
        self.complete = False

    def lacks(self, row_id: str) -> bool:
        """The file was read and has no such id. False where nothing of it could be read."""
        return bool(self.domains) and row_id not in self.domains

    def lacking(self, row_ids: Iterable[str]) -> list[str]:
        """Those that it lacks, of very many."""
        return [row_id for row_id in row_ids if row_id not in self.domains] if self.domains else []

    def differing(self, domain: str | None, row_ids: Iterable[str]) -> list[str]:
        """Those whose domain is known to be another than `domain`."""
        if domain is None:
            return []
        return [row_id for row_id in row_ids if self.domains.get(row_id, domain) not in (None, domain)]

    def remedy(self, otherwise: str) -> str:
        """What to do about an id that is lacking."""
        return otherwise if self.complete else f"mend {self.file} first; if it is still unknown, {otherwise}"
