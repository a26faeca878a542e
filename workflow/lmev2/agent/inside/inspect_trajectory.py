"""Look into one recorded trajectory without reading its whole file.

    python3 scripts/inspect_trajectory.py ID                  overview: goal, outcome, all actions
    python3 scripts/inspect_trajectory.py ID --state 4        one state: url, thought, action, tree
    python3 scripts/inspect_trajectory.py ID --span 3:6       states 3 to 6, both included, trees cut short
    python3 scripts/inspect_trajectory.py ID --match REGEX    lines of trees, urls and actions that match

States count from 0. An action is shown with the state that it led to; what follows `#` is the element that
it touched, as the page before it names it.
"""

import argparse
import json
import re
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "trajectories"
MOST_STATE, MOST_SPAN, MOST_LINE = 60_000, 80_000, 400  # characters
MOST_MATCHES, MOST_OF_A_STATE = 120, 12
MATCH_SECONDS = 20


class InspectError(Exception):
    """What is wrong with the call, in words for its caller."""


def main(arguments=None, root=ROOT):
    """Print what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("id", help="the trajectory's id: the name of its folder")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--state", metavar="I")
    what.add_argument("--span", metavar="I:J")
    what.add_argument("--match", metavar="REGEX")
    options = parser.parse_args(arguments)
    try:
        trajectory = load(options.id, Path(root))
        if options.state is not None:
            text = show_state(trajectory, number(options.state, trajectory))
        elif options.span is not None:
            text = show_span(trajectory, *span(options.span, trajectory))
        elif options.match is not None:
            text = show_matches(trajectory, options.match)
        else:
            text = show_overview(trajectory)
    except InspectError as error:
        print(f"inspect_trajectory: {error}", file=sys.stderr)
        return 2
    print(text)
    return 0


def load(identifier, root=ROOT):
    """The trajectory with this id."""
    path = root / identifier / "trajectory.json"
    if "/" in identifier or not path.is_file():
        raise InspectError(f"there is no trajectory {identifier!r}; ids are the folder names in {root.name}/")
    with path.open(encoding="utf-8", newline="") as file:
        return json.load(file)


def number(text, trajectory):
    """A state's number from the command line."""
    last = len(trajectory["states"]) - 1
    if not re.fullmatch(r"\d+", text) or int(text) > last:
        raise InspectError(f"there is no state {text!r}: states are numbered 0 to {last}")
    return int(text)


def span(text, trajectory):
    """First and last state of I:J."""
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match:
        raise InspectError(f"{text!r} is no span: write two state numbers, like 3:6, both included")
    first, last = (number(part, trajectory) for part in match.groups())
    if first > last:
        raise InspectError(f"the span {text} is reversed: write {last}:{first}")
    return first, last


def actions(trajectory):
    """The actions by state, each with the element that it touched."""
    from accessibility import annotate_actions  # beside this file

    states = trajectory["states"]
    return annotate_actions([state["action"] for state in states], [state["text"] for state in states])


def show_overview(trajectory):
    """Goal, outcome and the run's actions."""
    states = trajectory["states"]
    lines = [
        f"Trajectory {trajectory['id']}",
        f"Goal: {trajectory['goal']}",
        f"Outcome: {trajectory['outcome'] or 'unknown'}",
        f"Start url: {trajectory['start_url']}",
        f"States: {len(states)} (0 to {len(states) - 1})",
    ]
    for state, action in zip(states, actions(trajectory), strict=True):
        lines.append(f"{state['state_index']}. {action or '(start)'}  ->  {state['url']}")
    return cut("\n".join(lines), MOST_SPAN, "")


def show_state(trajectory, index, most=MOST_STATE, annotated=None):
    """One state whole, its tree cut at `most` characters."""
    state = trajectory["states"][index]
    action = (annotated or actions(trajectory))[index]
    lines = [f"State {index} of trajectory {trajectory['id']}", f"URL: {state['url']}"]
    if action:
        lines.append(f"Action: {action}")
    if state["thoughts"]:
        lines.append(f"Thought: {state['thoughts']}")
    if state["screenshot"]:
        lines.append(f"Screenshot: trajectories/{trajectory['id']}/{state['screenshot']}")
    tree = cut(state["text"] or "(no tree was recorded)", most, "; --match finds lines in it")
    return "\n".join([*lines, "Tree:", tree])


def show_span(trajectory, first, last):
    """Some states, which share the space."""
    annotated = actions(trajectory)
    most = MOST_SPAN // (last - first + 1)
    return "\n\n".join(show_state(trajectory, index, most, annotated) for index in range(first, last + 1))


def show_matches(trajectory, pattern):
    """Matching lines with the number of their state."""
    try:
        regex = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise InspectError(f"{pattern!r} is no regular expression: {error}") from None
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, MATCH_SECONDS)
    lines, found = [], 0
    for state, action in zip(trajectory["states"], actions(trajectory), strict=True):
        text = [f"URL: {state['url']}", *([f"Action: {action}"] if action else [])]
        text += (state["text"] or "").split("\n")
        hits = [line.strip() for line in text if regex.search(line)]
        if hits:
            found += len(hits)
            lines.append(f"State {state['state_index']}: {len(hits)} lines")
            lines += [f"  {line[:MOST_LINE]}" for line in hits[:MOST_OF_A_STATE]]
            if len(hits) > MOST_OF_A_STATE:
                lines.append(f"  ... and {len(hits) - MOST_OF_A_STATE} more")
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    if len(lines) > MOST_MATCHES:
        lines = [*lines[:MOST_MATCHES], "... cut here; use a narrower pattern"]
    return "\n".join([f"{found} lines match {pattern!r}", *lines])


def out_of_time(*_):
    """A pattern that backtracks for ever is given up."""
    raise InspectError(f"the pattern took longer than {MATCH_SECONDS} s; use a simpler one")


def cut(text, most, hint):
    """The text, or its beginning and how much is left out."""
    return text if len(text) <= most else f"{text[:most]}\n... {len(text) - most} characters left out{hint}"


if __name__ == "__main__":
    sys.exit(main())
