"""An experiment as one HTML file that needs nothing else: tables, charts, galleries, and the files to go on with."""

from __future__ import annotations

import json
import time

from ranking.core.run_settings import Protocol
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.protocol import part_of_protocol
from ranking.experiments.cross_validation.tables import Table, chosen_table, seconds_table
from ranking.features.graph.image_graph import graph_words
from ranking.features.projection import features_words
from ranking.reports.differences import (
    Difference,
    pairs_of,
    signed_difference_table,
    signed_test_table,
    signed_validation_table,
    without_interval_words,
)
from ranking.reports.experiment_charts import (
    bars_in_words,
    difference_bars,
    grid_lines,
    lines_in_words,
    reach_of,
)
from ranking.reports.exports import latex, trial_rows
from ranking.reports.figures import chart_svg, legend
from ranking.reports.findings import Findings, notice_best, split_words
from ranking.reports.galleries import TOP, Album, Crops, gallery, iterations
from ranking.reports.looks import looks_of
from ranking.reports.markup import Markup, element, joined
from ranking.reports.page import facts, files, note, page, section, value_table

HALF = 480.0  # the width of charts that stand beside each other


def report_html(findings: Findings, rows: list[Difference], crops: Crops, name: str = "") -> str:
    """The file, as text. rows: the `differences` of the findings. crops: the pictures of the set's samples. name: what
    a person calls the experiment."""
    results, album = findings.results, Album(crops)
    title = name or f"{findings.images.title}: {', '.join(method.name for method in results.contenders)}"
    sections = [
        _about(findings),
        _tabled("Cross-validation", signed_validation_table(results, rows), notice_best(results, False)),
        _tabled("Test", signed_test_table(results, rows), notice_best(results, True))
        if findings.plan.tested
        else Markup(""),
        _differences(findings, rows),
        _tabled("What was chosen", chosen_table(results)),
        _curves(findings),
        _galleries(findings, album),
        _iterations(findings, album),
        _tabled("Time", seconds_table(results), "Where it was computed; trainings ran beside each other."),
        _files(findings, rows),
    ]
    return page(title, sections, album.sheet())


def protocol_json(protocol: Protocol) -> str:
    """What ``python -m ranking experiment FILE.json`` makes the same experiment of."""
    return json.dumps(part_of_protocol(protocol), indent=2, ensure_ascii=False) + "\n"


def latex_tables(findings: Findings, rows: list[Difference]) -> str:
    """All tables as LaTeX that needs no package, with the signs of significance that the page shows."""
    results = findings.results
    tables = (
        signed_validation_table(results, rows),
        signed_test_table(results, rows),
        chosen_table(results),
        signed_difference_table(results, rows),
        seconds_table(results),
    )
    return "\n\n".join(map(latex, tables)) + "\n"


def _about(findings: Findings) -> Markup:
    """Of what the experiment is, and whether all of it is there."""
    protocol, images, splits = findings.results.protocol, findings.images, findings.plan.splits
    train, test = int((~images.test).sum()), int(images.test.sum())
    about = {
        "Images": f"{images.title}: {len(images.image_names):,} images",
        "Samples": f"{train:,} to train on, {test:,} to test on",
        "Features": features_words(protocol.features, protocol.projection),
        "Queries": ", ".join(findings.results.queries),
        "Folds": f"{splits.folds}, of whole images and groups, dealt by seed {protocol.seed}",
        "Chosen by": f"{protocol.measure}, mean over the folds; of equal ones the smallest C",
        "Grids": "; ".join(
            f"{name}: {', '.join(f'{value:g}' for value in sorted(values))}"
            for name, values in protocol.grids.items()
        )
        + ("; widened where the best lies at an end" if protocol.widen else ""),
        "Neighbours": "none" if findings.plan.graph is None else graph_words(findings.plan.graph),
        "Report of": time.strftime("%d %B %Y"),
    }
    parts = [facts(about)]
    if findings.done < findings.planned:
        state = f"Not finished: {findings.done:,} of {findings.planned:,} trainings are there. The rest is left out."
        parts.append(element("p", element("b", state)))
    return joined(parts)


def _tabled(title: str, table: Table, notice: str = "") -> Markup:
    notes = [note(text) for text in (notice, table.note) if text]
    return section(title, element("p", table.title, class_="title"), value_table(table), *notes)


def _differences(findings: Findings, differences: list[Difference]) -> Markup:
    """Bars as on the project page of the paper: a chart for each two methods, all with the same axis."""
    looks, reach, charts = looks_of(findings.results.contenders), reach_of(differences), []
    measure = findings.results.protocol.measure
    for left, right in pairs_of(findings.results):
        rows = [row for row in differences if (row.left, row.right) == (left, right)]
        figure = difference_bars(rows, looks[left], measure, reach)
        chart = chart_svg(figure, bars_in_words(rows, measure), HALF)
        charts.append(element("div", element("h3", f"{left} − {right}"), chart))
    text = (
        f"Differences of {measure}: filled bars over the folds with Student's interval of 95%, pale ones on the test "
        "samples with that of the paired bootstrap over images. What leaves out 0 is more than chance, if one had "
        f"looked at it alone. {without_interval_words(differences)}"
    )
    table = signed_difference_table(findings.results, differences)
    pairs = element("div", *charts, class_="pairs")
    return section("Differences", note(text.strip()), pairs, value_table(table), note(table.note))


def _curves(findings: Findings) -> Markup:
    results, looks = findings.results, looks_of(findings.results.contenders)
    measure, parts, names = results.protocol.measure, [], Markup("")
    for query in results.queries:
        curves = findings.curves(query)
        figure = grid_lines(curves, looks, measure)
        if figure is not None:
            names = names or legend(figure)
            chart = chart_svg(figure, lines_in_words(curves, measure), HALF)
            parts.append(element("div", element("h3", query), chart))
    if not parts:
        return Markup("")
    text = (
        f"{measure}, mean over the folds. A thick line goes through the setting that was chosen; thin ones have other "
        "values of the other settings. Notice where each is highest, and how much is lost beside it."
    )
    pairs = element("div", *parts, class_="pairs")
    return section("What the settings are worth", note(text), names, pairs)


def _galleries(findings: Findings, album: Album) -> Markup:
    """The test samples of each query are in sight; folds open when one asks, and are not printed before."""
    parts = []
    for query in findings.results.queries:
        parts.append(element("h3", query))
        for fold in sorted(findings.splits, key=lambda fold: -1 if fold is None else fold):
            rows = gallery(findings, query, fold, album)
            if rows is not None:
                seen = fold is None or not findings.plan.tested
                summary = element("summary", f"{query}, {split_words(fold)}")
                parts.append(element("details", summary, rows, open="" if seen else None))
    text = (
        f"The first {TOP} held-out samples by each method at its chosen setting; a dashed border and ✗ mark what is "
        "wrong. Notice how early the first mistake comes, and whether samples of one image come in a row where "
        "neighbours count."
    )
    folds = element("span", " A fold that is open is printed too.", class_="screen")
    return section("First ranked", note(text, folds), *parts)


def _iterations(findings: Findings, album: Album) -> Markup:
    """How the final models of the first query came about, so that there are few more pictures; nothing where none was
    recorded."""
    query = findings.results.queries[0]
    rows = iterations(findings, query, album)
    if rows is None:
        return Markup("")
    text = (
        "The test samples that the weights of an iteration rank first, and AP on all test samples, for each method at "
        "its chosen setting; at last the end of training. At the weights 0 all scores are equal: irrelevant samples "
        "come first."
    )
    return section("Iterations", element("h3", query), rows, note(text))


def _files(findings: Findings, rows: list[Difference]) -> Markup:
    """The protocol to read, and it, the trials and the tables to save: they are in this file."""
    protocol = protocol_json(findings.results.protocol)
    contents = {
        "protocol.json": protocol,
        "trials.csv": rows_csv(trial_rows(findings.results)),
        "tables.tex": latex_tables(findings, rows),
    }
    how = "The same experiment again, in a home with the same image set: python -m ranking experiment protocol.json"
    return section("To go on with", files(contents), note(how), element("pre", protocol))
