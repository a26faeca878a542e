"""Processes and files of the machines that share a folder."""

import errno
import hashlib
import os
import socket
from functools import cache
from pathlib import Path


@cache
def machine() -> str:
    """Name of the place where a process id means what it means here: host, boot and process namespace.

    Containers and cloned machines may share a host name; only of our own processes we can tell whether
    they are alive.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        place = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux
        return socket.gethostname()
    return f"{socket.gethostname()}.{hashlib.sha256(place.encode()).hexdigest()[:8]}"


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs on this machine, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_gone(error: OSError) -> bool:
    """Whether a file was not there, or has been removed on another machine since it was opened (NFS)."""
    return error.errno in (errno.ENOENT, errno.ESTALE)
