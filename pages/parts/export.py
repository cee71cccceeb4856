"""A ranking to take along: as a table (CSV) and as a picture (PNG)."""

from __future__ import annotations

import csv
import io

from PIL import Image, ImageDraw, ImageFont

from pages.parts.cache import Ranking
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking.datasets import Thumbnails
from ranking.types import ImageSet

COLUMNS, ROWS = 10, 8
SIDE, CAPTION, GAP, BORDER = 120, 22, 10, 5
HEADER = 44


def csv_text(images: ImageSet, ranked: Ranking) -> str:
    """One line a sample, best first."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(
        ["rank", "score", "relevant", "sample", "image", "left", "top", "right", "bottom", "classes"]
    )
    for place, (row, score, relevant) in enumerate(
        zip(ranked.samples, ranked.scores, ranked.relevance, strict=True), start=1
    ):
        shown = [name for name, is_shown in zip(images.classes, images.labels[row], strict=True) if is_shown]
        image = str(images.image_names[images.image_of[row]])
        box = [int(edge) for edge in images.boxes[row]]
        writer.writerow(
            [place, repr(float(score)), int(relevant), str(images.ids[row]), image, *box, ";".join(shown)]
        )
    return stream.getvalue()


def contact_sheet(thumbnails: Thumbnails, ranked: Ranking, title: str) -> bytes:
    """PNG of the first places, marked by border and glyph, on white so that it prints."""
    shown = min(len(ranked), COLUMNS * ROWS)
    rows = -(-shown // COLUMNS)
    size = (COLUMNS * (SIDE + GAP) + GAP, HEADER + rows * (SIDE + CAPTION + GAP) + GAP)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((GAP, 12), title, "black", ImageFont.load_default(18))
    for place in range(shown):
        left = GAP + place % COLUMNS * (SIDE + GAP)
        top = HEADER + place // COLUMNS * (SIDE + CAPTION + GAP)
        with Image.open(io.BytesIO(thumbnails.crop(int(ranked.samples[place])))) as crop:
            crop.thumbnail((SIDE - 2 * BORDER, SIDE - 2 * BORDER))
            at = (left + (SIDE - crop.width) // 2, top + (SIDE - crop.height) // 2)
            sheet.paste(crop.convert("RGB"), at)
        _mark(draw, left, top, bool(ranked.relevance[place]))
        caption = f"{place + 1}   {ranked.scores[place]:+#.3g}"
        draw.text((left + 2, top + SIDE + 3), caption, "black", ImageFont.load_default(13))
    stream = io.BytesIO()
    sheet.save(stream, "PNG")
    return stream.getvalue()


def _mark(draw: ImageDraw.ImageDraw, left: int, top: int, relevant: bool) -> None:
    """A whole border and a tick, or a broken border and a cross."""
    colour = RELEVANT if relevant else IRRELEVANT
    right, bottom = left + SIDE - 1, top + SIDE - 1
    draw.rectangle((left, top, right, bottom), outline=colour, width=BORDER)
    if not relevant:
        for step in range(12, SIDE - 6, 20):
            for gap in (
                (left + step, top, left + step + 8, top + BORDER - 1),
                (left + step, bottom - BORDER + 1, left + step + 8, bottom),
                (left, top + step, left + BORDER - 1, top + step + 8),
                (right - BORDER + 1, top + step, right, top + step + 8),
            ):
                draw.rectangle(gap, "white")
    x, y = right - 24, top + 6
    draw.rectangle((x, y, x + 18, y + 18), colour)
    lines = ((4, 9, 8, 14), (8, 14, 15, 4)) if relevant else ((4, 4, 14, 14), (14, 4, 4, 14))
    for x1, y1, x2, y2 in lines:
        draw.line((x + x1, y + y1, x + x2, y + y2), "white", 3)
