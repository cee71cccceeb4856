"""The image sets of a data folder: their records in lists, new sets, and deleted ones."""

from __future__ import annotations

import contextlib
import filecmp
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ranking.core import Reading, is_number
from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.core.text import counted
from ranking.datasets.readings import READING
from ranking.storage.home import PARTIAL, Home, home_in_words, is_expired, move_durably, write_whole
from ranking.storage.records import Damage, Records, join_lines, write_record
from ranking.storage.run import Run, is_set_key
from ranking.storage.runs import Runs
from ranking.storage.space import check_space

# what these import would double the time that a worker takes to start
if TYPE_CHECKING:
    from ranking.core import ImageSet

RECORD = "set.json"
# the answers and corrections of a set, in its folder
ADDED = "*.jsonl"


@dataclass(frozen=True)
class ImageSetRow:
    """An image set in lists, without reading its files."""

    key: str
    title: str
    source: str
    images: int
    samples: int
    classes: tuple[str, ...]
    created: float
    # when the user deleted it, in seconds since the epoch; None if not
    deleted: float | None
    # where it is
    folder: Path
    # whether it belongs to a shared data folder, which is read-only
    shared: bool = False


COLUMNS = tuple(field.name for field in fields(ImageSetRow) if field.name not in ("folder", "shared"))


class Sets:
    """The image sets of the data folder `home`, after those of the data folders that are `shared` with it."""

    def __init__(self, home: Home, shared: Sequence[Home], runs: Runs) -> None:
        self._home, self._shared, self._runs = home, shared, runs

    # ---------------------------------------------------------------------------------------- reading

    def rows(self) -> list[ImageSetRow]:
        """Return the image sets: shared ones, then those of this data folder, newest first."""
        shared = {row.key: row for home in self._shared for row in _rows_in(home)}
        own = [row for row in _rows_in(self._home) if row.key not in shared]
        return [*shared.values(), *own]

    def deleted_rows(self) -> list[ImageSetRow]:
        """Return the deleted image sets of this data folder that can be restored, newest first."""
        return _rows_in(self._home, deleted=True)

    def get(self, key: str) -> ImageSet:
        """Return the image set with that key; ValueError that lists the existing ones for an unknown key."""
        from ranking.datasets import load_image_set

        return load_image_set(self.folder(key))

    def folder(self, key: str) -> Path:
        """Return the folder of the image set with that key; ValueError that lists the existing ones otherwise."""
        own = self._home.sets / key
        if is_set_key(key) and (own / RECORD).exists() and read_row(own).deleted is None:
            # without reading the records of all sets
            return own
        rows = {row.key: row for row in self.rows()}
        if key in rows:
            return rows[key].folder
        there = ", ".join(f"{row.title} ({row.key})" for row in rows.values())
        raise InputError(
            "image set",
            f"the key of one in {home_in_words(self._home.path)}",
            f"{key[:80]!r}",
            f"choose one of: {there}" if there else "import one",
        )

    def is_shared(self, key: str) -> bool:
        """Whether the image set with that key belongs to a shared data folder."""
        return any(row.key == key for home in self._shared for row in _rows_in(home))

    def users(self, key: str) -> list[Run]:
        """Return the runs that need an image set, including deleted ones that can be restored."""
        runs = self._runs.all_own(set_key=key) + self._runs.all_own(set_key=key, deleted=True)
        return [run for run in runs if not run.is_import]

    def damage(self) -> list[Damage]:
        """Return the folders of sets whose record was lost."""
        return [
            Damage(folder, _lost(folder))
            for home in (self._home, *self._shared)
            for folder in SETS.read_all(home.sets, home.shared)[1]
            if is_set(folder)
        ]

    # ---------------------------------------------------------------------------------------- changing

    def add(self, folder: Path, source: str, move: bool = False) -> str:
        """Add the image set in `folder` (ValueError if it has none) by a copy or a move; return its key."""
        # `source`: its origin, for its record. A set with this key is restored if it was deleted.
        from ranking.datasets import load_image_set

        row = row_of(load_image_set(folder), folder, source, time.time())
        if self.is_shared(row.key):
            return row.key
        check_space(self._home.path)
        part = self._home.sets / f"{row.key}{PARTIAL}"
        try:
            with self._home.change():
                self._finish(part)
                target = self._home.sets / row.key
                if _are_equal(folder, target):
                    if (folder / READING).exists():
                        write_whole(target / READING, lambda path: shutil.copyfile(folder / READING, path))
                    write_record(target / RECORD, record_of(replace(read_row(target), deleted=None)))
                    return row.key
                try:
                    (shutil.move if move else shutil.copytree)(folder, part)
                    write_record(part / RECORD, record_of(row))
                    for file in target.glob(ADDED):
                        shutil.copy2(file, part)
                    self._home.throw_away(target)
                    move_durably(part, target)
                except OSError:
                    # as on a full disk, whose last bytes the part would keep
                    self._home.throw_away(part)
                    raise
        finally:
            self._home.empty_trash()
        return row.key

    def reading(self, key: str) -> Reading:
        """Return how the last import of a set read its files; ValueError if that is unknown."""
        from ranking.datasets import load_reading

        return load_reading(self.folder(key))

    def delete(self, key: str) -> None:
        """Delete an image set from all lists; `restore` restores it within DELETED_DAYS days."""
        # Repeating it is harmless. ValueError if a run uses it, including deleted runs that can be restored.
        self._mark(key, time.time())

    def restore(self, key: str) -> None:
        """Undo `delete`. ValueError if the set was permanently removed."""
        self._mark(key, None)

    def empty_trash(self) -> int:
        """Permanently remove all deleted image sets and their files now; return their number."""
        return self._remove(lambda row: True)

    def sweep(self) -> None:
        """Remove what was deleted long ago, and sets that were never complete."""
        self._remove(lambda row: is_expired(row.deleted))
        with self._home.change():
            for part in self._home.sets.glob(f"*{PARTIAL}"):
                self._finish(part)
        self._home.empty_trash()

    def _finish(self, part: Path) -> None:
        """Finish what a process that died has left of `add`."""
        # That is the last copy of a set that was to be replaced, to which answers may have been added since,
        # or an incomplete one.
        target = part.with_name(part.name.removesuffix(PARTIAL))
        if not (part / RECORD).exists() or is_set(target):
            self._home.throw_away(part)
            return
        for file in target.glob(ADDED):
            join_lines([part / file.name, file], part / file.name)
        self._home.throw_away(target)
        move_durably(part, target)

    def _mark(self, key: str, deleted: float | None) -> None:
        with self._home.change():
            folder = self._home.sets / key
            if not is_set_key(key) or not is_set(folder):
                raise InputError(
                    "image set",
                    f"the key of one in {home_in_words(self._home.path)}",
                    f"{key[:80]!r}",
                    "choose one from the list",
                )
            if deleted is not None and (users := self.users(key)):
                raise InputError(
                    "image set",
                    "one that no run uses",
                    f"one used by {counted(len(users), 'run')}",
                    "delete them and empty the trash first",
                )
            row = read_row(folder)
            if row.deleted is None or deleted is None:
                write_record(folder / RECORD, record_of(replace(row, deleted=deleted)))

    def _remove(self, chosen: Callable[[ImageSetRow], bool]) -> int:
        with self._home.change():
            rows = list(filter(chosen, self.deleted_rows()))
            for row in rows:
                for folder in self._folders_of(row.key):
                    self._home.throw_away(folder)
        self._home.empty_trash()
        return len(rows)

    def _folders_of(self, key: str) -> list[Path]:
        return [folder / key for folder in (self._home.sets, self._home.edges, self._home.vectors)]


# ---------------------------------------------------------------------------------------------------------
# Records
# ---------------------------------------------------------------------------------------------------------


def row_of(images: ImageSet, folder: Path, source: str, created: float) -> ImageSetRow:
    """Return the row of an image set in `folder`."""
    counts = len(images.image_names), len(images)
    return ImageSetRow(images.key, images.title, source, *counts, images.classes, created, None, folder)


def record_of(row: ImageSetRow) -> Json:
    """Return the content of RECORD."""
    return {name: value for name, value in asdict(row).items() if name in COLUMNS}


def is_set(folder: Path) -> bool:
    """Return whether a folder has an image set, not only what was added to a shared one."""
    return any(file.suffix != ".jsonl" for file in folder.iterdir()) if folder.is_dir() else False


def read_row(folder: Path) -> ImageSetRow:
    """Return the row of the set in a folder, from its record or else its files; or an InputError."""
    # A row made from files has an unknown source.
    from ranking.datasets import load_image_set

    try:
        return SETS.read(folder)
    except InputError:
        return row_of(load_image_set(folder), folder, "", folder.stat().st_mtime)


def _lost(folder: Path) -> str:
    """Return a sentence on what is lost with the record of the set in a folder."""
    try:
        title = read_row(folder).title
        return (
            f"The {RECORD} of image set “{title}” is missing or damaged: only its format and date are lost."
        )
    except InputError as error:
        return f"An image set cannot be opened: {error}."


def _row(folder: Path, record: Json, shared: bool) -> ImageSetRow:
    row = ImageSetRow(folder=folder, shared=shared, **{**record, "classes": tuple(record["classes"])})
    sound = (
        (shared or row.key == folder.name)
        and all(isinstance(text, str) for text in (row.key, row.title, row.source))
        and all(isinstance(count, int) for count in (row.images, row.samples))
        and all(isinstance(name, str) for name in row.classes)
        and is_number(row.created)
        and (row.deleted is None or is_number(row.deleted))
    )
    if not sound:
        raise ValueError("not a record of an image set")
    return row


SETS = Records(RECORD, _row)


def _rows_in(home: Home, deleted: bool = False) -> list[ImageSetRow]:
    """Return the image sets of a data folder, newest first: the deleted ones, or the others."""
    home.check()
    rows, damaged = SETS.read_all(home.sets, home.shared)
    for folder in filter(is_set, damaged):
        # `damage` names it
        with contextlib.suppress(InputError):
            rows.append(read_row(folder))
    chosen = [row for row in rows if (row.deleted is not None) == deleted]
    return sorted(chosen, key=lambda row: (-row.created, row.key))


def _are_equal(folder: Path, other: Path) -> bool:
    """Return whether two folders have the same files of an image set, so that neither is damaged."""
    names, others = (
        {
            str(path.relative_to(each))
            for path in each.rglob("*")
            if path.is_file() and path.name not in (RECORD, READING) and path.suffix != ".jsonl"
        }
        for each in (folder, other)
    )
    return names == others and not any(filecmp.cmpfiles(folder, other, names, shallow=False)[1:])
