"""The view of max-marginals: the two labellings behind a sample's score, and the parts of the score."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import controls, frame, keys
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.components import grid, tiles
from pages.parts.components.strip import strip
from pages.parts.neighbours import graph_models
from pages.parts.rankings import choices
from ranking.core import Bools, ImageSet, Ints
from ranking.explain.neighbourhood import Neighbourhood
from ranking.metrics.ranked import Ranking
from ranking.storage.run import Run

# samples helped most, and samples hurt most
MAX_MOVED = 5
NO_SAMPLE = "No sample in this split."
# samples that are shown of a component that spans several images
MAX_MEMBERS = 16


def show(
    run: Run, images: ImageSet, model: Neighbourhood, ranked: Ranking, shown: choices.Shown, split: str
) -> None:
    """The two labellings of the selected sample, the parts of its score, and the whole ranking."""
    row = int(ranked.samples[shown.place])
    wide, narrow = st.columns([3, 2], gap="large")
    with wide, frame.picture("labellings"):
        show_labellings(run, images, model, row)
    with narrow:
        show_parts(model, row)
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_grid(images, model, ranked, shown, split)
    with right:
        show_curves(model, ranked, shown.place)
    show_moved(images, model, split == "test")


def show_labellings(run: Run, images: ImageSet, model: Neighbourhood, row: int) -> None:
    turning = model.turning(row)
    best = bool(model.marginals.map[row])
    for column, label in zip(st.columns(2, gap="small"), (True, False), strict=True):
        labels = model.marginals.labelling(row, label)
        value = (model.marginals.positive if label else model.marginals.negative)[row]
        sign = "⁺" if label else "⁻"
        note = " · best labelling" if label == best else ""
        with column:
            st.markdown(f"**Y{sign}: it is {tiles.glyph(label)}** · m{sign} = {value:.5g}{note}")
            draw_labelling(images, model, row, labels, turning, f"labelling {int(label)}")
    st.caption(
        f"m⁺ and m⁻ are the sample's max-marginals: the value of the best labelling with it {RELEVANT_GLYPH} "
        f"(“{escaped(run.settings['query'])}”), and with it {IRRELEVANT_GLYPH}. Its score is m⁺ − m⁻. Samples whose "
        "label differs are marked “flips”; only they change the unary part of the score. "
        f"{notice(int(turning.sum()) - 1)}"
    )


def notice(others: int) -> str:
    """What to notice about a sample whose label flips together with the labels of `others` other samples."""
    return (
        f"**Notice** how many other samples flip with it, {others:,}: an edge between different labels costs a "
        "penalty, and the unary score of each sample that flips counts towards its score too."
    )


def draw_labelling(
    images: ImageSet, model: Neighbourhood, row: int, labels: Bools, turning: Bools, name: str
) -> None:
    """A labelling on the sample's image; for a component over several images, on thumbnails."""
    members, image = model.around(row, MAX_MEMBERS), int(images.image_of[row])
    judged = tiles.judged(labels[row])
    if (images.image_of[members] == image).all():
        boxes = tiles.labelled_boxes(images, labels, turning, row)
        alt = f"The image with its boxes in the best labelling in which the selected sample is {judged}"
        tiles.show_image(images, image, boxes, alt, name)
        return
    # The sample itself, then samples that flip, then the others.
    itself_first = np.lexsort((members, ~turning[members], members != row))
    order = members[itself_first]
    chosen = str(images.ids[row])
    flags = {str(images.ids[member]): "flips" for member in order if turning[member]}
    strip(
        tiles.labelled_tiles(images, order, labels),
        name=name,
        label=f"Samples of its component in the best labelling in which the selected sample is {judged}",
        columns=4,
        narrow=4,
        flags={**flags, chosen: "selected"},
        chosen=chosen,
    )
    size = len(model.members(int(model.components.component_of[row])))
    if size > len(members):
        st.caption(
            f"Shown: the {len(members)} of {size:,} samples in its component that are fewest edges away."
        )


def show_parts(model: Neighbourhood, row: int) -> None:
    own = float(model.unary[row])
    alone = np.count_nonzero(model.turning(row)) == 1 and not model.marginals.excess[row]
    # exactly 0, without rounding errors
    others = 0.0 if alone else float(model.unary_part[row] - own)
    parts = [
        ("its unary<br>score", own),
        ("unary scores of<br>samples that flip", others),
        ("pairwise<br>penalties", float(model.pairwise_part[row])),
    ]
    st.markdown("**Parts of the score**")
    plots.parts_of_score(parts, float(model.score[row]), keys.widget("parts of the score"))
    st.markdown(
        r"$\displaystyle s_i=m_i^+-m_i^-=\underbrace{\textstyle\sum_k u_k\,(y_k^+-y_k^-)}_{\text{unary part}}"
        r"+\underbrace{\textstyle\sum_{kl} p_{kl}\,([y_k^+\ne y_l^+]-[y_k^-\ne y_l^-])}_{\text{pairwise part}}$"
    )
    st.caption(
        f"Unary part {model.unary_part[row]:+.3g}, pairwise part {model.pairwise_part[row]:+.3g}. With the edges off, "
        f"only the first bar remains: {graph_models.what_moved(model, row)}. $u$: unary score, label "
        f"{RELEVANT_GLYPH} minus {IRRELEVANT_GLYPH}; {model.potentials.pays}."
    )


def show_grid(
    images: ImageSet, model: Neighbourhood, ranked: Ranking, shown: choices.Shown, split: str
) -> None:
    st.subheader("The ranking", anchor=False)
    grid.image_grid(
        graph_models.moved_tiles(images, model, ranked.samples[shown.places]),
        selected=choices.id_of(images, ranked, shown.place),
        label=f"Ranked {split} samples, best first",
        kind="short",
    )
    controls.pages(keys.PAGE, shown.pages, shown.here)
    st.caption(
        f"Highest score first; ▲ and ▼: ranks by which neighbours moved a sample up or down. {RELEVANT_GLYPH} and a "
        f"solid border: relevant; {IRRELEVANT_GLYPH} and a dashed border: irrelevant. Click a thumbnail, or move "
        "with the arrow keys and press Enter."
    )


def show_curves(model: Neighbourhood, ranked: Ranking, place: int) -> None:
    st.subheader("Max-marginals by rank", anchor=False)
    rows = ranked.samples
    marginals = model.marginals
    plots.max_marginals(
        marginals.positive[rows],
        marginals.negative[rows],
        ranked.scores,
        ranked.relevance > 0,
        place + 1,
        keys.widget("max-marginals"),
    )
    labelled = int(marginals.map[rows].sum())
    st.caption(
        "For each rank, the max-marginals of its sample: m⁺, the value of the best labelling in which it is ✓, and m⁻, "
        "of the best in which it is ✗. The higher of the two is the best labelling, which labels "
        f"{labelled:,} of {len(rows):,} samples {RELEVANT_GLYPH}; the lower curve shows what the other label costs."
    )


def show_moved(images: ImageSet, model: Neighbourhood, test: bool) -> None:
    """The samples that neighbours helped most and hurt most; a click selects a sample on all pages."""
    helped, hurt = st.columns(2, gap="medium")
    with helped:
        rows = show_most_moved(images, model, test, "Helped most", hurt=False)
        st.caption(
            f"{RELEVANT_GLYPH} that neighbours moved above more {IRRELEVANT_GLYPH}, and {IRRELEVANT_GLYPH} that they "
            f"moved below more {RELEVANT_GLYPH}, than with the edges off."
            if len(rows)
            else NO_SAMPLE
        )
    with hurt:
        rows = show_most_moved(images, model, test, "Hurt most", hurt=True)
        st.caption(
            f"{RELEVANT_GLYPH} that neighbours moved below more {IRRELEVANT_GLYPH}, and {IRRELEVANT_GLYPH} that they "
            f"moved above more {RELEVANT_GLYPH}. {graph_models.why_hurt(model, rows)}"
            if len(rows)
            else NO_SAMPLE
        )


def show_most_moved(images: ImageSet, model: Neighbourhood, test: bool, title: str, hurt: bool) -> Ints:
    st.subheader(title, anchor=False)
    rows = graph_models.most_moved(model, test, MAX_MOVED, hurt)
    if len(rows):
        grid.image_grid(graph_models.moved_tiles(images, model, rows), label=title, kind="row", key=title)
    return rows
