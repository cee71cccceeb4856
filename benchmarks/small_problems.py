"""Does every run on small valid data end with a result, and with a certificate where the method has one?

    python benchmarks/small_problems.py                  # --method HOB-SVM --problems 5000 for one method

Each problem has 2 to 30 samples and 1 to 6 features, often equal, rounded, zero or badly scaled, and random settings: C
over eight powers of ten, eta over six, tolerance from 1e-2 to 1e-6, and every option of settings with choices. The
seeds of problems that end otherwise are printed; `--seed` repeats one of them. “Refused” counts errors that name a
problem with the data: trees need a feature that splits the samples.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from timing import machine, options_of, table

from ranking import (
    BagSet,
    LabelSet,
    Query,
    SequenceSet,
    SimilarityGraph,
    make_method,
    method_class,
    method_names,
)
from ranking.core.errors import InputError
from ranking.core.settings import Setting, settings_of

# Sizes that only cost time on small data, and ranges of the settings that determine how hard a problem is.
FIXED = {"rounds": 20, "subsequences": 50, "longest": 4, "steps": 5000, "hidden": 0, "core_size": 2}
FIXED |= {"trees": 1, "least": 1, "size_bonus": 0.1, "smallest_window": 0.05}
RANGES = {"C": (-4, 4), "start_C": (-4, 4), "eta": (-3, 3), "tolerance": (-6, -2), "gamma": (-2, 2)}
SCALES = (0.1, 1.0, 1.0, 1.0, 10.0)


def features_of(generator: np.random.Generator, count: int) -> np.ndarray:
    """Return features (count, 1 to 6) of one of several kinds."""
    features = generator.standard_normal((count, generator.integers(1, 7))) * generator.choice(SCALES)
    kind = generator.integers(5)
    # many rows are equal
    if kind == 1:
        features = features[generator.integers(max(1, count // 3), size=count)]
    elif kind == 2:
        # few different values, zeros among them
        features = np.round(features)
    elif kind == 3:
        # like histograms
        features = np.abs(features) / np.maximum(np.abs(features).sum(axis=1, keepdims=True), 1e-12)
    elif kind == 4:
        features = features.astype(np.float32)
    return features


def query(generator: np.random.Generator) -> list[Query]:
    """Return one query with relevant and irrelevant samples, and a graph of groups or of random pairs."""
    count = int(generator.integers(2, 31))
    relevance = np.zeros(count, int)
    relevance[generator.permutation(count)[: generator.integers(1, count)]] = 1
    group = generator.integers(max(1, count // int(generator.integers(1, 6))), size=count)
    pairs = np.array(list(itertools.combinations(range(count), 2))).reshape(-1, 2)
    near = group[pairs[:, 0]] == group[pairs[:, 1]]
    edges = pairs[near if generator.integers(4) else generator.random(len(pairs)) < 0.1]
    affinity = generator.random((len(edges), int(generator.integers(1, 4))))
    return [Query(features_of(generator, count), relevance, SimilarityGraph(edges, affinity))]


def label_set(generator: np.random.Generator) -> LabelSet:
    """Return 2 to 30 images with 2 to 6 labels; each label is present in some images and absent in others."""
    count, labels = int(generator.integers(2, 31)), int(generator.integers(3, 7))
    marks = generator.random((count, labels)) < 0.4
    marks[:, 0], marks[:, 1] = True, False
    marks = generator.permuted(marks, axis=1)
    return LabelSet(features_of(generator, count), marks, tuple(f"label {i}" for i in range(labels)))


def sequence_set(generator: np.random.Generator) -> SequenceSet:
    """Return 1 to 20 sequences of 5 to 8 samples, each with at least four different grades."""
    count = int(generator.integers(8, 31))
    grades = generator.permutation(np.arange(count) % int(generator.integers(4, 9)))
    members: list[int] = []
    starts = [0]
    for _ in range(generator.integers(1, 21)):
        chosen = [generator.choice(np.flatnonzero(grades == grade)) for grade in range(4)]
        rest = np.setdiff1d(np.arange(count), chosen)
        members += [int(i) for i in [*chosen, *generator.permutation(rest)[: generator.integers(1, 5)]]]
        starts.append(len(members))
    return SequenceSet(features_of(generator, count), grades, np.array(members), np.array(starts))


def bag_set(generator: np.random.Generator) -> list[BagSet]:
    """Return one bag set of 2 to 20 images with 1 to 5 windows each."""
    count = int(generator.integers(2, 21))
    relevance = generator.permutation(np.arange(count) < generator.integers(1, count))
    starts = np.append(0, np.cumsum(generator.integers(1, 6, count)))
    corners = generator.uniform(0, 50, (starts[-1], 2))
    boxes = np.hstack([corners, corners + generator.uniform(1, 50, (starts[-1], 2))])
    boxes[starts[:-1]] = [0, 0, 100, 100]
    return [BagSet(features_of(generator, int(starts[-1])), starts, boxes, relevance)]


PROBLEMS = {"samples": query, "labels": label_set, "sequences": sequence_set, "windows": bag_set}


def value_of(item: Setting, generator: np.random.Generator) -> Any:
    """Return a value for one setting: a random choice, a random power of ten in its range, or its default."""
    if item.choices:
        return [*item.choices][generator.integers(len(item.choices))]
    if item.name in RANGES:
        return float(10 ** generator.uniform(*RANGES[item.name]))
    return FIXED.get(item.name, item.default)


def method_for(name: str, generator: np.random.Generator) -> Any:
    values = {item.name: value_of(item, generator) for item in settings_of(method_class(name))}
    if values.get("solver") == "Frank-Wolfe":
        # the only form that it supports
        values["potentials"] = "attractive pairs"
    if values.get("solver") == "subgradient":
        # subgradient steps have no certificate, as the page says
        values["solver"] = "planes"
    if name.endswith("NDCG-SVM") and values["algorithm"] == "search":
        # search supports AP only
        values["algorithm"] = "auto"
    return make_method(name, **values)


def outcome(name: str, seed: int) -> str:
    """Return "" if the method trains and scores correctly, otherwise the problem."""
    generator = np.random.default_rng(seed)
    data = PROBLEMS[method_class(name).ranks](generator)
    method = method_for(name, generator)
    if getattr(method, "unary", "") == "chi-square kernel":
        # the kernel compares histograms
        data = replace(data, features=np.abs(data.features))
    try:
        method.fit(data)
        scores = scores_of(method, data)
    except InputError as error:
        return f"refused: {error}"
    except Exception as error:
        # any error is a finding
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(scores).all():
        return "scores that are not finite"
    certificate = method.certificate
    return "" if certificate is None or certificate.converged else f"gap {certificate.relative_gap:.1e}"


def scores_of(method: Any, data: Any) -> np.ndarray:
    if isinstance(data, LabelSet):
        return np.asarray(method.scores(data))
    queries = [data.query(0)] if isinstance(data, SequenceSet) else data
    return np.concatenate([method.score(query) for query in queries])


def rows(names: list[str], seeds: range) -> Iterator[list[str]]:
    for name in names:
        before, slowest, results = time.perf_counter(), 0.0, {}
        for seed in seeds:
            start = time.perf_counter()
            if ending := outcome(name, seed):
                results[seed] = ending
            slowest = max(slowest, time.perf_counter() - start)
        for seed, ending in results.items():
            print(f"{name}, seed {seed}: {ending}")
        refused, unproven = (
            sum(it.startswith(kind) for it in results.values()) for kind in ("refused", "gap")
        )
        errors = len(results) - refused - unproven
        seconds = f"{time.perf_counter() - before:.0f}"
        yield [name, f"{len(seeds)}", f"{errors}", f"{refused}", f"{unproven}", f"{slowest:.2f}", seconds]


def main() -> None:
    options = options_of(
        __doc__, method=(method_names(), method_names(), method_names()), problems=(1000, 3), seed=(0, 0)
    )
    print(machine())
    header = ["method", "problems", "errors", "refused", "without a certificate", "slowest, s", "all, s"]
    print(table(header, list(rows(options.method, range(options.seed, options.seed + options.problems)))))


if __name__ == "__main__":
    main()
