"""Learning to rank images: exact, fast methods and everything between a folder of images and a ranking.

>>> import numpy as np
>>> query = Query(features=np.eye(4), relevance=[1, 0, 0, 1])
>>> method = make_method("AP-SVM", C=10.0).fit([query])
>>> sorted(rank(method.score(query))[:2].tolist())
[0, 3]
"""

from __future__ import annotations

from ranking.core import (
    BagSet,
    Certificate,
    LabelSet,
    ProgressEvent,
    Query,
    SequenceSet,
    SimilarityGraph,
    StopTraining,
)
from ranking.methods import check_ranks, make_method, method_class, method_names
from ranking.metrics import rank

__all__ = [
    "BagSet",
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
