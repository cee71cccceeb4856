"""An experiment as one HTML file that needs nothing else: tables, charts, galleries, and the files to go on with."""

from __future__ import annotations

import time

from ranking.experiments.cross_validation.comparisons import difference_table
from ranking.experiments.cross_validation.tables import (
    Table,
    chosen_table,
    seconds_table,
    test_table,
    validation_table,
)
from ranking.features.graph.image_graph import graph_words
from ranking.features.projection import features_words
from ranking.reports import files
from ranking.reports.differences import (
    Difference,
    Marks,
    marks_of_folds,
    marks_of_folds_words,
    marks_of_pairs,
    marks_of_pairs_words,
    marks_of_test,
    marks_of_test_words,
    pairs_of,
    without_interval_words,
)
from ranking.reports.experiment_charts import (
    bars_in_words,
    difference_bars,
    grid_lines,
    lines_in_words,
    reach_of,
)
from ranking.reports.exports import trials_csv
from ranking.reports.figures import chart_svg, legend
from ranking.reports.findings import Findings, split_words
from ranking.reports.galleries import TOP, gallery
from ranking.reports.looks import looks_of
from ranking.reports.markup import Markup, element, joined
from ranking.reports.page import facts, note, page, section
from ranking.reports.page import files as saved
from ranking.reports.pictures import Album, Crops
from ranking.reports.tables import value_table
from ranking.reports.words import notice_best

HALF = 480.0  # the width of charts that stand beside each other


def report_html(findings: Findings, apart: list[Difference], crops: Crops, name: str = "") -> str:
    """The file, as text. apart: the `differences` of the findings. crops: the pictures of the set's samples. name:
    what a person calls the experiment."""
    results, album = findings.results, Album(crops)
    first = results.contenders[0].name
    title = name or f"{findings.images.title}: {', '.join(one.name for one in results.contenders)}"
    folds, test = marks_of_folds(apart, first), marks_of_test(apart, first)
    sections = [
        _about(findings),
        _tabled(
            "Cross-validation",
            validation_table(results),
            notice_best(results, False),
            folds,
            marks_of_folds_words(first),
        ),
        _tabled("Test", test_table(results), notice_best(results, True), test, marks_of_test_words(first))
        if findings.plan.tested
        else Markup(""),
        _differences(findings, apart),
        _tabled("What was chosen", chosen_table(results)),
        _curves(findings),
        _galleries(findings, album),
        _tabled("Time", seconds_table(results), "Where it was computed; trainings ran beside each other."),
        _files(findings, apart),
    ]
    return page(title, sections, album.sheet())


def _about(findings: Findings) -> Markup:
    """Of what the experiment is, and whether all of it is there."""
    protocol, images, splits = findings.results.protocol, findings.images, findings.plan.splits
    train, test = int((~images.test).sum()), int(images.test.sum())
    told = {
        "Images": f"{images.title}: {len(images.image_names):,} images",
        "Samples": f"{train:,} to train on, {test:,} to test on",
        "Features": features_words(protocol.features, protocol.projection),
        "Queries": ", ".join(findings.results.queries),
        "Folds": f"{splits.folds}, of whole images and groups, dealt by seed {protocol.seed}",
        "Chosen by": f"{protocol.measure}, mean over the folds; of equal ones the smallest C",
        "Grids": "; ".join(
            f"{name}: {', '.join(f'{one:g}' for one in sorted(v))}" for name, v in protocol.grids.items()
        )
        + ("; widened where the best lies at an end" if protocol.widen else ""),
        "Neighbours": "none" if findings.plan.graph is None else graph_words(findings.plan.graph),
        "Report of": time.strftime("%d %B %Y"),
    }
    parts = [facts(told)]
    if findings.done < findings.planned:
        said = f"Not finished: {findings.done:,} of {findings.planned:,} trainings are there. The rest is left out."
        parts.append(element("p", element("b", said)))
    return joined(parts)


def _tabled(title: str, table: Table, notice: str = "", marks: Marks | None = None, told: str = "") -> Markup:
    notes = [
        element("p", text, class_="note") for text in (notice, told if marks else "", table.note) if text
    ]
    return element(
        "section",
        element("h2", title),
        element("p", table.title, class_="title"),
        value_table(table, marks),
        *notes,
    )


def _differences(findings: Findings, apart: list[Difference]) -> Markup:
    """Bars as on the project page of the paper: a chart for each two methods, all with the same axis."""
    looks, reach, charts = looks_of(findings.results.contenders), reach_of(apart), []
    measure = findings.results.protocol.measure
    for one, other in pairs_of(findings.results):
        rows = [row for row in apart if (row.one, row.other) == (one, other)]
        figure = difference_bars(rows, looks[one], measure, reach)
        drawn = chart_svg(figure, bars_in_words(rows, measure), HALF)
        charts.append(element("div", element("h3", f"{one} − {other}"), drawn))
    note = (
        f"Differences of {measure}: filled bars over the folds with Student's interval of 95%, pale ones on the test "
        "samples with that of the paired bootstrap over images. What leaves out 0 is more than chance, if one had "
        f"looked at it alone. {without_interval_words(apart)}"
    )
    table, marks = difference_table(findings.results), marks_of_pairs(apart)
    return element(
        "section",
        element("h2", "Differences"),
        element("p", note.strip(), class_="note"),
        element("div", *charts, class_="pairs"),
        value_table(table, marks),
        element("p", f"{marks_of_pairs_words() if marks else ''} {table.note}".strip(), class_="note"),
    )


def _curves(findings: Findings) -> Markup:
    results, looks = findings.results, looks_of(findings.results.contenders)
    measure, parts, names = results.protocol.measure, [], Markup("")
    for query in results.queries:
        curves = findings.curves(query)
        figure = grid_lines(curves, looks, measure)
        if figure is not None:
            names = names or legend(figure)
            drawn = chart_svg(figure, lines_in_words(curves, measure), HALF)
            parts.append(element("div", element("h3", query), drawn))
    if not parts:
        return Markup("")
    note = (
        f"{results.protocol.measure}, mean over the folds. A thick line goes through the setting that was chosen; thin "
        "ones have other values of the other settings. Notice where each is highest, and how much is lost beside it."
    )
    heading = element("h2", "What the settings are worth")
    return element(
        "section",
        heading,
        element("p", note, class_="note"),
        names,
        element("div", *parts, class_="pairs"),
    )


def _galleries(findings: Findings, album: Album) -> Markup:
    """The test samples of each query are in sight; folds open when one asks, and are not printed before."""
    parts = []
    for query in findings.results.queries:
        parts.append(element("h3", query))
        for fold in sorted(findings.splits, key=lambda fold: -1 if fold is None else fold):
            drawn = gallery(findings, query, fold, album)
            if drawn is not None:
                seen = fold is None or not findings.plan.tested
                told = element("summary", f"{query}, {split_words(fold)}")
                parts.append(element("details", told, drawn, open="" if seen else None))
    note = (
        f"The first {TOP} held-out samples by each method at its chosen setting; a dashed border and ✗ mark what is "
        "wrong. Notice how early the first mistake comes, and whether samples of one image come in a row where "
        "neighbours count."
    )
    folds = element("span", " A fold that is open is printed too.", class_="screen")
    return element("section", element("h2", "First ranked"), element("p", note, folds, class_="note"), *parts)


def _files(findings: Findings, apart: list[Difference]) -> Markup:
    """The protocol to read, and it, the cells and the tables to save: they are in this file."""
    protocol = files.protocol_json(findings.results.protocol)
    held = {
        "protocol.json": protocol,
        "trials.csv": trials_csv(findings.results),
        "tables.tex": files.latex_tables(findings.results, apart),
    }
    how = "The same experiment again, in a home with the same image set: python -m ranking experiment protocol.json"
    return section("To go on with", saved(held), note(how), element("pre", protocol))
