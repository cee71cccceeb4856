"""What a linear method looks at as a picture: its weights as strokes and swatches, as SVG and as PNG.

`layout` says once what is drawn where; `as_svg` and `as_png` only write it down.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageColor, ImageDraw, ImageFont

from ranking.core import Floats, ImageSet, Ints
from ranking.features import feature_columns
from ranking.features.colour import Colour
from ranking.features.hog import HOG
from ranking.features.strokes import Strokes, strokes

Bytes = npt.NDArray[np.uint8]

PANEL, GAP, HEADER = 360, 24, 34  # pixels of the picture
SWATCHES, SWATCH, EDGE = (
    8,
    39,
    2,
)  # and the edge of a swatch, which is seen where the picture is shown at half its size
DARK, INK = "#101418", "#ffffff"  # bright strokes on dark: the same picture in light and dark
FAINTEST = 0.02  # of the largest weight: fainter strokes cannot be seen
STRONGEST = 2  # strokes of a cell and sign that are drawn: all of them together look like an asterisk
FINER = 2  # a PNG is drawn so many times as large as it becomes, so that its edges are smooth

# The glyphs of pages/parts/app/colours.py as strokes (x, y, x, y), as not every font has them.
TICK: Floats = np.array([[12, 18, 17, 23], [17, 23, 25, 11]], dtype=float)
CROSS: Floats = np.array([[13, 11, 25, 23], [25, 11, 13, 23]], dtype=float)
SIDES = (("speaks for", 1, TICK), ("speaks against", -1, CROSS))


@dataclass(frozen=True, eq=False)
class Look:
    """The part of a method's weights that one HOG saw, and the colours that go with it."""

    title: str
    cells: int  # along a side
    strokes: Strokes
    colours: Ints | None  # (bins, 3) RGB
    colour_weights: Floats | None
    orientations: int
    whole_image: bool
    average: Bytes | None = None  # (side, side, 3) RGB: what the weights are compared with
    average_title: str = ""

    @property
    def panels(self) -> int:
        return 2 if self.average is None else 3

    def size(self, panels: int | None = None) -> tuple[int, int]:
        """Width and height of so many panels side by side; None: of all."""
        below = 0 if self.colours is None else SWATCH + 12
        return (self.panels if panels is None else panels) * (PANEL + GAP) - GAP, HEADER + PANEL + below


def looks_of(
    features: Sequence[tuple[str, dict[str, object]]], direction: Floats, images: ImageSet | None = None
) -> list[Look]:
    """A look for each HOG among the features of a training on `images`, with the colours that saw the same pixels.

    ValueError unless `direction` is finite, one weight a column of the features.
    """
    columns = feature_columns(features, images)
    size = columns[-1][1].stop if columns else 0
    if direction.shape != (size,) or not np.isfinite(direction).all():
        raise ValueError(
            f"the model of this training must have {size} finite weights, one a column of its features; it has "
            f"{len(direction)}, {np.count_nonzero(~np.isfinite(direction))} of them not finite; train again"
        )
    parts = [(feature, direction[part]) for feature, part in columns]
    colours = {
        part.whole_image: (part.middles, weights) for part, weights in parts if isinstance(part, Colour)
    }
    looks = []
    for part, weights in parts:
        if isinstance(part, HOG):
            seen = colours.get(part.whole_image, (None, None))
            cells, drawn = part.side // part.cell, strokes(part, weights)
            looks.append(Look(part.name, cells, drawn, *seen, part.orientations, part.whole_image))
    return looks


# ---------------------------------------------------------------------------------------------------------
# What is drawn
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rectangle:
    left: float
    top: float
    width: float
    height: float
    radius: float
    fill: str
    edge: str | None = None  # its colour; EDGE wide


@dataclass(frozen=True, eq=False)
class Photograph:
    """Pixels (side, side, 3) RGB, stretched to a square."""

    left: float
    top: float
    side: float
    pixels: Bytes


@dataclass(frozen=True)
class Text:
    left: float
    base: float
    size: int
    text: str


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of one width: ends (n, 4), opacities (n,) in 0 to 1."""

    ends: Floats
    opacities: Floats
    width: float


Part = Rectangle | Text | Lines | Photograph


def layout(look: Look, panel: int | None = None) -> list[Part]:
    """What the picture consists of, in the order in which it is drawn; of all panels, or of one (from 0)."""
    panels = range(look.panels) if panel is None else (panel,)
    drawn: list[Part] = [Rectangle(0, 0, *look.size(len(panels)), 8, DARK)]
    for place, number in enumerate(panels):
        left = place * (PANEL + GAP)
        drawn += _side(look, left, *SIDES[number]) if number < len(SIDES) else _average(look, left)
    return drawn


def _side(look: Look, left: float, title: str, sign: int, glyph: Floats) -> list[Part]:
    """The weights of one sign: strokes, and colours below them."""
    cell = PANEL / look.cells
    ends, strengths = of_sign(look, sign)
    return [
        Lines(np.add(glyph, [left, 0, left, 0]), np.ones(2), 2),
        Text(left + 33, 24, 18, title),
        Lines(ends * cell + [left, HEADER, left, HEADER], strengths, cell / 12),
        *(
            Rectangle(left + 6 + place * (SWATCH + 5), HEADER + PANEL + 4, SWATCH, SWATCH, 4, colour, INK)
            for place, colour in enumerate(swatches(look, sign))
        ),
    ]


def _average(look: Look, left: float) -> list[Part]:
    if look.average is None:
        return []
    return [Text(left + 6, 24, 18, look.average_title), Photograph(left, HEADER, PANEL, look.average)]


def of_sign(look: Look, sign: int) -> tuple[Floats, Floats]:
    """ends (n, 4) and strengths (n,) in 0 to 1 of the STRONGEST strokes of one sign in each cell, the faintest first.

    Both signs share one scale. A strength is the share of the largest weight to the power of 1.5, so that what
    weighs much stands out.
    """
    weights = sign * look.strokes.weights
    most = np.abs(weights).max(initial=0)
    order = np.argsort(weights, kind="stable")
    order = order[weights[order] > FAINTEST * most]
    chosen = order[rank_within(cells_of(look)[order][::-1])[::-1] < STRONGEST]
    return look.strokes.ends[chosen], (weights[chosen] / most) ** 1.5


def cells_of(look: Look) -> Ints:
    """(n,) the number of each stroke's cell: a stroke runs through the middle of its cell."""
    middles = (look.strokes.ends[:, :2] + look.strokes.ends[:, 2:]) / 2
    column, row = np.floor(middles).astype(np.int64).T
    return np.asarray(row * look.cells + column, np.int64)


def rank_within(groups: Ints) -> Ints:
    """How many of the same group stand before each.

    >>> rank_within(np.array([3, 1, 3, 3, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(groups, kind="stable")
    _, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, counts)
    return ranks


def average_of(pictures: Sequence[bytes], side: int = 128) -> Bytes:
    """(side, side, 3) RGB: the mean of image files, each stretched to a square as HOG stretches a box."""
    total = np.zeros((side, side, 3))
    for encoded in pictures:
        with Image.open(io.BytesIO(encoded)) as picture:
            total += np.asarray(picture.convert("RGB").resize((side, side), Image.Resampling.BILINEAR))
    return np.round(total / len(pictures)).astype(np.uint8)


def swatches(look: Look, sign: int) -> list[str]:
    """The colours with the largest weights of one sign, the largest first."""
    if look.colours is None or look.colour_weights is None:
        return []
    order = np.argsort(-sign * look.colour_weights, kind="stable")[:SWATCHES]
    chosen = [bin for bin in order if sign * look.colour_weights[bin] > 0]
    return ["#{:02x}{:02x}{:02x}".format(*look.colours[bin]) for bin in chosen]


# ---------------------------------------------------------------------------------------------------------
# How it is written down
# ---------------------------------------------------------------------------------------------------------


def as_svg(look: Look, panel: int | None = None) -> str:
    """The whole picture, or one panel of it (from 0)."""
    width, height = look.size(None if panel is None else 1)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    drawn = "".join(_svg(part) for part in layout(look, panel))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{drawn}</svg>'


def _svg(part: Part) -> str:
    if isinstance(part, Photograph):
        place = f'x="{part.left}" y="{part.top}" width="{part.side}" height="{part.side}"'
        stream = io.BytesIO()
        Image.fromarray(part.pixels).save(stream, "PNG")
        encoded = base64.b64encode(stream.getvalue()).decode()
        return f'<image {place} href="data:image/png;base64,{encoded}"/>'
    if isinstance(part, Rectangle):
        edge = f' stroke="{part.edge}" stroke-width="{EDGE}"' if part.edge else ""
        return (
            f'<rect x="{part.left}" y="{part.top}" width="{part.width}" height="{part.height}" '
            f'rx="{part.radius}" fill="{part.fill}"{edge}/>'
        )
    if isinstance(part, Text):
        place = f'x="{part.left}" y="{part.base}"'
        return (
            f'<text {place} fill="{INK}" font-family="sans-serif" font-size="{part.size}">{part.text}</text>'
        )
    paths = "".join(
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke-opacity="{opacity:.2f}"/>'
        for (x1, y1, x2, y2), opacity in zip(part.ends, part.opacities, strict=True)
    )
    return f'<g stroke="{INK}" stroke-width="{part.width:.2f}" stroke-linecap="round">{paths}</g>'


def as_png(look: Look, scale: int = 2) -> bytes:
    """The same as PNG, `scale` times as large."""
    width, height = (scale * side for side in look.size())
    picture = Image.new("RGBA", (FINER * width, FINER * height))
    pen = ImageDraw.Draw(picture)
    for part in layout(look):
        _paint(picture, pen, part, FINER * scale)
    stream = io.BytesIO()
    picture.resize((width, height), Image.Resampling.BOX).save(stream, "PNG")
    return stream.getvalue()


def _paint(picture: Image.Image, pen: ImageDraw.ImageDraw, part: Part, scale: int) -> None:
    """Draw a part on DARK, on which an opacity is a shade between DARK and INK."""
    if isinstance(part, Rectangle):
        edges = (part.left, part.top, part.left + part.width, part.top + part.height)
        box = [scale * at for at in edges]
        pen.rounded_rectangle(box, scale * part.radius, part.fill, part.edge, scale * EDGE)
    elif isinstance(part, Photograph):
        side = round(scale * part.side)
        photograph = Image.fromarray(part.pixels).resize((side, side), Image.Resampling.BICUBIC)
        picture.paste(photograph, (round(scale * part.left), round(scale * part.top)))
    elif isinstance(part, Text):
        font = ImageFont.load_default(scale * part.size)
        pen.text((scale * part.left, scale * part.base), part.text, INK, font, anchor="ls")
    else:
        dark, ink = (np.array(ImageColor.getrgb(colour)) for colour in (DARK, INK))
        shades = np.round(dark + part.opacities[:, None] * (ink - dark)).astype(int)
        width = max(1, round(scale * part.width))
        for line, shade in zip((scale * part.ends).tolist(), shades.tolist(), strict=True):
            pen.line(line, tuple(shade), width)
            for x, y in (line[:2], line[2:]):
                pen.circle((x, y), width / 2, tuple(shade))
