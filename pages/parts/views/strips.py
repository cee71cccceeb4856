"""Pictures in strips and boxes on pictures: what components show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One picture: `src` is a data URL, the caption stands below it; the highest grade goes first."""

    src: str
    alt: str
    caption: str
    grade: int


@dataclass(frozen=True)
class Strip:
    """The pictures in one order, as numbers of frames from the first place. movable: by hand."""

    title: str
    note: str
    order: tuple[int, ...]
    movable: bool = False


@dataclass(frozen=True)
class Box:
    """A box in pixels of the whole image. `strong` is drawn thicker than its neighbours."""

    box: tuple[int, int, int, int]
    label: str
    colour: str
    dashed: bool = False
    strong: bool = False
