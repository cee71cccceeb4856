"""A protocol checked and expanded: the compared methods and their grid points (high-order, section 5).

>>> from ranking.storage.run_settings import Protocol
>>> compared_methods = compared_methods_of(Protocol("abc", (("HOG", {}),), grids={"C": (1.0, 10.0), "eta": (0.1, 1.0)}))
>>> [(each.name, len(each.points)) for each in compared_methods]
[('SVM', 2), ('AP-SVM', 2), ('HOB-SVM', 4), ('HOAP-SVM', 4)]
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from ranking.core.errors import InputError
from ranking.core.settings import Settings, settings_dict, settings_of
from ranking.core.text import readable
from ranking.features.graph.image_graph import UNNAMED_GRAPH, check_graph_name
from ranking.methods import make_method, method_class, method_names
from ranking.storage.run_settings import Protocol

MEASURES = ("AP", "NDCG", "P@10", "P@50", "P@100")
# of the folds of one experiment: the paper's own has 3,600
MAX_TRAINING_RUNS = 100_000
# the remedy if there are more
FEWER = "choose fewer values, folds or queries"
# the setting with warm starts along its rising values
PATH = "C"
# The second starts from the weights of the first (high-order, Table 1).
WARM_START, BEGINS = ("HOB-SVM", "HOAP-SVM")

# One value of each grid, in the order in which ties are broken: C, then eta.
Point = tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """A compared method with its fixed settings and the points of its grid."""

    # the method, with its fixed settings if the protocol has the method twice
    name: str
    method: str
    fixed: Settings
    # in the order in which ties are broken
    points: tuple[Point, ...]
    tolerance: float
    _settings: dict[Point, Settings] = field(default_factory=dict, init=False, repr=False)
    _beginnings: dict[Point, Settings | None] = field(default_factory=dict, init=False, repr=False)

    def settings(self, point: Point) -> Settings:
        """Return all settings of the method at a grid point, including defaults."""
        if point not in self._settings:
            made = make_method(self.method, **{"tolerance": self.tolerance, **self.fixed, **dict(point)})
            self._settings[point] = settings_dict(made)
        return self._settings[point]

    def beginning(self, point: Point) -> Settings | None:
        """Return the settings of the HOB-SVM that is the warm start at `point`; None where there is none."""
        if point not in self._beginnings:
            chosen = {**self.fixed, **dict(point)}
            self._beginnings[point] = warm_start_of(self.method, self.settings(point), chosen)
        return self._beginnings[point]

    def allows(self, name: str, value: float) -> bool:
        """Whether a grid of a setting may be extended to a value: the setting has a logarithmic scale and allows it."""
        item = next(item for item in settings_of(method_class(self.method)) if item.name == name)
        return item.log and (item.minimum or 0.0) <= value <= (item.maximum or math.inf)


def warm_start_of(method: str, settings: Settings, requested: Settings) -> Settings | None:
    """Return the settings of the HOB-SVM that a HOAP-SVM starts from; None for other methods."""
    # Its C is that of the HOAP-SVM, as in the paper, unless start_C is among the `requested` settings of the
    # protocol, fixed or in its grids.
    if method != BEGINS or WARM_START not in settings["start"]:
        return None
    shared = {
        name: settings[name] for name in ("C", "unit", "eta", "potentials", "tolerance", "max_iterations")
    }
    return settings_dict(make_method(WARM_START, **{**shared, "C": requested.get("start_C", shared["C"])}))


def compared_methods_of(protocol: Protocol) -> list[ComparedMethod]:
    """Return the methods of a protocol in its order; ValueError for a protocol that makes no experiment."""
    check(protocol)
    named = [method for method, _ in protocol.methods]
    compared_methods = []
    for method, fixed in protocol.methods:
        own = [item.name for item in settings_of(method_class(method))]
        grids = {
            name: protocol.grids[name] for name in _in_order(protocol) if name in own and name not in fixed
        }
        values = [[(name, value) for value in sorted(grid)] for name, grid in grids.items()]
        if math.prod(map(len, values)) > MAX_TRAINING_RUNS:
            size = math.prod(map(len, values))
            raise InputError(f"grids of {method}", f"at most {MAX_TRAINING_RUNS:,} grid points", size, FEWER)
        text = json.dumps(fixed, sort_keys=True)[1:-1].replace('"', "")
        name = method if named.count(method) == 1 else f"{method} ({text or 'defaults'})"
        points = tuple(itertools.product(*values))
        made = ComparedMethod(name, method, dict(fixed), points, protocol.tolerance)
        # raises InputError for values that the method does not allow
        made.settings(points[0])
        compared_methods.append(made)
    return compared_methods


def _in_order(protocol: Protocol) -> Iterator[str]:
    """Return the settings of the grids: C first, the others by name, independent of the order in a JSON file."""
    return iter(sorted(protocol.grids, key=lambda name: (name != PATH, name)))


def uses_graph(method: str) -> bool:
    """Return whether a method uses the similarity graph."""
    return bool(method_class(method).uses_graph)


def graph_in_use(protocol: Protocol, compared_methods: list[ComparedMethod]) -> str | None:
    """Return the name of the similarity graph; None if no compared method uses one."""
    if not any(uses_graph(compared_method.method) for compared_method in compared_methods):
        return None
    return protocol.graph or UNNAMED_GRAPH


def check(protocol: Protocol) -> None:
    """Raise ValueError unless the protocol names known methods, queries and grids, each once."""
    protocol.check()
    if protocol.measure not in MEASURES:
        raise InputError("measure", f"one of {', '.join(MEASURES)}", readable(protocol.measure))
    if protocol.graph is not None:
        # also where no method uses one
        check_graph_name(protocol.graph)
    for what, some in (("feature", protocol.features), ("method", protocol.methods)):
        if not some:
            raise InputError(f"{what}s", f"at least one {what}", "none", "choose one or more")
    for what, chosen in (("methods", protocol.methods), ("queries", protocol.queries)):
        if any(item in chosen[:place] for place, item in enumerate(chosen)):
            named = readable(", ".join(map(str, chosen)), 300)
            raise InputError(what, "each of them once", named, "remove the repetition")
    for method, _ in protocol.methods:
        if method not in method_names(ranks="samples"):
            # raises InputError for an unknown name
            method_class(method)
            there = ", ".join(method_names(ranks="samples"))
            raise InputError("methods", f"methods that rank samples as relevant or not: {there}", method)
    known = {item.name for name in method_names(ranks="samples") for item in settings_of(method_class(name))}
    for name, values in protocol.grids.items():
        if name not in known or name == "tolerance":
            raise InputError("grids", "names of settings of the methods", readable(name), "remove this grid")
        if not values or len(set(values)) < len(values):
            raise InputError(f"grid of {name}", "at least one value, each once", list(values))


def part_of_protocol(settings: Protocol) -> Settings:
    """Return the settings that determine the numbers of a run, as JSON: all except where it is computed."""
    record = settings.to_json()
    return {item.name: record[item.name] for item in fields(Protocol) if item.name in record}
