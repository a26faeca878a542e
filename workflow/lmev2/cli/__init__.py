"""The command `lmev2`: parts of the pipeline for people who want a part.

The pipeline itself is run with `snakemake` (README.md).
"""

import argparse
import sys

import lmev2
from lmev2.cli import compare, official, prompts, runs, score, validate
from lmev2.errors import UserError

COMMANDS = {
    "validate": validate,
    "score": score,
    "compare": compare,
    "runs": runs,
    "official": official,
    "prompts": prompts,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 good, 1 faults found, 2 wrong use or failed files."""
    parser = argparse.ArgumentParser(
        prog="lmev2", description="LongMemEval-V2: check data, score answers, compare methods."
    )
    parser.add_argument("--version", action="version", version=f"lmev2 {lmev2.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        about = module.__doc__.partition(": ")[2].strip()
        module.add_arguments(commands.add_parser(name, help=about.splitlines()[0], description=about))
    options = parser.parse_args(arguments)
    try:
        code = COMMANDS[options.command].run(options)
        print(end="", flush=True)  # what cannot be written shows here and not after the exit code
        return code
    except UserError as error:
        print(f"lmev2 {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        sys.stderr.close()
        return 1
    except OSError as error:  # what we read or write failed midway: a full disk, a closed standard stream
        name = f"{error.filename}: " if error.filename else ""
        print(f"lmev2 {options.command}: {name}{error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"lmev2 {options.command}: interrupted", file=sys.stderr)
        return 130
