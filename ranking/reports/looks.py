"""How a method looks in what is drawn of an experiment: its colour, and a dash that tells it without colour.

Those of the pages (`pages/parts/method_looks.py`), which a test compares: people meet one look a method everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ranking.experiments.protocol import Contender


class Look(NamedTuple):
    """dash: as SVG's stroke-dasharray takes it for a line 3 wide. name: of that dash."""

    colour: str
    dash: str
    name: str


LOOKS = (
    Look("#0072B2", "none", "solid"),
    Look("#D55E00", "9 5", "dash"),
    Look("#009E73", "9 4 2 4", "dashdot"),
    Look("#CC79A7", "2 4", "dot"),
    Look("#808080", "16 6", "longdash"),
)
OF_METHODS = dict(zip(("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM", "NDCG-SVM"), LOOKS, strict=True))


def looks_of(contenders: Sequence[Contender]) -> dict[str, Look]:
    """The look of each contender by name, as `looks_by`."""
    return looks_by({one.name: one.method for one in contenders})


def looks_by(methods: Mapping[str, str]) -> dict[str, Look]:
    """The look of each name: that of its method, unless one before it has that, else the first that is left; all looks
    over again where there are more names.

    >>> [look.name for look in looks_by({"mine": "AP-SVM", "again": "AP-SVM"}).values()]
    ['dash', 'solid']
    """
    found: dict[str, Look] = {}
    for name, method in methods.items():
        own = OF_METHODS.get(method)
        if own is not None and own not in found.values():
            found[name] = own
    for name in methods:
        if name not in found:
            left = [look for look in LOOKS if look not in found.values()]
            found[name] = left[0] if left else LOOKS[len(found) % len(LOOKS)]
    return found
