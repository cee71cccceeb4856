"""After set-up, the first training finds every kernel compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ranking import Query, kernels
from ranking.methods import METHODS
from ranking.settings import setting

FIND_UNCOMPILED = """
import numpy as np
from numba.core import event
from ranking import LabelSet, Query, SimilarityGraph, make_method, method_class, method_names
from ranking.asking import closest_maxima, simulate
from ranking.inference import best_top_k
from ranking.kernels import compile_kernels
from ranking.settings import settings_of
edges = np.stack([np.arange(39), np.arange(1, 40)], axis=1)  # one component too large to enumerate, then small ones
with event.install_recorder("numba:compile") as recorder:
    compile_kernels()
    for precision in (np.float32, np.float64):
        for kept in (edges, edges[::3]):
            graph = SimilarityGraph(kept, np.ones((len(kept), 2), precision))
            features = np.random.default_rng(0).normal(size=(40, 3)).astype(precision)
            query = Query(features, np.arange(40) % 4 == 0, graph)
            for name in ("HOB-SVM", "HOAP-SVM"):
                make_method(name, C=1.0, max_iterations=5).fit([query]).score(query)
        images = LabelSet(features, np.random.default_rng(1).random((40, 8)) < 0.3, tuple("abcdefgh"))
        for name in method_names(ranks="labels"):
            for settings in ({}, {"k": 2}, {"solver": "subgradient"}, {"unary": "RBF kernel"}):
                method = make_method(name, max_iterations=3, **settings).fit(images)
                simulate(method, images, closest_maxima, 1)
        for name in method_names(ranks="orders"):
            few = {item.name: 3 for item in settings_of(method_class(name)) if item.name in ("rounds", "steps")}
            make_method(name, **few).fit([Query(features, np.arange(40) % 3)]).score(Query(features[:4]))
    best_top_k([1.0, 2.0, 3.0], [1], [[0.5, 0.0, 0.0]], 2, inside=[0], outside=[2])
print(len(recorder.buffer))
"""


def test_a_method_need_not_count_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[Query] = []

    @dataclass
    class Mean:
        C: float = setting(1.0, label="C", help="")

        def fit(self, queries: list[Query]) -> None:
            fitted.extend(queries)

    monkeypatch.setattr(METHODS, "_discovered", True)
    monkeypatch.setattr(METHODS, "_classes", {})
    METHODS.register("Mean")(Mean)
    monkeypatch.setattr(kernels, "ALGORITHMS", ())
    kernels.compile_kernels()
    assert [query.features.dtype.name for query in fitted] == ["float32", "float64"]


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "ranking.kernels"], env=environment, check=True)
    again = subprocess.run(
        [sys.executable, "-c", FIND_UNCOMPILED], env=environment, check=True, capture_output=True, text=True
    )
    assert int(again.stdout) == 0
