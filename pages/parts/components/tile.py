"""A tile: a thumbnail with its texts and mark, as in the components `grid` and `strip`."""

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
    """A thumbnail."""

    id: str
    # A data URL.
    src: str
    alt: str
    # Texts below the thumbnail.
    left: str = ""
    right: str = ""
    # Shown as border and glyph.
    mark: Literal["relevant", "irrelevant"] | None = None
    # Left, top, width and height of a frame on the thumbnail, as fractions of the (square) tile.
    box: tuple[float, float, float, float] | None = None
    # (name, value) pairs that a grid shows beside the tile under the pointer or the focus.
    card: tuple[tuple[str, str], ...] = ()
    # In grids, the glyph of the sample's corrected label; "" without a correction.
    corrected: str = ""

    def item(self) -> dict[str, Any]:
        """The tile as data for the browser."""
        return {**vars(self), "glyph": GLYPHS[self.mark]}


def style(*own: Path) -> str:
    """The style of a component with tiles: the colours as variables, the style of all tiles, and its own files."""
    variables = "".join(f"--{name}: {colour};" for name, colour in COLOURS.items())
    files = (Path(__file__).with_name("tile.css"), *own)
    return "\n".join([f":host {{{variables}}}", *(file.read_text() for file in files)])


def script(own: Path) -> str:
    """The script of a component with tiles that cannot be selected: the script of all such tiles, and its own."""
    return f"{Path(__file__).with_name('tile.js').read_text()}\n{own.read_text()}"
