"""The appearance of a method in all charts: a colour, and a dash and a marker that identify it without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ranking.methods import method_names

if TYPE_CHECKING:  # pages import this module before anything is compiled
    from ranking.experiments.cross_validation.protocol import ComparedMethod


class Look(NamedTuple):
    """Colour, dash and marker: each identifies a line by itself; dash and marker are names in Plotly."""

    colour: str
    dash: str
    mark: str

    def line(self, width: float) -> dict[str, Any]:
        return {"color": self.colour, "dash": self.dash, "width": width}


GREY = "#808080"
LOOKS = (
    Look("#0072B2", "solid", "circle"),
    Look("#D55E00", "dash", "diamond"),
    Look("#009E73", "dashdot", "square"),
    Look("#CC79A7", "dot", "triangle-up"),
    Look(GREY, "longdash", "x"),
)


def of_methods() -> dict[str, Look]:
    """Return the appearance of each method that ranks samples; the first few have one of their own."""
    return dict(zip(method_names(ranks="samples"), LOOKS, strict=False))


def line_styles_of(compared_methods: Sequence[ComparedMethod]) -> dict[str, Look]:
    """Return the appearance of each compared method by name, as `looks_by`."""
    return looks_by({method.name: method.method for method in compared_methods})


def looks_by(methods: Mapping[str, str]) -> dict[str, Look]:
    """Return the appearance of each name: that of its method, unless an earlier name has it, else the first unused one;
    all are reused if there are more names.

    >>> [look.dash for look in looks_by({"mine": "AP-SVM", "again": "AP-SVM"}).values()]
    ['dash', 'solid']
    """
    looks: dict[str, Look] = {}
    own_looks = of_methods()
    for name, method in methods.items():
        own = own_looks.get(method)
        if own is not None and own not in looks.values():
            looks[name] = own
    for name in methods:
        if name not in looks:
            left = [look for look in LOOKS if look not in looks.values()]
            looks[name] = left[0] if left else LOOKS[len(looks) % len(LOOKS)]
    return looks
