"""The files that the explorer's page is made of; a Snakefile asks for their digest at every start."""

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
ASSETS, TEMPLATES = HERE / "assets", HERE / "templates"
# In the order in which the page loads them.
SCRIPTS = (
    *("data.js", "dom.js", "context.js", "matrix.js"),
    *("panel.js", "question.js", "trajectory.js", "main.js"),
)


def site_digest() -> str:
    """Digest of the template, scripts and styles, for a rule's params."""
    files = sorted([*ASSETS.iterdir(), *TEMPLATES.iterdir()])
    return hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()[:16]
