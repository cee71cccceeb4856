"""A comparison of runs as one HTML file: the content of the page Compare, to print and to share."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ranking.explain.playback import frames_of, read_playback, spread_geometrically
from ranking.metrics.comparison import largest
from ranking.reports import comparison_files, comparison_words, page
from ranking.reports.compared import TOP, Compared
from ranking.reports.comparison_charts import curves
from ranking.reports.figures import chart
from ranking.reports.galleries import Album, Crops, ranked_row, recorded_row, tiles_of
from ranking.reports.line_styles import LineStyle, of_methods
from ranking.reports.markup import Markup, element
from ranking.reports.prose import inline
from ranking.reports.settings_words import settings_facts

# shown per run
ITERATIONS = 5
# samples shown with the largest gains, and with the largest losses
MOVERS = 6


def comparison_html(shown: Compared, crops: Crops, top: int = TOP) -> str:
    """Return the file as text."""
    # crops: thumbnails of the samples. top: samples per row; P@top must be among the measures of `shown`.
    album = Album(crops)
    styles = of_methods(
        {name: str(run.settings["method"]) for name, run in zip(shown.names, shown.runs, strict=True)}
    )
    title = f"“{shown.query}” on {shown.images.title}: {comparison_words.listed(shown.names)}"
    sections = [
        _about(shown),
        _rows(shown, styles, album, top),
        *_training(shown, styles, album),
        _measures(shown, styles, top),
        *(_gains(shown, 0, right, album) for right in range(1, len(shown.runs))),
        _settings(shown),
        _files(shown, top),
    ]
    return page.page(title, sections, album.sheet())


def _about(shown: Compared) -> Markup:
    compared = shown.compared
    relevant = int(np.count_nonzero(compared.relevance))
    facts = {
        "Query": shown.query,
        "Images": f"{shown.images.title}: {len(shown.images.image_names):,} images",
        "Ranked": f"{len(compared.samples):,} {shown.split} samples, {relevant:,} of them relevant",
        "Report of": time.strftime("%d %B %Y"),
    }
    if labels := comparison_words.of_labels(shown.names, shown.runs, shown.images):
        facts["Labels"] = labels
    verdict = element("p", element("b", comparison_words.verdict(shown.names, shown.resampled)))
    return element("div", page.facts(facts), verdict, page.note(comparison_words.AS_TRAINED))


def _rows(shown: Compared, styles: dict[str, LineStyle], album: Album, top: int) -> Markup:
    """The top of each ranking, with the first irrelevant sample marked (high-order, Fig. 1)."""
    rows = [
        ranked_row(shown.images, name, ranked, styles[name], album, top)
        for name, ranked in zip(shown.names, shown.compared.rankings, strict=True)
    ]
    note = "✓ and a solid border: relevant; ✗ and a dashed border: irrelevant. Thick border: first error."
    return page.section("Top of each ranking", element("div", *rows, class_="gallery"), page.note(note))


def _training(shown: Compared, styles: dict[str, LineStyle], album: Album) -> list[Markup]:
    """The top of the ranking at some iterations, for each run with a recording."""
    relevance, test = shown.images.relevance(shown.query), shown.images.test
    rows = []
    for name, run in zip(shown.names, shown.runs, strict=True):
        playback = read_playback(run.playback_file, len(shown.images))
        if playback is not None:
            frames = spread_geometrically(frames_of(playback, relevance, test, None), ITERATIONS)
            rows.append(recorded_row(shown.images, name, frames, styles[name], album))
    if not rows:
        return []
    part = "test" if test.any() else "training"
    note = (
        f"The top {part} samples by the weights of an iteration, and AP on all {part} samples. The last column is the "
        "end of training. With weights 0 all scores are equal, and irrelevant samples are ranked first."
    )
    return [page.section("Iterations", element("div", *rows, class_="gallery"), page.note(note))]


def _measures(shown: Compared, styles: dict[str, LineStyle], top: int) -> Markup:
    values = zip(shown.names, shown.compared.rankings, strict=True)
    alt = "Precision-recall curves; AP: " + ", ".join(f"{n} {r.average_precision:.3f}" for n, r in values)
    intervals = comparison_words.of_intervals(shown.compared, shown.resampled, shown.images, shown.split)
    figure = curves(shown.compared, shown.names, [styles[name] for name in shown.names])
    table = comparison_files.measures_table(shown, top)
    return page.section(
        "Measures",
        page.value_table(table),
        page.note(table.note),
        page.note(inline(intervals)),
        page.figure(
            chart(figure, alt, 360 + 24 * len(shown.names)), page.note(inline(comparison_words.CURVES))
        ),
    )


def _gains(shown: Compared, left: int, right: int, album: Album) -> Markup:
    """The samples that contribute most to the difference of AP: the largest gains and losses."""
    gains = shown.compared.gains(left, right)
    parts = []
    for head, numbers in (
        ("Largest gains", largest(gains, MOVERS)),
        ("Largest losses", largest(-gains, MOVERS)),
    ):
        tiles = [_mover(shown, left, right, int(number), float(gains[number]), album) for number in numbers]
        row = tiles_of(tiles, MOVERS) if tiles else element("p", "None.")
        parts.append(element("div", element("div", element("b", head), class_="head"), row, class_="row"))
    summary = comparison_words.of_gains(shown.compared, left, right, shown.names)
    return page.section(
        f"From {shown.names[left]} to {shown.names[right]}",
        element("p", inline(summary)),
        *parts,
        page.note(
            "Below each image: its ranks in the two rankings and its contribution to the AP difference, which is the "
            "difference of the precisions at its ranks divided by the number of relevant samples. Notice whether the "
            "samples that moved up, or down, have something in common."
        ),
    )


def _mover(shown: Compared, left: int, right: int, number: int, gain: float, album: Album) -> Markup:
    row = int(shown.compared.samples[number])
    before, after = (int(shown.compared.ranks[which, number]) for which in (left, right))
    name = str(shown.images.image_names[shown.images.image_of[row]])
    worth = f"{gain:+.3f}".replace("0.", ".").replace("-", "−")
    alt = f"rank {before} with {shown.names[left]}, {after} with {shown.names[right]}, {worth} of AP, image {name}"
    foot = element("span", f"{before}→{after} {worth}", class_="place two", aria_hidden="true")
    return element("div", album.picture(row, alt), foot, class_="tile relevant", title=alt)


def _settings(shown: Compared) -> Markup:
    """A table with a column per run; settings that differ are bold."""
    facts_of_runs = [settings_facts(run) for run in shown.runs]
    names: Sequence[str] = list(dict.fromkeys(name for facts in facts_of_runs for name in facts))
    rows = []
    for name in names:
        values = [facts.get(name, "–") for facts in facts_of_runs]
        style = "fact" if len(set(values)) == 1 else "fact best"
        rows.append(
            [element("th", name, scope="row"), *(element("td", value, class_=style) for value in values)]
        )
    table = page.wide_table("Settings of each run", shown.names, rows)
    return page.section(
        "Settings",
        table,
        page.note("Differences are highlighted. A dash means that the method has no such setting."),
    )


def _files(shown: Compared, top: int) -> Markup:
    contents = {
        "ranks.csv": comparison_files.ranks_csv(shown.images, shown.compared, shown.names),
        "measures.csv": comparison_files.measures_csv(
            shown.resampled, shown.names, comparison_files.measures_of(top)
        ),
        "measures.tex": comparison_files.latex_table(shown, top),
    }
    return page.section("Files", page.files(contents))
