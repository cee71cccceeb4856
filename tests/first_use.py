"""After set-up nothing is left to compile: ``python tests/first_use.py``.

A program of its own and no test of pytest: other tests compile too, so it tells something only before they have filled
Numba's cache, at the first `make test` after set-up.
"""

from __future__ import annotations

import sys

import numpy as np
from numba.core import event

from ranking import LabelSet, Query, SequenceSet, SimilarityGraph, make_method, method_class, method_names
from ranking.commands.kernels import compile_kernels
from ranking.core.settings import settings_of
from ranking.explain.question_strategies import closest_maxima, simulate
from ranking.inference import best_top_k


def main() -> None:
    # one component too large to enumerate, then small ones
    edges = np.stack([np.arange(39), np.arange(1, 40)], axis=1)
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
            for name in method_names(ranks="sequences"):
                settings = settings_of(method_class(name))
                few = {item.name: 3 for item in settings if item.name in ("rounds", "steps")}
                make_method(name, **few).fit([Query(features, np.arange(40) % 3)]).score(Query(features[:4]))
        sequences = SequenceSet.of([Query(np.random.default_rng(2).normal(size=(9, 3)), np.arange(9))] * 8)
        for name in method_names(ranks="sequences"):
            make_method(name).fit(sequences).score_sequences(sequences)
        best_top_k([1.0, 2.0, 3.0], [1], [[0.5, 0.0, 0.0]], 2, inside=[0], outside=[2])
    compiled = sorted({str(record[1].data["dispatcher"]) for record in recorder.buffer})
    if compiled:
        sys.exit(
            "set-up left these kernels to be compiled; name them in ranking/commands/kernels.py:\n"
            + "\n".join(compiled)
        )


if __name__ == "__main__":
    main()
