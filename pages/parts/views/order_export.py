"""Orders to take along: a sequence as a picture (PNG), all test sequences or what a search visited as tables (CSV)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

from pages.parts.components.film import AHEAD, BEHIND, IN_PLACE, settled
from pages.parts.views.strips import Strip
from ranking.core import ImageSet, Ints
from ranking.core.spreadsheets import guarded
from ranking.datasets import Thumbnails
from ranking.experiments.order_training import Ordered, measure_order
from ranking.explain.tree_search import TreeSearch

SIDE, GAP, HEAD, BAND, MINI = 120, 10, 34, 56, 40
DASH = 9


def csv_text(images: ImageSet, criterion: str, shown: Mapping[str, Ordered]) -> str:
    """One line a member of each test sequence, in the true order; a column with its place by each training, from 1.

    Texts are `guarded`, numbers are exact.
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    placed = [f"place by {name}" for name in shown]
    writer.writerow(["sequence", "true place", guarded(criterion), "sample", "image", *map(guarded, placed)])
    numbers = images.numbers_of(criterion)
    first = next(iter(shown.values()))
    for number in range(len(first)):
        samples = first.samples(number)
        places = [_places(one.order(number)) for one in shown.values()]
        for place, member in enumerate(first.true_order(number).tolist(), start=1):
            row = int(samples[member])
            told = [str(images.ids[row]), str(images.image_names[images.image_of[row]])]
            writer.writerow(
                [
                    number + 1,
                    place,
                    repr(float(numbers[row])),
                    *map(guarded, told),
                    *(one[member] for one in places),
                ]
            )
    return stream.getvalue()


def visits_csv_text(images: ImageSet, found: TreeSearch, samples: Ints, relevance: Ints) -> str:
    """One line an order, in the order of visits, numbered from 1; samples by their ids, first place first."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(
        ["order", "tree", "swaps", "from order", "on the path", "value", "Kendall tau", "samples"]
    )
    trees = found.trees
    for node in range(len(trees.values)):
        parent = int(trees.parents[node])
        writer.writerow(
            [
                node + 1,
                int(trees.trees[node]) + 1,
                int(trees.depths[node]),
                parent + 1 if parent >= 0 else "",
                int(trees.path[node]),
                repr(float(trees.values[node])),
                repr(measure_order(relevance, trees.orders[node]).tau),
                ";".join(guarded(str(images.ids[row])) for row in samples[trees.orders[node]].tolist()),
            ]
        )
    return stream.getvalue()


def _places(order: Ints) -> dict[int, int]:
    return {member: place for place, member in enumerate(order.tolist(), start=1)}


def picture(
    thumbnails: Thumbnails,
    samples: Ints,
    relevance: Ints,
    captions: Sequence[str],
    truth: Strip,
    strips: Sequence[Strip],
    headline: str,
) -> bytes:
    """PNG of the true order and of strips below it, with lines from place to place, on white so that it prints.

    samples: (n,) of the image set, which the strips' orders number; relevance: (n,) of them.
    """
    width = max(len(samples) * SIDE, 6 * SIDE) + 2 * GAP
    height = 50 + (HEAD + SIDE + 20 + GAP) * (1 + len(strips)) + (MINI + BAND) * len(strips)
    sheet = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((GAP, 12), headline, "black", ImageFont.load_default(20))
    top = 50
    for strip in (truth, *strips):
        draw.text((GAP, top + 6), f"{strip.title}   {strip.note}", "black", ImageFont.load_default(16))
        top += HEAD
        if strip is not truth:
            true = settled(strip.order, relevance)
            _row(sheet, thumbnails, samples[list(true)], top, MINI)
            _lines(draw, true, strip.order, top + MINI)
            top += MINI + BAND
        _row(sheet, thumbnails, samples[list(strip.order)], top, SIDE)
        for place, member in enumerate(strip.order):
            centre = (GAP + (place + 0.5) * SIDE, top + SIDE + 2)
            draw.text(centre, captions[member], "black", ImageFont.load_default(14), anchor="ma")
        top += SIDE + 20 + GAP
    stream = io.BytesIO()
    sheet.save(stream, "PNG")
    return stream.getvalue()


def _row(sheet: Image.Image, thumbnails: Thumbnails, samples: Ints, top: int, high: int) -> None:
    for place, row in enumerate(samples.tolist()):
        with Image.open(io.BytesIO(thumbnails.crop(row))) as crop:
            shown = crop.convert("RGB")
        shown.thumbnail((SIDE - 6, high - 4), Image.Resampling.LANCZOS)
        left = GAP + place * SIDE + (SIDE - shown.width) // 2
        sheet.paste(shown, (left, top + (high - shown.height) // 2))


def _lines(draw: ImageDraw.ImageDraw, true: Sequence[int], order: Sequence[int], top: int) -> None:
    for place, member in enumerate(order):
        own = true.index(member)
        ends = [(GAP + (at + 0.5) * SIDE) for at in (own, place)]
        colour = AHEAD if place < own else BEHIND if place > own else IN_PLACE
        steps = DASH if place > own else 1
        for step in range(steps):  # dashed where it goes too late
            share = [step / steps, (step + (0.6 if steps > 1 else 1)) / steps]
            points = [(ends[0] + at * (ends[1] - ends[0]), top + at * BAND) for at in share]
            draw.line(points, colour, 4)
