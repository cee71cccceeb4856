"""Inference: the most violated ranking; best labellings and max-marginals of pairwise binary models."""

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
    "Components",
    "MaxMarginals",
    "MostViolatedRanking",
    "best_labelling",
    "max_marginals",
    "most_violated_ranking",
]
