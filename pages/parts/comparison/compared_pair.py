"""Two rankings sample by sample: the samples that moved, the effect on AP, and both scores."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import address, controls, keys
from pages.parts.app.colours import GREEN, GREY, VERMILLION
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.components import grid, tiles
from pages.parts.components.tile import Tile
from ranking.core import Floats, Ints
from ranking.metrics.comparison import largest
from ranking.reports import comparison_words
from ranking.reports.compared import Compared
from ranking.reports.comparison_charts import MAX_POINTS

MOVED = {"ap": "Effect on AP", "places": "Change in rank"}
# samples that moved most, up and down
MOVERS = 6


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings of a comparison, given by their indices."""

    compared: Compared
    before: int
    after: int

    @property
    def names(self) -> tuple[str, str]:
        return self.compared.names[self.before], self.compared.names[self.after]

    @property
    def places(self) -> Ints:
        """(2, n) the ranks of the samples."""
        return self.compared.compared.ranks[[self.before, self.after]]

    @property
    def scores(self) -> Floats:
        """(2, n) the scores of the samples."""
        return self.compared.compared.scores[[self.before, self.after]]


def show(shown: Compared, sample: int) -> None:
    """The choice of two rankings, the samples that moved, and the scores with the selected sample marked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        pair = choose_pair(shown)
        moved = controls.segments("Sort by", keys.MOVED, MOVED, "ap")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_movers(pair, moved)
    with right:
        show_scores(pair, sample)


def choose_pair(shown: Compared) -> Pair:
    """An ordered pair of different rankings."""
    numbers = range(len(shown.runs))
    pairs = {
        f"{shown.runs[i].id},{shown.runs[j].id}": Pair(shown, i, j)
        for i in numbers
        for j in numbers
        if i != j
    }
    words = {key: " → ".join(pair.names) for key, pair in pairs.items()}
    first = f"{shown.runs[0].id},{shown.runs[-1].id}"
    return pairs[controls.select("Compare two runs", keys.PAIR, words, first, width=420)]


def show_movers(pair: Pair, moved: str) -> None:
    """The samples with the largest positive and negative changes between two rankings."""
    compared, (before, after) = pair.compared.compared, pair.names
    if moved == "ap":
        values: Floats | Ints = compared.gains(pair.before, pair.after)
        heads = ("Largest gain in AP", "Largest loss in AP")
        caption = comparison_words.of_gains(compared, pair.before, pair.after, pair.compared.names)
    else:
        values = compared.risen(pair.before, pair.after)
        heads = ("Moved up most", "Moved down most")
        caption = (
            f"The number of ranks by which a sample is higher with {escaped(after)} than with {escaped(before)}. Far "
            "down the ranking a hundred ranks cost little; at the top one rank costs much."
        )
    for head, numbers in zip(heads, (largest(values, MOVERS), largest(-values, MOVERS)), strict=True):
        st.markdown(f"#### {head}")
        if len(numbers):
            grid.image_grid(
                [mover(pair, int(number), values) for number in numbers],
                label=f"{head}, from {before} to {after}",
                kind="row",
                key=head,
            )
        else:
            st.caption("No samples.")
    st.caption(caption)


def mover(pair: Pair, number: int, values: Floats | Ints) -> Tile:
    """A sample with its two ranks and its change."""
    before, after = pair.places[:, number].tolist()
    [tile] = tiles.ranked_tiles(
        pair.compared.images, pair.compared.compared.rankings[pair.after], [after - 1]
    )
    value = f"{values[number]:+.3f}" if values.dtype.kind == "f" else f"{values[number]:+,}"
    ranks = (("ranks", f"{before:,} → {after:,}"), ("change", value))
    return replace(
        tile,
        left=f"{before}→{after}",
        right=value.replace("0.", ".").replace("-", "−"),
        alt=f"rank {before} with {pair.names[0]}, {tile.alt}, change {value}",
        card=(*ranks, *(part for part in tile.card if part[0] in ("shows", "image"))),
    )


def plotted_points(relevance: Ints, places: Ints) -> Ints:
    """The indices of the samples in a scatter plot: all if there are few, else an even choice."""
    # At most MAX_POINTS relevant and the same number of irrelevant samples, evenly spaced by their ranks (n,)
    # in one of the rankings, including the first and the last.
    if len(relevance) <= 2 * MAX_POINTS:
        return np.arange(len(relevance))
    kept = []
    for kind in (relevance == 0, relevance > 0):
        of_kind = np.flatnonzero(kind)
        of_kind = of_kind[np.argsort(places[of_kind])]
        spread = np.linspace(0, len(of_kind) - 1, min(len(of_kind), MAX_POINTS)).round().astype(int)
        kept.append(of_kind[spread])
    return np.concatenate(kept)


def show_scores(pair: Pair, sample: int) -> None:
    """A scatter plot of the scores in two rankings, relevant samples in front. A click selects a sample."""
    figure, (before, after) = go.Figure(), pair.names
    ids, relevance = (
        pair.compared.images.ids[pair.compared.compared.samples],
        pair.compared.compared.relevance,
    )
    plotted = plotted_points(relevance, pair.places[0])
    for name, relevant, colour, symbol in (
        ("irrelevant", False, VERMILLION, "x-thin-open"),
        ("relevant", True, GREEN, "circle"),
    ):
        kind = plotted[(relevance[plotted] > 0) == relevant]
        plots.points(
            figure,
            pair.scores[0, kind],
            pair.scores[1, kind],
            colour,
            symbol,
            edge=(colour, 1 if relevant else 2),
            name=name,
            customdata=[[str(id)] for id in ids[kind]],
            text=[f"ranks {first:,} and {second:,}" for first, second in pair.places[:, kind].T],
            hovertemplate="%{text}<br>scores %{x:.3g} and %{y:.3g}<extra>" + name + "</extra>",
        )
    at_first, at_second = pair.scores[:, [sample]]
    plots.points(figure, at_first, at_second, "rgba(0,0,0,0)", "circle", 20, (GREY, 4), name="selected")
    figure.update_xaxes(title_text=f"score by {html.escape(before)}")
    figure.update_yaxes(title_text=f"score by {html.escape(after)}")
    correlation = np.corrcoef(pair.places)[0, 1] if len(ids) > 1 else 1.0
    alt = f"Scores of {len(ids):,} samples by {before} and by {after}; their ranks correlate with {correlation:.2f}"
    plots.show(
        figure,
        keys.widget("scores of two"),
        alt,
        "scores-of-two",
        height=440,
        on_point=lambda id: address.put(**{keys.SAMPLE: str(id)}),
    )
    few = f" {len(plotted):,} of the {len(ids):,} samples are plotted." if len(plotted) < len(ids) else ""
    st.caption(
        f"Each point is a sample. Spearman correlation of the ranks: {correlation:.2f}.{few} Click a point to "
        "see its sample. The two scales are not comparable."
    )
