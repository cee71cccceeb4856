"""Inference: the most violated ranking; best labellings and max-marginals of models of pairs and of cliques."""

from ranking.inference.components import Components
from ranking.inference.flips import MaxMarginals, bounds_of
from ranking.inference.max_marginals import MAX_MARGINAL_ALGORITHMS, best_labelling, max_marginals
from ranking.inference.most_violated_ranking import ALGORITHMS, MostViolatedRanking, most_violated_ranking
from ranking.inference.potentials import (
    POTENTIALS,
    AttractivePairs,
    PairsOfEitherSign,
    Potentials,
    PottsCliques,
)
from ranking.inference.roof_duality import bounded_labelling, bounded_max_marginals

__all__ = [
    "ALGORITHMS",
    "MAX_MARGINAL_ALGORITHMS",
    "POTENTIALS",
    "AttractivePairs",
    "Components",
    "MaxMarginals",
    "MostViolatedRanking",
    "PairsOfEitherSign",
    "Potentials",
    "PottsCliques",
    "best_labelling",
    "bounded_labelling",
    "bounded_max_marginals",
    "bounds_of",
    "max_marginals",
    "most_violated_ranking",
]
