"""Ranked images: the samples sorted by the score of a training run, highest first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, downloads, frame, keys, menu
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.charts import measures, plots
from pages.parts.components import grid, selection, tiles
from pages.parts.rankings import choices, inference_scores, label_corrections, pulls, ranking_filter, weights
from pages.parts.training import export, runs
from ranking.core import ImageSet, Ints
from ranking.core.text import counted
from ranking.metrics.ranked import Ranking, first_irrelevant
from ranking.storage.run import Run

DEFAULT_K = 10
# highest-ranked irrelevant samples, and lowest-ranked relevant samples
MAX_SHOWN = 10
VIEWS = {"crop": "Crop", "whole": "Whole image"}


def steps() -> None:
    wide, narrow = st.columns([5, 2], gap="medium")
    with wide:
        run = choices.training()
    images = cache.image_set(run.settings["set"])
    with narrow:
        split = choices.split(images)
        ranked = cache.ranking(run, split)
    show_ranking(run, images, ranked, split)
    with frame.errors_in_place():
        show_errors(images, ranked, label_corrections.of_run(images, run))
    weights.show(run, images, ranked)
    offer_files(run, images, ranked, split)


@st.fragment
def show_ranking(run: Run, images: ImageSet, ranked: Ranking, split: str) -> None:
    """The part of the page that depends on k and on clicks: it runs again without the rest."""
    with frame.errors_in_place():
        with frame.picture("cutoff"):
            left, right = st.columns([2, 3], gap="large", vertical_alignment="bottom")
        with left:
            k = choose_k(ranked)
        with right:
            measures.show(ranked, k)
            label_corrections.say_labels(images, run)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            view, filtered = choose_view(images, ranked, k)
        shown = choices.where(images, ranked, among=filtered.places)
        # before the grid, whose own response to a click the browser has painted already
        with right:
            show_selected(run, images, ranked, shown.place)
            with frame.errors_in_place():
                chosen = selection.rows(images)
                rows = chosen if len(chosen) else ranked.samples[[shown.place]]
                label_corrections.offer(images, run.settings["query"], rows)
                if address.get(keys.SAMPLE) is not None:
                    pulls.show(run, images, ranked, shown.place)
            offer_pages(run, images, int(ranked.samples[shown.place]))
        corrected = label_corrections.of_run(images, run)
        with left, frame.picture("grid"):
            show_grid(images, ranked, split, k, shown, filtered, view, corrected)
        with right:
            selection.show(images, ranked, corrected)
            show_curve(ranked, k)
    menu.show_again()


def choose_k(ranked: Ranking) -> int:
    most = min(len(ranked), grid.PAGE_SIZE)
    if most == 1:
        return 1
    return controls.slider(
        "Cutoff k", keys.K, 1, most, min(DEFAULT_K, most), help="The number of samples from the top."
    )


def choose_view(images: ImageSet, ranked: Ranking, k: int) -> tuple[str, ranking_filter.Filtered]:
    """What a thumbnail shows (one of VIEWS) and which samples are shown."""
    # Between the two choices, a button leads to the first error.
    chosen = ranking_filter.choose_labels()
    with st.container(horizontal=True, vertical_alignment="center"):
        view = controls.segments(
            "What a thumbnail shows", keys.VIEW, VIEWS, "crop", label_visibility="collapsed"
        )
        offer_first_irrelevant(images, ranked)
        filtered = ranking_filter.choose_scores(ranked, k, chosen)
    return view, filtered


def show_grid(
    images: ImageSet,
    ranked: Ranking,
    split: str,
    k: int,
    shown: choices.Shown,
    filtered: ranking_filter.Filtered,
    view: str,
    corrected: Mapping[str, bool],
) -> None:
    """One page of the filtered ranking as thumbnails, with a line below the top k."""
    if not len(filtered.places):
        show_none(ranked, split, filtered.words)
        return
    grid.image_grid(
        tiles.ranked_tiles(images, ranked, shown.places.tolist(), view == "whole", corrected),
        selected=choices.id_of(images, ranked, shown.place),
        label=f"Ranked {split} samples, best first",
        several=True,
    )
    top = filtered.places[filtered.places < k]
    grid.draw_line(keys.SAMPLE, choices.id_of(images, ranked, int(top[-1])) if len(top) else "", f"k = {k}")
    controls.pages(keys.PAGE, shown.pages, shown.here)
    st.caption(filter_in_words(ranked, filtered, shown.place) + notice(ranked, filtered, corrected))
    tiles.explain_cards(images)


def show_none(ranked: Ranking, split: str, words: str) -> None:
    """Report that no sample passes the filter, with a button that shows all samples."""
    st.info(
        f"None of the {counted(len(ranked), f'{split} sample')} is shown: there are no {words}.",
        icon=":material/info:",
    )
    st.button(
        "Show all samples",
        key=keys.widget("show all"),
        on_click=lambda: address.put(**ranking_filter.show_all()),
    )


def filter_in_words(ranked: Ranking, filtered: ranking_filter.Filtered, place: int) -> str:
    """How many samples are shown, and whether the selected one is among them; "" without a filter."""
    if not filtered.words:
        return ""
    count = f"**{len(filtered.places):,} of {counted(len(ranked), 'sample')}**"
    shown = f"{count}: {filtered.words}, with ranks from the whole ranking. "
    if place in filtered.places:
        return shown
    return f"{shown}The selected sample, at rank {place + 1:,}, is not among them. "


def notice(ranked: Ranking, filtered: ranking_filter.Filtered, corrected: Mapping[str, bool]) -> str:
    """What to notice in the grid, and the meaning of the mark for corrected labels if there are any."""
    mark = f"✎ {RELEVANT_GLYPH} or ✎ {IRRELEVANT_GLYPH}: the corrected label. " if corrected else ""
    if filtered.words:
        return mark
    return f"{mark}**Notice** the first dashed border: everything above it is relevant. "


def offer_first_irrelevant(images: ImageSet, ranked: Ranking) -> None:
    """A button that selects the first error of the ranking; nothing if there is no error."""
    first = first_irrelevant(ranked.relevance)
    if first is not None:
        st.button(
            f"First {IRRELEVANT_GLYPH}, at rank {first:,}",
            key=keys.widget("first irrelevant"),
            on_click=lambda: address.put(
                **{keys.SAMPLE: choices.id_of(images, ranked, first - 1), **ranking_filter.show_all()}
            ),
        )


def show_selected(run: Run, images: ImageSet, ranked: Ranking, place: int) -> None:
    """The crop of the selected sample, and its whole image."""
    row = int(ranked.samples[place])
    image, relevant = int(images.image_of[row]), bool(ranked.relevance[place])
    st.markdown(
        f"#### Rank {place + 1} · {tiles.glyph(relevant)} {tiles.judged(relevant)} · score "
        f"{ranked.scores[place]:+.4g}"
    )
    name, query, shown = tiles.image_name(images, row), run.settings["query"], tiles.shows(images, row)
    crop, whole = st.columns([1, 3]) if is_part(images, row) else (None, st.container())
    if crop is not None:
        crop.image(
            cache.thumbnails(images.key).crop(row), width="content", alt=f"Crop of the sample: {shown}"
        )
    with whole, frame.errors_in_place():
        tiles.show_image(
            images,
            image,
            tiles.relevance_boxes(images, query, row, run.corrections),
            f"Image {name} with the box of the selected sample ({shown})",
            "selected image",
        )
    width, height = images.image_sizes[image].tolist()
    st.caption(f"Image {escaped(name)}, {width} × {height} pixels, shows {escaped(shown)}.")


def offer_pages(run: Run, images: ImageSet, row: int) -> None:
    """Links to the pages that show the selected sample's neighbours, or use the run's scores."""
    if runs.uses_graph(run):
        st.page_link(
            "pages/neighbours.py",
            label="Effect of its neighbours",
            icon=":material/hub:",
            query_params=address.changed(**{keys.SAMPLE: str(images.ids[row])}),
        )
    if (link := inference_scores.address_of(run)) is not None:
        st.page_link(
            "pages/most_violated_ranking.py",
            label="Most violated ranking for these scores",
            icon=":material/priority_high:",
            query_params=address.changed(**link),
        )


def is_part(images: ImageSet, row: int) -> bool:
    """Whether a sample covers less than half of its image, so that its crop is shown too."""
    left, top, right, bottom = images.boxes[row].tolist()
    width, height = images.image_sizes[images.image_of[row]].tolist()
    return (right - left) * (bottom - top) < 0.5 * width * height


def show_curve(ranked: Ranking, k: int) -> None:
    if not ranked.positives:
        return
    plots.precision_recall(*ranked.curve, k, keys.widget("precision-recall curve"))
    st.caption(
        "Precision and recall at every cutoff. The diamond marks the chosen k; AP is the area under the curve."
    )


def show_errors(images: ImageSet, ranked: Ranking, corrected: Mapping[str, bool]) -> None:
    """The highest-ranked irrelevant samples and the lowest-ranked relevant samples."""
    # Only irrelevant samples above a relevant one, and relevant samples below an irrelevant one: none if all
    # relevant samples are ranked first.
    relevant, irrelevant = np.flatnonzero(ranked.relevance), np.flatnonzero(ranked.relevance == 0)
    first = irrelevant[irrelevant < relevant.max(initial=0)][:MAX_SHOWN]
    last = relevant[relevant > irrelevant.min(initial=len(ranked.relevance))][-MAX_SHOWN:][::-1]
    none = "All relevant samples of this split rank above all irrelevant ones."
    if not len(relevant) or not len(irrelevant):
        none = f"No sample of this split is {'relevant' if len(irrelevant) else 'irrelevant'}."
    left, right = st.columns(2, gap="medium")
    with left:
        show_few(images, ranked, corrected, first, "Highest-ranked irrelevant samples", none)
        if len(first):
            st.caption(
                f"The first {IRRELEVANT_GLYPH} from the top: what do they share with the relevant samples?"
            )
    with right:
        show_few(images, ranked, corrected, last, "Lowest-ranked relevant samples", none)
        if len(last):
            st.caption(f"The last {RELEVANT_GLYPH}, lowest first: an unusual view, an occlusion, a tiny box?")


def show_few(
    images: ImageSet,
    ranked: Ranking,
    corrected: Mapping[str, bool],
    places: Ints,
    name: str,
    otherwise: str,
) -> None:
    """The samples at `places` as thumbnails below a heading; a click selects the sample on all pages."""
    st.subheader(name, anchor=False)
    if len(places):
        shown = tiles.ranked_tiles(images, ranked, places.tolist(), corrected=corrected)
        grid.image_grid(shown, label=name, kind="row", key=name)
    else:
        st.caption(otherwise)


def offer_files(run: Run, images: ImageSet, ranked: Ranking, split: str) -> None:
    """Downloads, which are created on a click."""
    # The charts have their own camera button.
    name, title = f"ranking-{run.id}-{split}", export.title_of(run, images, ranked, split)
    with st.container(horizontal=True):
        downloads.offer("Ranking as CSV", lambda: export.csv_text(images, {split: ranked}), f"{name}.csv")
        label_corrections.offer_file(images)
        with frame.errors_in_place():
            export.offer_contact_sheet(
                "Contact sheet as PNG", cache.thumbnails(images.key), ranked, title, f"{name}.png"
            )
        if st.button("Compare with others", icon=":material/compare_arrows:"):
            st.switch_page("pages/compare.py", query_params=address.changed(**{keys.COMPARED: None}))
        if st.button("Back to the training run", icon=":material/show_chart:"):
            st.switch_page("pages/train.py", query_params=st.query_params.to_dict())


frame.show_page("ranked_images", "Samples sorted by score, highest first, with their errors.", steps)
