"""The pictures of a report: each sample's once in the file, as data, however often it is shown."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

from ranking.reports.markup import Markup, element

SIDE = 100  # of the square that a picture is fitted into, in units of the drawing


class Crops(Protocol):
    """Where pictures come from: WebP of a sample by its row (`ranking.datasets.Thumbnails`)."""

    def crop(self, i: int) -> bytes: ...


class Album:
    """Pictures that are used anywhere, and at last all of those that were, for the foot of the file."""

    def __init__(self, crops: Crops) -> None:
        self._crops, self._used = crops, dict[int, None]()

    def picture(self, row: int, alt: str) -> Markup:
        """The picture of a sample, which the file holds once."""
        self._used[row] = None
        shown = element("use", href=f"#p{row}")
        return element("svg", shown, viewBox=f"0 0 {SIDE} {SIDE}", role="img", aria_label=alt)

    def sheet(self) -> Markup:
        """All pictures that were used, not shown where it stands."""
        symbols = [self._symbol(row) for row in sorted(self._used)]
        hidden = element("svg", *symbols, width=0, height=0, aria_hidden="true", class_="sheet")
        return hidden

    def _symbol(self, row: int) -> Markup:
        content = base64.b64encode(self._crops.crop(row)).decode()
        picture = element("image", href=f"data:image/webp;base64,{content}", width=SIDE, height=SIDE)
        return element("symbol", picture, id=f"p{row}", viewBox=f"0 0 {SIDE} {SIDE}")


def tiles_of(tiles: Sequence[Markup], columns: int) -> Markup:
    """Pictures in rows of so many; on a phone fewer."""
    return element("div", *tiles, class_="tiles", style=f"--columns:{columns}")
