"""What coding agents did: their shell commands, each with its class (paper, Figures 8 and 9)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lmev2.agent.classify import command_class, raw_kind
from lmev2.agent.events import commands_of
from lmev2.records import ROW_KEY


def command_rows(queries: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of the table `agent_commands` from rows of the query table; none for other methods.

    Rounds count over all attempts of a query, as its latency does.
    """
    for query in queries:
        number = 0
        for attempt, kept in enumerate(json.loads(query["trace"]).get("attempts", [])):
            for command in commands_of(kept["events"]):
                kind = command_class(command.command)
                yield {
                    **{key: query[key] for key in ROW_KEY},
                    "attempt": attempt,
                    "round": number,
                    "class": kind,
                    "kind": raw_kind(command.command) if kind == "raw" else "",
                    "command": command.command,
                    "exit_code": command.exit_code,
                    "duration_s": command.duration_s,
                }
                number += 1
