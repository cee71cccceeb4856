"""Models from strangers with some bytes changed: read or refused in words, and nothing else."""

from __future__ import annotations

import numpy as np
from tiny_models import mean_colour

from ranking.features.onnx.model_file import read_model
from ranking.features.own.network_looking import proposed


def test_mutated_models_are_read_or_refused():
    data, generator = mean_colour(told={"mean": "0.5"}), np.random.default_rng(0)
    outcomes = set()
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(int(generator.integers(1, 4))):
            changed[int(generator.integers(0, len(changed)))] = int(generator.integers(0, 256))
        cut = int(generator.integers(0, 2)) * int(generator.integers(0, len(changed)))
        try:
            proposed(read_model(bytes(changed[cut:])))
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
