"""Generated features of the papers' size, of two kinds, L2-normalised.

"scattered": sparse, non-negative, like activations. "correlated": dense, forty factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    samples: int
    relevant: int
    features: int


SHAPE = Shape(3347, 227, 2404)


def scattered(seed: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    relevant = _relevant(generator, shape)
    features = np.maximum(generator.standard_normal((shape.samples, shape.features)) - 0.5, 0)
    normal = generator.standard_normal(shape.features)
    pattern = np.maximum(normal * (generator.random(shape.features) < 0.1), 0)
    features[relevant] += 0.5 * pattern * generator.random((shape.relevant, 1))
    return _normalised(features), relevant


def correlated(seed: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    relevant = _relevant(generator, shape)
    factors = generator.standard_normal((shape.samples, 40))
    factors[relevant, :2] += (1.0, 0.7)
    features = factors @ generator.standard_normal((40, shape.features)) / np.sqrt(40)
    return _normalised(features + generator.standard_normal((shape.samples, shape.features))), relevant


def _relevant(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    relevant = np.zeros(shape.samples, dtype=bool)
    relevant[generator.choice(shape.samples, shape.relevant, replace=False)] = True
    return relevant


def _normalised(features: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(features / np.linalg.norm(features, axis=1, keepdims=True), dtype=np.float32)
