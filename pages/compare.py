"""Compare rankings: two to four rankings of the same images, with confidence intervals."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import cache, controls, downloads, figures_file, frame, home, keys, menu
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.charts import plots, sheets
from pages.parts.comparison import compared_pair, compared_rankings, compared_runs
from pages.parts.comparison.rows import Row, rows
from pages.parts.components import selection, tiles
from pages.parts.rankings import choices
from pages.parts.studies.experiment_tables import as_markdown
from ranking.metrics.ranked import first_mistake
from ranking.reports import comparison_charts, comparison_files, comparison_words
from ranking.reports.compared import Compared
from ranking.reports.comparison import comparison_html
from ranking.reports.line_styles import LineStyle, of_methods
from ranking.reports.settings_words import names_of
from ranking.storage.run import SAMPLES

# ranks that are shown
FEWEST, FIRST_TOP = 4, 10
FOLLOWED = {"one": "Selected", "all": "All shown"}
FOLLOWING = (
    f"{RELEVANT_GLYPH} and a solid border: relevant; {IRRELEVANT_GLYPH} and a dashed border: irrelevant. Click "
    "a thumbnail, or move with the arrow keys and press Enter: a line connects it from row to row. A sample below the "
    "shown ranks is shown after the dots."
)


def steps() -> None:
    chosen, beside = compared_runs.choose()
    images = cache.image_set(chosen[0].settings["set"])
    with beside:
        split = choices.split(images)
    compared = compared_rankings.comparison(chosen, split)
    if not compared.relevance.any():
        st.info(
            "No sample in this split is relevant to the query, so rankings cannot be compared. Choose the other split.",
            icon=":material/info:",
        )
        frame.end_page()
    styles = of_methods({run.id: run.settings["method"] for run in chosen})
    shown = Compared(
        chosen, names_of(chosen), images, split, compared, compared_rankings.resampled(chosen, split)
    )
    show_comparison(shown, [styles[run.id] for run in chosen])


@st.fragment
def show_comparison(shown: Compared, styles: list[LineStyle]) -> None:
    """The part of the page that depends on clicks: it runs again without the choice of training runs."""
    with frame.errors_in_place():
        sample = selected(shown)
        with frame.picture("rows"):
            verdict = comparison_words.verdict(shown.names, shown.resampled)
            st.markdown(f"## {escaped(f'“{shown.query}”: {verdict}')}")
            if labels := comparison_words.of_labels(shown.names, shown.runs, shown.images):
                st.caption(escaped(labels))
            top = show_rows(shown, styles, sample)
        show_selected(shown, sample)
        curves = comparison_charts.curves(shown.compared, shown.names, styles)
        show_measures(shown, curves, top)
        compared_pair.show(shown, sample)
        offer_files(shown, curves, sample, top)
    menu.show_again()


def selected(shown: Compared) -> int:
    """The index of the selected sample; by default the first error of the first ranking that has one."""
    row = selection.row(shown.images)
    if row is not None:
        number = int(np.searchsorted(shown.compared.samples, row))
        if number < len(shown.compared.samples) and shown.compared.samples[number] == row:
            return number
    for ranked in shown.compared.rankings:
        if (first := first_mistake(ranked.relevance)) is not None:
            return int(np.searchsorted(shown.compared.samples, ranked.samples[first - 1]))
    return int(shown.compared.ranks[0].argmin())


# ---------------------------------------------------------------------------------------------------------
# Rows: one ranking below another
# ---------------------------------------------------------------------------------------------------------


def show_rows(shown: Compared, styles: list[LineStyle], sample: int) -> int:
    """The first ranks of each ranking; below, how many to show, which is returned, and what to notice."""
    most_shown = min(compared_rankings.MAX_PLACES, len(shown.compared.samples))
    place_of_rows = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        top = min(FIRST_TOP, most_shown)
        if most_shown > FEWEST:
            top = controls.slider("First ranks", keys.TOP, FEWEST, most_shown, top, width=180)
        follow = controls.segments(
            "Lines follow", keys.FOLLOW, FOLLOWED, "one", help=FOLLOWING, width="content"
        )
        st.caption(comparison_words.AS_TRAINED)
        tiles.explain_cards(shown.images)
    listed = []
    for number, ranked in enumerate(shown.compared.rankings):
        first, place = first_mistake(ranked.relevance), int(shown.compared.ranks[number, sample])
        made = tiles.ranked_tiles(shown.images, ranked, [*range(top), *([place - 1] if place > top else [])])
        flagged = None if first is None or first > top else first - 1
        beyond = made[top] if place > top else None
        listed.append(
            Row(shown.names[number], notes_of(shown, number), styles[number], made[:top], flagged, beyond)
        )
    with place_of_rows:
        rows(
            listed,
            name=keys.SAMPLE,
            selected=str(shown.images.ids[shown.compared.samples[sample]]),
            follow_all=follow == "all",
            label=f"The first {top} {shown.split} samples as {comparison_words.listed(shown.names)} rank them",
        )
    return top


def notes_of(shown: Compared, number: int) -> tuple[str, str]:
    """The texts beside a row: AP and the first error."""
    ranked = shown.compared.rankings[number]
    return f"AP {ranked.average_precision:.3f}", comparison_words.first_wrong(ranked)


def show_selected(shown: Compared, sample: int) -> None:
    """The selected sample in its whole image, and its rank in each ranking."""
    images, row = shown.images, int(shown.compared.samples[sample])
    name, shows = tiles.image_name(images, row), tiles.shows(images, row)
    relevant = bool(shown.compared.relevance[sample])
    left, right = st.columns([1, 2], gap="medium")
    with left, frame.errors_in_place():
        tiles.show_image(
            images,
            int(images.image_of[row]),
            tiles.relevance_boxes(images, shown.query, row),
            f"Image {name} with the box of the selected sample ({shows})",
            "selected image",
        )
    with right:
        glyph = f"{tiles.glyph(relevant)} {tiles.judged(relevant)}"
        st.markdown(f"#### Selected sample: {glyph}, shows {escaped(shows)}")
        st.markdown(f"Ranks: {comparison_words.of_places(shown.names, shown.compared, sample)}")
        st.caption(f"Image {escaped(name)}; {len(shown.compared.samples):,} {shown.split} samples.")


def show_measures(shown: Compared, curves: go.Figure, top: int) -> None:
    """The curves, and the table of AP, P@k for the `top` ranks that are shown, and NDCG."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        values = ", ".join(
            f"{name} {ranked.average_precision:.3f}"
            for name, ranked in zip(shown.names, shown.compared.rankings, strict=True)
        )
        key, alt = keys.widget("compared curves"), f"Precision-recall curves; AP: {values}"
        plots.show(curves, key, alt, "precision-recall", height=360 + 24 * len(shown.runs))
    table = comparison_files.measures_table(shown, top)
    with right:
        st.caption(comparison_words.CURVES)
        st.caption(escaped(table.note))
        st.caption(comparison_words.of_intervals(shown.compared, shown.resampled, shown.images, shown.split))
    # in the full width: the last column has the differences
    st.markdown(as_markdown(table))


# ---------------------------------------------------------------------------------------------------------
# Downloads
# ---------------------------------------------------------------------------------------------------------


def offer_files(shown: Compared, curves: go.Figure, sample: int, top: int) -> None:
    """Downloads, which are created on a click."""
    name = f"comparison-{'-'.join(run.id for run in shown.runs)}-{shown.split}"
    thumbnails = cache.thumbnails(shown.images.key)
    notes = ["\n".join(notes_of(shown, number)) for number in range(len(shown.runs))]
    headline = f"“{shown.query}” on {shown.images.title}, {shown.split}"
    measures = comparison_files.measures_of(top)
    files = {
        ("Report as HTML", "report.html"): lambda: comparison_html(shown, thumbnails, top),
        ("Rows as PNG", "png"): lambda: sheets.comparison_sheet(
            thumbnails, shown.compared, shown.names, notes, top, sample, headline
        ),
        ("Ranks as CSV", "csv"): lambda: comparison_files.ranks_csv(
            shown.images, shown.compared, shown.names
        ),
        ("Measures as CSV", "measures.csv"): lambda: comparison_files.measures_csv(
            shown.resampled, shown.names, measures
        ),
        ("Measures as LaTeX", "tex"): lambda: comparison_files.latex_table(shown, top),
    }
    with st.container(horizontal=True):
        for (label, ending), make in files.items():
            downloads.offer(label, make, f"{name}.{ending}")
        figures_file.offer(headline, [(curves, comparison_words.CURVES.replace("**", ""))], f"{name}.html")
        same = home.store().runs.all(set_key=shown.images.key, task=SAMPLES)
        listed = [run for run in same if run.settings["query"] == shown.query and run.has_scores]
        compared_runs.offer_missing(listed, primary=False)
    st.caption(
        "The report is a single HTML file that works offline and prints well. The LaTeX table uses the package "
        "booktabs."
    )


frame.show_page("compare", "Two to four rankings of the same images.", steps)
