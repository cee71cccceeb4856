"""A picture of what methods rank first: rows of pictures with the wrong ones marked, as in high-order, Fig. 1.

Each row shows the first places, and after a gap the next wrong ones that stand above a relevant one. All is drawn on a
light ground of its own, so that it can be read on light and dark pages; a cross and a thick frame tell what is wrong
without colour too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

from ranking.datasets import Thumbnails
from ranking.metrics.ranked import Ranking

FIRST, WRONG = 8, 3  # places a row, and next wrong ones
SIDE, GAP, EDGE = 122, 10, 24
HEAD, LABEL, FOOT = 64, 296, 38  # heights of a title and of the numbers; width of what stands before a row
GROUND, PAPER, INK, FAINT, RED, GREEN = "#f6f8fa", "#ffffff", "#1f2328", "#59636e", "#c0392b", "#1a7f37"
WIDTH = 2 * EDGE + LABEL + (FIRST + WRONG) * (SIDE + GAP) + 6 * GAP
QUALITY = 78


class Row(NamedTuple):
    """What a method made of a query; crops: the pictures of the samples, None where they are not for show."""

    method: str
    caption: str
    ranking: Ranking
    crops: Thumbnails | None


class Part(NamedTuple):
    """Rankings of the same samples below each other."""

    title: str
    rows: Sequence[Row]


def save(parts: Sequence[Part], file: Path) -> None:
    """Write all parts below each other as WebP."""
    height = 2 * EDGE + sum(HEAD + len(part.rows) * (SIDE + FOOT + GAP) for part in parts)
    sheet = Image.new("RGB", (WIDTH, height), GROUND)
    pen, y = ImageDraw.Draw(sheet), EDGE
    for part in parts:
        pen.text((EDGE, y + 8), part.title, INK, ImageFont.load_default(36))
        y += HEAD
        for row in part.rows:
            _draw(sheet, pen, y, row)
            y += SIDE + FOOT + GAP
    sheet.save(file, quality=QUALITY, method=6)


def places(relevance: np.ndarray) -> tuple[list[int], list[int]]:
    """From 0: the first places of a ranking, and the next wrong ones below them that stand above a relevant one.

    >>> places(np.array([1] * 8 + [0, 1, 0]))
    ([0, 1, 2, 3, 4, 5, 6, 7], [8])
    """
    first, last = min(FIRST, len(relevance)), int(np.flatnonzero(relevance).max(initial=0))
    wrong = [int(rank) for rank in np.flatnonzero(relevance == 0) if first <= rank < last]
    return list(range(first)), wrong[:WRONG]


def _draw(sheet: Image.Image, pen: ImageDraw.ImageDraw, y: int, row: Row) -> None:
    pen.text((EDGE, y + 14), row.method, INK, ImageFont.load_default(34))
    pen.multiline_text((EDGE, y + 58), row.caption, FAINT, ImageFont.load_default(28), spacing=8)
    first, wrong = places(row.ranking.relevance)
    x = EDGE + LABEL
    for rank in first:
        _tile(sheet, pen, x, y, row, rank)
        x += SIDE + GAP
    for dot in range(3 if wrong else 0):
        pen.ellipse([x + 10 + 14 * dot, y + SIDE // 2, x + 16 + 14 * dot, y + SIDE // 2 + 6], fill=FAINT)
    x += 6 * GAP
    for rank in wrong:
        _tile(sheet, pen, x, y, row, rank)
        x += SIDE + GAP


def _tile(sheet: Image.Image, pen: ImageDraw.ImageDraw, x: int, y: int, row: Row, rank: int) -> None:
    right = bool(row.ranking.relevance[rank])
    colour, size = (GREEN, 2) if right else (RED, 6)
    if row.crops is None:
        top, bottom = y + SIDE // 4, y + 3 * SIDE // 4
        pen.rectangle(
            [x, top, x + SIDE - 1, bottom], fill=colour if right else PAPER, outline=colour, width=size
        )
        bottom += 1
    else:
        picture = Image.open(io.BytesIO(row.crops.crop(int(row.ranking.samples[rank])))).convert("RGB")
        picture = ImageOps.contain(picture, (SIDE, SIDE), Image.Resampling.BICUBIC)
        pen.rectangle([x, y, x + SIDE - 1, y + SIDE - 1], fill=PAPER)
        sheet.paste(picture, (x + (SIDE - picture.width) // 2, y + (SIDE - picture.height) // 2))
        pen.rectangle([x, y, x + SIDE - 1, y + SIDE - 1], outline=colour, width=size)
        bottom = y + SIDE
    pen.text((x + SIDE / 2 - 14, bottom + 4), str(rank + 1), colour, ImageFont.load_default(22), anchor="ma")
    _mark(pen, x + SIDE // 2 + 16, bottom + 10, right, colour)


def _mark(pen: ImageDraw.ImageDraw, x: int, y: int, right: bool, colour: str) -> None:
    """A tick or a cross, 14 wide."""
    lines = [[(0, 8), (5, 13), (14, 1)]] if right else [[(1, 1), (13, 13)], [(1, 13), (13, 1)]]
    for line in lines:
        pen.line([(x + a, y + b) for a, b in line], colour, 3)
