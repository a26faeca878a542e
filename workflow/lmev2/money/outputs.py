"""How many tokens a model is expected to write."""

from collections.abc import Mapping

from lmev2.llm.models import Model
from lmev2.money.dry import DryDoor

# Assumed where neither the journal nor the config says anything.
OUTPUT_TOKENS = 1_000


class Outputs:
    """Output tokens of one call by role, judged by the calls that the journal holds.

    Args:
        models: the models by role.
        door: the door with the journals.
    """

    def __init__(self, models: Mapping[str, Model], door: DryDoor) -> None:
        self._models, self._door = models, door
        self._seen: dict[str, list[int]] = {}

    def of(self, role: str, most: int | None = None) -> tuple[float, float]:
        """Expected and highest output tokens of one call of `role`.

        Args:
            role: the role.
            most: its max_tokens, if not the model's.
        """
        most = most or self._models[role].sampling.get("max_tokens")
        if role == "embedding":
            return 0.0, 0.0
        if seen := self.seen(role):
            mean = sum(seen) / len(seen)
            return min(mean, most or mean), most or max(seen)
        return most or OUTPUT_TOKENS, most or OUTPUT_TOKENS

    def seen(self, role: str) -> list[int]:
        """Output tokens of the role's recorded calls to the model that it has now."""
        if role not in self._seen:
            journal, name = self._door.journal(role), self._models[role].name
            records = map(journal.get, journal)
            self._seen[role] = [record["output_tokens"] for record in records if record["model"] == name]
        return self._seen[role]
