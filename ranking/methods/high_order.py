"""What HOB-SVM and HOAP-SVM share: weights of samples and of pairs, and scores by max-marginals."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ranking.inference import Components, max_marginals
from ranking.methods.linear import LinearMethod, Start
from ranking.methods.training_set import TrainingSet
from ranking.optimise import Cut, LinearRisk
from ranking.optimise.block import Block
from ranking.settings import setting
from ranking.types import Bools, Floats, Ints, Query


class HighOrderWeights(NamedTuple):
    """unary: (2, d), row 0 the relevant class, row 1 the other (high-order, eq. 4). pairwise: (d2,) <= 0 (eq. 5)."""

    unary: Floats
    pairwise: Floats


class Neighbours(NamedTuple):
    """The graph of all training samples: its edges (m, 2), their connected components, and which are relevant (n,)."""

    edges: Ints
    components: Components
    relevant: Bools

    def split(self, scores: Floats) -> tuple[Floats, Floats]:
        """What the solver calls scores, (n + m,), as unary scores (n,) and penalties (m,) <= 0."""
        unary, penalty = np.split(scores, [len(self.relevant)])
        return unary, np.minimum(penalty, 0.0)


SCALE = math.sqrt(2.0)


@dataclass(kw_only=True, eq=False)
class HighOrderMethod(LinearMethod):
    """Base of the methods whose samples lean on their neighbours (high-order, section 3).

    w.Psi(X, Y) = sum_i w_{y_i}.x_i + eta sum_{edges with y_i != y_j} w2.Phi(x_i, x_j),  w2 <= 0. At the optimum the
    two rows are opposite, w_1 = v / sqrt 2 = -w_0: only sqrt 2 v.x_i of the unary part matters, the score of label 1
    minus the score of label 0. The solvers see (v, w2).
    """

    uses_graph: ClassVar[bool] = True

    eta: float = setting(
        1.0,
        label="η: how much neighbours count",
        help="Scales the affinities of similar samples. Small: nearly none. Large: neighbours decide.",
        formula=r"\Psi_2(X, Y) = \eta \sum_{(i,j)\in\mathcal E,\, y_i\ne y_j} \Phi(x_i, x_j)",
        minimum=1e-6,
        maximum=1e6,
        log=True,
        usual=(1e-4, 1e4),
    )

    def identify(self, samples: TrainingSet) -> int:
        return zlib.crc32(np.float64(self.eta).tobytes(), samples.fingerprint)

    def _starting_point(self, other: Self, samples: TrainingSet) -> Start:
        start = super()._starting_point(other, samples)
        known = 0 if start.weights is None else len(start.weights) - samples.features.shape[1]
        needed = 0 if samples.graph is None else samples.graph.affinity.shape[1]
        if known != needed:
            raise ValueError(
                f"warm_start has weights for affinities of {known} entries, the queries' graphs have {needed}; "
                "start from a run whose graphs were made from the same features"
            )
        return start

    def neighbours(self, samples: TrainingSet) -> Neighbours:
        edges = np.empty((0, 2), np.int64) if samples.graph is None else samples.graph.edges
        return Neighbours(edges, Components.of(len(samples.relevant), edges), samples.relevant)

    def risk_of(self, samples: TrainingSet, oracle: Callable[[Floats], Cut]) -> LinearRisk:
        """A convex risk of (v, w2) on `samples`, the mean over their queries."""
        graph = samples.graph
        pairwise = None if graph is None else Block(graph.affinity, self.eta)
        return LinearRisk(samples.features, self.C / len(samples.parts), oracle, SCALE, pairwise)

    @property
    def weights(self) -> HighOrderWeights:
        """Rows of unary weights (2, d), pairwise weights (d2,) <= 0."""
        unary, pairwise = np.split(self._fitted().weights, [self.columns])
        direction = unary / SCALE
        return HighOrderWeights(np.stack([direction, -direction]), pairwise)

    def model_of(self, query: Query) -> tuple[Floats, Floats]:
        """Unary scores (n,) and penalties (m,) <= 0 of a query: what `max_marginals` is given. No graph: (0,)."""
        unary, pairwise = np.split(self._fitted().weights, [self.columns])
        self._check_columns(query)
        scores = Block(query.features, SCALE).exact_scores(unary)
        if query.graph is None:
            return scores, np.empty(0)
        if query.graph.affinity.shape[1] != len(pairwise):
            raise ValueError(
                f"{self.name} was trained with affinities of {len(pairwise)} entries, the query's graph has "
                f"{query.graph.affinity.shape[1]}; "
                "make the graphs of training and of this query from the same features"
            )
        penalty = Block(query.graph.affinity, self.eta).exact_scores(pairwise)
        return scores, np.minimum(penalty, 0.0)

    def score(self, query: Query) -> Floats:
        """(n,) the difference of max-marginals of every sample (high-order, eq. 11)."""
        unary, penalty = self.model_of(query)
        edges = np.empty((0, 2), np.int64) if query.graph is None else query.graph.edges
        return max_marginals(unary, edges, penalty).difference
