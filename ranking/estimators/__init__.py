"""scikit-learn estimators, generated from the settings of each method; methods that rank bags have none.

>>> APSVM(C=10.0).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 0.5]], [1, 0, 1]).rank([[0.0, 1.0], [1.0, 0.0]])
array([1, 0])
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from inspect import getdoc
from typing import TYPE_CHECKING

from ranking.core import Method
from ranking.core.settings import settings_of
from ranking.estimators.base import Ranker
from ranking.estimators.labels import LabelRanker
from ranking.estimators.orders import OrderRanker
from ranking.estimators.samples import NeighbourRanker, SampleRanker
from ranking.methods import method_class, method_names

Estimator = type[Ranker[Method]]
BASES: dict[str, Estimator] = {"samples": SampleRanker, "sequences": OrderRanker, "labels": LabelRanker}


def _estimator(method: type[Method]) -> Estimator:
    """Return the estimator class of a method, whose parameters are the settings of the method."""
    base = NeighbourRanker if method.uses_graph else BASES[method.ranks]
    settings = settings_of(method)
    lines = [f"{method.name}. {method.summary}", "", getdoc(base) or "", "", "Parameters", "-" * 10]
    for item in settings:
        lines += [
            f"{item.name} : {item.kind.__name__}, default={item.default!r}",
            f"    {item.label}. {item.help}",
        ]
    return make_dataclass(
        method.__name__,
        [(item.name, item.kind, field(default=item.default)) for item in settings],
        bases=(base,),
        namespace={"method": method, "__doc__": "\n".join(lines), "__module__": __name__},
        kw_only=True,
        eq=False,
        repr=False,
    )


# Not the methods that rank bags, whose input is a BagSet.
METHODS = [method for method in map(method_class, method_names()) if method.ranks in BASES]
ESTIMATORS = {made.__name__: made for made in map(_estimator, METHODS)}
globals().update(ESTIMATORS)
__all__ = ["ESTIMATORS", *ESTIMATORS]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Estimator: ...
