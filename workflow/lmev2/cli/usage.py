"""What a command is called with, checked."""

from pathlib import Path

from lmev2.errors import UserError


class UsageError(UserError):
    """A call that cannot be served; ends the command with exit code 2."""


def dataset_folder(path: str) -> Path:
    """The dataset folder that a command is given.

    Raises:
        UsageError: there is no such folder.
    """
    if not Path(path).is_dir():
        raise UsageError(f"{path} is no folder; name a dataset folder")
    return Path(path)
