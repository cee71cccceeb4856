"""A c-star as a picture: the labels of the core in the middle, around them those that they attract or repel most."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, DARK_BLUE, DARK_GREY, VERMILLION
from pages.parts.views.charts import line, points
from ranking.core import Floats, Ints
from ranking.explain.label_pairs import LabelPairs

MOST_OUTER = 8  # labels around the core: more, and their names lie on each other
MOST_TIES = 32  # of the core with them: more are no picture but a hairball
THINNEST, WIDEST = 1.5, 10.0  # pixels
INNER = 0.46  # how far the core reaches, where the others stand at 1
ATTRACT, REPEL = "attract: F > 0", "repel: F < 0"
LONGEST = 16  # letters of a name


@dataclass(frozen=True, eq=False)
class Star:
    """What is drawn of a c-star: labels `shown` (n,), those in the middle first; their places (n, 2); and ties.

    middle: how many of `shown` stand in the middle.
    """

    pairs: LabelPairs
    shown: Ints
    places: Floats
    middle: int


def star_of(pairs: LabelPairs) -> Star:
    """The labels that come first in `pairs` in the middle, all or one of the core; the others that they have the
    strongest ties with around them. All pairs within the middle are ties, however weak."""
    middle = np.array([label for label in pairs.core if label in pairs.first], np.int64)
    inner = np.isin(pairs.second, middle)
    order = np.argsort(-np.abs(pairs.weight), kind="stable")
    order = order[~inner[order] & (pairs.weight[order] != 0)]
    outer = np.array(list(dict.fromkeys(pairs.second[order].tolist()))[:MOST_OUTER], np.int64)
    ties = order[np.isin(pairs.second[order], outer)][:MOST_TIES]
    drawn = pairs.part(np.concatenate([np.flatnonzero(inner), ties]))
    places = circle(len(middle))
    around = arcs(towards(drawn, outer, middle, places))
    shown = np.concatenate([middle, outer])
    return Star(drawn, shown, np.concatenate([places, around]), len(middle))


def circle(count: int) -> Floats:
    """(count, 2) labels of the core, clockwise from the top; a single one in the very middle."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
    return (INNER if count > 1 else 0.0) * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def towards(pairs: LabelPairs, outer: Ints, middle: Ints, places: Floats) -> Floats:
    """(n, 2) where each label of `outer` would stand nearest to those of the `middle` that it has ties with.

    Labels of a single one have no such place: its strongest attractions go to the right, its repulsions to the left.
    """
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
    """(n, 2) places on two arcs, at the left and at the right, evenly from the top, in the order that is `wanted`.

    Even heights keep names apart, which stand beside each other on no circle.
    """
    places = np.zeros((len(wanted), 2))
    by_side = np.argsort(wanted[:, 0], kind="stable")
    for sign, side in zip((-1, 1), np.array_split(by_side, 2), strict=True):
        down = side[np.argsort(-wanted[side, 1], kind="stable")]
        heights = np.linspace(1, -1, len(down)) if len(down) > 1 else np.zeros(len(down))
        places[down] = np.stack([sign * np.sqrt(1 - (0.9 * heights) ** 2), heights], axis=1)
    return places


def widths(weight: Floats, largest: float) -> Floats:
    """(m,) how wide ties are drawn: in proportion to |F|, the `largest` of the model the widest.

    >>> widths(np.array([0.0, -1.0, 2.0]), 2.0).tolist()
    [1.5, 5.75, 10.0]
    """
    share = np.abs(weight) / largest if largest else np.zeros(len(weight))
    drawn: Floats = THINNEST + (WIDEST - THINNEST) * share
    return drawn


def figure_of(star: Star, largest: float, words: Sequence[str]) -> go.Figure:
    """The star drawn. largest: |F| of all pairs of the model. words: what each tie says where one points at it."""
    figure = go.Figure()
    pairs, drawn = star.pairs, widths(star.pairs.weight, largest)
    looks = {True: (BLUE, "solid"), False: (VERMILLION, "dash")}
    for name, (colour, dash) in ((ATTRACT, looks[True]), (REPEL, looks[False])):
        line(figure, [None], [None], colour, 5, dash, name=name)
    place = dict(zip(star.shown.tolist(), star.places, strict=True))
    both = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    ends = np.array([[place[i], place[j]] for i, j in both]).reshape(-1, 2, 2)
    for at in np.argsort(drawn, kind="stable"):  # the strongest last, above the others
        colour, dash = looks[bool(pairs.weight[at] > 0)]
        line(figure, ends[at, :, 0], ends[at, :, 1], colour, float(drawn[at]), dash)
    middles = 0.4 * ends[:, 0] + 0.6 * ends[:, 1]  # not the very middle, where many cross
    hidden = {
        "opacity": 0,
        "text": [html.escape(each) for each in words],
        "hovertemplate": "%{text}<extra></extra>",
    }
    points(figure, middles[:, 0], middles[:, 1], DARK_GREY, size=22, **hidden)
    for number, (label, (x, y)) in enumerate(place.items()):
        middle, name = number < star.middle, short(pairs.names[label])
        figure.add_annotation(  # of the core blue, in the middle large
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
    """A name as a picture has room for, safe for Plotly, which reads markup."""
    return html.escape(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")
