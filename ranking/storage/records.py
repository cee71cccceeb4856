"""Records: JSON files that describe the folder they are in, and files of JSON lines that are only appended to.

Both are parsed again only when they have changed, so that a list of all runs costs little more than looking at the
files. What cannot be read is kept, skipped and named (`Damage`): at most what that file held is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.core.text import counted
from ranking.storage.home import write_whole

T = TypeVar("T")

# records that a process keeps parsed
CACHED = 8192


class Damage(NamedTuple):
    """A folder or file that cannot be read, and what is lost, in a sentence."""

    path: Path
    lost: str


def write_record(file: Path, record: Json) -> None:
    """Write a record. The caller holds the lock of its data folder."""
    text = json.dumps(record, allow_nan=False)
    write_whole(file, lambda partial: partial.write_text(text))


class Records(Generic[T]):
    """The records named `name`, one in each folder. make: what a record means, from its folder and whether it is
    shared; InputError if it is not valid."""

    def __init__(self, name: str, make: Callable[[Path, Json, bool], T]) -> None:
        self.name, self._make = name, make
        self._known = lru_cache(maxsize=CACHED)(self._parse)

    def read(self, folder: Path | str, shared: bool = False) -> T:
        """Return what the record in a folder means; InputError if it is missing or damaged."""
        file = f"{folder}/{self.name}"
        try:
            status = os.stat(file)
            return self._known(file, shared, status.st_ino, status.st_mtime_ns, status.st_size)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._damaged(Path(folder), "none") from error
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._damaged(Path(folder), "a damaged one") from error

    def read_all(self, folders: Path, shared: bool = False) -> tuple[list[T], list[Path]]:
        """Return what the records of all folders in `folders` mean, and the folders whose record cannot be read."""
        sound, damaged = list[T](), list[Path]()
        for folder in folders_in(folders):
            try:
                sound.append(self.read(folder, shared))
            except InputError:
                damaged.append(Path(folder))
        return sound, damaged

    def _parse(self, file: str, shared: bool, *version: int) -> T:
        record = json.loads(Path(file).read_bytes(), parse_constant=_no_number)
        if not isinstance(record, dict):
            raise ValueError("not an object")
        return self._make(Path(file).parent, record, shared)

    def _damaged(self, folder: Path, came: str) -> InputError:
        return InputError(f"folder {folder.name}", f"a valid file {self.name}", came)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def folders_in(folder: Path) -> list[str]:
    """Return the paths of what is in `folder`, without what is being written; none if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if "." not in entry.name]
    except FileNotFoundError:
        return []


class Lines(Generic[T]):
    """A file of JSON objects, one per line. make: what an object means; TypeError if it is not valid. The caller of
    `append` holds the lock of its data folder."""

    def __init__(self, file: Path, make: Callable[[Json], T]) -> None:
        self.file, self._make = file, make

    def append(self, records: Sequence[Json]) -> None:
        """Write all records to disk before returning, or none."""
        if not records:
            return
        self.file.parent.mkdir(exist_ok=True)
        lines = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records).encode()
        handle = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(handle).st_size
        try:
            # a line was cut, which must not cut the next
            if size and os.pread(handle, 1, size - 1) != b"\n":
                lines = b"\n" + lines
            while lines:
                lines = lines[os.write(handle, lines) :]
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        finally:
            os.close(handle)

    def read(self) -> tuple[T, ...]:
        """Return what all lines mean, which must not be changed; lines that are damaged are skipped."""
        return self._read()[0]

    def damage(self) -> list[Damage]:
        """Return the file if lines in it are damaged."""
        lost = self._read()[1]
        place = f"sets/{self.file.parent.name}/{self.file.name}"
        skipped = f"{counted(lost, 'damaged line')} of {place} cannot be read; all others are used."
        return [Damage(self.file, skipped)] if lost else []

    def _read(self) -> tuple[tuple[T, ...], int]:
        try:
            status = os.stat(self.file)
            return _lines(str(self.file), self._make, status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            return (), 0


def join_lines(files: Iterable[Path], target: Path) -> None:
    """Write the lines of several files into one, damaged ones too, each once."""
    lines = dict.fromkeys(line for file in files if file.exists() for line in file.read_bytes().splitlines())
    write_whole(target, lambda partial: partial.write_bytes(b"".join(line + b"\n" for line in lines)))


@lru_cache(maxsize=256)
def _lines(file: str, make: Callable[[Json], T], *version: int) -> tuple[tuple[T, ...], int]:
    sound, lost = list[T](), 0
    for line in filter(bytes.strip, Path(file).read_bytes().splitlines()):
        try:
            sound.append(make(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            lost += 1
    return tuple(sound), lost
