"""Line styles of label-ranking models and of question strategies, the same in all charts."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking import method_names
from ranking.explain.question_strategies import STRATEGIES
from ranking.reports.line_styles import LOOKS, Look

WAYS = (
    Look(GREEN, "solid", "square"),
    Look(PURPLE, "dot", "triangle-up"),
    Look(BLUE, "dashdot", "star"),
    Look(GREY, "longdash", "x"),
    Look(VERMILLION, "dash", "diamond"),
)
FIRST = ("C-star p@k", "Independent p@k")  # their styles do not depend on the other registered methods


def of_models(names: Sequence[str]) -> dict[str, Look]:
    """Return the style of each of `names`, label-ranking methods; a method unknown to this version gets an unused one.

    >>> of_models(["Independent p@k"])["Independent p@k"].dash, of_models(["of tomorrow"])["of tomorrow"].dash
    ('dash', 'dashdot')
    """
    others = [name for name in method_names(ranks="labels") if name not in FIRST]
    return _assigned([*FIRST, *others], names, LOOKS)


def of_ways(names: Sequence[str]) -> dict[str, Look]:
    """Return the style of each of `names`, question strategies."""
    return _assigned(list(STRATEGIES), names, WAYS)


def _assigned(known: Sequence[str], names: Sequence[str], looks: Sequence[Look]) -> dict[str, Look]:
    every = list(dict.fromkeys([*known, *names]))
    return {name: looks[every.index(name) % len(looks)] for name in names}
