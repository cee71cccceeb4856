"""Drawings of connected components of the similarity graph: positions of nodes on a circle, and widths of edges.

`drawing` computes the layout, which the component `graph` shows and `as_svg` writes to a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

import numpy as np

from pages.parts.app import colours
from ranking.core import Floats, Ints

# of one component that are drawn, because larger drawings cannot be read
MAX_NODES = 24
# most components and nodes on one page
PAGE_COMPONENTS, PAGE_NODES = 24, 240
# pixels of a node's caption, and of the title of a drawing
CAPTION, TITLE = 20, 46
THINNEST, WIDEST = 1.5, 8.0
# colours of a file, suitable for printing
INK, PAPER = "#202020", "#ffffff"
# width and margin of a file in pixels
ACROSS, GAP = 1180, 16


@dataclass(frozen=True)
class Node:
    """A sample. x, y: the centre of its thumbnail. `dashed`, colour and glyph have the same meaning."""

    id: str
    src: str
    alt: str
    caption: str
    glyph: str
    colour: str
    dashed: bool
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Tie:
    """An edge between two nodes, given by their indices. cut: their labels differ in the best labelling."""

    first: int
    second: int
    width: float
    cut: bool


@dataclass(frozen=True)
class Drawing:
    """A connected component. side: of a node's thumbnail. width, height: without the title."""

    title: str
    note: str
    width: float
    height: float
    side: float
    nodes: tuple[Node, ...]
    ties: tuple[Tie, ...]


def drawing(title: str, note: str, nodes: Sequence[Node], ties: Sequence[Tie]) -> Drawing:
    """Place nodes on a circle, clockwise from the top in their order; two nodes are placed side by side."""
    width, height, side, middles = circle(len(nodes))
    placed = [
        Node(**{**vars(node), "x": float(x), "y": float(y)})
        for node, (x, y) in zip(nodes, middles, strict=True)
    ]
    return Drawing(title, note, width, height, side, tuple(placed), tuple(ties))


def circle(count: int) -> tuple[float, float, float, Floats]:
    """Width, height, the side of a node and the (count, 2) centres of nodes, without overlaps.

    >>> circle(1)[3].tolist()
    [[130.0, 62.0]]
    """
    # Neither nodes nor captions overlap.
    side = 104.0 if count <= 2 else 84.0 if count <= 4 else 62.0 if count <= 8 else 58.0
    if count <= 2:
        across = np.array([[130.0], [70.0, 190.0]][count - 1])
        middles = np.stack([across, np.full(count, side / 2 + 10)], axis=1)
        return 260.0, side + CAPTION + 10, side, middles
    # At this distance, two adjacent nodes do not overlap in any direction.
    apart = math.hypot(side + 2, side + CAPTION)
    radius = apart / (2 * math.sin(math.pi / count))
    angles = 2 * np.pi * np.arange(count) / count - np.pi / 2
    middles = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    width = max(260.0, 2 * radius + side + 12)
    middles += [width / 2, radius + side / 2 + 8]
    return width, float(middles[:, 1].max()) + side / 2 + CAPTION + 4, side, middles


def widths(values: Floats, largest: float, widest: float = WIDEST) -> Floats:
    """(m,) widths of edges in pixels, linear in the absolute values of their penalties or interactions.

    >>> widths(np.array([0.0, -1.0, -2.0]), 2.0)
    array([1.5 , 4.75, 8.  ])
    """
    # `largest`, the largest one of the model, has the width `widest`.
    share = np.abs(values) / largest if largest else np.zeros(len(values))
    scaled: Floats = THINNEST + (widest - THINNEST) * share
    return scaled


def pages_of(sizes: Ints) -> list[range]:
    """The components on each page, in their order, up to the limits of a page.

    >>> pages_of(np.array([300, 2, 1]))
    [range(0, 3)]
    >>> [len(page) for page in pages_of(np.full(30, 3))]
    [24, 6]
    """
    # sizes: (c,) samples per component.
    pages: list[range] = []
    start, spare = 0, PAGE_NODES
    for place, size in enumerate(np.minimum(sizes, MAX_NODES).tolist()):
        if place > start and (size > spare or place - start == PAGE_COMPONENTS):
            pages.append(range(start, place))
            start, spare = place, PAGE_NODES
        spare -= size
    return [*pages, range(start, len(sizes))] if len(sizes) else []


# ---------------------------------------------------------------------------------------------------------
# SVG file
# ---------------------------------------------------------------------------------------------------------


def as_svg(heading: str, drawings: Sequence[Drawing]) -> str:
    """All drawings in rows below a heading, on a white background."""
    rows: list[list[Drawing]] = []
    for shown in drawings:
        if not rows or sum(before.width + GAP for before in rows[-1]) + shown.width > ACROSS:
            rows.append([])
        rows[-1].append(shown)
    tops = list(accumulate((TITLE + GAP + max(shown.height for shown in row) for row in rows), initial=40.0))
    width = max([ACROSS, *(shown.width for shown in drawings)])
    written = [_text(GAP, 28, heading, 20)]
    for row, top in zip(rows, tops, strict=False):
        lefts = accumulate((shown.width + GAP for shown in row), initial=float(GAP))
        written += [_group(shown, left, top) for shown, left in zip(row, lefts, strict=False)]
    size = f'viewBox="0 0 {width + 2 * GAP:.0f} {tops[-1]:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="{PAPER}"/>{"".join(written)}</svg>'
    )


def _group(shown: Drawing, left: float, top: float) -> str:
    lines = "".join(
        f'<path d="M{shown.nodes[tie.first].x:.1f} {shown.nodes[tie.first].y:.1f}'
        f'L{shown.nodes[tie.second].x:.1f} {shown.nodes[tie.second].y:.1f}" stroke-width="{tie.width:.2f}"'
        f"{_dash(tie.cut, tie.width)}/>"
        for tie in shown.ties
    )
    nodes = "".join(_node(node, shown.side) for node in shown.nodes)
    titles = _text(0, 16, shown.title, 15) + _text(0, 36, shown.note, 14)
    return (
        f'<g transform="translate({left:.1f} {top:.1f})">{titles}<g transform="translate(0 {TITLE})">'
        f'<g stroke="{colours.GREY}" stroke-linecap="butt">{lines}</g>{nodes}</g></g>'
    )


def _node(node: Node, side: float) -> str:
    left, top = node.x - side / 2, node.y - side / 2
    box = f'x="{left:.1f}" y="{top:.1f}" width="{side}" height="{side}"'
    return (
        f'<g><title>{escape(node.alt)}</title><rect {box} rx="6" fill="{PAPER}"/>'
        f'<image {box} href="{escape(node.src)}"/>'
        f'<rect {box} rx="6" fill="none" stroke="{node.colour}" stroke-width="4"{_dash(node.dashed, 4)}/>'
        f'<circle cx="{left + side - 9:.1f}" cy="{top + 9:.1f}" r="10" fill="{node.colour}"/>'
        + _text(left + side - 9, top + 14, node.glyph, 13, "#ffffff", "middle")
        + _text(node.x, top + side + 16, node.caption, 14, INK, "middle", PAPER)
        + "</g>"
    )


def _dash(dashed: bool, width: float) -> str:
    return f' stroke-dasharray="{max(6.0, 1.6 * width):.1f} {max(5.0, 1.3 * width):.1f}"' if dashed else ""


def _text(
    x: float, y: float, text: str, size: int, fill: str = INK, anchor: str = "start", around: str = "none"
) -> str:
    """around: the colour of the outline that separates the text from lines below it."""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"'
    return f'<text {place} stroke="{around}" stroke-width="4" paint-order="stroke">{escape(text)}</text>'
