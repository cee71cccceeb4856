"""Compare: up to four rankings of the same images below each other, and how sure one is of which is better."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import address, cache, figures_file, frame, keys, rooms, selection
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.picture import picture
from pages.parts.components.rows import Row, rows
from pages.parts.runs import choices, compared_measures, compared_runs, compared_two, comparison_export
from pages.parts.runs.compared_shown import Shown
from pages.parts.views import method_looks
from ranking.metrics.ranked import first_mistake
from ranking.reports import comparison_charts, comparison_file, comparison_files, comparison_words
from ranking.reports.comparison import comparison_html
from ranking.workspace.run import SAMPLES

FEWEST, FIRST_TOP = 4, 10  # places that are shown
FOLLOWED = {"one": "The selected one", "all": "All shown"}


def steps() -> None:
    chosen, beside = compared_runs.choose()
    images = cache.image_set(chosen[0].settings["set"])
    with beside:
        split = choices.split(images)
    compared = cache.comparison(chosen, split)
    if not compared.relevance.any():
        st.info(
            "No sample of this split is relevant to the query, so nothing tells a good ranking from a bad one. Choose "
            "the other split.",
            icon=":material/info:",
        )
        frame.end_page()
    titles, looks = compared_runs.titles(chosen), method_looks.of_runs(chosen)
    shown = Shown(
        chosen,
        [titles[run.id] for run in chosen],
        images,
        split,
        compared,
        cache.redrawn(chosen, split),
        [looks[run.id] for run in chosen],
    )
    look(shown)


@st.fragment
def look(shown: Shown) -> None:
    """All that answers to a click, without the choice of trainings running again."""
    with frame.in_place():
        st.markdown(f"## {escaped(comparison_words.verdict(shown.names, shown.found))}")
        sample = selected(shown)
        top = show_rows(shown, sample)
        show_selected(shown, sample)
        curves = go.Figure(comparison_charts.curves(shown.compared, shown.names, shown.looks))
        compared_measures.show(shown, curves, top)
        compared_two.show(shown, sample)
        take_along(shown, curves, sample, top)
    frame.show_menu()


def selected(shown: Shown) -> int:
    """The number of the selected sample; at first the first mistake of the first ranking that makes one."""
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
# All rankings below each other
# ---------------------------------------------------------------------------------------------------------


def show_rows(shown: Shown, sample: int) -> int:
    """The first places of each ranking, with what to notice and how many to show below them; returns that number."""
    most_shown = min(cache.MOST_PLACES, len(shown.compared.samples))
    parse, usual = address.number(int, min(FEWEST, most_shown), most_shown), min(FIRST_TOP, most_shown)
    top = int(address.read(keys.TOP, parse, usual))
    follow = address.read(keys.FOLLOW, address.one_of(list(FOLLOWED)), "one")
    listed = []
    for number, ranked in enumerate(shown.compared.rankings):
        first, place = first_mistake(ranked.relevance), int(shown.compared.ranks[number, sample])
        places = [*range(top), *([place - 1] if place > top else [])]
        made = tiles.ranked_tiles(shown.images, ranked, places)
        flagged = None if first is None or first > top else first - 1
        beyond = made[top] if place > top else None
        listed.append(
            Row(shown.names[number], shown.notes_of(number), shown.looks[number], made[:top], flagged, beyond)
        )
    rows(
        listed,
        name=keys.SAMPLE,
        selected=shown.ids[sample],
        follow_all=follow == "all",
        label=f"The first {top} {shown.split} samples as {comparison_words.listed(shown.names)} rank them",
    )
    left, right = st.columns([2, 3], gap="large")
    with left, st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if most_shown > FEWEST:
            bound = address.bound(keys.TOP, parse, usual)
            st.slider("First places", FEWEST, most_shown, width=180, **bound)
        bound = address.bound(keys.FOLLOW, address.one_of(list(FOLLOWED)), "one")
        st.segmented_control(
            "Lines follow", list(FOLLOWED), format_func=FOLLOWED.__getitem__, required=True, **bound
        )
    with right:
        st.caption(
            f"{comparison_words.of_rows(shown.names, shown.compared)} {RELEVANT_GLYPH} and a whole border: relevant; "
            f"{IRRELEVANT_GLYPH} and a broken one: not. Click a picture, or walk with the arrow keys and press Enter: "
            "a line follows it from row to row; where it is further down, it stands after the dots."
        )
    return top


def show_selected(shown: Shown, sample: int) -> None:
    """The selected sample in its whole image, and where it stands in each ranking."""
    images, row = shown.images, int(shown.compared.samples[sample])
    image, says = int(images.image_of[row]), tiles.shows(images, row)
    relevant = bool(shown.compared.relevance[sample])
    name = str(images.image_names[image])
    width, height = (int(side) for side in images.image_sizes[image])
    left, right = st.columns([1, 2], gap="medium")
    with left, frame.in_place():
        picture(
            cache.whole_image(images.key, image),
            (width, height),
            tiles.relevance_boxes(images, shown.query, row),
            alt=f"Image {name} with the box of the selected sample, which shows {says}",
            key=keys.widget("selected image"),
        )
    with right:
        glyph = f"{RELEVANT_GLYPH} relevant" if relevant else f"{IRRELEVANT_GLYPH} not relevant"
        st.markdown(f"#### The selected sample: {glyph}, shows {escaped(says)}")
        st.markdown(f"Ranks: {comparison_words.of_places(shown.names, shown.compared, sample)}")
        best = "top" if relevant else "end"
        st.caption(
            f"Image {escaped(name)}; of {len(shown.compared.samples):,} {shown.split} samples, best rank first. "
            f"**Notice** which method brings it nearest to the {best}, where it belongs. What does that method go by "
            "that the others do not: the order of all samples (AP-SVM, HOAP-SVM), or who else is in the image "
            "(HOB-SVM, HOAP-SVM)?"
        )


# ---------------------------------------------------------------------------------------------------------
# To take along
# ---------------------------------------------------------------------------------------------------------


def take_along(shown: Shown, curves: go.Figure, sample: int, top: int) -> None:
    """Downloads, made when they are asked for."""
    name = f"comparison-{'-'.join(run.id for run in shown.runs)}-{shown.split}"
    thumbnails = cache.thumbnails(shown.images.key)
    notes = ["\n".join(shown.notes_of(number)) for number in range(len(shown.runs))]
    headline = f"“{shown.query}” on {shown.images.title}, {shown.split}"
    figures = [(curves, comparison_words.CURVES.replace("**", ""))]
    recipe = comparison_file.recipe(cache.store(), shown)
    files = {
        "Report as HTML": (
            lambda: comparison_html(shown, thumbnails, recipe, top),
            "report.html",
            "text/html",
            ":material/article:",
        ),
        "Recipe as JSON": (lambda: recipe, "json", "application/json", ":material/receipt_long:"),
        "Rows as PNG": (
            lambda: comparison_export.picture(
                thumbnails, shown.compared, shown.names, notes, top, sample, headline
            ),
            "png",
            "image/png",
            ":material/image:",
        ),
        "Ranks as CSV": (
            lambda: comparison_files.ranks_csv(shown.images, shown.compared, shown.names),
            "csv",
            "text/csv",
            ":material/table_view:",
        ),
        "Measures as CSV": (
            lambda: comparison_files.measures_csv(
                shown.found, shown.names, comparison_files.measures_of(top)
            ),
            "measures.csv",
            "text/csv",
            ":material/table_view:",
        ),
        "Measures as LaTeX": (
            lambda: comparison_files.latex_table(shown, top),
            "tex",
            "text/plain",
            ":material/functions:",
        ),
    }
    with st.container(horizontal=True):
        for label, (make, ending, kind, icon) in files.items():
            st.download_button(
                label, rooms.kept(make), f"{name}.{ending}", kind, icon=icon, on_click="ignore"
            )
        figures_file.offer(headline, figures, f"{name}.html")
        same = cache.store().runs(set_key=shown.runs[0].settings["set"], task=SAMPLES)
        listed = [run for run in same if run.settings["query"] == shown.query and run.has_scores]
        compared_runs.offer_missing(listed, primary=False)
    st.caption(
        "The report is one file with all of this, which needs no network and prints well. The recipe makes the same "
        "comparison again: `python -m ranking comparison FILE.json`."
    )


frame.show_page(
    "compare", "Rankings of the same images below each other: who is right, and how sure is that?", steps
)
