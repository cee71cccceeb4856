"""A ranking to take along: as a table (CSV), as a picture (PNG), and with all of its training (ZIP)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from PIL import Image, ImageDraw, ImageFont

from pages.parts.app import cache
from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.app.frame import in_place
from pages.parts.runs import runs
from ranking import method_class
from ranking.core import ImageSet
from ranking.core.run_settings import TrainSettings
from ranking.core.settings import settings_of
from ranking.core.spreadsheets import guarded
from ranking.datasets import Thumbnails
from ranking.features.graph.image_graph import graph_words
from ranking.jobs.run_archive import export_run
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import Run

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
    """The ZIP that `ranking.jobs.run_archive` reads back, with table and picture. What of these cannot be made is left
    out, and run.json says why."""
    views, left_out = {}, {}
    for name, make in (("ranking.csv", _table), ("ranking.png", _sheet)) if run.has_scores else ():
        try:
            views[name] = make(run, _images(run))
        except cache.Gone as error:
            left_out[name] = str(error)
    return export_run(cache.store(), run.id, views, left_out)


def lacking(run: Run) -> dict[str, str]:
    """What `archive` will leave out of a training whose image set is here, and why, as far as its files tell.

    It is to be said before, for the archive is made beside the page, where nothing can be said any more.
    """
    if not run.has_scores or not runs.set_is_here(run):
        return {}
    found = {}
    for name, read in (
        ("edges.npy", _read_edges),
        ("ranking.csv", _read_table),
        ("ranking.png", _read_sheet),
    ):
        try:
            read(run)
        except cache.Gone as error:
            found[name] = str(error)
    return found


def _images(run: Run) -> ImageSet:
    if not runs.set_is_here(run):
        raise cache.Gone(runs.missing_set(run))
    return cache.image_set(run.settings["set"])


def _table(run: Run, images: ImageSet) -> bytes:
    return csv_text(images, {split: cache.ranking(run, split) for split in cache.splits(images)}).encode()


def _sheet(run: Run, images: ImageSet) -> bytes:
    split = cache.splits(images)[0]
    ranked = cache.ranking(run, split)
    with cache.or_gone():  # bytes that are no picture too
        return contact_sheet(cache.thumbnails(images.key), ranked, title_of(run, images, ranked, split))


def _read_table(run: Run) -> None:
    for split in cache.splits(_images(run)):
        cache.ranking(run, split)


def _read_sheet(run: Run) -> None:
    images = _images(run)
    pictures = cache.thumbnails(images.key)
    for row in cache.ranking(run, cache.splits(images)[0]).samples[: COLUMNS * ROWS]:
        pictures.crop(int(row))


def _read_edges(run: Run) -> None:
    with cache.or_gone():
        cache.store().edges_of(run.settings["set"], run.settings.get("graph"))


def csv_text(images: ImageSet, rankings: Mapping[str, Ranking]) -> str:
    """One line a sample, best first, one split after the other. Texts are `guarded`, numbers are exact."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(CSV_COLUMNS)
    for split, ranked in rankings.items():
        for place, (row, score, relevant) in enumerate(
            zip(ranked.samples, ranked.scores, ranked.relevance, strict=True), start=1
        ):
            told = _told_of(images, int(row))
            writer.writerow([place, repr(float(score)), int(relevant), split, *told])
    return stream.getvalue()


def samples_csv(images: ImageSet) -> str:
    """One line a sample of a set, in its order: the id, as a CSV of pairs names it, and what tells it from others."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["id", *CSV_COLUMNS[CSV_COLUMNS.index("sample") + 1 :], "split"])
    for row in range(len(images)):
        writer.writerow([*_told_of(images, row), "test" if images.test[row] else "train"])
    return stream.getvalue()


def _told_of(images: ImageSet, row: int) -> list[str | int]:
    """The cells of a sample from CSV_COLUMNS, beginning with "sample"; texts are `guarded`."""
    shown = [name for name, is_shown in zip(images.classes, images.labels[row], strict=True) if is_shown]
    sample, image = map(guarded, (str(images.ids[row]), str(images.image_names[images.image_of[row]])))
    return [sample, image, *(int(edge) for edge in images.boxes[row]), ";".join(map(guarded, shown))]


def title_of(run: Run, images: ImageSet, ranked: Ranking, split: str) -> str:
    """Two lines that tell a contact sheet from all others: method, query and split; AP, image set, settings."""
    told = run.settings
    asked = f"{told['method']} on “{told['query']}”"
    name = f"{run.name}: " if run.name else ""
    facts = [f"AP {ranked.average_precision:.3f}"] if ranked.positives else []
    facts.append(f"{images.title}, {len(images.image_names):,} images")
    facts.append(runs.features_of(run))
    known = [item for item in settings_of(method_class(told["method"])) if not item.advanced]
    facts += [f"{item.name} = {told['method_settings'].get(item.name, item.default)}" for item in known]
    by = runs.neighbours_of(TrainSettings.from_json(told))
    facts += [] if by is None else [f"neighbours: {graph_words(by)}"]
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
