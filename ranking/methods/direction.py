"""The direction in feature space along which the scores of a trained method grow."""

from __future__ import annotations

import numpy as np

from ranking.core import Floats, Method
from ranking.core.errors import InputError


def score_direction(method: Method) -> Floats | None:
    """Return (d,) the weights w of a method whose scores grow with w.x; None where it has no weights.

    Two rows of weights, of the relevant class and of the other (high-order, eq. 4), score by their difference. Where
    there is a pairwise part too, this is the unary part only. ValueError for weights of another shape.
    """
    if method.unary_weights is None:
        return None
    unary = np.asarray(method.unary_weights, np.float64)
    if unary.ndim == 1:
        return unary
    if unary.ndim == 2 and len(unary) == 2:
        return np.asarray(unary[0] - unary[1], np.float64)
    raise InputError(
        "weights of a linear method", "shape (d,) or (2, d), which have one direction", unary.shape
    )
