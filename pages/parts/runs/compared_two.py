"""Two rankings sample by sample: who moved, what that did to AP, and the scores of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from pages.parts.app import address, keys
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from pages.parts.components.tile import Tile
from pages.parts.runs.compared_shown import Shown
from pages.parts.views import charts, comparison_charts
from ranking.core import Floats, Ints
from ranking.metrics.comparison import largest
from ranking.reports import comparison_words

MOVED = {"ap": "What it does to AP", "places": "How far it moved"}
MOVERS = 6  # samples that moved most, up and down


def show(shown: Shown, sample: int) -> None:
    """The choice of two, the samples that moved, and the scores with the selected sample marked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        one, other = choose_pair(shown)
        bound = address.bound(keys.MOVED, address.one_of(list(MOVED)), "ap")
        moved = st.segmented_control("Samples by", list(MOVED), format_func=MOVED.get, required=True, **bound)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_movers(shown, one, other, str(moved))
    with right:
        show_scores(shown, one, other, sample)


def choose_pair(shown: Shown) -> tuple[int, int]:
    """The numbers of two different rankings, from which to which."""
    numbers = range(len(shown.runs))
    pairs = {
        f"{shown.runs[one].id},{shown.runs[other].id}": (one, other)
        for one in numbers
        for other in numbers
        if one != other
    }
    first = f"{shown.runs[0].id},{shown.runs[-1].id}"
    bound = address.bound(keys.PAIR, address.one_of(list(pairs)), first)
    pair = st.selectbox(
        "From one to the other",
        list(pairs),
        format_func=lambda key: " → ".join(shown.names[number] for number in pairs[key]),
        width=420,
        **bound,
    )
    return pairs[pair]


def show_movers(shown: Shown, one: int, other: int, moved: str) -> None:
    """The samples that moved most between two rankings, for the better and for the worse."""
    compared = shown.compared
    if moved == "ap":
        values: Floats | Ints = compared.gains(one, other)
        heads = ("Give most to AP", "Take most from AP")
        said = comparison_words.of_gains(compared, one, other, shown.names)
    else:
        values = compared.risen(one, other)
        heads = ("Rose most", "Fell most")
        said = (
            f"By how many places a sample stands higher with {escaped(shown.names[other])} than with "
            f"{escaped(shown.names[one])}. Far down a hundred places cost little, at the top one place much."
        )
    for head, numbers in zip(heads, (largest(values, MOVERS), largest(-values, MOVERS)), strict=True):
        st.markdown(f"#### {head}")
        if not len(numbers):
            st.caption("No sample does.")
            continue
        grid.image_grid(
            [mover(shown, one, other, int(number), values) for number in numbers],
            name=keys.SAMPLE,
            selected=address.get(keys.SAMPLE),
            label=f"{head}, from {shown.names[one]} to {shown.names[other]}",
            kind="row",
            key=head,
        )
    st.caption(
        f"{said} **Notice** whether those that rose, or fell, have something in common: a pose, a place, company?"
    )


def mover(shown: Shown, one: int, other: int, number: int, values: Floats | Ints) -> Tile:
    """A sample with its two ranks, and what it is listed for."""
    before, after = (int(shown.compared.ranks[which, number]) for which in (one, other))
    [tile] = tiles.ranked_tiles(shown.images, shown.compared.rankings[other], [after - 1])
    value = f"{values[number]:+.3f}" if values.dtype.kind == "f" else f"{values[number]:+,}"
    ranks = (("ranks", f"{before:,} → {after:,}"), ("change", value))
    return replace(
        tile,
        left=f"{before}→{after}",
        right=value.replace("0.", ".").replace("-", "−"),
        alt=f"rank {before} with {shown.names[one]}, {tile.alt}, change {value}",
        card=(*ranks, *(part for part in tile.card if part[0] in ("shows", "image"))),
    )


def show_scores(shown: Shown, one: int, other: int, sample: int) -> None:
    """The scores of two rankings against each other; a click selects a sample."""
    key = keys.widget("scores of two")
    ids = shown.ids
    figure = comparison_charts.scores_of_two(shown.compared, one, other, shown.names, sample, ids)

    def choose() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and points[0].get("customdata"):
            address.put(**{keys.SAMPLE: str(points[0]["customdata"][0])})

    correlation = np.corrcoef(shown.compared.ranks[[one, other]])[0, 1] if len(ids) > 1 else 1.0
    alt = (
        f"Scores of {len(ids):,} samples by {shown.names[one]} and by {shown.names[other]}; their ranks "
        f"correlate with {correlation:.2f}"
    )
    charts.show(figure, key, alt, "scores-of-two", height=440, on_select=choose)
    drawn = len(comparison_charts.drawn_points(shown.compared.relevance, shown.compared.ranks[one]))
    few = f" {drawn:,} of the {len(ids):,} samples are drawn." if drawn < len(ids) else ""
    st.caption(
        f"Each point is a sample; its ranks correlate with {correlation:.2f} (Spearman).{few} **Notice** points far "
        "from the crowd: the two disagree about them. Click one to see it. The two scales have nothing in common."
    )
