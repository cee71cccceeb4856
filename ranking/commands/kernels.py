"""Compile every Numba kernel into its cache: ``python -m ranking.commands.kernels``.

Set-up runs this once, because otherwise the first training run waits some fifteen seconds for the compiler.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from ranking.core import Features, LabelSet, Query, SampleMethod, SequenceSet
from ranking.core.settings import settings_of
from ranking.datasets.copies import fingerprints, near_copies
from ranking.features import feature_names, make_feature
from ranking.features.windows.candidates import candidate_windows
from ranking.features.windows.description import describe_windows
from ranking.features.windows.settings import WindowSettings
from ranking.inference import (
    ALGORITHMS,
    best_labelling,
    best_top_k,
    bounded_max_marginals,
    max_marginals,
    most_violated_ranking,
)
from ranking.methods import make_method_as, method_class, method_names
from ranking.methods.label_ranker import LabelRanker
from ranking.methods.order_method import OrderMethod


def compile_kernels() -> None:
    """Run each kernel once on a few samples, for both precisions of the features."""
    generator = np.random.default_rng(0)
    picture = Image.fromarray(generator.integers(0, 256, (8, 8, 3), np.uint8))
    for name in feature_names():
        make_feature(name).describe(picture)
    halves = Image.fromarray(np.repeat([[0], [255]], 40, axis=0).repeat(80, axis=1).astype(np.uint8))
    describe_windows(halves, candidate_windows(halves, WindowSettings()))
    near_copies([fingerprints(Image.fromarray(generator.integers(0, 256, (80, 80, 3), np.uint8)))] * 2)
    relevance = np.arange(200) % 10 == 0
    for algorithm in ALGORITHMS:
        most_violated_ranking(generator.standard_normal(200), relevance, "ap", algorithm)
    # so many that bin numbers need 32 bits
    many = generator.standard_normal(1_100_000)
    most_violated_ranking(many, np.arange(len(many)) % 1000 == 0, "ap")
    best_labelling([1.0, -1.0], [[0, 1]], [-1.0])
    for algorithm in ("enumerate", "dynamic-cut"):
        max_marginals([1.0, -1.0], [[0, 1]], [-1.0], algorithm).sums([True, True], [1.0, 1.0])
    chain = np.stack([np.arange(12), np.arange(1, 13)], axis=1)
    assert bounded_max_marginals(generator.standard_normal(13), chain, np.ones(12)).map.size == 13
    for precision in (np.float32, np.float64):
        query = Query(generator.standard_normal((200, 3)).astype(precision), relevance)
        for name in method_names(ranks="samples"):
            solvers = [item.choices for item in settings_of(method_class(name)) if item.name == "solver"]
            for chosen in solvers[0] if solvers else [None]:
                solver = {} if chosen is None else {"solver": chosen}
                make_method_as(SampleMethod, name, **_few_iterations(name), **solver).fit([query])
    compile_label_kernels(generator)
    compile_order_kernels(generator)


def compile_label_kernels(generator: np.random.Generator) -> None:
    """Compile the kernels of label ranking, and of inference on one image."""
    labels = generator.random((20, 6)) < 0.4
    images = LabelSet(generator.standard_normal((20, 3)), labels, tuple("abcdef"))
    for name in method_names(ranks="labels"):
        method = make_method_as(LabelRanker, name, **_few_iterations(name))
        method.fit(images)
        method.scores(images)
    best_top_k([1.0, 2.0], [0], [[0.0, 1.0]], 1)


def compile_order_kernels(generator: np.random.Generator) -> None:
    """Compile the kernels of sequence ranking."""
    for precision in (np.float32, np.float64):
        features: Features = generator.standard_normal((200, 3)).astype(precision)
        sequences = SequenceSet.of([Query(features, np.arange(200) % 5), Query(features[:9], np.arange(9))])
        for name in method_names(ranks="sequences"):
            make_method_as(OrderMethod, name, **_few_iterations(name)).fit(sequences).score(
                sequences.query(0)
            )


def _few_iterations(name: str) -> dict[str, int]:
    few = {"max_iterations", "rounds", "steps"}
    return {item.name: 2 for item in settings_of(method_class(name)) if item.name in few}


if __name__ == "__main__":
    compile_kernels()
