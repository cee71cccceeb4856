"""The rows of a comparison as a picture (PNG)."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from pages.parts.app.colours import IRRELEVANT, RELEVANT
from ranking.datasets import Thumbnails
from ranking.metrics.comparison import Comparison
from ranking.metrics.ranked import first_mistake

SIDE, GAP, HEAD, BAND, FOOT, BORDER = 120, 10, 210, 44, 22, 5
TOP = 50
DASHES = 6


def picture(
    thumbnails: Thumbnails,
    compared: Comparison,
    names: Sequence[str],
    notes: Sequence[str],
    top: int,
    selected: int,
    headline: str,
) -> bytes:
    """PNG of the first `top` places of each ranking with a line for each sample that two rows below each other show; on
    white, so that it prints. selected: the number of the sample whose line is thick."""
    high = SIDE + FOOT
    size = (
        HEAD + top * SIDE + 2 * GAP,
        TOP + len(compared) * high + (len(compared) - 1) * BAND + GAP,
    )
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((GAP, 12), headline, "black", ImageFont.load_default(20))
    for number, (ranked, name, note) in enumerate(zip(compared.rankings, names, notes, strict=True)):
        upper = TOP + number * (high + BAND)
        draw.text((GAP, upper + 22), name, "black", ImageFont.load_default(18))
        draw.multiline_text((GAP, upper + 48), note, "black", ImageFont.load_default(14))
        first = first_mistake(ranked.relevance)
        for place, (row, relevant) in enumerate(
            zip(ranked.samples[:top].tolist(), ranked.relevance[:top] > 0, strict=True)
        ):
            left = HEAD + place * SIDE
            _paste(sheet, thumbnails.crop(row), left, upper)
            _frame(draw, left, upper, bool(relevant))
            wrong = ", first mistake" if place + 1 == first else ""
            draw.text(
                (left + 5, upper + SIDE - 1),
                f"{place + 1}{wrong}",
                "black",
                ImageFont.load_default(14),
            )
        if number:
            _lines(draw, compared, number, top, selected, upper - BAND)
    stream = io.BytesIO()
    sheet.save(stream, "PNG")
    return stream.getvalue()


def _paste(sheet: Image.Image, crop: bytes, left: int, top: int) -> None:
    with Image.open(io.BytesIO(crop)) as read:
        shown = read.convert("RGB")
    shown.thumbnail((SIDE - 4 * BORDER, SIDE - 4 * BORDER), Image.Resampling.LANCZOS)
    sheet.paste(shown, (left + (SIDE - shown.width) // 2, top + (SIDE - shown.height) // 2))


def _frame(draw: ImageDraw.ImageDraw, left: int, top: int, relevant: bool) -> None:
    """A whole frame, or one that is broken at its corners, which stay apart in grey as well."""
    edges = (left + BORDER, top + BORDER, left + SIDE - BORDER, top + SIDE - BORDER)
    draw.rectangle(edges, outline=RELEVANT if relevant else IRRELEVANT, width=BORDER)
    if relevant:
        return
    for at in range(16, SIDE - BORDER, 22):
        for gap in (
            (left + at, edges[1], left + at + 8, edges[1] + BORDER),
            (left + at, edges[3] - BORDER, left + at + 8, edges[3]),
            (edges[0], top + at, edges[0] + BORDER, top + at + 8),
            (edges[2] - BORDER, top + at, edges[2], top + at + 8),
        ):
            draw.rectangle(gap, "white")


def _lines(
    draw: ImageDraw.ImageDraw, compared: Comparison, below: int, top: int, selected: int, upper: int
) -> None:
    """From the row above the number `below` to it."""
    for sample in range(len(compared.samples)):
        ends = compared.ranks[below - 1 : below + 1, sample]
        if ends.max() > top:
            continue
        start, end = (HEAD + (int(place) - 0.5) * SIDE for place in ends)
        relevant = bool(compared.relevance[sample])
        steps, share = (1, 1.0) if relevant else (DASHES, 0.6)
        for step in range(steps):
            at = [step / steps, (step + share) / steps]
            points = [(start + one * (end - start), upper + one * BAND) for one in at]
            draw.line(points, RELEVANT if relevant else IRRELEVANT, 6 if sample == selected else 2)
