"""What an image-set source yields: images with annotated boxes, and problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ranking.core.registry import Plugin


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
    upright: where nothing else says so, boxes refer to the image rotated by its EXIF orientation, not to the stored
    pixels.
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
    """A row of an import report. came: what was found instead of `expected`. done: the action taken."""

    file: str
    expected: str
    came: str
    done: str


class Source(Plugin, ABC):
    """An image-set source. Its dataclass fields are its settings; problems are yielded, not raised.

    reads_files: whether a setting names a file of the computer that runs the app. False where images are generated:
    visitors of a server may then choose the source too. ValueError where nothing can be read (no such folder, no
    annotations).
    """

    reads_files: ClassVar[bool] = True

    @abstractmethod
    def title(self) -> str:
        """Return a readable name for the image set."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many images `records` will cover (for the progress bar)."""

    @abstractmethod
    def records(self) -> Iterator[SourceImage | Problem]:
        """Yield every image and every problem in the order of reading."""


# (done, total)
OnCount = Callable[[int, int], None]
