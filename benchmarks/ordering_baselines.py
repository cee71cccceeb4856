"""How good are MidRank and its nine baselines?

    python benchmarks/ordering_baselines.py [--part lightgbm public-figures readings few-grades timeline-cars
                                                    car-features] [--methods ...]

- lightgbm: the example that comes with LightGBM, ranked by five methods, ListNet and ListMLE also with a hidden layer,
  next to LightGBM's own training and metric; NDCG at 1, 3, 5 and 10 with exponential gain, the mean over the test
  queries; queries without a relevant document count as 1.
- public-figures: midrank's Table 1. One image per person, 8 in a sequence, 11 attributes; features of length 1; two
  persons with equal attributes are no pair. For each attribute one setting of each method is chosen from its grid, by
  cross-validation within the training images: folds are of images, so that no image is in two, and each fold samples
  sequences of one image per person, so that methods are evaluated on sequences as long as those of the test.
- readings: MidRank with several readings of what the paper leaves open, on the same public figures at the default C. A
  reading is chosen on a third of the training images of attributes 1 to 5, on which it was not trained.
- few-grades: MidRank at its default C compared with RankSVM at the C of its grid that is best on the test sequences,
  for public figures and digits with 3 to 8 grades.
- timeline-cars: the same as public-figures for generated cars, sequences of 20, means over sets of three seeds; HOG and
  colour. Folds are of models of cars.
- car-features: the cars of the first seed by HOG and colour, and by Fisher vectors of dense descriptors, as in the
  paper.

The parts lightgbm, public-figures and readings need $RANKING_REAL_DATA or ../shared/data. Times are wall-clock times,
medians, one thread.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mid_rank_readings
import numpy as np
from fisher_vectors import fisher_vectors
from public_figures import FOLDS, Figures, in_digits, measures
from sklearn.datasets import load_svmlight_file
from timing import generated_set, machine, options_of, real_data, table

from ranking import SequenceSet, make_method, method_class
from ranking.core import ImageSet, Query
from ranking.datasets.sequences import Drawing, draw_sequences
from ranking.features import load_features
from ranking.methods.boosted import Boosted
from ranking.metrics import ndcg

METHODS = (
    "SVR",
    "McRank",
    "RankSVM",
    "Relative Attributes",
    "CRR",
    "AdaRank",
    "LambdaMART",
    "ListNet",
    "ListMLE",
    "MidRank",
)
# NDCG, Kendall tau and pair accuracy of Table 1, public figures
PAPER = {
    "SVR": (0.882, 0.349, 65.7),
    "McRank": (0.921, 0.540, 76.9),
    "RankSVM": (0.947, 0.617, 80.8),
    "Relative Attributes": (0.947, 0.616, 80.8),
    "CRR": (0.945, 0.612, 80.6),
    "AdaRank": (0.836, 0.154, 57.7),
    "LambdaMART": (0.855, 0.207, 60.4),
    "ListNet": (0.866, 0.314, 65.7),
    "ListMLE": (0.851, 0.262, 63.1),
    "MidRank": (0.954, 0.722, 84.7),
}


def restricted(sequences: SequenceSet, allowed: np.ndarray) -> SequenceSet:
    """Return the sequences without the samples that are not allowed (n,), and without empty sequences."""
    inside = allowed[sequences.members]
    lengths = np.add.reduceat(inside.astype(int), sequences.starts[:-1])
    starts = np.concatenate([[0], np.cumsum(lengths[lengths > 0])])
    return SequenceSet(sequences.features, sequences.grades, sequences.members[inside], starts)


# ---------------------------------------------------------------------------------------------------------
# Public figures
# ---------------------------------------------------------------------------------------------------------


def accuracy(method: Any, sequences: SequenceSet) -> float:
    """Return the share of all pairs of the sequences, of any length, that are ordered correctly."""
    scores = np.split(method.score_sequences(sequences), sequences.starts[1:-1])
    right = pairs = 0
    for number, own in enumerate(scores):
        rows = sequences.sequence(number)
        higher = sequences.grades[rows][:, None] > sequences.grades[rows]
        right += int((higher & (own[:, None] > own)).sum())
        pairs += int(higher.sum())
    return right / pairs


# of each fold, the training and the validation sequences
Splits = list[tuple[SequenceSet, SequenceSet]]


def folds_of(sequences: SequenceSet) -> np.ndarray:
    """Return (n,) folds of the pool's samples."""
    # Samples of a sequence stay together if they are in no other sequence.
    rng, fold = np.random.default_rng(0), np.empty(len(sequences.features), int)
    if len(np.unique(sequences.members)) < len(sequences.members):
        return rng.integers(0, FOLDS, len(fold))
    fold[sequences.members] = np.repeat(rng.integers(0, FOLDS, len(sequences)), np.diff(sequences.starts))
    return fold


def splits_of(sequences: SequenceSet) -> Splits:
    """Return the sequences without the samples of each fold, and with only those."""
    fold = folds_of(sequences)
    return [(restricted(sequences, fold != k), restricted(sequences, fold == k)) for k in range(FOLDS)]


def chosen(name: str, splits: Splits, settings: dict[str, Any]) -> dict[str, float]:
    """Choose the value of the method's grid with the most correct pairs of held-out samples."""
    # settings: other settings of the method.
    setting, values = method_class(name).grid

    def fitted(value: float, train: SequenceSet) -> Any:
        return make_method(name, **settings, **{setting: value}).fit(train)

    if issubclass(method_class(name), Boosted):
        reached = [after_rounds(fitted(max(values), train), test, values) for train, test in splits]
    else:
        reached = [[accuracy(fitted(value, train), test) for value in values] for train, test in splits]
    return {setting: values[int(np.argmax(np.mean(reached, axis=0)))]}


def after_rounds(boosted: Boosted, test: SequenceSet, values: Sequence[float]) -> list[float]:
    """Return the accuracy after each number of rounds, all from one run that adds rounds one by one."""
    import lightgbm

    whole, trials = boosted.booster, []
    for value in values:
        boosted.booster = lightgbm.Booster(model_str=whole.model_to_string(num_iteration=int(value)))
        trials.append(accuracy(boosted, test))
    return trials


def public_figures(attributes: int, count: int, tests: int, names: tuple[str, ...]) -> None:
    folder = real_data("pubfig")
    if folder is None:
        return
    figures = Figures(folder / "pubfig_data.mat")
    attributes = min(attributes, len(figures.orders))
    rows = np.arange(len(figures.features))
    print(f"Public figures, {attributes} attributes: {count} training and {tests} test sequences of each\n")
    lines = []
    for name in names:
        tried = []
        for attribute in range(attributes):
            train = figures.sequences(attribute, rows[figures.train], count, 1)
            test = figures.sequences(attribute, rows[~figures.train], tests, 2)
            splits = figures.splits(attribute, rows[figures.train], min(count, 500))
            tried.append(tried_on(name, splits, train, test))
        summary, took = summed_up(tried)
        lines.append([name, *summary, *in_digits(np.array(PAPER[name]) / [1, 1, 100]), *took])
        print(f"  {' '.join(lines[-1])}", flush=True)
    header = ["method", "NDCG", "tau", "pairs", "paper: NDCG", "tau", "pairs", "seconds", "setting"]
    print("\n" + table(header, lines) + "\n")


class Tried(NamedTuple):
    """The results of a method: (3,) its measures, its training time, and the chosen value of its grid."""

    measures: np.ndarray
    seconds: float
    value: float


def tried_on(name: str, splits: Splits, train: SequenceSet, test: SequenceSet) -> Tried:
    settings = chosen(name, splits, {})
    start = time.perf_counter()
    method = make_method(name, **settings).fit(train)
    seconds = time.perf_counter() - start
    return Tried(measures(method, test), seconds, next(iter(settings.values())))


def summed_up(tried: list[Tried]) -> tuple[list[str], list[str]]:
    """Return mean measures; the median time, and the range of chosen values."""
    values = [trial.value for trial in tried]
    took = [
        f"{statistics.median(trial.seconds for trial in tried):.2f}",
        f"{min(values):g} to {max(values):g}",
    ]
    return in_digits(np.mean([trial.measures for trial in tried], axis=0)), took


# ---------------------------------------------------------------------------------------------------------
# Timeline cars
# ---------------------------------------------------------------------------------------------------------

LENGTH = 20


def timeline_cars(seeds: Sequence[int], images: int, count: int, names: tuple[str, ...]) -> None:
    cases = [cars_of(seed, images, count) for seed in seeds]
    print(f"Timeline cars of {len(seeds)} seeds: {count} training and {count} test sequences of {LENGTH}\n")
    lines = []
    for name in names:
        tried = [tried_on(name, *case) for case in cases]
        summary, took = summed_up(tried)
        lines.append([name, *summary, " ".join(f"{trial.measures[1]:.3f}" for trial in tried), *took])
        print(f"  {' '.join(lines[-1])}", flush=True)
    print("\n" + table(["method", "NDCG", "tau", "pairs", "tau of each", "seconds", "setting"], lines) + "\n")


def hog_and_colour(image_set: ImageSet) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        return np.array(load_features(image_set, [("HOG", {}), ("Colour", {})], Path(folder)))


def car_features(seed: int, images: int, count: int) -> None:
    """Compare features of one set of cars: RankSVM, C by cross-validation, and MidRank at its default C."""
    lines = []
    for display_name, describe in (("HOG and colour", hog_and_colour), ("Fisher vectors", fisher_vectors)):
        splits, train, test = cars_of(seed, images, count, describe)
        baseline = tried_on("RankSVM", splits, train, test)
        own = measures(make_method("MidRank").fit(train), test)
        for name, measures_of in (("RankSVM", baseline.measures), ("MidRank", own)):
            lines.append([display_name, str(train.features.shape[1]), name, *in_digits(measures_of)])
            print(f"  {' '.join(lines[-1])}", flush=True)
    print(f"\nTimeline cars of seed {seed}: {count} training and {count} test sequences of {LENGTH}\n")
    print(table(["features", "columns", "method", "NDCG", "tau", "pairs"], lines) + "\n")


def cars_of(
    seed: int, images: int, count: int, describe: Callable[[ImageSet], np.ndarray] = hog_and_colour
) -> tuple[Splits, SequenceSet, SequenceSet]:
    """Return folds of the training cars, training and test sequences of one generated set."""
    with tempfile.TemporaryDirectory() as folder:
        image_set = generated_set("Timeline cars", Path(folder) / "set", seed=seed, images=images)
        features = describe(image_set)
    drawing = Drawing(length=LENGTH, train=count, test=count)
    (train, samples), (test, _) = draw_sequences(image_set, features, "year", drawing)
    models = np.unique(image_set.groups[samples], return_inverse=True)[1]
    fold = np.random.default_rng(0).integers(0, FOLDS, models.max() + 1)[models]
    random = np.random.default_rng(seed)

    def within(rows: np.ndarray) -> SequenceSet:
        members = np.concatenate([random.choice(rows, LENGTH, replace=False) for _ in range(min(count, 500))])
        return SequenceSet(train.features, train.grades, members, np.arange(0, len(members) + 1, LENGTH))

    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]
    return [(within(learned), within(judged)) for learned, judged in parts], train, test


# ---------------------------------------------------------------------------------------------------------
# The example of LightGBM
# ---------------------------------------------------------------------------------------------------------

CUTOFFS = (1, 3, 5, 10)


def example(folder: Path, part: str) -> SequenceSet:
    features, grades = load_svmlight_file(str(folder / f"rank.{part}"), n_features=301, zero_based=True)
    sizes = np.loadtxt(folder / f"rank.{part}.query", dtype=int)
    dense = features.toarray()
    return SequenceSet(
        dense, grades.astype(int), np.arange(len(dense)), np.concatenate([[0], np.cumsum(sizes)])
    )


def ndcg_at(scores: np.ndarray, sequences: SequenceSet, k: int) -> float:
    """Return the mean over queries; a query without a relevant document counts as 1, as in LightGBM."""
    values = []
    for number in range(len(sequences)):
        rows = sequences.sequence(number)
        grades = sequences.grades[rows]
        whole = ndcg(grades, scores[rows], gain="exponential", k=min(k, len(rows))) if grades.any() else 1.0
        values.append(whole)
    return statistics.fmean(values)


def lightgbm_example(names: Sequence[str]) -> None:
    folder = real_data("lightgbm_lambdarank")
    if folder is None:
        return
    import lightgbm

    train, test = example(folder, "train"), example(folder, "test")
    # The example's own train.conf, without its sampling of rows, which needs a seed.
    shared = {"num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 50}
    options = {**shared, "objective": "lambdarank", "metric": "ndcg", "eval_at": CUTOFFS, "verbosity": -1}
    options |= {"num_threads": 1, "deterministic": True, "force_row_wise": True, "use_missing": False}
    data = lightgbm.Dataset(train.features, train.grades, group=np.diff(train.starts), params=options)
    tests = lightgbm.Dataset(test.features, test.grades, group=np.diff(test.starts), reference=data)
    heard: dict[str, dict[str, list[float]]] = {}
    booster = lightgbm.train(
        options, data, 100, valid_sets=[tests], callbacks=[lightgbm.record_evaluation(heard)]
    )
    own = next(iter(heard.values()))
    lines = [["LightGBM, its own metric", *[f"{own[f'ndcg@{k}'][-1]:.4f}" for k in CUTOFFS], ""]]
    by_ours = np.asarray(booster.predict(test.features))
    lines.append(["LightGBM, this metric", *[f"{ndcg_at(by_ours, test, k):.4f}" for k in CUTOFFS], ""])
    cases: list[tuple[str, dict[str, Any]]] = [
        ("LambdaMART", {"rounds": 100, "leaves": 31, "least": 50, "gain": "exponential"}),
        ("AdaRank", {"gain": "exponential"}),
        ("RankSVM", {}),
        ("ListNet", {}),
        ("ListMLE", {}),
        ("ListNet", {"hidden": 16, "max_iterations": 200}),
        ("ListMLE", {"hidden": 16, "max_iterations": 200}),
    ]
    for name, settings in (case for case in cases if case[0] in names):
        if method_class(name).grid.setting == "C":
            settings = {**settings, **chosen(name, splits_of(train), settings)}
        start = time.perf_counter()
        method = make_method(name, **settings).fit(train)
        seconds = time.perf_counter() - start
        scores = method.score(Query(test.features))
        settings_text = ", ".join(f"{key} {value}" for key, value in settings.items())
        lines.append(
            [f"{name} ({settings_text})" if settings_text else name]
            + [f"{ndcg_at(scores, test, k):.4f}" for k in CUTOFFS]
            + [f"{seconds:.2f}"]
        )
    print(f"LightGBM's example: {len(train)} training and {len(test)} test queries, exponential gain\n")
    print(table(["method", *[f"NDCG@{k}" for k in CUTOFFS], "seconds"], lines) + "\n")


def main() -> None:
    parts = ("lightgbm", "public-figures", "readings", "few-grades", "timeline-cars", "car-features")
    options = options_of(
        __doc__, part=(parts, parts, parts), sequences=(10_000, 10), tests=(20_000, 20), cars=(1_000, 10),
        methods=(METHODS, ["LambdaMART"], METHODS), attributes=(11, 1), graded=(1_000, 20), subsequences=(10_000, 30),
        seeds=([0, 1, 2], [0]), images=(800, 200), examples=(METHODS, ["AdaRank"], METHODS),
    )  # fmt: skip
    print(machine() + "\n")
    if "lightgbm" in options.part:
        lightgbm_example(options.examples)
    if "public-figures" in options.part:
        public_figures(options.attributes, options.sequences, options.tests, tuple(options.methods))
    if "readings" in options.part and (folder := real_data("pubfig")):
        figures = Figures(folder / "pubfig_data.mat")
        sizes = options.sequences, options.tests, options.subsequences
        mid_rank_readings.show(figures, options.attributes, *sizes)
    if "few-grades" in options.part:
        mid_rank_readings.show_few_grades(real_data("pubfig"), options.graded, options.subsequences)
    if "timeline-cars" in options.part:
        timeline_cars(options.seeds, options.images, options.cars, tuple(options.methods))
    if "car-features" in options.part:
        car_features(options.seeds[0], options.images, options.cars)


if __name__ == "__main__":
    main()
