"""Where images come from, as a source tells it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ranking.core.registry import Plugin


@dataclass(frozen=True)
class SourceBox:
    """One annotated box as a source tells it: a box in pixels, None for the whole image, and the classes it shows.

    `relative` boxes are in shares of the image's width and height instead, 0 to 1.
    `number` is its place in the annotation, so that a sample keeps its id whichever other boxes are left out.
    `numbers` are what criteria such as "year" measure of it; NaN, or nothing said, where that is unknown.
    """

    box: tuple[float, float, float, float] | None
    classes: tuple[str, ...]
    group: str | None = None  # None: the image is the group
    number: int | None = None  # None: its place in SourceImage.boxes, counted from 1
    numbers: Mapping[str, float] = field(default_factory=dict)
    relative: bool = False


class LateFile(Protocol):
    """A file that is read when its image is decoded, such as `ranking.files.FileInTree`; reports call it `shown`."""

    @property
    def shown(self) -> str: ...
    def read(self, limit: int, what: str = ..., by: str = ...) -> bytes: ...


@dataclass(frozen=True)
class SourceImage:
    """One image as a source tells it. `data` is a file to read or the bytes of one, not yet trusted.

    `size` is the width and height that the annotation claims, where it claims any: boxes drawn on an image
    of another size cannot be trusted. `features` describe the image where the source has them, and then all its
    images, by as many numbers each. `upright`: where nothing else tells, boxes are on the picture as its EXIF
    orientation turns it, not as it is stored.
    """

    name: str
    data: Path | bytes | LateFile
    boxes: tuple[SourceBox, ...]
    test: bool = False
    size: tuple[int, int] | None = None
    features: tuple[float, ...] | None = None
    upright: bool = False


@dataclass(frozen=True)
class Problem:
    """A row of an import's report: what was expected of a file, what came, what was done about it."""

    file: str
    expected: str
    came: str
    done: str


class Source(Plugin, ABC):
    """An image-set source. Its dataclass fields are its settings; problems are yielded, not raised.

    A source that cannot be read at all (no such folder, no annotations) raises ValueError.
    bundled: its images come with the program; such sets are made when the program first starts.
    """

    bundled: ClassVar[bool] = False

    @abstractmethod
    def title(self) -> str:
        """A name for the image set that a person would choose."""

    @abstractmethod
    def __len__(self) -> int:
        """How many images `records` will speak of (for the progress bar)."""

    @abstractmethod
    def records(self) -> Iterator[SourceImage | Problem]:
        """Every image and every problem, as they come."""


OnCount = Callable[[int, int], None]  # (done, total)
