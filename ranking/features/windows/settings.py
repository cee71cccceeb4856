"""The settings of candidate windows, apart from the compiled code that pages do not need to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.core.settings import check_settings, setting

SEGMENTS, GRID, GIVEN = SOURCES = ("segments", "grid", "boxes of the set")


@dataclass(frozen=True)
class WindowSettings:
    """source: one of SOURCES. most: the largest number of windows per image, besides the whole image."""

    name: ClassVar[str] = "windows"

    source: str = setting(
        SEGMENTS,
        label="Candidate windows",
        help="Where an object may be. segments: boxes around similar neighbouring regions. grid: windows at regular "
        "positions, in several sizes. boxes of the set: all of its boxes, whatever they show.",
        choices=SOURCES,
    )
    most: int = setting(
        150,
        label="Windows per image",
        help="The largest number of candidate windows, besides the whole image.",
        minimum=1,
        maximum=2000,
    )

    def __post_init__(self) -> None:
        check_settings(self)
