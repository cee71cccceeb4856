"""A ranking to take along: as a table (CSV), as a picture (PNG), and with all of its training (ZIP)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from PIL import Image, ImageDraw, ImageFont

from pages.parts import cache, runs
from pages.parts.colours import IRRELEVANT, RELEVANT
from pages.parts.frame import in_place
from ranking import method_class
from ranking.datasets import Thumbnails
from ranking.ranked import Ranking
from ranking.run import Run
from ranking.run_archive import export_run
from ranking.run_settings import TrainSettings
from ranking.settings import settings_of
from ranking.types import ImageSet

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
CSV_COLUMNS = [
    "rank",
    "score",
    "relevant",
    "split",
    "sample",
    "image",
    "left",
    "top",
    "right",
    "bottom",
    "classes",
]
COLUMNS, ROWS = 10, 8
SIDE, CAPTION, GAP, BORDER = 120, 22, 10, 5
HEADER = 64


def archive(run: Run) -> bytes:
    """The ZIP that `ranking.run_archive` reads back; with table and picture where the image set is here."""
    views = {}
    if run.has_scores and runs.set_is_here(run):
        images = cache.image_set(run.settings["set"])
        rankings = {split: cache.ranking(run, split) for split in cache.splits(images)}
        first = next(iter(rankings))
        title = title_of(run, images, rankings[first], first)
        views["ranking.csv"] = csv_text(images, rankings).encode()
        views["ranking.png"] = contact_sheet(cache.thumbnails(images.key), rankings[first], title)
    return export_run(cache.store(), run.id, views)


def csv_text(images: ImageSet, rankings: Mapping[str, Ranking]) -> str:
    """One line a sample, best first, one split after the other. Texts are `guarded`, numbers are exact."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(CSV_COLUMNS)
    for split, ranked in rankings.items():
        for place, (row, score, relevant) in enumerate(
            zip(ranked.samples, ranked.scores, ranked.relevance, strict=True), start=1
        ):
            shown = [
                name for name, is_shown in zip(images.classes, images.labels[row], strict=True) if is_shown
            ]
            texts = (str(images.ids[row]), str(images.image_names[images.image_of[row]]), ";".join(shown))
            sample, image, classes = map(guarded, texts)
            box = [int(edge) for edge in images.boxes[row]]
            writer.writerow([place, repr(float(score)), int(relevant), split, sample, image, *box, classes])
    return stream.getvalue()


def guarded(text: str) -> str:
    """`text` for a cell of a table: an apostrophe goes before what a spreadsheet would take for a formula.

    Texts that begin with an apostrophe get one more, so that taking one away always gives the text back.

    >>> guarded("=1+1"), guarded("photo"), guarded("'s")
    ("'=1+1", 'photo', "''s")
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def title_of(run: Run, images: ImageSet, ranked: Ranking, split: str) -> str:
    """Two lines that tell a contact sheet from all others: method, query and split; AP, image set, settings."""
    told = run.settings
    asked = f"{told['method']} on “{told['query']}”"
    name = f"{run.name}: " if run.name else ""
    facts = [f"AP {ranked.average_precision:.3f}"] if ranked.positives else []
    facts.append(f"{images.title}, {len(images.image_names):,} images")
    facts.append(" + ".join(feature for feature, _ in told["features"]))
    known = [item for item in settings_of(method_class(told["method"])) if not item.advanced]
    facts += [f"{item.name} = {told['method_settings'].get(item.name, item.default)}" for item in known]
    by = runs.neighbours_of(TrainSettings.from_json(told))
    facts += [] if by is None else [f"neighbours: {by}"]
    return f"{name}{asked}, {split}\n{' · '.join(facts)}"


def offer_contact_sheet(
    label: str, thumbnails: Callable[[], Thumbnails], ranked: Ranking, title: str, file: str, **look: Any
) -> None:
    """The button for a contact sheet, made when it is pressed; where its pictures cannot be read, that is said.

    It is made beside the page, where nothing can be said any more: so a picture is read before it is offered.
    """
    with in_place():
        pictures = thumbnails()
        pictures.crop(int(ranked.samples[0]))
        st.download_button(
            label,
            lambda: contact_sheet(pictures, ranked, title),
            file,
            "image/png",
            on_click="ignore",
            **look,
        )


def contact_sheet(thumbnails: Thumbnails, ranked: Ranking, title: str) -> bytes:
    """PNG of the first places, marked by border and glyph, on white so that it prints.

    The first line of `title` is large; a second one, if there is one, stands small below it.
    """
    shown = min(len(ranked), COLUMNS * ROWS)
    rows = -(-shown // COLUMNS)
    size = (COLUMNS * (SIDE + GAP) + GAP, HEADER + rows * (SIDE + CAPTION + GAP) + GAP)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    headline, _, facts = title.partition("\n")
    draw.text((GAP, 10), headline, "black", ImageFont.load_default(18))
    draw.text((GAP, 38), facts, "black", ImageFont.load_default(13))
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
