"""How fast and how good are label rankers: inference, questions, training, and break-even precision in folds?

    python benchmarks/label_ranking.py [--part inference training folds] [--sets Corel5k] [--unary linear ...]

- inference: the best top k of random c-star models with L = 93 labels and k = 12, for a core of C = 0 ... 12 labels,
  one thread, per image in a batch; compared with the assignment form, in which each of the 2^C configurations of the
  core is a linear assignment problem of all other labels (scipy), for C up to 5. Then at C = 5 the images per
  second with all threads, and the next question (both maxima of all labels) for one image.
- training: on the generated label scenes, and on Corel5k's 4,500 training images, 499 features, labels with at least 20
  images, with default settings. Corel5k needs $RANKING_REAL_DATA or ../shared/data, here and for folds.
- folds: break-even precision without questions and after 1, 5 and 10, both models, the mean over folds. C is the same
  for both models, its default, and not chosen on the test images. For comparison two methods without structure: labels
  by their frequency, and one logistic regression per label.

Times are processor times where one thread works, so that other programs do not count; medians.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from timing import REAL_DATA, generated_set, machine, options_of, table

from ranking import LabelSet, make_method
from ranking.datasets.label_sets import label_set
from ranking.explain.question_strategies import (
    closest_maxima,
    make_strategy,
    mean_break_even_precision,
    next_questions,
    simulate,
)
from ranking.features import load_features
from ranking.inference import best_top_k, best_top_ks, threads
from ranking.methods.label_prediction import LabelPrediction

LABELS, K, CORE = 93, 12, 5
QUESTIONS = (0, 1, 5, 10)
STRATEGY = "closest maxima"
MODELS = ("Independent p@k", "C-star p@k")


def star(generator: np.random.Generator, labels: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a core and F[core], weak enough that the scores still matter."""
    matrix = 0.3 * generator.standard_normal((labels, labels))
    matrix = matrix + matrix.T
    np.fill_diagonal(matrix, 0.0)
    core = generator.permutation(labels)[:size]
    return core, matrix[core]


def processor_seconds(task: Callable[[], object], rounds: int = 7) -> float:
    """Return the median time of a task in this thread; a first run, not counted, compiles."""
    task()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return statistics.median(times)


# ---------------------------------------------------------------------------------------------------------
# Inference
# ---------------------------------------------------------------------------------------------------------


def by_assignment(unary: np.ndarray, core: np.ndarray, interactions: np.ndarray, k: int) -> float:
    """Return the best value, by assigning labels to ranks for each configuration of the core (section 3)."""
    rest, best = np.setdiff1d(np.arange(len(unary)), core), -np.inf
    for chosen in itertools.product([False, True], repeat=len(core)):
        inside = core[list(chosen)]
        free = k - len(inside)
        if not 0 <= free <= len(rest):
            continue
        rows = interactions[list(chosen)]
        scores = unary[rest] + 2.0 * rows[:, rest].sum(axis=0)
        gains = np.outer(scores, np.arange(len(rest)) < free)
        assignment = linear_sum_assignment(gains, maximize=True)
        best = max(best, gains[assignment].sum() + unary[inside].sum() + rows[:, inside].sum())
    return float(best)


def show_inference(generator: np.random.Generator, cores: Sequence[int], batch: int) -> None:
    """cores: numbers of core labels, rising by one. batch: images with the smallest; a larger core has fewer."""
    threads.MAX_PARTS, parts = 1, threads.MAX_PARTS
    rows, first = [], 0.0
    for size in cores:
        core, interactions = star(generator, LABELS, size)
        unary = generator.standard_normal((max(10, batch >> size), LABELS))
        seconds = processor_seconds(lambda: best_top_ks(unary, core, interactions, K)) / len(unary)  # noqa: B023
        slow = "-"
        if size <= CORE:
            assigned = processor_seconds(lambda: by_assignment(unary[0], core, interactions, K), 3)  # noqa: B023
            value = best_top_k(unary[0], core, interactions, K).value
            assert abs(value - by_assignment(unary[0], core, interactions, K)) < 1e-9
            slow = f"{1e6 * assigned:,.0f} ({assigned / seconds:,.0f}x)"
        ratio = f"{seconds / first:.2f}" if size else "-"
        rows.append([str(size), f"{1e6 * seconds:.1f}", ratio, slow])
        first = seconds
    print(f"\nBest top k, L = {LABELS}, k = {K}, microseconds per image in a batch, one thread\n")
    print(table(["C", "best top k", "of C - 1", "by assignment"], rows))
    threads.MAX_PARTS = parts
    core, interactions = star(generator, LABELS, CORE)
    unary = generator.standard_normal((5 * batch // 2, LABELS))
    best_top_ks(unary, core, interactions, K)
    start = time.perf_counter()
    best_top_ks(unary, core, interactions, K)
    print(
        f"\n{len(unary) / (time.perf_counter() - start):,.0f} images per second in {parts} threads (wall clock)"
    )
    prediction = LabelPrediction(unary[:1], core, interactions, np.full(1, K), np.zeros((1, LABELS), np.int8))
    seconds = processor_seconds(lambda: next_questions(prediction, closest_maxima), 101)
    print(f"next question for one image, all {LABELS} labels, C = {CORE}: {1e3 * seconds:.3f} ms")


# ---------------------------------------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------------------------------------


def corel5k(_: int) -> LabelSet | None:
    """Return labels with at least 20 images, features L2-normalised; None if the set is absent."""
    path = REAL_DATA / "corel5k" / "corel5k.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        stored = dict(file)

    def dense(name: str, columns: int) -> np.ndarray:
        starts = stored[f"{name}_indptr"]
        matrix = np.zeros((len(starts) - 1, columns), np.bool_)
        matrix[np.repeat(np.arange(len(matrix)), np.diff(starts)), stored[f"{name}_indices"]] = True
        return matrix

    names = stored["label_names"]
    features, labels = dense("X", int(stored["n_features"])).astype(np.float32), dense("Y", len(names))
    features /= np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-6)
    kept = labels.sum(axis=0) >= 20
    test = np.arange(len(features)) >= int(stored["n_train"])
    return LabelSet(features, labels[:, kept], tuple(str(name) for name in names[kept]), test)


def label_scenes(count: int) -> LabelSet:
    """Return the first generated scenes, as GIST and colour."""
    with tempfile.TemporaryDirectory() as folder:
        images = generated_set("Label scenes", Path(folder) / "set", images=count)
        return label_set(images, load_features(images, [("GIST", {}), ("Colour", {})], Path(folder)))


SETS: dict[str, Callable[[int], LabelSet | None]] = {"label scenes": label_scenes, "Corel5k": corel5k}


def show_training(images: LabelSet, title: str, penalty: float) -> None:
    training = images.part(~images.test)
    rows = []
    for name in MODELS:
        method, start = make_method(name, C=penalty), time.process_time()
        method.fit(training)
        seconds, proven = time.process_time() - start, method.certificate
        rows.append(
            [name, f"{proven.primal:.4f}", f"{proven.dual:.4f}", f"{proven.relative_gap:.1e}",
             str(proven.iterations), f"{seconds:.1f}", f"{proven.seconds:.1f}"]
        )  # fmt: skip
    (count, columns), labels = training.features.shape, len(training.names)
    print(f"\nTraining on {title}, {count:,} x {columns}, {labels} labels, C = {penalty:g}\n")
    print(table(["method", "primal", "dual", "gap", "rounds", "processor s", "wall s"], rows))


def by_frequency(training: LabelSet, test: LabelSet) -> np.ndarray:
    """Return (M, L) scores that are the same for all images."""
    return np.tile(training.labels.mean(axis=0), (len(test), 1))


def by_logistic_regression(training: LabelSet, test: LabelSet) -> np.ndarray:
    """Return (M, L) log odds by one classifier per label; labels without images are last."""
    # C is scikit-learn's default.
    scores = np.full(test.labels.shape, -np.inf)
    for i in np.flatnonzero(training.labels.any(axis=0)):
        classifier = LogisticRegression(max_iter=1000).fit(training.features, training.labels[:, i])
        scores[:, i] = classifier.decision_function(test.features)
    return scores


REFERENCES = {"frequency of labels": by_frequency, "logistic regressions": by_logistic_regression}


def reference_rows(images: LabelSet, fold: np.ndarray) -> list[list[str]]:
    """Return the results of methods without structure, and without questions."""
    rows = []
    for name, scores in REFERENCES.items():
        precisions = []
        for number in range(int(fold.max()) + 1):
            test = images.part((fold == number) & images.labels.any(axis=1))
            precisions.append(
                100.0 * mean_break_even_precision(test, scores(images.part(fold != number), test))
            )
        blank = [""] * (len(QUESTIONS) - 1)
        rows.append(["", name, "", f"{np.mean(precisions):.2f}", *blank, f"{np.std(precisions):.2f}"])
    return rows


def show_folds(images: LabelSet, title: str, folds: int, penalty: float, unaries: list[str]) -> None:
    fold = np.random.default_rng(0).permutation(len(images)) % folds
    rows = reference_rows(images, fold)
    for unary in unaries:
        means = {}
        for name in MODELS:
            values = []
            for number in range(folds):
                training, test = images.part(fold != number), images.part(fold == number)
                method = make_method(name, C=penalty, unary=unary).fit(training)
                urgency = make_strategy(STRATEGY, method, training)
                values.append(100.0 * simulate(method, test, urgency, max(QUESTIONS))[list(QUESTIONS)])
            means[name] = np.mean(values, axis=0)
            figures = [f"{value:.2f}" for value in means[name]]
            rows.append([unary, name, STRATEGY, *figures, f"{np.std(values, axis=0)[0]:.2f}"])
        gain = [f"{value:+.2f}" for value in means["C-star p@k"] - means["Independent p@k"]]
        rows.append([unary, "C-star minus independent", STRATEGY, *gain, ""])
    print(f"\nBreak-even precision, %, on {title}, mean of {folds} folds, C = {penalty:g}\n")
    asked = ["Auto" if q == 0 else f"Q{q}" for q in QUESTIONS]
    print(table(["scores", "model", "asked by", *asked, "deviation of Auto"], rows), flush=True)


def main() -> None:
    parts = ("inference", "training", "folds")
    options = options_of(
        __doc__, part=(parts, parts, parts), sets=(list(SETS), ["label scenes"], SETS), largest=(12, 2),
        batch=(4000, 40), images=(1000, 50), folds=(5, 2), unary=(["one-vs-all SVMs", "linear"], ["linear"]),
        C=(100.0, 0.01),
    )  # fmt: skip
    print(machine())
    if "inference" in options.part:
        show_inference(np.random.default_rng(0), range(options.largest + 1), options.batch)
    for title in options.sets if {"training", "folds"} & set(options.part) else ():
        images = SETS[title](options.images)
        if images is None:
            print(f"\n{title} does not exist: training and folds on it are omitted")
            continue
        if "training" in options.part:
            show_training(images, title, options.C)
        if "folds" in options.part:
            show_folds(images, title, options.folds, options.C, options.unary)


if __name__ == "__main__":
    main()
