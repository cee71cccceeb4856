"""A tile: a small picture with what is said of it, as the components `grid` and `strip` show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pages.parts.app import colours

GLYPHS = {"relevant": colours.RELEVANT_GLYPH, "irrelevant": colours.IRRELEVANT_GLYPH, None: ""}
COLOURS = {
    "relevant": colours.RELEVANT,
    "irrelevant": colours.IRRELEVANT,
    "relevant-label": colours.RELEVANT_LABEL,
    "irrelevant-label": colours.IRRELEVANT_LABEL,
    "label": colours.DARK_BLUE,
}


@dataclass(frozen=True)
class Tile:
    """One picture: `src` is a data URL; left and right stand below it; a mark shows as border and glyph.

    box: left, top, width and height of a frame on the picture, as shares of the (square) tile.
    card: (name, value) pairs that a grid shows beside the tile which the pointer or the focus is on.
    corrected: the glyph of the label that a person gave the sample, on grids; "" where nobody did.
    """

    id: str
    src: str
    alt: str
    left: str = ""
    right: str = ""
    mark: Literal["relevant", "irrelevant"] | None = None
    box: tuple[float, float, float, float] | None = None
    card: tuple[tuple[str, str], ...] = ()
    corrected: str = ""

    def item(self) -> dict[str, Any]:
        """What the browser is told of it."""
        return {**vars(self), "glyph": GLYPHS[self.mark]}


def style(*own: Path) -> str:
    """The style of a component of tiles: the colours as variables, what all tiles have, and its own files."""
    variables = "".join(f"--{name}: {colour};" for name, colour in COLOURS.items())
    files = (Path(__file__).with_name("tile.css"), *own)
    return "\n".join([f":host {{{variables}}}", *(file.read_text() for file in files)])


def script(own: Path) -> str:
    """The script of a component whose tiles are looked at only: what all such tiles do, and its own."""
    return f"{Path(__file__).with_name('tile.js').read_text()}\n{own.read_text()}"
