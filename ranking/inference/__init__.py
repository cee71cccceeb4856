"""Inference: most violated rankings, best labellings, max-marginals, and the best top k labels.

Labellings and max-marginals are those of pairs and cliques.
"""

from ranking.inference.best_top_k import (
    BestTopK,
    BestTopKs,
    TopKMaxMarginals,
    best_top_k,
    best_top_ks,
    top_k_max_marginals,
)
from ranking.inference.components import Components
from ranking.inference.flips import MaxMarginals, bounds_of
from ranking.inference.max_marginals import MAX_MARGINAL_ALGORITHMS, best_labelling, max_marginals
from ranking.inference.most_violated_ranking import (
    ALGORITHMS,
    MostViolatedRanking,
    algorithms_for,
    most_violated_ranking,
)
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
    "BestTopK",
    "BestTopKs",
    "Components",
    "MaxMarginals",
    "MostViolatedRanking",
    "PairsOfEitherSign",
    "Potentials",
    "PottsCliques",
    "TopKMaxMarginals",
    "algorithms_for",
    "best_labelling",
    "best_top_k",
    "best_top_ks",
    "bounded_labelling",
    "bounded_max_marginals",
    "bounds_of",
    "max_marginals",
    "most_violated_ranking",
    "top_k_max_marginals",
]
