"""Ranked images: what a training has made of the samples, the best score first."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts import address, cache, charts, export, frame, grid, keys, measures, runs, sets, tiles
from pages.parts.cache import Ranking
from pages.parts.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.frame import escaped
from pages.parts.picture import picture
from ranking.store import ENDED, Run
from ranking.types import ImageSet

DEFAULT_K = 10


def steps() -> None:
    wide, narrow, slider = st.columns([5, 2, 4], gap="medium")
    with wide:
        run = choose_run()
    images = cache.image_set(run.settings["set"])
    with narrow:
        split, ranked = choose_split(run, images)
    with slider:
        k = choose_k(ranked)
    measures.show(ranked, k)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        place = show_grid(images, ranked, split, k)
    with right:
        show_selected(run, images, ranked, place)
        show_curve(ranked, k)
    take_along(run, images, ranked, split)


def choose_run() -> Run:
    """The training of the address, or the newest that left scores."""
    sets.await_bundled()
    run = runs.chosen()
    scored = runs.with_scores()
    if run is not None and run.state not in ENDED:
        frame.way_on("This training is still going on", "Watch it train", "train", run=run.id)
    if not scored:
        frame.way_on("Nothing is ranked yet: train a method first", "Train a method", "train")
    known = {one.id: one for one in scored}
    if run is not None and run.id not in known:
        address.complain(f"Training {run.id} has {run.state} and left no ranking. Showing another one.")
        address.amend(**{keys.RUN: None})
    bound = address.bound(keys.RUN, address.one_of(list(known)), scored[0].id)
    chosen = st.selectbox("Training", list(known), format_func=lambda key: runs.name_of(known[key]), **bound)
    if address.get(keys.RUN) is None:
        address.put(**{keys.RUN: chosen})  # also where it is only the newest: the link shall show it tomorrow
    return known[chosen]


def choose_split(run: Run, images: ImageSet) -> tuple[str, Ranking]:
    """Test or train, whichever has samples."""
    splits = [split for split in ("test", "train") if (images.test == (split == "test")).any()]
    bound = address.bound(keys.SPLIT, address.one_of(splits), splits[0])
    split = st.segmented_control("Split", splits, required=True, **bound)
    return split, cache.ranking(run, split)


def choose_k(ranked: Ranking) -> int:
    most = min(len(ranked), grid.PAGE_SIZE)
    if most == 1:
        return 1
    bound = address.bound(keys.K, address.number(int, 1, most), min(DEFAULT_K, most))
    return int(st.slider("k: how far down the ranking you look", 1, most, **bound))


def show_grid(images: ImageSet, ranked: Ranking, split: str, k: int) -> int:
    """One page of the ranking as thumbnails; the selected place, from 0: at first the first of the page."""
    pages = -(-len(ranked) // grid.PAGE_SIZE)
    page = address.read(keys.PAGE, address.number(int, 1, pages), 1)
    places = range((page - 1) * grid.PAGE_SIZE, min(page * grid.PAGE_SIZE, len(ranked)))
    place = address.read(keys.SAMPLE, lambda text: place_of(images, ranked, text), places[0])
    shown = tiles.ranked_tiles(images, ranked, places, k)
    label = f"Ranked {split} samples, best first"
    grid.image_grid(shown, name=keys.SAMPLE, selected=id_of(images, ranked, place), label=label)
    with st.container(horizontal=True, vertical_alignment="center"):
        address.pager(keys.PAGE, pages)
        offer_first_irrelevant(images, ranked)
    st.caption(
        f"Best score first. {RELEVANT_GLYPH} and a whole border: relevant. {IRRELEVANT_GLYPH} and a broken "
        "border: not relevant. **Notice** the first broken border: everything before it is right. "
        "Click a picture, or walk with the arrow keys and press Enter."
    )
    return place


def offer_first_irrelevant(images: ImageSet, ranked: Ranking) -> None:
    """A button to where the ranking goes wrong for the first time; nothing where it never does."""
    wrong = np.flatnonzero(ranked.relevance == 0)
    if len(wrong):
        first = int(wrong[0])
        page = first // grid.PAGE_SIZE + 1
        st.button(
            f"First {IRRELEVANT_GLYPH}, at rank {first + 1:,}",
            key=keys.widget("first irrelevant"),
            on_click=go_to,
            args=(page, id_of(images, ranked, first)),
        )


def go_to(page: int, sample: str) -> None:
    address.put(**{keys.PAGE: None if page == 1 else str(page)})
    address.put(**{keys.SAMPLE: sample})


def show_selected(run: Run, images: ImageSet, ranked: Ranking, place: int) -> None:
    """The selected sample, large, in its whole image."""
    row = int(ranked.samples[place])
    image = int(images.image_of[row])
    relevant = bool(ranked.relevance[place])
    glyph = f"{RELEVANT_GLYPH} relevant" if relevant else f"{IRRELEVANT_GLYPH} not relevant"
    st.markdown(f"#### Rank {place + 1} · {glyph} · score {ranked.scores[place]:+.4g}")
    name, query = str(images.image_names[image]), run.settings["query"]
    width, height = (int(side) for side in images.image_sizes[image])
    shown = ", ".join(tiles.classes_of(images, row)) or "no class"
    crop, whole = st.columns([1, 3]) if is_part(images, row) else (None, st.container())
    if crop is not None:
        crop.image(cache.thumbnails(images.key).crop(row), width="content", alt=f"The sample alone: {shown}")
    with whole:
        picture(
            cache.whole_image(images.key, image),
            (width, height),
            tiles.relevance_boxes(images, query, row),
            alt=f"Image {name} with the box of the selected sample, which shows {shown}",
            key=keys.widget("selected image"),
        )
    st.caption(
        f"Image {escaped(name)}, {width} × {height} pixels; the thick box shows {escaped(shown)}. **Notice** "
        f"whether it looks like “{escaped(query)}” to you, and what the method may have seen instead."
    )


def is_part(images: ImageSet, row: int) -> bool:
    """Whether a sample is so small a part of its image that it needs to be shown alone too."""
    left, top, right, bottom = (int(edge) for edge in images.boxes[row])
    width, height = (int(side) for side in images.image_sizes[images.image_of[row]])
    return (right - left) * (bottom - top) < 0.5 * width * height


def id_of(images: ImageSet, ranked: Ranking, place: int) -> str:
    return str(images.ids[ranked.samples[place]])


def place_of(images: ImageSet, ranked: Ranking, sample: str) -> int:
    """The place, from 0, of the sample with that id."""
    places = np.flatnonzero(images.ids[ranked.samples] == sample)
    if not len(places):
        raise ValueError("expected the id of a sample of this split")
    return int(places[0])


def show_curve(ranked: Ranking, k: int) -> None:
    if not ranked.positives:
        return
    charts.precision_recall(*ranked.curve, k, keys.widget("precision-recall curve"))
    st.caption(
        "Precision and recall of every place to stop in the ranking; the diamond is the chosen k, AP the area "
        "below. **Notice** where the curve leaves the top: from there on, finding more costs wrong images."
    )


def take_along(run: Run, images: ImageSet, ranked: Ranking, split: str) -> None:
    """Downloads, made when they are asked for. The charts have their own camera button."""
    name = f"ranking-{run.id}-{split}"
    title = f"{runs.short_name(run)}, {split}"
    with st.container(horizontal=True):
        st.download_button(
            "Ranking as CSV",
            lambda: export.csv_text(images, ranked),
            f"{name}.csv",
            "text/csv",
            icon=":material/table_view:",
            on_click="ignore",
        )
        st.download_button(
            "Contact sheet as PNG",
            lambda: export.contact_sheet(cache.thumbnails(images.key), ranked, title),
            f"{name}.png",
            "image/png",
            icon=":material/grid_view:",
            on_click="ignore",
        )
        if st.button("Back to its training", icon=":material/show_chart:"):
            st.switch_page("pages/train.py", query_params=st.query_params.to_dict())


frame.show_page("ranked_images", "What the training has made of the images: the best score first.", steps)
