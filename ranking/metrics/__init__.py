"""Evaluation of rankings, and statistics of many: intervals, paired tests, curves."""

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
    "evaluate",
    "evaluate_or_count",
    "kendall_tau",
    "ndcg",
    "pair_accuracy",
    "precision_at_k",
    "precision_recall_curve",
    "rank",
    "ranking_order",
]
