"""What HOB-SVM and HOAP-SVM learn at one C and eta: the first table of `four_methods.py --variants`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from timing import points, table

from ranking import Query, make_method
from ranking.core import ImageSet
from ranking.core.settings import Named
from ranking.features import load_features
from ranking.features.graph.image_graph import image_graph
from ranking.metrics import average_precision

C, ETA, TOLERANCE = 1e3, 1e-3, 1e-2
ROUNDING = 1e-9
HEADER = [
    "method",
    "above w2 = 0",
    "w2 = 0 at the end",
    "penalty",
    "scores above 0",
    "training AP, edges off",
    "on",
    "test AP, edges off",
    "on",
]


class Learned(NamedTuple):
    """The result of one run."""

    # Its objective over that of AP-SVM with w2 = 0, 1 for other methods.
    ratio: float
    # Mean penalty of an edge over the standard deviation of unary scores.
    penalty: float
    # The share of unary scores above 0.
    positive: float
    # AP without the edges and with them.
    learn: tuple[float, float]
    test: tuple[float, float]


def reasons_table(
    sets: Sequence[tuple[ImageSet, Path]], queries: Sequence[str], starts: Sequence[str]
) -> str:
    """A row for HOB-SVM and for HOAP-SVM from each of the starts: means over queries and sets."""
    rows: dict[str, list[Learned]] = {}
    for images, folder in sets:
        features: Named = (("HOG", {}), ("Colour", {}))
        matrix = load_features(images, features, folder / "features")
        for query in [name for name in queries if name in images.classes] or images.classes:
            relevance = images.relevance(query)
            learn, test = (
                Query(
                    matrix[side], relevance[side], image_graph(images, "same image", features, matrix, side)
                )
                for side in (~images.test, images.test)
            )
            plain = make_method("AP-SVM", C=2 * C, tolerance=TOLERANCE).fit([learn]).certificate.primal / 2
            methods = [("HOB-SVM", {})] + [("HOAP-SVM", {"start": start, "start_C": C}) for start in starts]
            for name, settings in methods:
                method = make_method(name, C=C, eta=ETA, tolerance=TOLERANCE, **settings).fit([learn])
                label = f"{name} from {settings['start']}" if settings else name
                rows.setdefault(label, []).append(learned(method, learn, test, plain))
    return table(HEADER, [row(label, models) for label, models in rows.items()])


def learned(method: Any, learn: Query, test: Query, plain: float) -> Learned:
    unary, penalty = method.model_of(test)
    ratio = method.certificate.primal / plain if method.name == "HOAP-SVM" else 1.0
    share = float(-penalty.mean() / np.std(unary))
    return Learned(
        ratio, share, float((unary > 0).mean()), precisions(method, learn), precisions(method, test)
    )


def precisions(method: Any, query: Query) -> tuple[float, float]:
    """Return AP of unary scores, and of max-marginals."""
    unary, _ = method.model_of(query)
    return average_precision(query.relevance, unary), average_precision(query.relevance, method.score(query))


def row(label: str, learned: list[Learned]) -> list[str]:
    own = label != "HOB-SVM"
    means = [fmean(model.penalty for model in learned), fmean(model.positive for model in learned)]
    means += [
        fmean(getattr(model, side)[edges] for model in learned)
        for side in ("learn", "test")
        for edges in (0, 1)
    ]
    return [
        label,
        f"{sum(model.ratio > 1 + ROUNDING for model in learned)} of {len(learned)}" if own else "",
        f"{sum(model.penalty == 0 for model in learned)} of {len(learned)}",
        *map(points, means),
    ]
