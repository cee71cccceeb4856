"""The results of an experiment: tables, differences, settings, time, galleries and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from pages.parts.app import address, cache, downloads, frame, home, keys
from pages.parts.app.frame import errors_in_place, escaped
from pages.parts.charts import plots
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.studies import experiment_form, experiment_results, experiment_tables
from pages.parts.studies.experiment_tables import as_markdown
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.comparisons import SIGNIFICANT
from ranking.experiments.cross_validation.protocol import PATH
from ranking.experiments.cross_validation.tables import (
    chosen_table,
    seconds_table,
    validation_table,
)
from ranking.metrics.ranked import first_mistake
from ranking.reports import experiment_charts
from ranking.reports.comparison_words import first_wrong
from ranking.reports.differences import (
    Difference,
    pairs_of,
    signed_test_table,
    signed_validation_table,
    without_interval_words,
)
from ranking.reports.exports import rows_parquet, shown, trial_rows
from ranking.reports.findings import Findings, notice_best, split_words
from ranking.reports.galleries import TOP, value_words
from ranking.reports.line_styles import of_compared
from ranking.reports.prose import markdown_table
from ranking.reports.report import latex_tables, protocol_json, report_html
from ranking.storage.run import Run
from ranking.storage.run_settings import ExperimentSettings

PLACES = (TOP, 2 * TOP, 4 * TOP)
# how texts name a setting; others by their own names
GRID_NAMES = {"eta": "η"}
# Height in pixels of a chart of differences: around the bars, per query, and at least.
HEAD, BAR, LOWEST = (130, 46, 330)


def show(run: Run, findings: Findings) -> None:
    """Show all results of an experiment that has ended."""
    if len(findings.results.compared_methods) > 1:
        show_differences(run, findings)
    show_tables(run, findings)
    query = choose_query(findings)
    show_gallery(findings, query)
    show_settings(findings, query)
    offer_files(run, findings)


def show_progress(findings: Findings) -> None:
    """Show the number of finished training runs per query and method, and the values so far."""
    st.markdown(as_markdown(experiment_tables.progress_table(findings.results)))
    st.caption(
        "Finished training runs of the folds by method and query. A value appears when all settings of a method have "
        "finished all folds of a query. Tests come last; each one retrains on all training samples."
    )
    if any(
        findings.results.validation(query, compared_method.name)
        for query in findings.results.queries
        for compared_method in findings.results.compared_methods
    ):
        st.markdown(as_markdown(validation_table(findings.results)))


# ---------------------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------------------


def show_tables(run: Run, findings: Findings) -> None:
    """Show Tables 1 and 2 of the high-order paper for this image set."""
    results, rows = findings.results, experiment_results.differences(run)
    table = signed_validation_table(results, rows)
    st.markdown(f"### {escaped(table.title)}")
    st.markdown(as_markdown(table))
    st.caption(f"**Notice**: {escaped(notice_best(results, False))} {escaped(table.note)}")
    offer_longer_grids(run, findings)
    if findings.plan.tested:
        table = signed_test_table(results, rows)
        st.markdown(f"### {escaped(table.title)}")
        st.markdown(as_markdown(table))
        st.caption(
            f"{escaped(notice_best(results, True))} Trained on all training samples with the settings "
            f"selected by cross-validation; test samples were not used for selection. {escaped(table.note)}"
        )


def offer_longer_grids(run: Run, findings: Findings) -> None:
    """Where a chosen value lies at an end of its grid, offer the same experiment with the next values."""
    settings, grids = ExperimentSettings.from_json(run.settings), findings.results.longer_grids()
    added = {name: sorted(set(values) - set(settings.grids[name])) for name, values in grids.items()}
    longer = {name: values for name, values in added.items() if values}
    if not longer:
        return
    names = [
        "larger C" if name == PATH else f"more values of {GRID_NAMES.get(name, name)}" for name in longer
    ]
    listed = "; ".join(
        f"{GRID_NAMES.get(name, name)} = {', '.join(f'{value:g}' for value in values)}"
        for name, values in longer.items()
    )
    with errors_in_place(), st.container(horizontal=True, vertical_alignment="center"):
        experiment_form.PAGE.offer_start(
            f"Try {' and '.join(names)}", replace(settings, grids=grids), "longer grids", type="secondary"
        )
        st.caption(
            f"Starts the same experiment with {listed} in the grid of every method. Finished values "
            "are kept; training runs that the new ones start from are repeated.",
            width="content",
        )


# ---------------------------------------------------------------------------------------------------------
# Differences
# ---------------------------------------------------------------------------------------------------------


def show_differences(run: Run, findings: Findings) -> None:
    """Show the difference between two methods by query, as on the project page of the paper."""
    names = {f"{left} − {right}": (left, right) for left, right in pairs_of(findings.results)}
    bound = address.bound(keys.DIFFERENCE, address.one_of(list(names)), next(iter(names)))
    place = frame.picture("difference")
    pair = place.selectbox("Gain of one method over another", list(names), **bound)
    left, right = names[pair]
    apart = experiment_results.differences(run)
    rows = [row for row in apart if (row.left, row.right) == (left, right)]
    measure, style = findings.results.protocol.measure, of_compared(findings.results.compared_methods)[left]
    figure = experiment_charts.difference_bars(rows, style, measure, experiment_charts.reach_of(apart))
    alt, height = experiment_charts.bars_in_words(rows, measure), max(LOWEST, HEAD + BAR * len(rows))
    with place:
        plots.show(figure, keys.widget(f"difference {run.id} {pair}"), alt, "difference", height, top=8)
    st.caption(
        "The paired t-test over folds is significant "
        f"(p < {SIGNIFICANT:g}) {escaped(significant_words(rows))} Folds share training samples, so the test reports "
        f"too many differences rather than too few. {escaped(without_interval_words(rows))}"
    )


def significant_words(rows: Sequence[Difference]) -> str:
    """Say on which queries two methods differ significantly, before and after correction."""
    sure = [row for row in rows if row.folds is not None and row.folds.t < SIGNIFICANT]
    held = sum(row.folds is not None and row.folds.holm < SIGNIFICANT for row in sure)
    return (
        f"on {len(sure)} of {len(rows)} queries ({', '.join(row.query for row in sure) or 'none'}), on {held} after "
        "Holm's correction over all comparisons in this experiment."
    )


# ---------------------------------------------------------------------------------------------------------
# Settings and time
# ---------------------------------------------------------------------------------------------------------


def show_settings(findings: Findings, query: str) -> None:
    """Show the chosen settings, the training times, and the measure along the grid for a query."""
    st.markdown("### Settings and time")
    table = chosen_table(findings.results)
    st.markdown(as_markdown(table))
    st.caption(
        f"Chosen by the mean over the folds; for ties the smallest C, then the smallest η. {table.note}"
    )
    curves, measure = findings.curves(query), findings.results.protocol.measure
    figure = experiment_charts.grid_lines(curves, of_compared(findings.results.compared_methods), measure)
    if figure is not None:
        alt = experiment_charts.lines_in_words(curves, measure)
        plots.show(figure, keys.widget(f"curves {query}"), alt, "settings", height=380, top=8)
        thin = "; thin lines have other values of η" if any(not chosen for _, chosen in curves) else ""
        st.caption(
            f"“{escaped(query)}”, mean over the folds; a thick line passes through the chosen setting{thin}."
        )
    st.markdown(as_markdown(experiment_tables.all_of_them(findings.results)))
    st.caption(
        "Training time in seconds over all settings, folds and the test. Training runs were concurrent. "
        f"{escaped(seconds_table(findings.results).note)}"
    )


# ---------------------------------------------------------------------------------------------------------
# Galleries
# ---------------------------------------------------------------------------------------------------------


def choose_query(findings: Findings) -> str:
    """Choose the query whose images and settings are shown."""
    st.markdown("### Top samples")
    names = list(findings.results.queries)
    bound = address.bound(keys.GALLERY, address.one_of(names), names[0])
    return str(st.selectbox("Query", names, **bound))


def show_gallery(findings: Findings, query: str) -> None:
    """Show the highest-ranked held-out samples of each method (high-order, Fig. 1)."""
    by_words = {split_words(fold): fold for fold in findings.splits}
    words, first = list(by_words), split_words(findings.splits[-1])
    left, right = st.columns([3, 1])
    with left:
        bound = address.bound(keys.GALLERY_SPLIT, address.one_of(words), first)
        fold = by_words[str(st.segmented_control("Held out", words, required=True, **bound))]
    with right:
        bound = address.bound(keys.PLACES, address.one_of(PLACES), PLACES[0])
        places = int(st.selectbox("Samples", PLACES, **bound))
    with errors_in_place(), home.missing_as_error():
        ranked = findings.rankings(query, fold)
        if not ranked:
            st.caption("No method has ranked these samples yet.")
        for name, ranking in ranked.items():
            texts = [value_words(ranking), *([first_wrong(ranking)] if ranking.positives else [])]
            st.markdown(f"**{escaped(name)}** · {' · '.join(texts)}")
            shown_places = range(min(places, len(ranking)))
            place = first_mistake(ranking.relevance)
            top = tiles.ranked_tiles(findings.images, ranking, shown_places)
            flags = {} if place is None or place > len(top) else {top[place - 1].id: "first error"}
            label = f"{query}, {split_words(fold)}, top {len(top)} by {name}"
            strip(top, name=f"gallery {name}", label=label, columns=8, narrow=4, flags=flags)
    st.caption("Rank and score are below each thumbnail; a dashed border and ✗ mark irrelevant samples.")
    tiles.explain_cards(findings.images)
    with st.expander("All galleries", icon=":material/photo_library:"):
        st.markdown(gallery_links(findings))
        st.caption("Each number links to its gallery and is the best AP of any method there.")


def gallery_links(findings: Findings) -> str:
    """Return a row per query with a link for each fold and the test."""
    here = address.changed()
    rows = []
    for query in findings.results.queries:
        cells = []
        for fold in findings.splits:
            best = _best(findings, query, fold)
            link = urlencode({**here, keys.GALLERY: query, keys.GALLERY_SPLIT: split_words(fold)})
            cells.append(shown(None) if best is None else f"[{best:.3f}](?{link})")
        rows.append([escaped(query), *cells])
    return markdown_table(["", *map(split_words, findings.splits)], rows)


def _best(findings: Findings, query: str, fold: int | None) -> float | None:
    """Return the best AP of any method on the held-out samples; None without any."""
    results = findings.results
    values = []
    for compared_method in results.compared_methods:
        point = results.chosen(query, compared_method.name)
        outcome = None if point is None else results.outcomes.get((query, compared_method.name, point, fold))
        if outcome is not None and "AP" in outcome.measures:
            values.append(outcome.measures["AP"])
    return max(values, default=None)


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def offer_files(run: Run, findings: Findings) -> None:
    """Offer the report, the trials, the tables and the protocol; each is created on a click."""
    st.markdown("### Downloads")
    with errors_in_place():
        thumbnails = cache.thumbnails(findings.images.key)
        results, name, apart = findings.results, run.name, experiment_results.differences(run)
        with st.container(horizontal=True):
            for label, make, file in (
                (
                    "Report (HTML)",
                    lambda: report_html(findings, apart, thumbnails, name),
                    f"experiment-{run.id}.html",
                ),
                ("All trials (CSV)", lambda: rows_csv(trial_rows(results)), f"trials-{run.id}.csv"),
                (
                    "All trials (Parquet)",
                    lambda: rows_parquet(trial_rows(results)),
                    f"trials-{run.id}.parquet",
                ),
                ("Tables (LaTeX)", lambda: latex_tables(findings, apart), f"tables-{run.id}.tex"),
                ("Protocol (JSON)", lambda: protocol_json(results.protocol), f"protocol-{run.id}.json"),
            ):
                downloads.offer(label, make, file)
    st.caption(
        "The report is a single HTML file with all tables, charts and images; it works offline and prints well. The "
        "LaTeX tables use the package booktabs. The protocol starts the same experiment again, on this page or with "
        "*python -m ranking experiment*."
    )
