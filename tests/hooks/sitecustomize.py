"""Loaded by every Python process of a test's run: counts calls at the model door, apart from the journal.

With DOOR_LOG set, each call of the embedded engines leaves lines in that file:

    begin <rule> <process id> <sha256 of one input>
    end <rule> <process id> <sha256 of one input>

one pair per text of an embedding batch. DOOR_DELAY_S makes calls slow, so that a kill lands inside one.
With KEEP_SCRIPTS set, what Snakemake runs for a rule (its script behind a preamble that holds the
`snakemake` object) is kept in that folder as <rule>.py.
"""

import hashlib
import importlib.abc
import importlib.util
import json
import os
import shutil
import sys
import time
from pathlib import Path

PROVIDER = "lmev2.llm.embedded.provider"


def rule_of(script):
    """Snakemake runs tmp1234.write_notes.py for the rule write_notes."""
    parts = Path(script).name.split(".")
    return parts[1] if len(parts) == 3 and parts[0].startswith("tmp") else None


def write(event, keys):
    lines = "".join(f"{event} {rule_of(sys.argv[0])} {os.getpid()} {key}\n" for key in keys)
    handle = os.open(os.environ["DOOR_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.write(handle, lines.encode())
    os.close(handle)


def counted(call, keys_of):
    def counting(inputs):
        keys = [hashlib.sha256(json.dumps(key, default=str).encode()).hexdigest() for key in keys_of(inputs)]
        write("begin", keys)
        time.sleep(float(os.environ.get("DOOR_DELAY_S", "0")))
        result = call(inputs)
        write("end", keys)
        return result

    return counting


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != PROVIDER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_wrap(module):
            execute(module)
            module.chat = counted(module.chat, lambda messages: [messages])
            module.embed = counted(module.embed, lambda texts: [["text", text] for text in texts])

        spec.loader.exec_module = execute_and_wrap
        return spec


if "KEEP_SCRIPTS" in os.environ and (rule := rule_of(sys.orig_argv[-1])):
    Path(os.environ["KEEP_SCRIPTS"]).mkdir(exist_ok=True)
    shutil.copy(sys.orig_argv[-1], Path(os.environ["KEEP_SCRIPTS"]) / f"{rule}.py")

if "DOOR_LOG" in os.environ:
    sys.meta_path.insert(0, Finder())
