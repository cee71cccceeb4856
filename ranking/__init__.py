"""Learning to rank images: exact, fast methods and everything between a folder of images and a ranking.

>>> import numpy as np
>>> query = Query(features=np.eye(4), relevance=[1, 0, 0, 1])
>>> method = make_method("AP-SVM", C=10.0).fit([query])
>>> sorted(rank(method.score(query))[:2].tolist())
[0, 3]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.errors import InputError
from ranking.methods import METHODS
from ranking.types import (
    Certificate,
    LabelSet,
    ProgressEvent,
    Query,
    SequenceSet,
    SimilarityGraph,
    StopTraining,
)

RANKED = {"samples": "samples", "orders": "whole sequences", "labels": "the labels of an image"}

__all__ = [
    "Certificate",
    "LabelSet",
    "ProgressEvent",
    "Query",
    "SequenceSet",
    "SimilarityGraph",
    "StopTraining",
    "check_ranks",
    "make_method",
    "method_class",
    "method_names",
    "rank",
]

make_method = METHODS.make
method_class = METHODS.get


def method_names(ranks: str | None = None) -> list[str]:
    """Every method by name; with `ranks` those that rank "samples" of a query as relevant or not, put "orders" of
    graded samples right, or rank the "labels" of an image.

    >>> "AP-SVM" in method_names(ranks="samples"), "AP-SVM" in method_names(ranks="labels")
    (True, False)
    """
    if ranks is not None and ranks not in RANKED:
        raise InputError("ranks", f"one of {', '.join(map(repr, RANKED))}", repr(ranks))
    return [name for name in METHODS.names() if ranks in (None, _ranks(name))]


def check_ranks(name: str, ranks: str) -> None:
    """InputError about "method" unless the method `name` ranks `ranks`, one of RANKED, and where it is unknown."""
    if _ranks(name) != ranks:
        expected = f"one that ranks {RANKED[ranks]}"
        remedy = f"choose one of {', '.join(method_names(ranks))}"
        raise InputError("method", expected, f"{name}, which ranks {RANKED[_ranks(name)]}", remedy)


def _ranks(name: str) -> str:
    """What a method says that it ranks."""
    return str(getattr(METHODS.get(name), "ranks", "samples"))


def rank(scores: npt.ArrayLike) -> npt.NDArray[Any]:
    """(n,) the samples from the highest score down; equal scores stay in the order that they came in.

    >>> rank([0.1, 0.9, 0.5])
    array([1, 2, 0])
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        nans = np.count_nonzero(np.isnan(values))
        raise InputError("scores", "shape (n,) without NaN", f"shape {values.shape} with {nans:,} NaN")
    return np.argsort(-values, kind="stable")
