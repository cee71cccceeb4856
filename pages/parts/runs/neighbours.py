"""What both views of neighbours share: the model of a training run on all samples, and what it did in words."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, home, keys
from pages.parts.app.colours import RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.tile import Tile
from pages.parts.runs import certificate, choices, training_runs
from ranking.core import ImageSet, Ints
from ranking.explain.neighbourhood import Neighbourhood
from ranking.features import load_features
from ranking.inference import bounds_of
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import Run


def choose() -> tuple[Run, ImageSet, Neighbourhood, str]:
    """The training that a page about neighbours shows, its image set, what neighbours did in it, and the split."""
    wide, narrow = st.columns([5, 2], gap="medium")
    with wide:
        run = choices.training(with_neighbours=True)
    images = cache.image_set(run.settings["set"])
    with narrow:
        split = choices.split(images)
    return run, images, of(run, images), split


def of(run: Run, images: ImageSet) -> Neighbourhood:
    """What neighbours did in a training; where its features are not kept here, a button that computes them."""
    try:
        return cache.neighbourhood(run)
    except cache.NoFeatures:
        offer_features(run, images)


def offer_features(run: Run, images: ImageSet) -> NoReturn:
    """A button that computes the features of a run whose features are not kept here. Ends the page."""

    def compute() -> None:
        bar = st.progress(0.0)

        def on_progress(what: str, done: int, total: int) -> None:
            bar.progress(done / max(1, total), f"{what}: {done:,} of {total:,} images")

        with home.or_gone():
            load_features(images, run.settings["features"], home.store().features, on_progress)

    training_runs.train_first(
        "The features of this training run are not kept here: it was trained elsewhere, or they were removed.",
        "Compute them once more",
        compute,
        "",
        "compute features",
    )


def show_measures(model: Neighbourhood, test: bool) -> None:
    """Average precision with the edges off and on, and how many relevant samples moved."""
    ranked, alone = model.ranking(test), model.ranking(test, alone=True)
    if not ranked.positives:
        return
    on, off = ranked.average_precision, alone.average_precision
    rise = model.rise[(model.test == test) & model.relevant]
    with st.container(horizontal=True, gap="large"):
        st.metric("AP, edges off", f"{off:.3f}", help=EDGES_OFF, width="content")
        st.metric("AP with neighbours", f"{on:.3f}", width="content")
        st.metric("Difference", f"{on - off:+.3f}", width="content")
        st.metric("Relevant that rose", f"{(rise > 0).sum()} of {len(rise)}", width="content")
        st.metric("that fell", f"{(rise < 0).sum()}", width="content")
    bounds = bounds_of(model.marginals)
    if bounds.large:
        st.warning(
            f"**Approximate.** {certificate.in_words(bounds)} The labellings that are shown are the best known.",
            icon=":material/warning:",
        )
    if not model.penalty.any():
        st.info(
            "All penalties are 0: "
            + ("training found no use for its pairs" if len(model.penalty) else "no samples are paired here")
            + ", so every sample is ranked by its own features alone."
        )


EDGES_OFF = (
    "The same weights with all pairs left out: every sample is ranked by its own unary score alone. A method that "
    "was trained without pairs would have learnt other weights."
)

LOWERED_BUT_RISES = "that neighbours lower this score: it rises since those whom it passes lose more"
RAISED_BUT_FALLS = "that neighbours raise this score: it falls since those who pass it gain more"
MODEL_ERRS = "the model believes that neighbours share it, and here it errs"
SAME_LABEL_HURTS = (
    "those of the same label hurt too where they are misjudged themselves, "
    "or where others have fewer pairs to pay for"
)


def moved(model: Neighbourhood, row: int) -> str:
    """What its neighbours did to a sample, as a sentence."""
    before, after = int(model.alone[row]), int(model.rank[row])
    if before == after:
        return f"its neighbours left it at rank {after:,}"
    return f"its neighbours moved it from rank {before:,} to rank {after:,}"


def steps_of(places: int) -> str:
    """A move by so many places, upwards positive.

    >>> steps_of(25), steps_of(-3), steps_of(0)
    ('▲ 25', '▼ 3', '=')
    """
    return f"{'▲' if places > 0 else '▼'} {abs(places):,}" if places else "="


def most_moved(model: Neighbourhood, test: bool, most: int, hurt: bool = False) -> Ints:
    """At most `most` samples of a split that neighbours helped, or hurt, the most helped or hurt first.

    Those without neighbours of their own, whom others merely passed, are left out.
    """
    connected = model.components.sizes[model.component_of] > 1
    rows = np.flatnonzero((model.test == test) & connected)
    helped = -model.helped[rows] if hurt else model.helped[rows]
    order = np.lexsort((-np.abs(model.rise[rows]), -helped))  # of equal ones that which moved further first
    chosen: Ints = rows[order[helped[order] > 0][:most]]
    return chosen


def what_moved(model: Neighbourhood, row: int) -> str:
    """What to notice about the bars of a sample: ranks compare, so it may rise though its score sinks."""
    change, rise = float(model.score[row] - model.unary[row]), int(model.rise[row])
    if change < 0 < rise:
        return LOWERED_BUT_RISES
    if rise < 0 < change:
        return RAISED_BUT_FALLS
    return "which of the other bars moved it"


def crossing(labelled: int, samples: int) -> str:
    """Where the two curves cross if the best labelling calls so many of the samples relevant.

    >>> crossing(0, 9)
    ': m⁻ everywhere, as the best labelling calls no sample ✓'
    """
    if 0 < labelled < samples:
        called = "1 sample" if labelled == 1 else f"{labelled:,} samples"
        return f"; they cross after rank {labelled:,}: the best labelling calls {called} {RELEVANT_GLYPH}"
    curve, called = ("m⁺", "every") if labelled else ("m⁻", "no")
    return f": {curve} everywhere, as the best labelling calls {called} sample {RELEVANT_GLYPH}"


def why_hurt(model: Neighbourhood, rows: Ints) -> str:
    """What to notice about the neighbours of samples that they hurt: how many have the other label."""
    first, second = model.components.edges.T
    ends, others = np.append(first, second), np.append(second, first)
    theirs = np.isin(ends, rows)
    differing = int(np.count_nonzero(model.relevant[ends[theirs]] != model.relevant[others[theirs]]))
    count = int(theirs.sum())
    why = MODEL_ERRS if 2 * differing > count else SAME_LABEL_HURTS
    return f"**Notice** how many pairs join them to the other label, {differing:,} of {count:,}: {why}."


def moved_tiles(images: ImageSet, model: Neighbourhood, rows: Ints) -> list[Tile]:
    """A tile a sample: its rank, and by how many ranks its neighbours moved it."""
    return [
        replace(
            tile,
            alt=f"{in_words(images, model, row)}; {moved(model, row)}",
            left=f"{model.rank[row]}",
            right=steps_of(int(model.rise[row])),
            card=(
                ("rank", f"{model.rank[row]:,}; {model.alone[row]:,} with edges off"),
                ("score", f"{model.score[row]:+#.4g}"),
                ("unary score", f"{model.unary[row]:+#.4g}"),
                ("shows", tiles.shows(images, row)),
                ("image", tiles.image_name(images, row)),
            ),
        )
        for row, tile in zip(rows.tolist(), tiles.labelled_tiles(images, rows, model.relevant), strict=True)
    ]


def in_words(images: ImageSet, model: Neighbourhood, row: int) -> str:
    """A sample in words: rank, relevance, what it shows."""
    return f"rank {model.rank[row]}, {tiles.judged(model.relevant[row])}, shows {tiles.shows(images, row)}"


def jump_buttons(images: ImageSet, model: Neighbourhood, test: bool) -> None:
    """To the samples that neighbours helped most and hurt most."""
    for label, hurt in (("Helped most", False), ("Hurt most", True)):
        rows, key = most_moved(model, test, 1, hurt), keys.widget(f"go to {label}")
        if not len(rows):
            st.button(f"{label}: no sample", key=key, disabled=True)
            continue
        row = int(rows[0])
        ranks = f"{tiles.glyph(model.relevant[row])} rank {model.alone[row]:,} → {model.rank[row]:,}"
        st.button(
            f"{label}: {ranks}",
            key=key,
            on_click=address.put,
            kwargs={keys.SAMPLE: str(images.ids[row])},
        )


def show_selected(images: ImageSet, model: Neighbourhood, row: int) -> None:
    """The selected sample in a line: what it shows, and what its neighbours did to it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        shown = tiles.shows(images, row)
        st.image(cache.thumbnails(images.key).crop(row), width=44, alt=f"The selected sample: {shown}")
        glyph = tiles.glyph(model.relevant[row])
        st.markdown(f"#### {glyph} {escaped(shown)}: {moved(model, row)}")


def where(images: ImageSet, model: Neighbourhood, ranked: Ranking) -> choices.Shown:
    """What is shown of a ranking; where no sample is selected, the one that neighbours helped most is."""
    first = most_moved(model, bool(model.test[ranked.samples[0]]), 1)
    return choices.where(images, ranked, int(model.rank[first[0]]) - 1 if len(first) else 0)
