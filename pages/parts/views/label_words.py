"""What pairs of labels say, in words that follow from their numbers."""

from __future__ import annotations

import math

import numpy as np

from pages.parts.app.frame import escaped
from ranking.explain.label_pairs import LabelPairs

ATTRACTS, REPELS, NEITHER = "attracts", "repels", "leaves alone"  # what a weight says of two labels


def told(pairs: LabelPairs, place: int) -> str:
    """One pair in one sentence: what was learnt, and what the data has of it."""
    first, second = (pairs.names[int(column[place])] for column in (pairs.first, pairs.second))
    weight = float(pairs.weight[place])
    verb = ATTRACTS if weight > 0 else REPELS if weight < 0 else NEITHER
    return f"{first} {verb} {second} (F = {signed(weight)}): {in_the_data(pairs, place)}"


def signed(weight: float) -> str:
    """A weight with its sign, a real minus.

    >>> signed(0.4123), signed(-0.05)
    ('+0.41', '−0.05')
    """
    return f"{weight:+.2g}".replace("-", "−")


def in_the_data(pairs: LabelPairs, place: int) -> str:
    """How often both labels are together, and how often they would be by chance.

    >>> two = LabelPairs(("sea", "sand"), [0], [0], [1], [0.4], np.array([2]), np.array([1.0]), 4)
    >>> in_the_data(two, 0)
    'together on 50% of images, 2 times as often as by chance'
    """
    lift = float(pairs.lift[place])
    if math.isnan(lift):
        return "one of them is on no image"
    if not pairs.together[place]:
        return f"never together, where chance would have both on {pairs.expected[place]:.2g} images"
    times = f"{lift:.2g} times as often" if f"{lift:.2g}" != "1" else "as often"
    only = "only " if lift < 0.95 else ""
    return (
        f"together on {percent(pairs.together[place] / pairs.images)} of images, {only}{times} as by chance"
    )


def percent(share: float) -> str:
    """A share as a person says it.

    >>> percent(0.116), percent(0.0031), percent(1.0)
    ('12%', '0.3%', '100%')
    """
    return f"{100 * share:.0f}%" if share >= 0.01 else f"{100 * share:.1g}%"


def strongest(pairs: LabelPairs) -> str:
    """The strongest attraction and the strongest repulsion, as sentences for markdown."""
    places = [*pairs.strongest(1, 1), *pairs.strongest(-1, 1)]
    return " ".join(f"{escaped(told(pairs, int(place)))}." for place in places)


def compared(pairs: LabelPairs) -> str:
    """How well what was learnt agrees with the data over all pairs, and where it does least, for markdown."""
    drawn = pairs.weight != 0
    against = int(np.count_nonzero(pairs.against[drawn] > 0))
    related = "" if math.isnan(pairs.correlation) else f" (correlation {pairs.correlation:.2f})"
    count = int(drawn.sum())
    said = f"on {count - against:,} of {count:,} pairs what was learnt goes the way of the data{related}."
    if not against:
        return said
    return f"{said} Furthest against it: {escaped(told(pairs, int(pairs.against.argmax())))}."
