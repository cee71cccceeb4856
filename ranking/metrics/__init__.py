"""Evaluation of rankings, and statistics of many: intervals, paired tests, curves."""

from ranking.metrics.detection import (
    correct_localisation,
    detection_average_precision,
    non_maximum_suppression,
    overlap,
)
from ranking.metrics.measures import (
    CUTOFFS,
    Gain,
    average_precision,
    break_even_precision,
    evaluate,
    evaluate_or_count,
    kendall_tau,
    ndcg,
    pair_accuracy,
    precision_at_k,
    precision_recall_curve,
    rank,
    ranking_order,
)

__all__ = [
    "CUTOFFS",
    "Gain",
    "average_precision",
    "break_even_precision",
    "correct_localisation",
    "detection_average_precision",
    "evaluate",
    "evaluate_or_count",
    "kendall_tau",
    "ndcg",
    "non_maximum_suppression",
    "overlap",
    "pair_accuracy",
    "precision_at_k",
    "precision_recall_curve",
    "rank",
    "ranking_order",
]
