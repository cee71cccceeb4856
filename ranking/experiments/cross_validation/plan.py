"""Which cells an experiment has, and the paths on which they are trained: warm starts along C in rising order.

HOAP-SVM begins with the weights of HOB-SVM in the same cell, as in the paper, so a path of both trains them in turn. A
HOB-SVM that is needed but no contender is trained too, for nobody's table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.run_settings import Protocol, Settings
from ranking.core.text import readable
from ranking.experiments.cross_validation.protocol import (
    BEGUN_BY,
    FEWER,
    MOST_TRAININGS,
    PATH,
    Contender,
    Point,
    contenders_of,
    graph_in_use,
    uses_graph,
)
from ranking.experiments.cross_validation.results import Place, Results
from ranking.experiments.cross_validation.splits import Split, Splits, check_queries, splits_of
from ranking.experiments.cross_validation.trial import Cell
from ranking.features import feature_columns
from ranking.features.extract import cache_name
from ranking.features.projection import whole_projection

Path = tuple[Cell, ...]  # cells in an order in which each comes after those that it begins from


@dataclass(frozen=True, eq=False)
class Plan:
    """A protocol on an image set. graph: the name of the one that its methods use, None where none does.

    samples: what cells call so, by fold and by whether their method leans on the graph.
    """

    protocol: Protocol
    queries: tuple[str, ...]
    contenders: tuple[Contender, ...]
    graph: str | None
    splits: Splits
    samples: Mapping[tuple[int | None, bool], str]

    @cached_property
    def validation(self) -> dict[Place, Cell]:
        """The cells of the folds: queries one after the other, so that tables fill in column by column."""
        cells: dict[Place, Cell] = {}
        for query in self.queries:
            for fold in range(self.protocol.folds):
                for contender in self.contenders:
                    for point, cell in self._chained(query, contender, fold, contender.points).items():
                        cells[query, contender.name, point, fold] = cell
        return cells

    def wider(self, results: Results) -> dict[Place, Cell]:
        """The cells of the folds that `results` lack where a grid goes on beyond its ends."""
        cells: dict[Place, Cell] = {}
        for query in self.queries:
            for contender in self.contenders:
                points = results.points(query, contender.name)
                for fold in range(self.protocol.folds):
                    for point, cell in self._chained(query, contender, fold, points).items():
                        if (query, contender.name, point, fold) not in results.keys:
                            cells[query, contender.name, point, fold] = cell
        return cells

    def tests(self, results: Results) -> dict[Place, Cell]:
        """The cells that learn from all of train, at those points that were chosen by now; none without test samples.

        Each begins with nothing but what its method begins with.
        """
        cells: dict[Place, Cell] = {}
        for query in self.queries if self.tested else ():
            for contender in self.contenders:
                point = results.chosen(query, contender.name)
                if point is not None:
                    settings, beginning = contender.settings(point), contender.beginning(point)
                    cells[query, contender.name, point, None] = self._cell(
                        query, contender.method, settings, None, beginning
                    )
        return cells

    @property
    def most_tests(self) -> int:
        """How many tests there will be: one for each query and contender."""
        return len(self.queries) * len(self.contenders) if self.tested else 0

    @property
    def tested(self) -> bool:
        """Whether the set has test samples at all."""
        return bool(len(self.splits.all[None].held))

    def _chained(
        self, query: str, contender: Contender, fold: int, points: Iterable[Point]
    ) -> dict[Point, Cell]:
        """The cells of a contender on a fold; each begins from the one of the next smaller C. Those with a smaller C
        than the protocol has begin from nothing, and the protocol's own do not begin from them."""
        last: dict[Point, Cell] = {}  # by what is left of a point without C
        first = dict(contender.points[0]).get(PATH, 0.0)
        cells = {}
        for point in points:  # C is the first setting of a point, and rises
            rest = tuple(item for item in point if item[0] != PATH)
            if dict(point).get(PATH, 0.0) <= first:
                last.pop(rest, None)
            cell = self._cell(
                query,
                contender.method,
                contender.settings(point),
                fold,
                contender.beginning(point),
                last.get(rest),
            )
            cells[point] = last[rest] = cell
        return cells

    def _cell(
        self,
        query: str,
        method: str,
        settings: Settings,
        fold: int | None,
        beginning: Settings | None,
        previous: Cell | None = None,
    ) -> Cell:
        """A cell; where it begins with a HOB-SVM, that one follows its own path, along the same C, or is always the
        same."""
        begun = None
        if beginning is not None:
            begun = None if previous is None else previous.beginning
            if begun is None or begun.settings != beginning:
                begun = self._cell(query, BEGUN_BY, beginning, fold, None, begun)
        return Cell(query, method, settings, fold, self.samples[fold, uses_graph(method)], previous, begun)


def plan_of(protocol: Protocol, image_set: ImageSet) -> Plan:
    """What `protocol` comes to on the set that it names; ValueError where it comes to nothing. Reads no features."""
    contenders = contenders_of(protocol)
    queries = protocol.queries or image_set.classes
    if not queries:
        raise InputError(
            readable(image_set.title), "classes to rank", "none", "choose an image set with classes"
        )
    trainings = len(queries) * protocol.folds * sum(len(one.points) for one in contenders)
    if trainings > MOST_TRAININGS:
        raise InputError("trials", f"at most {MOST_TRAININGS:,} in the folds", trainings, FEWER)
    graph = graph_in_use(protocol, contenders)
    splits = splits_of(image_set, protocol.folds, protocol.seed)
    check_queries(image_set, splits, queries)
    _check_places(protocol.measure, splits)
    samples = {
        (fold, leaning): _samples(protocol, image_set, split, graph if leaning else None)
        for fold, split in splits.all.items()
        for leaning in (False, True)
    }
    return Plan(protocol, tuple(queries), tuple(contenders), graph, splits, samples)


def _check_places(measure: str, splits: Splits) -> None:
    """ValueError where a fold has fewer samples than precision at k looks at."""
    if not measure.startswith("P@"):
        return
    least = min(len(split.held) for split in splits.all.values() if len(split.held))
    if least < int(measure[2:]):
        remedy = "choose another measure, or fewer folds"
        raise InputError("samples per fold", f"at least {measure[2:]} for {measure}", least, remedy)


def _samples(protocol: Protocol, image_set: ImageSet, split: Split, graph: str | None) -> str:
    """A hash of the samples of a split: their set, features, graph, and on which side each is; and their projection,
    where there is one, so that cells of before there were any keep theirs."""
    features = [
        cache_name(image_set.key, feature) for feature, _ in feature_columns(protocol.features, image_set)
    ]
    told: list[Any] = [image_set.key, features, graph]
    if (projection := whole_projection(protocol.projection)) is not None:
        told.append(projection)
    content = hashlib.sha256(json.dumps(told).encode())
    for rows in (split.learn, split.held):
        content.update(rows.astype("<i8").tobytes())
        content.update(b"|")
    return content.hexdigest()


def paths_of(cells: Iterable[Cell]) -> list[Path]:
    """The cells, and those that they begin from, as paths that do not depend on each other, each cell once.

    Along a path C rises, and a HOB-SVM goes right before the HOAP-SVM that begins with it.
    """
    path_of: dict[str, list[Cell]] = {}  # by key of a cell: the path it is on
    paths: list[list[Cell]] = []

    def place(cell: Cell) -> None:
        if cell.key in path_of:
            return
        for cause in cell.causes:
            place(cause)
        if cell.causes:
            path = path_of[cell.causes[0].key]
        else:
            paths.append(path := [])
        path.append(cell)
        path_of[cell.key] = path

    for cell in cells:
        place(cell)
    return [tuple(sorted(path, key=lambda cell: (cell.step, cell.beginning is not None))) for path in paths]
