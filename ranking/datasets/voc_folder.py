"""Finding and reading the files of a PASCAL VOC folder, and nothing outside of it.

The person may name any folder that the server can read. From there on no name that is found inside (in XML,
in lists, in links) can lead out: files are found by listing directories, and a link that leaves is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ranking.intake.files import IMAGE_SUFFIXES, INSIDE, MAX_NAME, image_name, plain, refusal
from ranking.text import readable
from ranking.types import Problem

MAX_LIST_BYTES = 16 * 2**20
YEAR = re.compile(r"VOC(\d{4})")
LAYOUT = "a folder with Annotations and JPEGImages, or a VOCdevkit with VOC2007, VOC2012, ... of such folders"


class UnusableList(ValueError):
    """A list of images that cannot be read: the two middle columns of its row in the report."""

    def __init__(self, file: str, expected: str, came: str) -> None:
        super().__init__(f"{file}: expected {expected}, got {came}")
        self.problem = Problem(file, expected, came, "list ignored")


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
        directory = f"ImageSets/{task}"
        with _explained(directory):
            there = (self.root / directory).is_dir()
        return self._by_name(directory, (".txt",))[0] if there else {}

    def lines(self, path: Path) -> list[str]:
        """The lines of a list that are not empty; UnusableList for one outside the folder or too long."""
        file = readable(path.name)
        came = self.refusal(path)
        if came:
            raise UnusableList(file, INSIDE, came)
        try:
            data = self.read(path, MAX_LIST_BYTES)
        except OSError as error:
            raise UnusableList(file, "a file that can be read", plain(error)) from error
        if len(data) > MAX_LIST_BYTES:
            raise UnusableList(file, f"a list of at most {MAX_LIST_BYTES / 2**20:g} MB", "a larger file")
        # As names of files are decoded, so that both still agree where they are no UTF-8.
        text = data.decode("utf-8-sig", errors="surrogateescape")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def refusal(self, path: Path) -> str:
        """Why `path`, all links followed, is no regular file inside the folder that the person named, or ""."""
        return refusal(path, self.boundary)

    def read(self, path: Path, limit: int) -> bytes:
        """At most `limit` + 1 bytes of `path`, so that the caller sees when there are more."""
        with path.open("rb") as file:
            return file.read(limit + 1)

    def _by_name(self, directory: str, suffixes: tuple[str, ...]) -> tuple[dict[str, Path], list[Problem]]:
        folder = self.root / directory
        with _explained(directory):
            if not folder.resolve().is_relative_to(self.boundary):
                raise ValueError(f"expected {directory} inside the chosen folder, it is a link out of it")
            # Names with a leading dot are left by file managers (._000001.xml), never by annotators.
            paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
        wanted = [path for path in paths if path.suffix.lower() in suffixes]
        found: dict[str, Path] = {}
        problems = []
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


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """What the system says of a folder that cannot be read, as a ValueError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{name} cannot be read ({plain(error)}); check its permissions") from error


def _preference(path: Path, suffixes: tuple[str, ...]) -> tuple[int, bool, str]:
    lower = path.suffix.lower()
    return suffixes.index(lower), path.suffix != lower, path.name


def open_voc_folder(typed: str, year: str = "") -> VocFolder:
    """The VOC folder in or at `typed`; `year` chooses among several, "" the newest.

    ValueError where the folder cannot be read or is not laid out as VOC; it says what is there.
    """
    if not typed.strip():
        raise ValueError(f"type the folder to import; expected {LAYOUT}")
    try:
        top = Path(typed.strip()).expanduser()
    except RuntimeError as error:
        user = readable(typed, MAX_NAME).partition("/")[0]
        raise ValueError(f"no user {user} has a home folder here; type the folder in full") from error
    with _explained(readable(typed, MAX_NAME)):
        if not top.is_dir():
            raise ValueError(f"no folder {readable(typed, MAX_NAME)}; expected {LAYOUT}")
        return _choose(top.absolute(), year.strip().upper().removeprefix("VOC"))


def _choose(top: Path, year: str) -> VocFolder:
    boundary = top.resolve()
    if _is_voc(top):
        own = YEAR.fullmatch(top.name)
        if year and (own is None or own[1] != year):
            raise ValueError(f"no year {year} in {top}: it is itself a VOC folder; clear the year")
        return VocFolder(boundary, boundary, _title(top))
    years = _years(top) or _years(top / "VOCdevkit")
    if not years:
        # What else it holds is not told: any folder of the server may be typed here.
        parts = [name for name in ("Annotations", "JPEGImages") if not (top / name).is_dir()]
        raise ValueError(f"expected {LAYOUT}; {top} has {_none_of([*parts, 'VOC2007, VOC2012, ...'])}")
    if year and year not in years:
        raise ValueError(f"no VOC{year} in {top}; its years are {', '.join(sorted(years))}")
    chosen = years[year or max(years)]
    root = chosen.resolve()
    if not root.is_relative_to(boundary):
        raise ValueError(f"expected {chosen.name} inside the chosen folder, it is a link out of it")
    return VocFolder(root, boundary, _title(chosen))


def _none_of(names: list[str]) -> str:
    """
    >>> _none_of(["a", "b", "c"])
    'no a, no b and no c'
    """
    told = [f"no {name}" for name in names]
    return " and ".join([", ".join(told[:-1]), told[-1]])


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
