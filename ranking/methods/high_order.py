"""The base of HOB-SVM and HOAP-SVM: weights of samples and of pairs, and scores by max-marginals."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ranking.core import Bools, Bounds, Floats, Query, SimilarityGraph
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, setting
from ranking.inference import POTENTIALS, AttractivePairs, MaxMarginals, Potentials, bounds_of
from ranking.methods.linear import LinearMethod, Start
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, LinearRisk
from ranking.solvers.block import Block


class HighOrderWeights(NamedTuple):
    """Weights of samples and pairs."""

    # (2, d), row 0 the relevant class, row 1 the other (high-order, eq. 4)
    unary: Floats
    # (d2,) (eq. 5), <= 0 unless pairs may have either sign
    pairwise: Floats


class Neighbours(NamedTuple):
    """The t terms of the graph of all training samples, and which samples are relevant (n,)."""

    potentials: Potentials
    relevant: Bools

    def split(self, scores: Floats) -> tuple[Floats, Floats]:
        """Split the solver's scores (n + t,) into unary scores (n,) and allowed penalties (t,)."""
        unary, penalty = np.split(scores, [len(self.relevant)])
        return unary, np.minimum(penalty, self.potentials.highest)

    def max_marginals(self, scores: Floats) -> MaxMarginals:
        """Return the max-marginals for scores (n + t,)."""
        return self.potentials.max_marginals(*self.split(scores))


SCALE = math.sqrt(2.0)


@dataclass(kw_only=True, eq=False)
class HighOrderMethod(LinearMethod):
    """Base of the methods that use the similarity graph (high-order, section 3).

    w.Psi(X, Y) = sum_i w_{y_i}.x_i + eta sum_{edges with y_i != y_j} w2.Phi(x_i, x_j), w2 <= 0. At the optimum the
    two rows are opposite, w_1 = v / sqrt 2 = -w_0: only sqrt 2 v.x_i of the unary part matters, the score of label 1
    minus the score of label 0. The solvers optimise (v, w2).

    Beyond the paper, `potentials` other than its own sum over other terms. With pairs of either sign, w2 has no sign,
    and components too large to enumerate are bounded from above: the max over labellings becomes one over
    half-integral ones, also linear in w, so that everything else stays valid for it.
    """

    uses_graph: ClassVar[bool] = True
    scale: ClassVar[float] = SCALE

    eta: float = setting(
        1.0,
        label="η: edge weight",
        help="Scales the affinities of neighbours. Small: neighbours have almost no effect. Large: neighbours decide.",
        formula=r"\eta\,\Phi(x_i, x_j),\quad (i, j)\in\mathcal E",
        minimum=1e-6,
        maximum=1e6,
        log=True,
        usual=(1e-4, 1e4),
    )
    potentials: str = setting(
        AttractivePairs.name,
        label="Pairwise potential",
        help="Attractive pairs cost a penalty if their labels differ, as in the paper. Pairs of either sign may also "
        "gain from it; inference is then approximate in components of more than 12 samples, and the pages say so. P^n "
        "Potts cliques: a set of mutually similar samples pays once unless all labels agree, weighted by its mean "
        "affinity.",
        formula=r"w_2\le0;\quad w_2\in\mathbb R^{d_2};\quad "
        r"w_2^\top\bar\Phi_c\,[\,y_i\ne y_j\text{ for some }i,j\in c\,],\ w_2\le0",
        choices=tuple(POTENTIALS),
        advanced=True,
    )

    @classmethod
    def objective_of(cls, settings: GivenSettings) -> str:
        """Return `objective`, the paper's, with the constraint of the potentials in `settings`."""
        kind = POTENTIALS[settings["potentials"]]
        return cls.objective.replace(AttractivePairs.constraint, kind.constraint)

    def identify(self, samples: TrainingSet) -> int:
        """Return the fingerprint of samples, eta, and potentials other than the paper's."""
        kind = b"" if self.potentials == AttractivePairs.name else self.potentials.encode()
        return zlib.crc32(np.float64(self.eta).tobytes() + kind, samples.fingerprint)

    def _starting_point(self, warm_start: Self, samples: TrainingSet) -> Start:
        start = super()._starting_point(warm_start, samples)
        entries = 0 if start.weights is None else len(start.weights) - samples.features.shape[1]
        needed = 0 if samples.graph is None else samples.graph.affinity.shape[1]
        if entries != needed:
            raise InputError(
                "warm_start",
                f"weights for affinities of {needed} entries, as the queries have",
                entries,
                "start from a run whose graphs were made from the same features",
            )
        if start.weights is None:
            return start
        unary, pairwise = np.split(start.weights, [samples.features.shape[1]])
        highest = POTENTIALS[self.potentials].highest
        return start._replace(weights=np.append(unary, np.minimum(pairwise, highest)))

    def neighbours(self, samples: TrainingSet) -> Neighbours:
        """Return the terms of the graph of the training samples."""
        return Neighbours(self._potentials(len(samples.relevant), samples.graph), samples.relevant)

    def _potentials(self, n: int, graph: SimilarityGraph | None) -> Potentials:
        edges = np.empty((0, 2), np.int64) if graph is None else graph.edges
        return POTENTIALS[self.potentials](n, edges)

    def risk_of(
        self, samples: TrainingSet, oracle: Callable[[Floats], Cut], neighbours: Neighbours | None = None
    ) -> LinearRisk:
        """Return a convex risk of (v, w2) on `samples`, the mean over their queries.

        neighbours: those of `samples`.
        """
        graph, potentials = samples.graph, (neighbours or self.neighbours(samples)).potentials
        pairwise = None if graph is None else Block(potentials.features(graph.affinity), self.eta)
        C = self.cost(samples.by_query) / len(samples.parts)
        return LinearRisk(Block(samples.features, SCALE), C, oracle, pairwise, potentials.highest)

    @property
    def weights(self) -> HighOrderWeights:
        """Rows of unary weights (2, d), pairwise weights (d2,)."""
        unary, pairwise = np.split(self._fitted().weights, [self.columns])
        direction = unary / SCALE
        return HighOrderWeights(np.stack([direction, -direction]), pairwise)

    @property
    def unary_weights(self) -> Floats:
        return self.weights.unary

    def potentials_of(self, query: Query) -> Potentials:
        """Return the terms of a query's graph; none where it has no graph."""
        return self._potentials(len(query.features), query.graph)

    def check_graph(self, query: Query) -> None:
        """Raise ValueError where these potentials could not score a query: its graph is too large."""
        self.potentials_of(query)

    def model_of(self, query: Query, potentials: Potentials | None = None) -> tuple[Floats, Floats]:
        """Return the unary scores (n,) and the penalties (t,) of a query; (0,) without a graph.

        They are the arguments of its potentials and, for attractive pairs, of `max_marginals`.
        """
        self._check_columns(query)
        return self._model_by(query, self._fitted().weights, potentials or self.potentials_of(query))

    def _model_by(
        self,
        query: Query,
        weights: Floats,
        terms: Potentials,
        product: Callable[[Block, Floats], Floats] = Block.exact_scores,
    ) -> tuple[Floats, Floats]:
        """Return the same by the solver's weights (d + d2,); (n, t) and (m, t) by weights (d + d2, t)."""
        unary, pairwise = np.split(weights, [query.features.shape[1]])
        scores = product(Block(query.features, SCALE), unary)
        if query.graph is None:
            return scores, np.empty((0, *scores.shape[1:]))
        if query.graph.affinity.shape[1] != len(pairwise):
            raise InputError(
                "affinities of the query",
                f"{len(pairwise)} entries, as {self.name} was trained with",
                query.graph.affinity.shape[1],
                "make the graphs of training and of this query from the same features",
            )
        penalty = product(Block(terms.features(query.graph.affinity), self.eta), pairwise)
        return scores, np.minimum(penalty, terms.highest)

    def score(self, query: Query) -> Floats:
        """Return (n,) the difference of max-marginals of every sample (high-order, eq. 11)."""
        return self.max_marginals(query).difference

    def score_by(self, query: Query, weights: Floats) -> Floats:
        terms = self.potentials_of(query)
        unary, penalty = self._model_by(query, weights.T, terms, Block.scores)
        pairs = zip(np.ascontiguousarray(unary.T), np.ascontiguousarray(penalty.T), strict=True)
        return np.stack([terms.max_marginals(*pair).difference for pair in pairs])

    def bounds(self, query: Query) -> Bounds | None:
        """Return how many scores are differences of bounds, and how inexact; None for exact potentials."""
        return bounds_of(self.max_marginals(query)) if POTENTIALS[self.potentials].bounded else None

    def max_marginals(self, query: Query) -> MaxMarginals:
        """Return the max-marginals of every sample, exact or upper bounds."""
        potentials = self.potentials_of(query)
        return potentials.max_marginals(*self.model_of(query, potentials))
