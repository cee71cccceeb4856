"""Export of a ranking as a table (CSV) or contact sheet (PNG), and of its training run (ZIP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.parts.app import cache, downloads, home
from pages.parts.charts import sheets
from pages.parts.training import runs
from ranking import method_class
from ranking.core import ImageSet
from ranking.core.settings import settings_of
from ranking.core.spreadsheets import rows_csv
from ranking.core.text import counted
from ranking.datasets import Thumbnails
from ranking.features.graph.image_graph import graph_words
from ranking.metrics.ranked import Ranking
from ranking.storage.run import Run
from ranking.storage.run_archive import export_run
from ranking.storage.run_settings import TrainSettings


def archive(run: Run) -> bytes:
    """The ZIP file of a run with table and contact sheet."""
    # If one of these cannot be created, it is omitted, and the reason is in run.json.
    views, omitted = {}, {}
    for name, make in (("ranking.csv", _table), ("ranking.png", _sheet)) if run.has_scores else ():
        try:
            views[name] = make(run, _images(run))
        except home.Gone as error:
            omitted[name] = str(error)
    return export_run(home.store(), run.id, views, omitted)


def lacking(run: Run) -> dict[str, str]:
    """The files that `archive` will omit of a run with an image set, and the reasons, as far as known."""
    # The page shows them before the download, because the archive is created outside a page run and cannot
    # show errors.
    if not run.has_scores or not runs.set_is_here(run):
        return {}
    reasons = {}
    for name, read in (
        ("edges.npy", _read_edges),
        ("ranking.csv", _read_table),
        ("ranking.png", _read_sheet),
    ):
        try:
            read(run)
        except home.Gone as error:
            reasons[name] = str(error)
    return reasons


def _images(run: Run) -> ImageSet:
    if not runs.set_is_here(run):
        raise home.Gone(runs.missing_set(run))
    return cache.image_set(run.settings["set"])


def _table(run: Run, images: ImageSet) -> bytes:
    return csv_text(images, {split: cache.ranking(run, split) for split in cache.splits(images)}).encode()


def _sheet(run: Run, images: ImageSet) -> bytes:
    split = cache.splits(images)[0]
    ranked = cache.ranking(run, split)
    # also if a thumbnail is no valid image
    with home.missing_as_error():
        return sheets.contact_sheet(
            cache.thumbnails(images.key), ranked, title_of(run, images, ranked, split)
        )


def _read_table(run: Run) -> None:
    for split in cache.splits(_images(run)):
        cache.ranking(run, split)


def _read_sheet(run: Run) -> None:
    images = _images(run)
    thumbnails = cache.thumbnails(images.key)
    for row in cache.ranking(run, cache.splits(images)[0]).samples[: sheets.COLUMNS * sheets.ROWS]:
        thumbnails.crop(int(row))


def _read_edges(run: Run) -> None:
    with home.missing_as_error():
        home.store().features.edges_of(run.settings["set"], run.settings.get("graph"))


def csv_text(images: ImageSet, rankings: Mapping[str, Ranking]) -> str:
    """One line per sample, highest score first, one split after the other."""
    return rows_csv(
        [
            {
                "rank": place,
                "score": float(ranked.scores[place - 1]),
                "relevant": int(ranked.relevance[place - 1]),
                "split": split,
                "sample": str(images.ids[row]),
                **_sample_record(images, row),
            }
            for split, ranked in rankings.items()
            for place, row in enumerate(ranked.samples.tolist(), start=1)
        ]
    )


def samples_csv(images: ImageSet) -> str:
    """One line per sample of a set, in its order: the id, which CSV files of pairs use, and a description."""
    return rows_csv(
        [
            {"id": str(images.ids[row]), **_sample_record(images, row), "split": "test" if test else "train"}
            for row, test in enumerate(images.test)
        ]
    )


def _sample_record(images: ImageSet, row: int) -> dict[str, str | int | list[str]]:
    """The image, the bounding box and the classes of a sample."""
    left, top, right, bottom = images.boxes[row].tolist()
    box = {"left": int(left), "top": int(top), "right": int(right), "bottom": int(bottom)}
    image = str(images.image_names[images.image_of[row]])
    return {"image": image, **box, "classes": images.classes_of(row)}


def title_of(run: Run, images: ImageSet, ranked: Ranking, split: str) -> str:
    """The two title lines of a contact sheet: method, query and split; AP, image set and settings."""
    settings = run.settings
    name = f"{run.name}: " if run.name else ""
    facts = [f"AP {ranked.average_precision:.3f}"] if ranked.positives else []
    facts.append(f"{images.title}, {len(images.image_names):,} images")
    facts.append(runs.features_shown(run))
    known = [item for item in settings_of(method_class(settings["method"])) if not item.advanced]
    facts += [f"{item.name} = {settings['method_settings'].get(item.name, item.default)}" for item in known]
    graph = runs.neighbours_of(TrainSettings.from_json(settings))
    facts += [] if graph is None else [f"neighbours: {graph_words(graph)}"]
    if run.corrections:
        facts.append(f"with {counted(len(run.corrections), 'corrected label')}")
    return f"{name}{settings['method']} on “{settings['query']}”, {split}\n{' · '.join(facts)}"


def offer_contact_sheet(
    label: str, thumbnails: Thumbnails, ranked: Ranking, title: str, file: str, **styles: Any
) -> None:
    """The download button for a contact sheet; Gone if its crops cannot be read."""
    # The sheet is created outside a page run, which cannot show errors, so a crop is read before the button
    # is shown.
    thumbnails.crop(int(ranked.samples[0]))
    downloads.offer(label, lambda: sheets.contact_sheet(thumbnails, ranked, title), file, **styles)
