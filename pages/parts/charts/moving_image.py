"""One image that moves through a small ranking, with the measures for each of its ranks.

These are AP, P@k, NDCG and the error rate at a cutoff.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import controls, keys
from pages.parts.app.colours import BLUE, GREEN, PURPLE, VERMILLION
from pages.parts.charts import measures, plots
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from ranking.core import ImageSet, Ints
from ranking.datasets import Thumbnails
from ranking.explain import moving
from ranking.metrics.ranked import Ranking, precision_terms

SHOWN = 12
DEFAULT_K = 5

# The relevance of the images that do not move, from the top. All relevant images are below the cutoff and below the
# default k, so that each measure shows its characteristic shape as the image passes.
OTHERS: Ints = np.isin(np.arange(1, SHOWN), (6, 8, 10)).astype(np.int64)
RELEVANT = int(OTHERS.sum()) + 1

# unlike the weighted 0-1 loss, it does not depend on the sign of the scores
CUT = "Error rate at the cutoff"

AT_CUT = (
    rf"$\displaystyle\frac{{\text{{wrong}}}}{{n}}$: the top $|P|={RELEVANT}$ are labelled relevant and the others "
    "irrelevant, whatever the signs of their scores. Lower is better."
)

# Short forms of the formulas in pages/parts/charts/measures.py, shown beside the numbers. AP shows its terms instead.
FORMULAS = {
    "P@k": r"\frac{\#\text{relevant in }k}{k}",
    "NDCG": r"\frac{\sum_{i\in P}D(r_i)}{\sum_{r\le|P|}D(r)}",
    CUT: r"\frac{\text{wrong}}{n}",
}


def choose() -> tuple[int, int]:
    """Choose the rank of the moving image, and k of precision at k."""
    left, right = st.columns([4, 1], gap="large")
    with left:
        place = controls.slider("Rank of the moving image", keys.PLACE, 1, SHOWN, 1)
    with right:
        k = controls.slider("k of P@k", keys.SMALL_K, 1, SHOWN - 1, DEFAULT_K)
    return place, k


def show_ranking(images: ImageSet, order: Ranking, place: int, thumbnails: Thumbnails | None = None) -> None:
    """Show real images in an invented ranking, with the terms of AP below the relevant ones."""
    shown = tiles.with_terms(tiles.top_tiles(images, order, thumbnails=thumbnails), order.relevance)
    mover = shown[place - 1].id
    strip(
        shown,
        name="small ranking",
        label=f"{len(shown)} people, {RELEVANT} of them relevant, in the chosen order",
        columns=SHOWN,
        narrow=4,
        flags={mover: "moves"},
        # after as many places as there are relevant images
        ends={shown[RELEVANT - 1].id: "cutoff"},
        chosen=mover,
    )


def show_measures(order: Ranking, place: int, k: int) -> None:
    """Show each measure as a number, as a formula, and as a function of the rank of the moving image."""
    by_place = moving.measures_by_rank(OTHERS, k)
    for column, (name, field, colour, stepped, definition) in zip(
        # the terms of AP need the most room
        st.columns([6, 5, 5, 5]),
        (
            ("AP", "average_precision", BLUE, False, measures.AP),
            ("P@k", "precision", GREEN, True, measures.PRECISION),
            ("NDCG", "ndcg", PURPLE, False, measures.NDCG),
            (CUT, "zero_one", VERMILLION, True, AT_CUT),
        ),
        strict=True,
    ):
        with column:
            values = [getattr(measured, field) for measured in by_place]
            shown = name.replace("@k", f"@{k}")
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                st.metric(shown, f"{values[place - 1]:.3f}", help=definition, width="content")
                formula = terms_of(order) if name == "AP" else FORMULAS[name]
                st.markdown(rf"$\displaystyle {formula}$", width="content")
            plots.measure_by_place(values, place, shown, colour, keys.widget(f"by place {field}"), stepped)


def terms_of(order: Ranking) -> str:
    """Return AP as the mean of its terms in LaTeX: relevant samples so far / rank."""
    total = "+".join(rf"\tfrac{{{relevant}}}{{{at}}}" for relevant, at in precision_terms(order.relevance))
    return rf"\tfrac1{{{order.positives}}}\bigl({total}\bigr)"
