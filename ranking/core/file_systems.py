"""Whether a folder lies on a network file system, where SQLite's write-ahead log (WAL) does not work.

The log needs memory and locks that all processes share. A network file system shares them between the processes of one
machine at most, so databases there use a rollback journal instead (https://sqlite.org/wal.html).
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")  # the list of mounts on Linux
NETWORK = re.compile(
    r"(fuse\.)?(9p|afs|beegfs|ceph(-fuse)?|cifs|davfs2?|gcsfuse|glusterfs|gpfs|lustre|nfs4?|rclone|s3fs|smb2|smb3|smbfs"
    r"|sshfs|vboxsf)"
)


def network_file_system(folder: Path) -> str | None:
    """Return the type of the network file system that `folder` is on.

    None on a local disk, and where the operating system does not list its mounts.
    """
    kind = _kind(folder, MOUNTS)
    return kind if kind and NETWORK.fullmatch(kind) else None


def journal_mode(folder: Path) -> str:
    """Return the journal mode of SQLite databases in `folder`."""
    return "delete" if network_file_system(folder) else "wal"


@cache  # a data folder is opened often, and does not move
def _kind(folder: Path, mounts: Path) -> str | None:
    try:
        lines = os.fsdecode(mounts.read_bytes()).splitlines()
    except OSError:
        return None
    kinds = {}
    for line in lines:  # proc(5): the mount point is the fifth, the type the first after a hyphen
        own, _, rest = line.partition(" - ")
        kinds[Path(_unescaped(own.split(" ")[4]))] = rest.split(" ")[0]  # a later mount hides an earlier one
    resolved = folder.resolve()
    return next((kinds[parent] for parent in (resolved, *resolved.parents) if parent in kinds), None)


def _unescaped(text: str) -> str:
    """Return a mount point with its octal escapes resolved (spaces, tabs, line ends, backslashes; proc(5)).

    >>> _unescaped(r"/mnt/my\\040share")
    '/mnt/my share'
    """
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
