"""Progress of one job on the terminal: which stage, how many of how many."""

import sys
import time

SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Prints `[stage name] 27 of 54 questions, 12 s`, at most every two seconds and once at the end.

    Args:
        title: stage and arm of the job.
        unit: what is counted, in the plural.
        total: how many there are; None if unknown.
    """

    def __init__(self, title: str, unit: str, total: int | None = None) -> None:
        self.title, self.unit, self.total = title, unit, total
        self.done = 0
        self._began = self._printed = time.monotonic()

    def step(self) -> None:
        """One more is done."""
        self.at(self.done + 1)

    def at(self, done: int) -> None:
        """`done` are done."""
        self.done = done
        now = time.monotonic()
        if now - self._printed >= SECONDS_BETWEEN_LINES and done != self.total:
            self._printed = now
            self._print()

    def close(self, remark: str = "") -> None:
        """Say how it ended."""
        self._print(remark)

    def _print(self, remark: str = "") -> None:
        count = f"{self.done} of {self.total}" if self.total is not None else f"{self.done}"
        seconds = time.monotonic() - self._began
        tail = f"; {remark}" if remark else ""
        print(f"[{self.title}] {count} {self.unit}, {seconds:.0f} s{tail}", file=sys.stderr, flush=True)
