"""Images for samples that have only features: a card that shows the name and the labels of the sample."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache, lru_cache

from PIL import Image, ImageDraw, ImageFont

from ranking.core import SourceBox, SourceImage
from ranking.core.text import readable

SIZE = (160, 120)
PAPER, INK, FAINT = (250, 246, 236), (44, 42, 58), (150, 142, 130)
MARKS = ((200, 71, 58), (227, 163, 43), (47, 127, 134), (63, 108, 143), (110, 150, 78), (143, 90, 132))
# of labels on a card
LINES = 6
# characters of a line
LONGEST = 19
# cards that are kept, because many rows may have the same
CACHED = 64


def card_image(
    name: str, box: SourceBox, test: bool, features: Sequence[float], title: str, lines: Sequence[str]
) -> SourceImage:
    """Return one row of a table of features as an image: a card with a title and lines of text."""
    return SourceImage(name, card(title, tuple(lines)), (box,), test, SIZE, tuple(features))


@lru_cache(CACHED)
def card(name: str, labels: tuple[str, ...]) -> bytes:
    """Return a PNG that shows the name of an image and its labels as text."""
    picture = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(picture)
    draw.text((10, 7), readable(name, LONGEST), FAINT, _font(11))
    draw.line([(10, 23), (SIZE[0] - 10, 23)], FAINT)
    shown = labels if len(labels) <= LINES else (*labels[: LINES - 1], f"and {len(labels) - LINES + 1} more")
    for line, label in enumerate(shown or ("no label",)):
        y = 27 + 15 * line
        mark = MARKS[sum(label.encode()) % len(MARKS)] if labels else FAINT
        draw.rounded_rectangle((10, y + 3, 17, y + 10), 2, mark)
        draw.text((23, y - 1), readable(label, LONGEST), INK if labels else FAINT, _font(12))
    stream = io.BytesIO()
    picture.save(stream, "PNG", compress_level=1)
    return stream.getvalue()


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
