"""Models from strangers with some bytes changed: described or refused in words, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_models import mean_colour

from ranking.features.onnx.running import Network
from ranking.features.uploads.model_preview import proposed


def test_mutated_models_are_described_or_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    data, generator = mean_colour(metadata={"mean": "0.5", "notes": "x" * 600}), np.random.default_rng(0)
    path, outcomes = tmp_path / "model.onnx", set()
    for _ in range(60):
        changed = bytearray(data)
        for _ in range(int(generator.integers(1, 4))):
            changed[int(generator.integers(0, len(changed)))] = int(generator.integers(0, 256))
        cut = int(generator.integers(0, 2)) * int(generator.integers(0, len(changed)))
        path.write_bytes(changed[cut:])
        try:
            network = Network(path)
            network.close()
            proposed(network)
            outcomes.add("described")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"described", "refused"}
