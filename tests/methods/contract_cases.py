"""What the contract tests need of each kind of method: a small problem, scores, objective, bad input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import bag_problems
import label_problems
import numpy as np
import problems
import pytest
import reference
from order_problems import rows_of, sequences

from ranking import BagSet, LabelSet, Query, SequenceSet, make_method, method_class, method_names
from ranking.core.settings import settings_of

# training data, and the subject of the error
Refused = tuple[Any, str]
# For methods that have such a setting; optima are compared with those of the paper's own objective.
QUICK = {"rounds": 30, "steps": 20_000, "unit": "paper", "start_C": 10.0}


@dataclass(frozen=True)
class Case:
    """A registered method and small problems for it: what a kind of methods takes and gives."""

    name: str
    # what may be missing in a file
    optional: ClassVar[set[str]] = set()
    # whether another run may be its start
    starts: ClassVar[bool] = True
    # settings that it has
    needs: ClassVar[set[str]] = set()
    # the field of the data that holds them
    features: ClassVar[str] = "features"
    wrong_features: ClassVar[str] = "features of the query"

    def __str__(self) -> str:
        return self.name

    def make(self, **settings: Any) -> Any:
        """The method, with settings that let it train in a moment."""
        known = {item.name for item in settings_of(method_class(self.name))}
        quick = {key: value for key, value in QUICK.items() if key in known}
        # at the default C, classes on which a bound is loose take a second
        if "unit" in known:
            quick["C"] = 10.0
        return make_method(self.name, **{**quick, **settings})

    def scores_of_features(self, method: Any, features: np.ndarray) -> np.ndarray:
        scores: np.ndarray = method.score(Query(features))
        return scores

    def torn(self, arrays: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """What of the header and of the arrays of a file may not be changed alone."""
        yield from ()

    @property
    def convex(self) -> bool:
        return bool(method_class(self.name).is_convex({"k": 0}))


@dataclass(frozen=True)
class RanksSamples(Case):
    """Learns from queries, and scores the samples of one."""

    # whether some samples are similar to each other
    graph: bool = False
    solver: str = ""
    # the first files had no pairs and no coefficients; not all keep cuts
    optional: ClassVar[set[str]] = {"pairs", "cut_losses", "coefficients"}
    needs: ClassVar[set[str]] = {"C", "tolerance", "max_iterations"}

    def __str__(self) -> str:
        return " ".join(filter(None, [self.name, self.solver, "with a graph" * self.graph]))

    def make(self, **settings: Any) -> Any:
        return super().make(**({"solver": self.solver} if self.solver else {}), **settings)

    @property
    def one_optimum(self) -> bool:
        """Whether training ends at one objective, wherever it begins."""
        return self.convex or not self.graph

    def query(self, seed: int = 0, **sizes: Any) -> Query:
        return (problems.similar_problem if self.graph else problems.problem)(seed, **sizes)

    def tiny(self, seed: int, dtype: Any) -> Query:
        """A query whose 2^8 labellings or 6! rankings can be enumerated."""
        n, positives = (8, 3) if self.name in ("SVM", "HOB-SVM") else (6, 2)
        return self.query(seed, n=n, d=2, positives=positives, dtype=dtype)

    def primal(self, method: Any, query: Query) -> float:
        return problems.primal_of(self.name, method.weights, query, method.C)

    def problem(self, seed: int = 0, dtype: Any = np.float64) -> list[Query]:
        return [self.query(seed, dtype=dtype)]

    def arrays(self, data: list[Query]) -> list[np.ndarray]:
        return [array for query in data for array in (query.features, query.relevance)]

    def blind(self, data: list[Query]) -> list[Query]:
        return [replace(query, relevance=None) for query in data]

    def weights(self, method: Any) -> np.ndarray:
        return problems.flat(method.weights)

    def scores(self, method: Any, data: list[Query]) -> np.ndarray:
        return np.concatenate([method.score(query) for query in data])

    def objective(self, method: Any, data: list[Query]) -> float | None:
        return self.primal(method, data[0])

    def refused(self) -> Iterator[Refused]:
        features = np.eye(3)
        good = Query(features, [1, 0, 0])
        yield [], "queries"
        yield [good, Query(features)], "query 1"
        yield [Query(features, [0, 0, 0])], "query 0"
        yield [good, Query(features, [1, 2, 1])], "query 1"
        yield [Query(features[:0], [])], "query 0"
        yield [good, Query(features[:, :2], [1, 0, 0])], "features of query 1"

    def refused_starts(self) -> Iterator[Any]:
        yield make_method(self.name).fit([Query(np.eye(3), [1, 0, 0])])


@dataclass(frozen=True)
class RanksLabels(Case):
    """Learns from images with labels, and scores the labels of each."""

    needs: ClassVar[set[str]] = {"C", "k", "unary", "tolerance", "max_iterations"}
    wrong_features: ClassVar[str] = "features of the images"

    def problem(self, seed: int = 0, dtype: Any = np.float64) -> LabelSet:
        return label_problems.images(seed, dtype=dtype)

    def arrays(self, data: LabelSet) -> list[np.ndarray]:
        return [data.features, data.labels]

    def blind(self, data: LabelSet) -> LabelSet:
        return LabelSet(data.features, np.zeros_like(data.labels), data.names)

    def weights(self, method: Any) -> np.ndarray:
        return label_problems.flat(method)

    def scores(self, method: Any, data: LabelSet) -> np.ndarray:
        scores: np.ndarray = method.scores(data)
        return scores

    def scores_of_features(self, method: Any, features: np.ndarray) -> np.ndarray:
        return self.scores(method, LabelSet(features, np.zeros((len(features), 5), bool), method.names))

    def objective(self, method: Any, data: LabelSet) -> float | None:
        outputs = label_problems.outputs_of(method, data)
        return reference.one_slack_primal(self.weights(method), outputs, method.C)

    def refused(self) -> Iterator[Refused]:
        good = self.problem()
        yield [Query(np.eye(3), [1, 0, 1])], "label_set"
        for marks in (np.zeros((14, 5), bool), np.ones((14, 5), bool)):
            yield LabelSet(good.features, marks, good.names), "label_set"

    def refused_starts(self) -> Iterator[Any]:
        yield make_method(self.name).fit(self.problem(1))

    def torn(self, arrays: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Weights of other labels or another core."""
        yield {"names": ["a"]}, {}
        yield {"map": {}}, {}
        yield {}, {"shared": arrays["shared"][1:]}
        yield {}, {"own": arrays["own"][1:]}
        yield {}, {"interactions": np.zeros((2, 3))}


@dataclass(frozen=True)
class RanksOrders(Case):
    """Learns from sequences of graded samples, and scores the samples of one."""

    # the first files had none
    optional: ClassVar[set[str]] = {"coefficients"}
    starts: ClassVar[bool] = False

    def problem(self, seed: int = 0, dtype: Any = np.float64) -> SequenceSet:
        return sequences(seed, dtype=dtype)

    def arrays(self, data: SequenceSet) -> list[np.ndarray]:
        return [data.features, data.grades, data.members, data.starts]

    def blind(self, data: SequenceSet) -> SequenceSet:
        return replace(data, grades=np.zeros_like(data.grades))

    def weights(self, method: Any) -> np.ndarray:
        """What the file keeps: some methods have no weights."""
        return np.concatenate([np.ravel(array) for array in method.arrays().values()])

    def scores(self, method: Any, data: SequenceSet) -> np.ndarray:
        return np.concatenate([method.score(data.query(number)) for number in range(min(10, len(data)))])

    def objective(self, method: Any, data: SequenceSet) -> float | None:
        if self.name not in ORDER_OBJECTIVES:
            return None
        features = data.features.astype(np.float64)
        return ORDER_OBJECTIVES[self.name](
            method.weights, features, data.grades.tolist(), rows_of(data), method.C
        )

    def refused(self) -> Iterator[Refused]:
        good = self.problem()
        yield replace(good, grades=np.ones_like(good.grades)), "sequences"
        yield SequenceSet(good.features, good.grades, good.members[:3], np.arange(4)), "sequences"
        yield [], "queries"
        yield [Query(np.eye(3))], "queries"
        yield replace(good, features=good.features[:, :0]), "features"

    def refused_starts(self) -> Iterator[Any]:
        yield self.make().fit(self.problem())


@dataclass(frozen=True)
class RanksBags(Case):
    """Learns from images with candidate windows, and scores the images."""

    needs: ClassVar[set[str]] = {"C", "start", "tolerance", "max_iterations"}
    features: ClassVar[str] = "windows"
    wrong_features: ClassVar[str] = "windows of the images"

    def problem(self, seed: int = 0, dtype: Any = np.float64) -> list[BagSet]:
        return [bag_problems.bag_set(seed, dtype=dtype)]

    def arrays(self, data: list[BagSet]) -> list[np.ndarray]:
        [bags] = data
        return [bags.windows, bags.starts, bags.boxes, bags.relevance]

    def blind(self, data: list[BagSet]) -> list[BagSet]:
        return [replace(bags, relevance=None) for bags in data]

    def weights(self, method: Any) -> np.ndarray:
        weights: np.ndarray = method.weights
        return weights

    def scores(self, method: Any, data: list[BagSet]) -> np.ndarray:
        scores: np.ndarray = method.score(data[0])
        return scores

    def scores_of_features(self, method: Any, features: np.ndarray) -> np.ndarray:
        boxes = np.tile([0, 0, 1, 1], (len(features), 1))
        return self.scores(method, [BagSet(features, np.arange(len(features) + 1), boxes)])

    def objective(self, method: Any, data: list[BagSet]) -> float | None:
        return bag_problems.objective(method, method.weights, data[0])

    def refused(self) -> Iterator[Refused]:
        [good] = self.problem()
        yield [], "bag_sets"
        yield [good, good], "bag_sets"
        yield [Query(np.eye(3), [1, 0, 1])], "bag_sets"
        for relevance in (None, np.zeros(24, int), np.ones(24, int)):
            yield [replace(good, relevance=relevance)], "bag_sets"

    def refused_starts(self) -> Iterator[Any]:
        yield self.make().fit([bag_problems.bag_set(d=5)])


def _of_lists(loss: Callable[..., float]) -> Callable[..., float]:
    return lambda w, features, grades, rows, C: w @ w / 2 + C * loss(features @ w, grades, rows)


# Of the others, test_order_objectives and test_mid_rank compare the optimum or the steps.
ORDER_OBJECTIVES: dict[str, Callable[..., float]] = {
    "RankSVM": reference.pair_svm_primal,
    "Relative Attributes": reference.relative_attributes_primal,
    "ListNet": _of_lists(reference.list_net_loss),
    "ListMLE": _of_lists(reference.list_mle_loss),
}

SAMPLES = [
    RanksSamples(name, graph)
    for name in method_names(ranks="samples")
    for graph in ([False, True] if method_class(name).uses_graph else [False])
]
SOLVERS = [RanksSamples("SVM", solver=solver) for solver in ("coordinate descent", "cutting plane")]
LABELS = [RanksLabels(name) for name in method_names(ranks="labels")]
ORDERS = [RanksOrders(name) for name in method_names(ranks="sequences")]
BAGS = [RanksBags(name) for name in method_names(ranks="windows")]
CASES: list[Any] = [*SAMPLES, *LABELS, *ORDERS, *BAGS]
EVERY_SOLVER = pytest.mark.parametrize("case", [*SAMPLES, *SOLVERS], ids=str)
CONVEX = pytest.mark.parametrize("case", [case for case in [*SAMPLES, *SOLVERS] if case.convex], ids=str)
