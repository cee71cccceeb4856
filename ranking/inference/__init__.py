"""Inference: the most violated ranking."""

from ranking.inference.most_violated_ranking import ALGORITHMS, MostViolatedRanking, most_violated_ranking

__all__ = ["ALGORITHMS", "MostViolatedRanking", "most_violated_ranking"]
