"""Which images a source sets aside to test on where nothing else says so."""

from __future__ import annotations

import math

import numpy as np

from ranking.types import Bools


def drawn(count: int, share: float, seed: int) -> Bools:
    """(count,) True for `share` of them, rounded, drawn with `seed`.

    >>> int(drawn(10, 0.4, seed=0).sum())
    4
    """
    test = np.zeros(count, np.bool_)
    test[np.random.default_rng(seed).permutation(count)[: round(share * count)]] = True
    return test


def evenly(number: int, share: float, start: float) -> bool:
    """Whether the image of that number tests: of any run of images `share` do, as even as can be, from `start` on.

    It does not depend on how many images there are, as `drawn` does.

    >>> [evenly(number, 0.5, start=0.0) for number in range(4)]
    [False, True, False, True]
    """
    return math.floor((number + 1) * share + start) > math.floor(number * share + start)
