"""Files named by a hash of their content.

Equal content is stored once per folder, storing it twice changes nothing, and settings with the name refer to the same
content in every data folder.
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

# suffix of a file while it is written
PARTIAL = ".part"


@dataclass(frozen=True)
class Blobs:
    """The files in `folder` whose names end in `suffix`. is_name: whether a text can be a name, without the suffix."""

    folder: Path
    suffix: str
    is_name: Callable[[str], bool]

    def path(self, name: str) -> Path:
        """Return the path of the file with that name, if it exists; InputError for an invalid name."""
        # Invalid names must not become part of a path.
        if not self.is_name(name):
            raise InputError("name", "a hash of a file", f"{name!r:.80}", "upload the file again")
        return self.folder / f"{name}{self.suffix}"

    def put(self, name: str, content: Path | Callable[[IO[bytes]], object]) -> None:
        """Store `content` on disk: a file, which is moved, or a function that writes it."""
        # Readers see all of it or nothing.
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
        """Return the names of all files, latest first."""
        files = [file for file in self.folder.glob(f"*{self.suffix}") if self.is_name(file.stem)]
        return [file.stem for file in sorted(files, key=lambda file: (-file.stat().st_mtime, file.stem))]

    def delete(self, name: str) -> None:
        """Remove the file of that name permanently. Repeating it is harmless."""
        self.path(name).unlink(missing_ok=True)

    def records(self) -> Blobs:
        """The JSON files next to them, which describe them under the same names."""
        return replace(self, suffix=".json")


def link(file: Path, target: Path) -> None:
    """Link `target` to `file`, or copy it where links are not supported; does nothing if `target` exists."""
    if target.exists():
        return
    try:
        os.link(file, target)
    except FileExistsError:
        # another process was faster
        return
    except OSError:
        partial = target.with_name(f"{target.name}.{os.getpid()}{PARTIAL}")
        shutil.copy2(file, partial)
        os.replace(partial, target)
