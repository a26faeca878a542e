"""What makes a haystack impossible."""

from collections.abc import Collection

from lmev2.errors import UserError


class AssemblyError(UserError):
    """Haystacks cannot be assembled; the message lists every fault with its question and the remedy."""

    def __init__(self, faults: Collection[str]) -> None:
        self.faults = list(dict.fromkeys(faults))
        lines = [f"  {number}. {fault}" for number, fault in enumerate(self.faults, 1)]
        count = f"{len(self.faults)} fault{'s' * (len(self.faults) > 1)}"
        super().__init__("\n".join([f"no haystacks can be assembled, {count}:", *lines]))


def named(ids: Collection[str], most: int = 5) -> str:
    """Some ids, and how many there are where not all are named."""
    shown = ", ".join(map(repr, sorted(ids)[:most]))
    return shown if len(ids) <= most else f"{shown}, ... ({len(ids)} in all)"
