"""What a coding agent's shell command was for (paper, Figures 8 and 9). docs/agents.md states the rules.

A command may do several things; it counts as the first of these that it does:
    validation  writes or checks memory_module_output.json
    visual      looks at a picture
    harness     reads a manifest or runs the helper
    raw         reads or searches trajectory files itself: broad search, direct read or ad-hoc scan
    setup       reads the task, lists folders, looks around
    other       anything else
Figures pool "validation" and "other".
"""

import re

CLASSES = ("setup", "harness", "raw", "visual", "validation", "other")

_OUTPUT = re.compile(r"memory_module_output")
_PICTURE = re.compile(
    r"^view_image\b|\bquestion_image\.\w+|\bscreenshots?/[\w*?{}$.-]*\.(?:png|jpe?g|webp)"
    r"|\b(?:from PIL|import PIL|pytesseract|tesseract|cv2|exiftool|identify|convert)\b",
    re.I,
)
_HARNESS = re.compile(r"TRAJECTORY_SUMMARY_|inspect_trajectory\.py")
_TRAJECTORY = re.compile(r"\btrajector(?:y\.json|ies\b)")
_SEARCH = re.compile(r"\b(?:rg|[ef]?grep|zgrep|ag|ack)\b")
_SCRIPT = re.compile(r"\b(?:python3?|perl|ruby|node|awk|jq)\b")
_READ = re.compile(r"\b(?:cat|sed|head|tail|less|more|strings|wc|cut|sort)\b")
_LOOP = re.compile(r"\bfor\s+\w+\s+in\b|\bwhile\s+read\b|\bxargs\b|-exec\b")
_ONE_TRAJECTORY = re.compile(r"\btrajectories/[\w.-]+/(?!\S*[*?{])")
_SETUP = re.compile(
    r"\b(?:question\.json|INSTRUCTION\.md|AGENTS\.md)\b"
    r"|^\s*(?:ls|pwd|tree|find|env|which|command|whoami|id|date|uname|stat|du|file|echo)\b"
)
_LISTING = re.compile(r"(\b(?:ls|find)\b[^|;&]*)(?:\|\s*(?:head|tail|wc|sort|cut|less|more|uniq)\b[^|;&]*)+")


def command_class(command: str) -> str:
    """The class of one command, one of CLASSES."""
    if _OUTPUT.search(command):
        return "validation"
    if _PICTURE.search(command):
        return "visual"
    if _HARNESS.search(command):
        return "harness"
    # A pipe that only shortens a listing (`ls trajectories | head`) reads nothing.
    if any(_reads_trajectories(step) for step in _steps(_LISTING.sub(r"\1", command))):
        return "raw"
    if _SETUP.search(command):
        return "setup"
    # In the folder of a trajectory (after `cd`), a search names no path.
    return "raw" if _SEARCH.search(command) else "other"


def raw_kind(command: str) -> str:
    """Of a raw command: "scan" (a script or loop), "search" (over many files) or "read" (of one)."""
    if _LOOP.search(command) or (_SCRIPT.search(command) and not _ONE_TRAJECTORY.search(command)):
        return "scan"
    return "read" if _ONE_TRAJECTORY.search(command) or not _SEARCH.search(command) else "search"


def _steps(command: str) -> list[str]:
    """The commands of a list (`a && b; c`); a script or loop is one."""
    if "<<" in command or _LOOP.search(command):
        return [command]
    return re.split(r"&&|\|\||;|\n", command)


def _reads_trajectories(step: str) -> bool:
    return bool(_TRAJECTORY.search(step)) and any(way.search(step) for way in (_SEARCH, _SCRIPT, _READ))
