"""Which images a source sets aside to test on where nothing else says so."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ranking.types import Bools


def drawn(count: int, share: float, seed: int) -> Bools:
    """(count,) True for `share` of them, rounded, drawn with `seed`.

    >>> int(drawn(10, 0.4, seed=0).sum())
    4
    """
    test = np.zeros(count, np.bool_)
    test[np.random.default_rng(seed).permutation(count)[: round(share * count)]] = True
    return test


def drawn_whole(groups: Sequence[Sequence[str]], share: float, seed: int) -> Bools:
    """As `drawn` for images of which `groups` tells the groups of each: what hangs together by them is drawn together.

    An image without a group stands for itself. `share` is of what hangs together.

    >>> drawn_whole([["a"], ["a", "b"], ["b"], []], 0.5, seed=0).tolist()
    [True, True, True, False]
    """
    first: dict[str, int] = {}
    pairs = [(image, first.setdefault(group, image)) for image, told in enumerate(groups) for group in told]
    here, there = zip(*pairs, strict=True) if pairs else ((), ())
    links = coo_array((np.ones(len(pairs)), (here, there)), shape=(len(groups), len(groups)))
    count, unit = connected_components(links, directed=False)
    chosen: Bools = drawn(count, share, seed)[unit]
    return chosen


def evenly(number: int, share: float, start: float) -> bool:
    """Whether the image of that number tests: of any run of images `share` do, as even as can be, from `start` on.

    It does not depend on how many images there are, as `drawn` does.

    >>> [evenly(number, 0.5, start=0.0) for number in range(4)]
    [False, True, False, True]
    """
    return math.floor((number + 1) * share + start) > math.floor(number * share + start)
