"""How a method looks wherever it is drawn: its colour, and a dash and a mark that tell it without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ranking.methods import method_names

if TYPE_CHECKING:  # pages need looks before anything is compiled
    from ranking.experiments.cross_validation.protocol import Contender


class Look(NamedTuple):
    """Colour, dash and mark: each tells a line from others alone; dash and mark as Plotly calls them."""

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
    """The looks that methods of samples have of their own: there is one for each of the first few."""
    return dict(zip(method_names(ranks="samples"), LOOKS, strict=False))


def looks_of(contenders: Sequence[Contender]) -> dict[str, Look]:
    """The look of each contender by name, as `looks_by`."""
    return looks_by({method.name: method.method for method in contenders})


def looks_by(methods: Mapping[str, str]) -> dict[str, Look]:
    """The look of each name: that of its method, unless one before it has that, else the first that is left; all looks
    over again where there are more names.

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
