"""Files that are named by a hash of what is in them.

A name stands for its content: equal content lies in a folder once, putting it twice changes nothing, and settings that
hold the name find the same content in every home.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ranking.core.errors import InputError

PARTIAL = ".part"  # how a file ends that is being written


@dataclass(frozen=True)
class Blobs:
    """The files in `folder` whose names end in `suffix`. is_name: whether a text can be a name, without the suffix."""

    folder: Path
    suffix: str
    is_name: Callable[[str], bool]

    def path(self, name: str) -> Path:
        """Where the file of that name lies, if it exists. InputError for a text that is no name: only names become
        part of a path."""
        if not self.is_name(name):
            raise InputError("name", "one made of a hash of a file", f"{name!r:.80}", "upload the file again")
        return self.folder / f"{name}{self.suffix}"

    def put(self, name: str, content: Path | Callable[[IO[bytes]], object]) -> None:
        """Have the file of that name hold `content`: a file, which is moved, or what a function writes.

        A reader finds all of it or nothing. What was written is on the disk afterwards.
        """
        path = self.path(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            os.replace(content, path)
            return
        handle, partial = tempfile.mkstemp(dir=self.folder, suffix=PARTIAL)
        try:
            with os.fdopen(handle, "wb") as file:
                content(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise

    def list(self) -> list[str]:
        """The names of all files, those written last first."""
        files = [file for file in self.folder.glob(f"*{self.suffix}") if self.is_name(file.stem)]
        return [file.stem for file in sorted(files, key=lambda file: (-file.stat().st_mtime, file.stem))]

    def delete(self, name: str) -> None:
        """Remove the file of that name permanently. Repeating it is harmless."""
        self.path(name).unlink(missing_ok=True)

    def records(self) -> Blobs:
        """The JSON files beside them, which describe them under the same names."""
        return replace(self, suffix=".json")


def link(file: Path, target: Path) -> None:
    """Have `target` be `file`, or a copy where the file system has no links, unless it exists."""
    if target.exists():
        return
    try:
        os.link(file, target)
    except FileExistsError:
        return  # another process was faster
    except OSError:
        partial = target.with_name(f"{target.name}.{os.getpid()}{PARTIAL}")
        shutil.copy2(file, partial)
        os.replace(partial, target)
