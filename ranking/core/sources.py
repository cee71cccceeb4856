"""What an image-set source yields: images with annotated boxes, and problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ranking.core.registry import Plugin
from ranking.core.settings import GivenJson, Json


@dataclass(frozen=True)
class SourceBox:
    """One annotated box. box: in pixels, None for the whole image. classes: those that the sample shows.

    number: position of the box in the annotation, counted from 1, so that a sample keeps its id whichever other boxes
    are ignored. numbers: values of criteria such as "year"; NaN or absent where unknown. relative: the box is in
    shares of the image's width and height, 0 to 1.
    """

    box: tuple[float, float, float, float] | None
    classes: tuple[str, ...]
    # None: the image is the group
    group: str | None = None
    # None: its position in SourceImage.boxes, from 1
    number: int | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    relative: bool = False


class LateFile(Protocol):
    """A file that is read when its image is decoded, such as `ranking.files.FileInTree`; reports call it `shown`."""

    @property
    def shown(self) -> str: ...
    def read(self, limit: int, what: str = ..., by: str = ...) -> bytes: ...


@dataclass(frozen=True)
class SourceImage:
    """One image of a source. data: a file, or the bytes of one, not yet trusted.

    size: width and height by the annotation, where it states them: boxes drawn on an image of another size cannot be
    trusted. features: describe the image where the source has features; all its images then have the same number.
    upright: whether boxes refer to the image rotated by its EXIF orientation, or to the stored pixels, whichever of the
    two has the stated size; None if only that size can tell.
    """

    name: str
    data: Path | bytes | LateFile
    boxes: tuple[SourceBox, ...]
    test: bool = False
    size: tuple[int, int] | None = None
    features: tuple[float, ...] | None = None
    upright: bool | None = None


@dataclass(frozen=True)
class Problem:
    """A row of an import report. came: what was found instead of `expected`. done: the action taken."""

    file: str
    expected: str
    came: str
    done: str


@dataclass(frozen=True)
class Decision:
    """One choice in reading files: how something was read, and why.

    about: what had to be decided, such as "box format". chosen: the choice, in words. evidence: why, as a sentence with
    counts. setting: the setting of the source that changes the choice; "" if it cannot be changed. value: of that
    setting for this choice. alternatives: other values with which the files can be read. is_open: whether an
    alternative fits as well, so that a person has to choose.
    """

    about: str
    chosen: str
    evidence: str
    setting: str = ""
    value: str = ""
    alternatives: tuple[str, ...] = ()
    is_open: bool = False


@dataclass(frozen=True)
class Reading:
    """How files were read, and what was left out. source: the name of the format."""

    source: str
    decisions: tuple[Decision, ...] = ()
    problems: tuple[Problem, ...] = ()

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: GivenJson) -> Reading:
        """Return what `to_json` wrote; ValueError, TypeError or KeyError for any other record."""
        decisions = (
            Decision(**{**row, "alternatives": tuple(row["alternatives"])}) for row in record["decisions"]
        )
        problems = (Problem(**row) for row in record["problems"])
        return cls(str(record["source"]), tuple(decisions), tuple(problems))


class Source(Plugin, ABC):
    """An image-set source. Its dataclass fields are its settings; problems are yielded, not raised.

    path_setting: the setting that names the file or folder to read, on the computer that runs the app. "" where images
    are generated: visitors of a server may then choose the source too. ValueError where nothing can be read (no such
    folder, no annotations).
    """

    path_setting: ClassVar[str] = "file"

    @abstractmethod
    def title(self) -> str:
        """Return a readable name for the image set."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many images `records` will cover (for the progress bar)."""

    @abstractmethod
    def records(self) -> Iterator[SourceImage | Problem]:
        """Yield every image and every problem in the order of reading."""

    def decisions(self) -> list[Decision]:
        """Return how the files were read, once `records` has yielded its first image."""
        return []


# (done, total)
OnCount = Callable[[int, int], None]
