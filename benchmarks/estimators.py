"""What do the estimators cost beside the methods, and how do they compare with other packages'?

    python benchmarks/estimators.py

Needs the extra [benchmarks] (dlib-bin, liblinear-official, xgboost-cpu). All times are seconds of one processor in one
thread, so that other work on the machine hardly matters. It prints three tables:

- training: APSVM().fit(X, y) and make_method("AP-SVM").fit([Query(X, y)]) at C = 1000, on the synthetic sets of
  `training.py`; medians, the two taking turns.
- import: ranking.estimators in a new process, of which scikit-learn takes a part; medians.
- rankers: test AP on "Action figures" by HOG and colour, the mean over classes, and the mean time of a training run.
  Settings are chosen from a grid for each class, by AP on a quarter of the training images; then a ranker is trained
  on all of them. Trees see all samples of a class as one query. Conversion into a package's own vectors is not timed.
  p is of the paired t-test of test AP against the first ranker over the classes; the last column counts the classes
  for which a chosen number is the first or the last of its grid.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import dlib
import lightgbm
import numpy as np
import scipy.sparse
import xgboost
from liblinear.liblinearutil import parameter, problem, train
from scipy.stats import ttest_rel
from sklearn.model_selection import GroupShuffleSplit
from sklearn.svm import LinearSVC
from synthetic import SHAPE, Shape, correlated, scattered
from threadpoolctl import threadpool_limits
from timing import generated_set, machine, medians, milliseconds, options_of, table

from ranking import Query, make_method
from ranking.core import Bools, Features, Floats, ImageSet
from ranking.estimators import APSVM, LambdaMART, LinearSVM
from ranking.features import load_features
from ranking.metrics import average_precision

C = 1000.0
FEATURES = [("HOG", {}), ("Colour", {})]
# of the training images
VALIDATION = 0.25
LEAVES, DEPTHS = (3, 7, 15), (2, 3, 6)
# by default LightGBM learns only from pairs with a sample of the first 30, XGBoost of the first 32
ALL_PAIRS = 10**6
IMPORT = """
import time
start = time.process_time()
import sklearn.base
middle = time.process_time()
import ranking.estimators
print(middle - start, time.process_time() - start)
"""

Scorer = Callable[[Features], Floats]
Settings = Mapping[str, Any]
# Prepares samples and returns the training that is timed, which returns the scores of other samples.
Ranker = Callable[[Settings, Features, Bools], Callable[[], Scorer]]


@dataclass(frozen=True)
class Compared:
    """A ranker and the values of each of its settings that are tried."""

    ranker: Ranker
    grid: Mapping[str, tuple[Any, ...]]

    def at_an_end(self, settings: Settings) -> bool:
        """Whether a number is the first or the last of those that are tried."""
        numbers = {name: values for name, values in self.grid.items() if isinstance(values[0], int | float)}
        return any(settings[name] in (values[0], values[-1]) for name, values in numbers.items())

    def points(self) -> Iterator[dict[str, Any]]:
        yield from (dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values()))


def by_estimator(cls: type[Any]) -> Ranker:
    """A scikit-learn estimator with a decision function."""
    return lambda settings, X, y: lambda: cls(**settings).fit(X, y).decision_function


def by_trees(cls: type[Any], **fixed: Any) -> Ranker:
    """LGBMRanker or XGBRanker, with all samples in one query."""

    def prepared(settings: Settings, X: Features, y: Bools) -> Callable[[], Scorer]:
        ranker, grades = cls(**fixed, **settings), y.astype(int)
        query = {"group": [len(y)]} if cls is lightgbm.LGBMRanker else {"qid": np.zeros(len(y), int)}
        return lambda: ranker.fit(X, grades, **query).predict

    return prepared


def by_liblinear(settings: Settings, X: Features, y: Bools) -> Callable[[], Scorer]:
    """LIBLINEAR's dual solver of the hinge loss with a bias, the classes having equal weights in sum."""
    samples = problem(np.where(y, 1.0, -1.0), scipy.sparse.csr_matrix(X.astype(float)))
    options = f"-s 3 -c {settings['C']} -w1 {np.mean(~y)} -w-1 {np.mean(y)} -B 1 -q"

    def training() -> Scorer:
        model = train(samples, parameter(options))
        weights = np.array([model.w[column] for column in range(X.shape[1])]) * model.label[0]
        return lambda rows: rows @ weights

    return training


def by_dlib(settings: Settings, X: Features, y: Bools) -> Callable[[], Scorer]:
    """RankSVM of dlib."""
    pair = dlib.ranking_pair()
    for row, relevant in zip(X, y, strict=True):
        (pair.relevant if relevant else pair.nonrelevant).append(dlib.vector(row.astype(float)))
    trainer = dlib.svm_rank_trainer()
    trainer.c = settings["C"]

    def training() -> Scorer:
        decide = trainer.train(pair)
        return lambda rows: np.array([decide(dlib.vector(row.astype(float))) for row in rows])

    return training


def rankers(trees: tuple[int, ...], powers: range) -> dict[str, Compared]:
    """The compared rankers by name."""
    # trees: the numbers tried. powers: of 10, tried for C around a usual one.

    def around(usual: float) -> dict[str, tuple[float, ...]]:
        return {"C": tuple(usual * 10.0**power for power in powers)}

    return {
        "APSVM": Compared(by_estimator(APSVM), around(1000.0)),
        "LinearSVM": Compared(by_estimator(LinearSVM), around(1000.0)),
        "LambdaMART": Compared(by_estimator(LambdaMART), {"rounds": trees, "leaves": LEAVES}),
        "scikit-learn LinearSVC": Compared(
            by_estimator(LinearSVC), {**around(1.0), "class_weight": (None, "balanced")}
        ),
        "LIBLINEAR, hinge loss": Compared(by_liblinear, around(10.0)),
        "dlib svm_rank_trainer": Compared(by_dlib, around(10.0)),
        "LightGBM LGBMRanker": Compared(
            by_trees(lightgbm.LGBMRanker, n_jobs=1, verbosity=-1, lambdarank_truncation_level=ALL_PAIRS),
            {"n_estimators": trees, "num_leaves": LEAVES},
        ),
        "XGBoost XGBRanker": Compared(
            by_trees(
                xgboost.XGBRanker, n_jobs=1, learning_rate=0.1, lambdarank_num_pair_per_sample=ALL_PAIRS
            ),
            {"n_estimators": trees, "max_depth": DEPTHS, "objective": ("rank:map", "rank:pairwise")},
        ),
    }


def compare(images: ImageSet, features: Features, compared: Mapping[str, Compared], classes: int) -> str:
    """Return the table of the rankers on the first `classes` classes of an image set."""
    learn, test = np.flatnonzero(~images.test), np.flatnonzero(images.test)
    parts = GroupShuffleSplit(1, test_size=VALIDATION, random_state=0)
    rows, of_first = [], np.empty(0)
    for name, each in compared.items():
        precisions, seconds, chosen, ends = [], [], Counter[str](), 0
        for query in images.classes[:classes]:
            relevant = images.relevance(query) > 0
            first, second = next(parts.split(learn, relevant[learn], images.groups[learn]))
            tried = {}
            for settings in each.points():
                scorer = each.ranker(settings, features[learn[first]], relevant[learn[first]])()
                held = learn[second]
                words = ", ".join(f"{key} {value}" for key, value in settings.items())
                tried[words] = average_precision(relevant[held], scorer(features[held])), settings
            words, (_, settings) = max(tried.items(), key=lambda item: item[1][0])
            chosen[words] += 1
            ends += each.at_an_end(settings)
            training = each.ranker(settings, features[learn], relevant[learn])
            start = time.process_time()
            scorer = training()
            seconds.append(time.process_time() - start)
            precisions.append(average_precision(relevant[test], scorer(features[test])))
        usual, values = chosen.most_common(1)[0][0], np.array(precisions)
        of_first = of_first if rows else values
        p = f"{ttest_rel(of_first, values).pvalue:.3f}" if rows and classes > 1 else ""
        cells = [f"{values.mean():.3f}", p, f"{np.mean(seconds):.3f}", usual, f"{ends} of {classes}"]
        rows.append([name, *cells])
    header = ["ranker", "test AP", "p", "seconds", "settings chosen most often", "at an end of a grid"]
    return table(header, rows)


def training_table(shape: Shape, rounds: int) -> str:
    rows = []
    for make in (scattered, correlated):
        X, y = make(0, shape)
        seconds = medians(
            {
                "method": lambda X=X, y=y: make_method("AP-SVM", C=C).fit([Query(X, y)]),
                "estimator": lambda X=X, y=y: APSVM(C=C).fit(X, y),
            },
            rounds,
            clock=time.process_time,
        )
        ratio = seconds["estimator"] / seconds["method"]
        rows.append(
            [
                make.__name__,
                milliseconds(seconds["method"]),
                milliseconds(seconds["estimator"]),
                f"{ratio:.3f}",
            ]
        )
    return table(["features", "make_method, ms", "APSVM, ms", "APSVM / make_method"], rows)


def import_table(rounds: int) -> str:
    runs = [
        subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout
        for _ in range(rounds)
    ]
    times = np.array([[float(number) for number in run.split()] for run in runs])
    of_sklearn, all_of_it = (statistics.median(column) for column in times.T)
    return table(["import", "seconds"], [["sklearn.base", f"{of_sklearn:.2f}"], ["all", f"{all_of_it:.2f}"]])


def main() -> None:
    options = options_of(
        __doc__, shape=(SHAPE, (300, 30, 100)), rounds=(40, 1), images=(600, 60), classes=(10, 1),
        trees=([100, 300, 1000], [5]), powers=(3, 0),
    )  # fmt: skip
    print(machine() + "\n")
    with threadpool_limits(1):
        print_tables(options)


def print_tables(options: argparse.Namespace) -> None:
    print(training_table(Shape(*options.shape), options.rounds) + "\n")
    print(import_table(min(options.rounds, 7)) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        images = generated_set("Action figures", Path(folder) / "set", images=options.images)
        features = load_features(images, FEATURES, Path(folder))
        compared = rankers(tuple(options.trees), range(-options.powers, options.powers + 1))
        print(f"{np.sum(~images.test):,} training samples, {np.sum(images.test):,} test samples\n")
        print(compare(images, features, compared, options.classes))


if __name__ == "__main__":
    main()
