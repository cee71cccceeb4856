"""Line styles of label-ranking models and of question strategies, the same in all charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking import method_names
from ranking.explain.question_strategies import STRATEGIES
from ranking.reports.line_styles import LineStyle, line_styles

WAYS = (
    LineStyle(GREEN, "solid", "square"),
    LineStyle(PURPLE, "dot", "triangle-up"),
    LineStyle(BLUE, "dashdot", "star"),
    LineStyle(GREY, "longdash", "x"),
    LineStyle(VERMILLION, "dash", "diamond"),
)
# their styles do not depend on the other registered methods
FIRST = ("C-star p@k", "Independent p@k")


def of_models(methods: Mapping[str, str]) -> dict[str, LineStyle]:
    """Return the style of each model by its method, one that ranks labels, as `line_styles`.

    >>> [style.dash for style in of_models({"mine": "Independent p@k", "new": "of tomorrow"}).values()]
    ['dash', 'dashdot']
    """
    others = [name for name in method_names(ranks="labels") if name not in FIRST]
    return line_styles(methods, [*FIRST, *others])


def of_ways(names: Sequence[str]) -> dict[str, LineStyle]:
    """Return the style of each of `names`, question strategies."""
    return line_styles({name: name for name in names}, list(STRATEGIES), WAYS)
