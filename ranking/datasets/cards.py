"""Rows of a table as an image set: features, labels and a name each, and a card that says so for a picture."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from ranking.core import Bools, Problem, SourceBox, SourceImage
from ranking.core.text import counted, listed, readable

SIZE = (160, 120)
PAPER, INK, FAINT = (250, 246, 236), (44, 42, 58), (150, 142, 130)
MARKS = ((200, 71, 58), (227, 163, 43), (47, 127, 134), (63, 108, 143), (110, 150, 78), (143, 90, 132))
LINES = 6  # of labels on a card
LONGEST = 19  # characters of a line


@dataclass(frozen=True, eq=False)
class LabelTable:
    """features: (M, d). labels: (M, L) bool. label_names: L different ones. names: M different ones. test: (M,)."""

    features: npt.NDArray[np.float32]
    labels: Bools
    label_names: tuple[str, ...]
    names: tuple[str, ...]
    test: Bools

    def records(self, least: int) -> Iterator[SourceImage | Problem]:
        """A card for each row, with the labels that at least `least` rows have; one problem counts the others."""
        frequent = self.labels.sum(axis=0) >= least
        kept = np.flatnonzero(frequent)
        rare = [name for name, stays in zip(self.label_names, frequent, strict=True) if not stays]
        if rare:
            expected = f"labels that at least {counted(least, 'image')} have"
            yield Problem(
                counted(len(rare), "label"), expected, f"fewer for {listed(rare)}", "label left out"
            )
        for row, name in enumerate(self.names):
            shown = tuple(self.label_names[place] for place in kept[self.labels[row, kept]])
            box = SourceBox(None, shown)
            vector = tuple(self.features[row].tolist())
            yield SourceImage(name, card(name, shown), (box,), bool(self.test[row]), SIZE, vector)


def card(name: str, labels: tuple[str, ...]) -> bytes:
    """A picture, as PNG, that says the name of an image and its labels in words."""
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
