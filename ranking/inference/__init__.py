"""Inference: the most violated ranking; best labellings and max-marginals of pairwise models; the best top k."""

from ranking.inference.best_top_k import (
    BestTopK,
    BestTopKs,
    TopKMaxMarginals,
    best_top_k,
    best_top_ks,
    top_k_max_marginals,
)
from ranking.inference.components import Components
from ranking.inference.max_marginals import (
    MAX_MARGINAL_ALGORITHMS,
    MaxMarginals,
    best_labelling,
    max_marginals,
)
from ranking.inference.most_violated_ranking import ALGORITHMS, MostViolatedRanking, most_violated_ranking

__all__ = [
    "ALGORITHMS",
    "MAX_MARGINAL_ALGORITHMS",
    "BestTopK",
    "BestTopKs",
    "Components",
    "MaxMarginals",
    "MostViolatedRanking",
    "TopKMaxMarginals",
    "best_labelling",
    "best_top_k",
    "best_top_ks",
    "max_marginals",
    "most_violated_ranking",
    "top_k_max_marginals",
]
