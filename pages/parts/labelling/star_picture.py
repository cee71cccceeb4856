"""Chart of a C-star: core labels in the middle, surrounded by the labels that they attract or repel most."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, DARK_BLUE, DARK_GREY, VERMILLION
from pages.parts.charts.plots import line, points
from pages.parts.neighbours.graph.drawings import widths
from ranking.core import Floats, Ints
from ranking.explain.label_pairs import LabelPairs

# labels around the core; the names of more would overlap
MAX_OUTER = 8
# interactions of the core with them; more cannot be read
MAX_TIES = 32
# pixels
WIDEST = 10.0
# radius of the core; that of the other labels is 1
INNER = 0.46
ATTRACT, REPEL = "attract: F > 0", "repel: F < 0"
# letters of a name
LONGEST = 16


@dataclass(frozen=True, eq=False)
class Star:
    """The plotted part of a C-star."""

    pairs: LabelPairs
    # (n,) labels, those in the middle first.
    shown: Ints
    # (n, 2) of `shown`.
    places: Floats
    # How many of `shown` are in the middle.
    middle: int


def star_of(pairs: LabelPairs) -> Star:
    """Choose and place labels: core labels in the middle, around them those that interact most strongly."""
    # The core labels are those that are first in `pairs`. All pairs within the middle are kept, however weak.
    middle = np.array([label for label in pairs.core if label in pairs.first], np.int64)
    inner = np.isin(pairs.second, middle)
    order = np.argsort(-np.abs(pairs.weight), kind="stable")
    order = order[~inner[order] & (pairs.weight[order] != 0)]
    outer = np.array(list(dict.fromkeys(pairs.second[order].tolist()))[:MAX_OUTER], np.int64)
    ties = order[np.isin(pairs.second[order], outer)][:MAX_TIES]
    plotted = pairs.part(np.concatenate([np.flatnonzero(inner), ties]))
    places = circle(len(middle))
    around = arcs(towards(plotted, outer, middle, places))
    shown = np.concatenate([middle, outer])
    return Star(plotted, shown, np.concatenate([places, around]), len(middle))


def circle(count: int) -> Floats:
    """Return places (count, 2) of core labels, clockwise from the top; a single label is at the centre."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
    return (INNER if count > 1 else 0.0) * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def towards(pairs: LabelPairs, outer: Ints, middle: Ints, places: Floats) -> Floats:
    """Return the preferred place (n, 2) of each label of `outer`: near the labels that it interacts with."""
    # With a single label in the middle, its attractions are to the right and its repulsions to the left.
    wanted = np.zeros((len(outer), 2))
    for at, label in enumerate(outer):
        ties = np.flatnonzero(pairs.second == label)
        weight = pairs.weight[ties]
        if len(middle) == 1:
            wanted[at] = weight[0], abs(weight[0])
            continue
        of = [int(np.flatnonzero(middle == each)[0]) for each in pairs.first[ties]]
        wanted[at] = np.abs(weight) @ places[of] / np.abs(weight).sum()
    return wanted


def arcs(wanted: Floats) -> Floats:
    """Return places (n, 2) on a left and a right arc, from the top, in the order of `wanted`."""
    # Even heights keep the names from overlapping, as they would on a circle.
    places = np.zeros((len(wanted), 2))
    by_side = np.argsort(wanted[:, 0], kind="stable")
    for sign, side in zip((-1, 1), np.array_split(by_side, 2), strict=True):
        down = side[np.argsort(-wanted[side, 1], kind="stable")]
        heights = np.linspace(1, -1, len(down)) if len(down) > 1 else np.zeros(len(down))
        places[down] = np.stack([sign * np.sqrt(1 - (0.9 * heights) ** 2), heights], axis=1)
    return places


def figure_of(star: Star, largest: float, words: Sequence[str]) -> go.Figure:
    """Plot the star. largest: the largest |F| of the model. words: the hover text of each interaction."""
    figure = go.Figure()
    pairs, pixels = star.pairs, widths(star.pairs.weight, largest, WIDEST)
    styles = {True: (BLUE, "solid"), False: (VERMILLION, "dash")}
    for name, (colour, dash) in ((ATTRACT, styles[True]), (REPEL, styles[False])):
        line(figure, [None], [None], colour, 5, dash, name=name)
    place = dict(zip(star.shown.tolist(), star.places, strict=True))
    both = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    ends = np.array([[place[i], place[j]] for i, j in both]).reshape(-1, 2, 2)
    # the strongest last, above the others
    for at in np.argsort(pixels, kind="stable"):
        colour, dash = styles[bool(pairs.weight[at] > 0)]
        line(figure, ends[at, :, 0], ends[at, :, 1], colour, float(pixels[at]), dash)
    # not the very middle, where many cross
    middles = 0.4 * ends[:, 0] + 0.6 * ends[:, 1]
    hidden = {
        "opacity": 0,
        "text": [html.escape(each) for each in words],
        "hovertemplate": "%{text}<extra></extra>",
    }
    points(figure, middles[:, 0], middles[:, 1], DARK_GREY, size=22, **hidden)
    for number, (label, (x, y)) in enumerate(place.items()):
        middle, name = number < star.middle, short(pairs.names[label])
        # core labels are blue, labels in the middle large
        figure.add_annotation(
            x=float(x),
            y=float(y),
            text=f"<b>{name}</b>" if middle else name,
            showarrow=False,
            font={"size": 17 if middle else 14, "color": "white"},
            bgcolor=DARK_BLUE if label in pairs.core else DARK_GREY,
            bordercolor="white",
            borderwidth=2 if middle else 1,
            borderpad=5 if middle else 3,
        )
    figure.update_xaxes(range=[-1.22, 1.22], visible=False, fixedrange=True)
    figure.update_yaxes(range=[-1.2, 1.12], visible=False, fixedrange=True)
    return figure


def short(name: str) -> str:
    """Return a name shortened to LONGEST letters and escaped for Plotly, which reads markup."""
    return html.escape(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")
