"""Do the pulls of training samples add up to a sample's score, and how long does the page Ranking take for them?

    python benchmarks/pulls.py [--images 2000]

A set of about 6,000 samples is generated, about half of them training samples, and each method that keeps pulls is
trained on it for a small, the default and a large C. “Error” is the largest difference of a score, for HOB-SVM of a
unary score, from the sum of pulls, as a share of the largest score; “as trained” is without the correction for
rounding in single precision. Times are processor times of the page in this process, for a sample that is selected:
minus those for a run that keeps no pulls.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from timing import generated_set, machine, options_of, table

from ranking import Query, make_method
from ranking.commands import worker
from ranking.core import Features, ImageSet
from ranking.explain.pulls import pulls, training_coefficients
from ranking.features import load_features
from ranking.features.graph.image_graph import image_graph
from ranking.methods import score_direction
from ranking.storage.events import Report
from ranking.storage.run import Run
from ranking.storage.store import Store

ROOT = Path(__file__).parents[1]
METHODS = ("SVM", "AP-SVM", "NDCG-SVM", "HOB-SVM")
FEATURES: list[Any] = [["HOG", {}], ["Colour", {}]]
QUERY = "phoning"
# iterations; a large C would take minutes
MOST = 100

# Each AppTest searches all installed distributions for components when it opens; a server does this once.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def errors(images: ImageSet, features: Features, name: str, C: float) -> list[str]:
    """Train a method, and compare the scores of all samples with sums of pulls."""
    learn, relevance = ~images.test, images.relevance(QUERY)
    graph = image_graph(images, "same image", FEATURES, features, learn)
    query = Query(features[learn], relevance[learn], graph)
    start = time.process_time()
    method = make_method(name, C=C, max_iterations=MOST).fit([query])  # type: ignore[attr-defined]
    seconds = time.process_time() - start
    precise, direction = features.astype(np.float64), score_direction(method)
    coefficients = training_coefficients(method, query.features)
    scores = precise @ direction
    shares = [
        np.abs(scores - precise @ (precise[learn].T @ combined)).max() / np.abs(scores).max()
        for combined in (method.coefficients, coefficients)
    ]
    for row in range(0, len(features), max(1, len(features) // 20)):
        total = pulls(coefficients, query.features, features[row]).sum()
        shares[1] = max(shares[1], abs(total - scores[row]) / np.abs(scores).max())
    return [f"{name}, C = {C:g}", f"{seconds:.2g} s", f"{shares[0]:.1e}", f"{shares[1]:.1e}", "<= 1e-06"]


def trained(store: Store, key: str) -> Run:
    """Train AP-SVM in this process."""
    settings = {"set": key, "features": FEATURES, "query": QUERY, "method": "AP-SVM", "method_settings": {}}
    run = store.runs.create("train", {**settings, "warm_start": None})
    report = Report(run.events_file)
    store.runs.end(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    return store.runs.get(run.id)


def without_pulls(run: Run) -> None:
    """Remove from the model of a run what it knows of training samples, as in files of earlier versions."""
    with np.load(run.model_file) as file:
        arrays = {key: file[key] for key in file.files if key != "coefficients"}
    with open(run.model_file, "wb") as file:
        np.savez_compressed(file, **arrays)


def selecting(run: Run, samples: list[str]) -> list[float]:
    """Time the page Ranking for each of some samples, of a run that it has shown before."""
    app = AppTest.from_file(str(ROOT / "laboratory.py"), default_timeout=600)
    app.switch_page("pages/ranked_images.py")
    app.query_params["run"] = run.id
    app.run()
    times = []
    for sample in samples:
        app.query_params["sample"] = sample
        start = time.process_time()
        app.run()
        times.append(time.process_time() - start)
        assert not app.exception
        assert not app.error
    return times


def main() -> None:
    options = options_of(__doc__, images=(2_000, 40), rounds=(9, 2))
    # `timing` and this folder have another module called pages
    sys.path[0] = str(ROOT)
    sys.modules.pop("pages", None)
    with tempfile.TemporaryDirectory() as folder:
        images = generated_set("Action figures", Path(folder) / "set", images=options.images)
        features = load_features(images, FEATURES, Path(folder) / "features")
        learn = int((~images.test).sum())
        rows = [errors(images, features, name, C) for name in METHODS for C in (10.0, 1e3, 1e5)]
        os.environ["RANKING_HOME"] = str(Path(folder) / "home")
        store = Store(Path(folder) / "home")
        key = store.sets.add(Path(folder) / "set", "benchmark")
        chosen = [str(name) for name in images.ids[images.test][: options.rounds + 1]]
        warm, without, first = (trained(store, key) for _ in range(3))
        without_pulls(without)
        # so that everything is imported
        selecting(warm, chosen[:1])
        before, after = selecting(without, chosen), selecting(first, chosen)
    print(f"{machine()}; {learn:,} training samples with {features.shape[1]:,} features\n")
    print(table(["method", "training", "error as trained", "error", "must reach"], rows) + "\n")
    figures = (
        ("the first sample of a run", after[0] - before[0]),
        ("another sample", statistics.median(after[1:]) - statistics.median(before[1:])),
    )
    print(
        table(["pulls on", "must reach", "time"], [(what, "<= 0.3 s", f"{t:.3f} s") for what, t in figures])
    )


if __name__ == "__main__":
    main()
