"""Neighbourhoods of attractive pairs in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranking.explain.neighbourhood import Neighbourhood
from ranking.inference import AttractivePairs


def attractive(
    unary: npt.ArrayLike,
    edges: npt.ArrayLike,
    penalty: npt.ArrayLike,
    relevant: npt.ArrayLike,
    test: npt.ArrayLike | None = None,
) -> Neighbourhood:
    """test: None where all samples are for training."""
    tests = np.zeros(len(unary), bool) if test is None else test
    return Neighbourhood.of(unary, AttractivePairs(len(unary), edges), penalty, np.array(relevant), tests)
