"""The appearance of a method in charts: colour, and dash and marker, which suffice without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ranking.core.settings import Json
from ranking.methods import method_names

# pages import this module before anything is compiled
if TYPE_CHECKING:
    from ranking.experiments.cross_validation.protocol import ComparedMethod


class LineStyle(NamedTuple):
    """Colour, dash and marker: each identifies a line by itself; dash and marker are names in Plotly."""

    colour: str
    dash: str
    mark: str

    def line(self, width: float) -> Json:
        return {"color": self.colour, "dash": self.dash, "width": width}


GREY = "#808080"
STYLES = (
    LineStyle("#0072B2", "solid", "circle"),
    LineStyle("#D55E00", "dash", "diamond"),
    LineStyle("#009E73", "dashdot", "square"),
    LineStyle("#CC79A7", "dot", "triangle-up"),
    LineStyle(GREY, "longdash", "x"),
)


def line_styles(
    names: Mapping[str, str], known: Sequence[str], palette: Sequence[LineStyle] = STYLES
) -> dict[str, LineStyle]:
    """Return the appearance of each name by its kind, such as its method; `known` kinds have their own.

    >>> [style.dash for style in line_styles({"mine": "b", "again": "b", "new": "c"}, ["a", "b"]).values()]
    ['dash', 'dashdot', 'dot']
    """
    # A name has the appearance of its kind, unless an earlier name has it; else the first unused one, if
    # possible none of a known kind; all are reused if there are more names.
    own_styles = dict(zip(known, palette, strict=False))
    styles: dict[str, LineStyle] = {}
    for name, kind in names.items():
        own = own_styles.get(kind)
        if own is not None and own not in styles.values():
            styles[name] = own
    for name in names:
        if name not in styles:
            free = [style for style in [*palette[len(known) :], *palette] if style not in styles.values()]
            styles[name] = free[0] if free else palette[len(styles) % len(palette)]
    return styles


def of_methods(methods: Mapping[str, str]) -> dict[str, LineStyle]:
    """Return the appearance of each name by its method, which ranks samples."""
    # The first few have one of their own.
    return line_styles(methods, method_names(ranks="samples"))


def of_compared(compared_methods: Sequence[ComparedMethod]) -> dict[str, LineStyle]:
    """Return the appearance of each method of an experiment by its name."""
    return of_methods({method.name: method.method for method in compared_methods})
