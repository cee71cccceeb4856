"""The results of an experiment: tables, differences, settings, time, galleries and files."""

from __future__ import annotations

from urllib.parse import urlencode

import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import address, cache, downloads, frame, home, keys
from pages.parts.app.frame import escaped, in_place
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.studies import experiment_tables
from pages.parts.studies.experiment_tables import as_markdown
from pages.parts.views import charts
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.comparisons import SIGNIFICANT
from ranking.experiments.cross_validation.tables import (
    chosen_table,
    seconds_table,
    validation_table,
)
from ranking.metrics.ranked import first_mistake
from ranking.reports import experiment_charts
from ranking.reports.comparison_words import first_wrong
from ranking.reports.differences import (
    pairs_of,
    signed_test_table,
    signed_validation_table,
    without_interval_words,
)
from ranking.reports.exports import rows_parquet, shown, trial_rows
from ranking.reports.findings import Findings, notice_best, split_words
from ranking.reports.galleries import TOP, value_words
from ranking.reports.line_styles import line_styles_of
from ranking.reports.report import latex_tables, protocol_json, report_html
from ranking.workspace.run import Run

PLACES = (TOP, 2 * TOP, 4 * TOP)
HEAD, BAR, LOWEST = (
    130,
    46,
    330,
)  # pixels of a chart of differences: around the bars, of a query, and at least


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
    """Show how many training runs of each query and method are finished, and the values so far."""
    st.markdown(as_markdown(experiment_tables.progress_table(findings.results)))
    st.caption(
        "Trainings of the folds by method and query. A value comes when all settings of a method have all folds of a "
        "query; tests come last, each by one more training on all training samples."
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
    results, rows = findings.results, cache.differences(run)
    table = signed_validation_table(results, rows)
    st.markdown(f"### {escaped(table.title)}")
    st.markdown(as_markdown(table))
    st.caption(f"**Notice** {escaped(notice_best(results, False))} {escaped(table.note)}")
    if findings.plan.tested:
        table = signed_test_table(results, rows)
        st.markdown(f"### {escaped(table.title)}")
        st.markdown(as_markdown(table))
        st.caption(
            f"**Notice** {escaped(notice_best(results, True))} Trained on all training samples at the setting that the "
            f"folds chose; no test sample chose anything. {escaped(table.note)}"
        )


# ---------------------------------------------------------------------------------------------------------
# Differences
# ---------------------------------------------------------------------------------------------------------


def show_differences(run: Run, findings: Findings) -> None:
    """Show the difference of two methods by query, as on the project page of the paper."""
    names = {f"{left} − {right}": (left, right) for left, right in pairs_of(findings.results)}
    bound = address.bound(keys.DIFFERENCE, address.one_of(list(names)), next(iter(names)))
    place = frame.picture("difference")
    pair = place.selectbox("What one method gains over another", list(names), **bound)
    left, right = names[pair]
    apart = cache.differences(run)
    rows = [row for row in apart if (row.left, row.right) == (left, right)]
    measure, look = findings.results.protocol.measure, line_styles_of(findings.results.compared_methods)[left]
    figure = experiment_charts.difference_bars(rows, look, measure, experiment_charts.reach_of(apart))
    alt, height = experiment_charts.bars_in_words(rows, measure), max(LOWEST, HEAD + BAR * len(rows))
    with place:
        charts.show(
            go.Figure(figure), keys.widget(f"difference {run.id} {pair}"), alt, "difference", height, top=8
        )
    sure = [row for row in rows if row.folds is not None and row.folds.t < SIGNIFICANT]
    held = [row for row in sure if row.folds is not None and row.folds.holm < SIGNIFICANT]
    on = ", ".join(row.query for row in sure) or "none"
    st.caption(
        "**Notice** on which queries both bars go the same way. The paired t-test over folds finds more than chance "
        f"(p < {SIGNIFICANT:g}) on {len(sure)} of {len(rows)}: {escaped(on)}; {len(held)} of them with Holm's "
        "correction for all comparisons of this experiment. Folds share training samples, so it finds too much rather "
        f"than too little. {escaped(without_interval_words(rows))}"
    )


# ---------------------------------------------------------------------------------------------------------
# Settings and time
# ---------------------------------------------------------------------------------------------------------


def show_settings(findings: Findings, query: str) -> None:
    """Show the chosen settings, the seconds of training, and the measure along the grid for one query."""
    st.markdown("### Settings and time")
    table = chosen_table(findings.results)
    st.markdown(as_markdown(table))
    st.caption(
        f"Chosen by the mean over the folds; of equal ones the smallest C, then the smallest η. {table.note}"
    )
    curves, measure = findings.curves(query), findings.results.protocol.measure
    figure = experiment_charts.grid_lines(curves, line_styles_of(findings.results.compared_methods), measure)
    if figure is not None:
        alt = experiment_charts.lines_in_words(curves, measure)
        charts.show(go.Figure(figure), keys.widget(f"curves {query}"), alt, "settings", height=380, top=8)
        thin = "; thin lines have other values of η" if any(not chosen for _, chosen in curves) else ""
        st.caption(
            f"On “{escaped(query)}”, mean over the folds; a thick line goes through the chosen setting{thin}. "
            "**Notice** where each is highest, and how much is lost one step beside it."
        )
    st.markdown(as_markdown(experiment_tables.all_of_them(findings.results)))
    st.caption(
        "Seconds of training, all settings and folds and the test. Trainings ran beside each other. "
        f"{escaped(seconds_table(findings.results).note)}"
    )


# ---------------------------------------------------------------------------------------------------------
# Galleries
# ---------------------------------------------------------------------------------------------------------


def choose_query(findings: Findings) -> str:
    """Choose the query whose images and settings are shown."""
    st.markdown("### What is ranked first")
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
        places = int(st.selectbox("Pictures", PLACES, **bound))
    with in_place(), home.or_gone():
        ranked = findings.rankings(query, fold)
        if not ranked:
            st.caption("No method has a ranking of these samples yet.")
        for name, ranking in ranked.items():
            texts = [value_words(ranking), *([first_wrong(ranking)] if ranking.positives else [])]
            st.markdown(f"**{escaped(name)}** · {' · '.join(texts)}")
            shown_places = range(min(places, len(ranking)))
            place = first_mistake(ranking.relevance)
            pictures = tiles.ranked_tiles(findings.images, ranking, shown_places)
            flags = (
                {} if place is None or place > len(pictures) else {pictures[place - 1].id: "first mistake"}
            )
            label = f"{query}, {split_words(fold)}, first {len(pictures)} by {name}"
            strip(pictures, name=f"gallery {name}", label=label, columns=8, narrow=4, flags=flags)
    st.caption(
        "Rank and score below each picture; a dashed border and ✗ mark what is wrong. **Notice** how early the first "
        "mistake comes, and whether samples of one image come in a row where neighbours count."
    )
    tiles.explain_cards(findings.images)
    with st.expander("All galleries", icon=":material/photo_library:"):
        st.markdown(gallery_links(findings))
        st.caption("Each is a link to its own view; its number is the best AP that a method has there.")


def gallery_links(findings: Findings) -> str:
    """Return a row per query with a link for each fold and the test."""
    here = address.changed()
    lines = [
        ["", *(split_words(fold) for fold in findings.splits)],
        ["---", *("---:" for _ in findings.splits)],
    ]
    for query in findings.results.queries:
        cells = []
        for fold in findings.splits:
            best = _best(findings, query, fold)
            link = urlencode({**here, keys.GALLERY: query, keys.GALLERY_SPLIT: split_words(fold)})
            cells.append(shown(None) if best is None else f"[{best:.3f}](?{link})")
        lines.append([escaped(query), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _best(findings: Findings, query: str, fold: int | None) -> float | None:
    """Return the best AP of a method on the held-out samples; None where there is none."""
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
    """Offer the report, the trials, the tables and the protocol; each is made when its button is pressed."""
    st.markdown("### To take along")
    with in_place():
        pictures = cache.thumbnails(findings.images.key)
        results, name, apart = findings.results, run.name, cache.differences(run)
        with st.container(horizontal=True):
            for label, make, file in (
                (
                    "Report (HTML)",
                    lambda: report_html(findings, apart, pictures, name),
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
        "The report is one file with all tables, charts and pictures, which needs no network and prints well. The "
        "protocol starts the same experiment again, here below or with *python -m ranking experiment*."
    )
