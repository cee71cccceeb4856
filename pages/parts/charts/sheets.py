"""Rankings and sequences as PNG files on a white background, for printing."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.components.film import AHEAD, BEHIND, IN_PLACE, Strip, settled
from ranking.core import Ints
from ranking.datasets import Thumbnails
from ranking.metrics.comparison import Comparison
from ranking.metrics.ranked import Ranking, first_mistake

# of a crop
SIDE, GAP, BORDER = 120, 10, 5
# of a contact sheet
COLUMNS, ROWS, HEADER, CAPTION = 10, 8, 64, 22
# of a comparison: left of its rows, above, between and below them
HEAD, TOP, BAND, FOOT = 210, 50, 44, 22
# of a sequence: above a strip, the small true order, and the lines below it
TITLE, MINI, JOIN = 34, 40, 56


class Sheet:
    """A white image to draw on."""

    def __init__(self, width: int, height: int) -> None:
        self._image = Image.new("RGB", (width, height), "white")
        self._draw = ImageDraw.Draw(self._image)

    def text(self, x: float, y: float, text: str, size: int = 14, anchor: str = "la") -> None:
        if "\n" in text:
            self._draw.multiline_text((x, y), text, "black", ImageFont.load_default(size))
        else:
            self._draw.text((x, y), text, "black", ImageFont.load_default(size), anchor=anchor)

    def crop(self, encoded: bytes, left: int, top: int, width: int, height: int) -> None:
        """Draw an encoded image, shrunk to fit, in the middle of a rectangle."""
        with Image.open(io.BytesIO(encoded)) as opened:
            shown = opened.convert("RGB")
        shown.thumbnail((width, height), Image.Resampling.LANCZOS)
        self._image.paste(shown, (left + (width - shown.width) // 2, top + (height - shown.height) // 2))

    def sample(self, encoded: bytes, left: int, top: int, relevant: bool) -> None:
        """Draw a crop in a solid border with a tick, or in a dashed border with a cross."""
        inner = SIDE - 2 * BORDER
        self.crop(encoded, left + BORDER, top + BORDER, inner, inner)
        colour = RELEVANT if relevant else IRRELEVANT
        right, bottom = left + SIDE - 1, top + SIDE - 1
        self._draw.rectangle((left, top, right, bottom), outline=colour, width=BORDER)
        for step in () if relevant else range(12, SIDE - 6, 20):
            for x, y in ((left + step, top), (left + step, bottom - BORDER + 1)):
                self._draw.rectangle((x, y, x + 8, y + BORDER - 1), "white")
            for x, y in ((left, top + step), (right - BORDER + 1, top + step)):
                self._draw.rectangle((x, y, x + BORDER - 1, y + 8), "white")
        x, y = right - 24, top + 6
        self._draw.rectangle((x, y, x + 18, y + 18), colour)
        strokes = ((4, 9, 8, 14), (8, 14, 15, 4)) if relevant else ((4, 4, 14, 14), (14, 4, 4, 14))
        for x1, y1, x2, y2 in strokes:
            self._draw.line((x + x1, y + y1, x + x2, y + y2), "white", 3)

    def line(self, x1: float, x2: float, top: int, height: int, colour: str, width: int, dashes: int) -> None:
        """Draw a line from x1 at `top` down to x2. dashes: their number; 1 is a solid line."""
        for dash in range(dashes):
            ends = [dash / dashes, (dash + (0.6 if dashes > 1 else 1)) / dashes]
            self._draw.line([(x1 + at * (x2 - x1), top + at * height) for at in ends], colour, width)

    def png(self) -> bytes:
        stream = io.BytesIO()
        self._image.save(stream, "PNG")
        return stream.getvalue()


def contact_sheet(thumbnails: Thumbnails, ranked: Ranking, title: str) -> bytes:
    """Return the top of a ranking as PNG. The first line of `title` is large, a second line is small."""
    shown = min(len(ranked), COLUMNS * ROWS)
    rows = -(-shown // COLUMNS)
    sheet = Sheet(COLUMNS * (SIDE + GAP) + GAP, HEADER + rows * (SIDE + CAPTION + GAP) + GAP)
    headline, _, facts = title.partition("\n")
    sheet.text(GAP, 10, headline, 18)
    sheet.text(GAP, 38, facts, 13)
    for place in range(shown):
        left = GAP + place % COLUMNS * (SIDE + GAP)
        top = HEADER + place // COLUMNS * (SIDE + CAPTION + GAP)
        sheet.sample(thumbnails.crop(int(ranked.samples[place])), left, top, bool(ranked.relevance[place]))
        sheet.text(left + 2, top + SIDE + 3, f"{place + 1}   {ranked.scores[place]:+#.3g}", 13)
    return sheet.png()


def comparison_sheet(
    thumbnails: Thumbnails,
    compared: Comparison,
    names: Sequence[str],
    notes: Sequence[str],
    top: int,
    selected: int,
    headline: str,
) -> bytes:
    """Return the first `top` ranks of each ranking as PNG; lines join samples of successive rankings."""
    # selected: the number of the sample whose line is thick.
    step = SIDE + FOOT + BAND
    sheet = Sheet(HEAD + top * SIDE + 2 * GAP, TOP + len(compared) * step - BAND + GAP)
    sheet.text(GAP, 12, headline, 20)
    for number, (ranked, name, note) in enumerate(zip(compared.rankings, names, notes, strict=True)):
        upper = TOP + number * step
        sheet.text(GAP, upper + 22, name, 18)
        sheet.text(GAP, upper + 48, note)
        first = first_mistake(ranked.relevance)
        for place, (row, relevant) in enumerate(
            zip(ranked.samples[:top].tolist(), ranked.relevance[:top] > 0, strict=True)
        ):
            left = HEAD + place * SIDE
            sheet.sample(thumbnails.crop(row), left, upper, bool(relevant))
            error = ", first error" if place + 1 == first else ""
            sheet.text(left + 5, upper + SIDE - 1, f"{place + 1}{error}")
        for sample, (before, after) in enumerate(
            compared.ranks[number - 1 : number + 1].T.tolist() if number else ()
        ):
            if max(before, after) <= top:
                colour, dashes = (RELEVANT, 1) if compared.relevance[sample] else (IRRELEVANT, 6)
                x1, x2 = (HEAD + (place - 0.5) * SIDE for place in (before, after))
                sheet.line(x1, x2, upper - BAND, BAND, colour, 6 if sample == selected else 2, dashes)
    return sheet.png()


def sequence_sheet(
    thumbnails: Thumbnails,
    samples: Ints,
    relevance: Ints,
    captions: Sequence[str],
    truth: Strip,
    strips: Sequence[Strip],
    headline: str,
) -> bytes:
    """Return the true order of samples (n,) and the strips below it as PNG, with a line per sample."""
    # Lines of samples that are too late are dashed. relevance: (n,), of the samples; strips refer to samples
    # by their position in it.

    def row(order: Sequence[int], top: int, height: int) -> None:
        for place, sample in enumerate(samples[list(order)].tolist()):
            sheet.crop(thumbnails.crop(sample), GAP + place * SIDE + 3, top + 2, SIDE - 6, height - 4)

    height = 50 + (TITLE + SIDE + 20 + GAP) * (1 + len(strips)) + (MINI + JOIN) * len(strips)
    sheet = Sheet(max(len(samples) * SIDE, 6 * SIDE) + 2 * GAP, height)
    sheet.text(GAP, 12, headline, 20)
    top = 50
    for strip in (truth, *strips):
        sheet.text(GAP, top + 6, f"{strip.title}   {strip.note}", 16)
        top += TITLE
        if strip is not truth:
            true = settled(strip.order, relevance)
            row(true, top, MINI)
            top += MINI
            for place, member in enumerate(strip.order):
                own = true.index(member)
                x1, x2 = (GAP + (at + 0.5) * SIDE for at in (own, place))
                colour = AHEAD if place < own else BEHIND if place > own else IN_PLACE
                sheet.line(x1, x2, top, JOIN, colour, 4, 9 if place > own else 1)
            top += JOIN
        row(strip.order, top, SIDE)
        for place, member in enumerate(strip.order):
            sheet.text(GAP + (place + 0.5) * SIDE, top + SIDE + 2, captions[member], anchor="ma")
        top += SIDE + 20 + GAP
    return sheet.png()
