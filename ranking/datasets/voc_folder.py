"""Finding and reading the files of a PASCAL VOC folder, and nothing outside of it.

The person may name any folder that the server can read. From there on no name that is found inside (in XML,
in lists, in links) can lead out: files are found by listing directories, and a link that leaves is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ranking.datasets.text import listed, readable
from ranking.types import Problem

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")
MAX_LIST_BYTES = 16 * 2**20
MAX_NAME = 255
YEAR = re.compile(r"VOC(\d{4})")
LAYOUT = "a folder with Annotations and JPEGImages, or a VOCdevkit with VOC2007, VOC2012, ... of such folders"


@dataclass(frozen=True)
class VocFolder:
    """`root` holds Annotations and JPEGImages; `boundary` is what the person named; both without links."""

    root: Path
    boundary: Path
    title: str

    def annotations(self) -> tuple[dict[str, Path], list[Problem]]:
        """Image name to annotation, and a row for each name that two files share."""
        return self._by_name("Annotations", (".xml",))

    def images(self) -> tuple[dict[str, Path], list[Problem]]:
        """Image name to image, jpg before jpeg before png, and a row for each name that two files share."""
        return self._by_name("JPEGImages", IMAGE_SUFFIXES)

    def lists(self, task: str) -> dict[str, Path]:
        """The lists of ImageSets/`task` by name, without `.txt`; empty where there are none."""
        folder = self.root / "ImageSets" / task
        return self._by_name(f"ImageSets/{task}", (".txt",))[0] if folder.is_dir() else {}

    def lines(self, path: Path) -> list[str]:
        """The lines of a list that are not empty; ValueError for a list outside the folder or too long."""
        if not self.holds(path):
            raise ValueError(
                f"expected {path.name} to be a file inside the chosen folder, it is a link out of it"
            )
        data = self.read(path, MAX_LIST_BYTES)
        if len(data) > MAX_LIST_BYTES:
            raise ValueError(
                f"expected a list of at most {MAX_LIST_BYTES / 2**20:g} MB, {path.name} is larger"
            )
        text = data.decode("utf-8-sig", errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def holds(self, path: Path) -> bool:
        """Whether `path`, all links followed, is a regular file inside the folder that the person named."""
        return path.is_file() and path.resolve().is_relative_to(self.boundary)

    def read(self, path: Path, limit: int) -> bytes:
        """At most `limit` + 1 bytes of `path`, so that the caller sees when there are more."""
        with path.open("rb") as file:
            return file.read(limit + 1)

    def _by_name(self, directory: str, suffixes: tuple[str, ...]) -> tuple[dict[str, Path], list[Problem]]:
        folder = self.root / directory
        if not folder.resolve().is_relative_to(self.boundary):
            raise ValueError(f"expected {directory} inside the chosen folder, it is a link out of it")
        found: dict[str, Path] = {}
        problems = []
        # Names with a leading dot are left by file managers (._000001.xml), never by annotators.
        paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
        wanted = [path for path in paths if path.suffix.lower() in suffixes]
        for path in sorted(wanted, key=lambda path: _preference(path, suffixes)):
            name = image_name(path.stem)
            if name in found:
                came, done = f"{readable(path.name)} again", f"{readable(found[name].name)} is used"
                problems.append(
                    Problem(readable(path.name), f"one file for each name in {directory}", came, done)
                )
            else:
                found[name] = path
        return found, problems


def _preference(path: Path, suffixes: tuple[str, ...]) -> tuple[int, bool, str]:
    lower = path.suffix.lower()
    return suffixes.index(lower), path.suffix != lower, path.name


def image_name(text: str) -> str:
    """The form in which names of files, lists and samples are compared: composed Unicode, printable."""
    return readable(text, MAX_NAME)


def open_voc_folder(typed: str, year: str = "") -> VocFolder:
    """The VOC folder in or at `typed`; `year` chooses among several, "" the newest.

    ValueError where the folder cannot be read or is not laid out as VOC; it says what is there.
    """
    if not typed.strip():
        raise ValueError(f"type the folder to import; expected {LAYOUT}")
    top = Path(typed.strip()).expanduser()
    try:
        if not top.is_dir():
            raise ValueError(f"no folder {readable(typed, MAX_NAME)}; expected {LAYOUT}")
        return _choose(top.absolute(), year.strip().upper().removeprefix("VOC"))
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise ValueError(
            f"{readable(typed, MAX_NAME)} cannot be read ({reason}); check its permissions"
        ) from error


def _choose(top: Path, year: str) -> VocFolder:
    boundary = top.resolve()
    if _is_voc(top):
        own = YEAR.fullmatch(top.name)
        if year and (own is None or own[1] != year):
            raise ValueError(f"no year {year} in {top}: it is itself a VOC folder; clear the year")
        return VocFolder(boundary, boundary, _title(top))
    years = _years(top) or _years(top / "VOCdevkit")
    if not years:
        there = sorted(readable(path.name) for path in top.iterdir())
        raise ValueError(f"expected {LAYOUT}; {top} holds {listed(there, 8) or 'nothing'}")
    if year and year not in years:
        raise ValueError(f"no VOC{year} in {top}; its years are {', '.join(sorted(years))}")
    chosen = years[year or max(years)]
    root = chosen.resolve()
    if not root.is_relative_to(boundary):
        raise ValueError(f"expected {chosen.name} inside the chosen folder, it is a link out of it")
    return VocFolder(root, boundary, _title(chosen))


def _is_voc(folder: Path) -> bool:
    return (folder / "Annotations").is_dir() and (folder / "JPEGImages").is_dir()


def _years(devkit: Path) -> dict[str, Path]:
    if not devkit.is_dir():
        return {}
    matches = [(YEAR.fullmatch(path.name), path) for path in devkit.iterdir()]
    return {match[1]: path for match, path in matches if match is not None and _is_voc(path)}


def _title(folder: Path) -> str:
    """`bccd` for .../bccd, `helmets VOC2007` for .../helmets/VOCdevkit/VOC2007."""
    if YEAR.fullmatch(folder.name) is None:
        return readable(folder.name) or "PASCAL VOC"
    above = [part for part in folder.parts[1:-1] if part != "VOCdevkit"]
    return readable(" ".join([*above[-1:], folder.name]))
