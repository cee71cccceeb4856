"""An experiment as one self-contained HTML file: tables, charts, galleries, and files to save."""

from __future__ import annotations

import json
import time

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
from ranking.reports.figures import chart
from ranking.reports.findings import Findings, notice_best, split_words
from ranking.reports.galleries import TOP, Album, Crops, gallery, iterations
from ranking.reports.line_styles import of_compared
from ranking.reports.markup import Markup, element, joined
from ranking.reports.page import facts, files, note, page, section, value_table
from ranking.storage.run_settings import Protocol

# height in pixels of the effect of the settings
CURVES = 320
# heights in pixels: of everything around the bars, and of the bars of a query
HEAD, ROW = 120, 40


def report_html(findings: Findings, rows: list[Difference], crops: Crops, name: str = "") -> str:
    """Return the file as text."""
    # rows: the `differences` of the findings. crops: thumbnails of the samples. name: the user's name for the
    # experiment.
    results, album = findings.results, Album(crops)
    title = (
        name or f"{findings.images.title}: {', '.join(method.name for method in results.compared_methods)}"
    )
    sections = [
        _about(findings),
        _tabled("Cross-validation", signed_validation_table(results, rows), notice_best(results, False)),
        _tabled("Test", signed_test_table(results, rows), notice_best(results, True))
        if findings.plan.tested
        else Markup(""),
        _differences(findings, rows),
        _tabled("Chosen settings", chosen_table(results)),
        _curves(findings),
        _galleries(findings, album),
        _iterations(findings, album),
        _tabled("Time", seconds_table(results), "On the machine that computed it; runs were concurrent."),
        _files(findings, rows),
    ]
    return page(title, sections, album.sheet())


def protocol_json(protocol: Protocol) -> str:
    """Return the protocol as input of ``python -m ranking experiment FILE.json``."""
    return json.dumps(part_of_protocol(protocol), indent=2, ensure_ascii=False) + "\n"


def latex_tables(findings: Findings, rows: list[Difference]) -> str:
    """Return all tables as LaTeX for the package booktabs, with signs of significance."""
    results = findings.results
    tables = (
        signed_validation_table(results, rows),
        signed_test_table(results, rows),
        chosen_table(results),
        signed_difference_table(results, rows),
        seconds_table(results),
    )
    return "\n".join(map(latex, tables))


def _about(findings: Findings) -> Markup:
    """Describe the experiment, and whether it is finished."""
    protocol, images, splits = findings.results.protocol, findings.images, findings.plan.splits
    train, test = int((~images.test).sum()), int(images.test.sum())
    about = {
        "Images": f"{images.title}: {len(images.image_names):,} images",
        "Samples": f"{train:,} training samples, {test:,} test samples",
        "Features": features_words(protocol.features, protocol.projection),
        "Queries": ", ".join(findings.results.queries),
        "Folds": f"{splits.folds}, of whole images and groups, assigned by seed {protocol.seed}",
        "Chosen by": f"{protocol.measure}, mean over the folds; ties: the smallest C",
        "Grids": "; ".join(
            f"{name}: {', '.join(f'{value:g}' for value in sorted(values))}"
            for name, values in protocol.grids.items()
        )
        + ("; extended where the best value is at an end" if protocol.widen else ""),
        "Neighbours": "none" if findings.plan.graph is None else graph_words(findings.plan.graph),
        "Report of": time.strftime("%d %B %Y"),
    }
    parts = [facts(about)]
    if findings.done < findings.planned:
        state = (
            f"Not finished: {findings.done:,} of {findings.planned:,} runs are complete. The rest is omitted."
        )
        parts.append(element("p", element("b", state)))
    return joined(parts)


def _tabled(title: str, table: Table, notice: str = "") -> Markup:
    notes = [note(text) for text in (notice, table.note) if text]
    return section(title, element("p", table.title, class_="title"), value_table(table), *notes)


def _differences(findings: Findings, differences: list[Difference]) -> Markup:
    """Draw a bar chart for each pair of methods, all with one axis."""
    # So does the project page of the paper.
    styles, reach, charts = of_compared(findings.results.compared_methods), reach_of(differences), []
    measure = findings.results.protocol.measure
    for left, right in pairs_of(findings.results):
        rows = [row for row in differences if (row.left, row.right) == (left, right)]
        figure = difference_bars(rows, styles[left], measure, reach)
        bars = chart(figure, bars_in_words(rows, measure), HEAD + ROW * len(rows))
        charts.append(element("div", element("h3", f"{left} − {right}"), bars))
    text = (
        f"Differences of {measure}; filled bars: mean over folds with Student's 95% confidence interval; hatched bars: "
        "test samples with the 95% interval of the paired bootstrap over images. An interval that excludes 0 is "
        "significant on its own, without correction for multiple comparisons. "
        f"{without_interval_words(differences)}"
    )
    table = signed_difference_table(findings.results, differences)
    pairs = element("div", *charts, class_="pairs")
    return section("Differences", note(text.strip()), pairs, value_table(table), note(table.note))


def _curves(findings: Findings) -> Markup:
    results, styles = findings.results, of_compared(findings.results.compared_methods)
    measure, parts = results.protocol.measure, []
    for query in results.queries:
        curves = findings.curves(query)
        figure = grid_lines(curves, styles, measure)
        if figure is not None:
            lines = chart(figure, lines_in_words(curves, measure), CURVES)
            parts.append(element("div", element("h3", query), lines))
    if not parts:
        return Markup("")
    text = (
        f"{measure}, mean over folds. The thick line goes through the chosen setting; thin lines have other values of "
        "the other settings. Notice where each line is highest, and how much is lost next to its maximum."
    )
    pairs = element("div", *parts, class_="pairs")
    return section("Effect of the settings", note(text), pairs)


def _galleries(findings: Findings, album: Album) -> Markup:
    """Show the test samples of each query; folds can be opened, and are printed only when open."""
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
        f"The top {TOP} held-out samples of each method at its chosen setting; a dashed border and ✗ mark irrelevant "
        "samples. Notice how early the first error is, and whether samples of one image have adjacent ranks with "
        "methods that use neighbours."
    )
    folds = element("span", " Open folds are printed too.", class_="screen")
    return section("Top of each ranking", note(text, folds), *parts)


def _iterations(findings: Findings, album: Album) -> Markup:
    """Show iterations of the final models of the first query; nothing if none was recorded."""
    # One query only, so that the file has few more images.
    query = findings.results.queries[0]
    rows = iterations(findings, query, album)
    if rows is None:
        return Markup("")
    text = (
        "The top test samples at an iteration, and AP on all test samples, for each method at its chosen setting; the "
        "last row is the end of training. With weights 0 all scores are equal, and irrelevant samples rank first."
    )
    return section("Iterations", element("h3", query), rows, note(text))


def _files(findings: Findings, rows: list[Difference]) -> Markup:
    """Show the protocol, with links to save the protocol, the trials and the tables from this file."""
    protocol = protocol_json(findings.results.protocol)
    contents = {
        "protocol.json": protocol,
        "trials.csv": rows_csv(trial_rows(findings.results)),
        "tables.tex": latex_tables(findings, rows),
    }
    how = (
        "To reproduce this experiment in a data folder with the same image set: "
        "python -m ranking experiment protocol.json"
    )
    return section("Files", files(contents), note(how), element("pre", protocol))
