"""Where a server runs that is started as a job of its own: it tells its address in a file.

A cluster decides on which machine a model server starts, and when. `base_url: file:<path>` in the config
names a file on a shared folder in place of an address; the server's job writes the address into it once
it can be asked (docs/cluster.md).
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from lmev2.llm.faults import EndpointError
from lmev2.llm.models import Model

PREFIX = "file:"
# A job waits so long for a server that is still starting; each waiting job keeps its place in the cluster.
PATIENCE_S = 3600.0
POLL_S = 2.0


def located(model: Model, *, patience_s: float | None = None) -> Model:
    """`model` with the address of its server, waited for if a file is to tell it.

    Args:
        model: any.
        patience_s: seconds to wait for the file; by default `PATIENCE_S`.

    Raises:
        EndpointError: there is no address in time, or the file holds something else.
    """
    return replace(model, base_url=address(model.base_url, f"models.{model.role}", patience_s=patience_s))


def address(base_url: str | None, place: str, *, patience_s: float | None = None) -> str | None:
    """What `base_url` stands for: itself, or the first line of the file that it names (see `located`).

    Args:
        base_url: of the config.
        place: the key of the model in the config, for messages.
        patience_s: see `located`.
    """
    if not base_url or not base_url.startswith(PREFIX):
        return base_url
    path = Path(base_url.removeprefix(PREFIX))
    patience_s = PATIENCE_S if patience_s is None else patience_s
    until, said = time.monotonic() + patience_s, False
    while not (line := _first_line(path)):
        if time.monotonic() >= until:
            raise EndpointError(
                f"{place}.base_url: no server has written its address to {path} within {patience_s:g} s; "
                "start it, or see what it waits for (docs/cluster.md), then run again"
            )
        if not said:
            print(f"waiting for a server's address in {path} ({place})", file=sys.stderr, flush=True)
            said = True
        time.sleep(POLL_S)
    parts = urlsplit(line)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointError(
            f"{place}.base_url: the first line of {path} should be an address like http://node7:8000/v1, "
            f"not {line!r:.100}"
        )
    return line


def _first_line(path: Path) -> str:
    """The line if it is there as a whole; a file may be there before its content."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not there yet, or being replaced
        return ""
    line, end, _ = text.partition("\n")
    return line.strip() if end else ""
