"""An agent's reply as the action that it holds and the thoughts around it."""

import re

# A language may stand after the opening fence, alone on its line; a last fence may not be closed.
_FENCE = re.compile(r"```(?:[ \t]*\w*[ \t]*\n)?(.*?)(?:```|\Z)", re.DOTALL)


def split_action(text: str) -> tuple[str | None, str | None]:
    """Split prose with fenced code into action and thought; text without a fence is an action alone.

    Several blocks are one action, line by line, as BrowserGym runs them. Blank parts are None.
    """
    blocks = [block.strip() for block in _FENCE.findall(text)]
    code = "\n".join(block for block in blocks if block)
    if not code:
        return text.strip() or None, None
    prose = [part.strip() for part in _FENCE.sub("\0", text).split("\0")]
    return code, "\n".join(part for part in prose if part) or None
