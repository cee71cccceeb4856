"""Do latent methods find objects of which training only says which images show them (quicksort, section 6.2)?

    python benchmarks/find_the_object.py [--part horse starts cards methods]

Every draw is a set of generated scenes (`Hidden objects`) of another seed; half of its images are for the test, so that
no test image is in two draws. CorLoc is the share of images that show the object whose best window overlaps it by half.
True boxes are used to measure, and to train the last method of a table, for reference.

horse: CorLoc by rounds from the whole image. starts: CorLoc and objective from each start, and from the lowest
objective. cards: the starts on photographs of playing cards (PASCAL VOC in $RANKING_REAL_DATA or ../shared/data).
methods: AP of images, CorLoc and AP of detections by each method; C is chosen for each method,
class and draw by image AP over folds of the training images, from one grid.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from timing import generated_source, machine, options_of, real_data, table

from ranking import BagSet, Query, make_method
from ranking.core import Bools, Features, Floats, ImageSet, ProgressEvent, Source
from ranking.datasets import build_image_set, make_source
from ranking.experiments.bag_task import bags_of
from ranking.explain.localisation import detections_of, objects_of
from ranking.explain.playback import part_localisation
from ranking.features.windows.bags import windows_of
from ranking.features.windows.description import describe_windows
from ranking.features.windows.settings import WindowSettings
from ranking.inference.best_windows import best_windows
from ranking.methods.bag_method import BagMethod
from ranking.methods.bag_starts import STARTS
from ranking.metrics import average_precision
from ranking.metrics.detection import detection_average_precision
from ranking.metrics.intervals import Interval
from ranking.metrics.statistics import difference_interval, mean_interval

SCENES = "Hidden objects"
# of the first draw
FIRST_SEED = 101
# of an image: smaller windows are ignored; chosen on scenes of seed 100
SMALLEST = 0.025
LATENT = "Latent AP-SVM"
WHOLE, TRUE = "AP-SVM, whole images", f"{LATENT}, true boxes"
METHODS = (WHOLE, "MI-SVM", LATENT, "Latent NDCG-SVM", TRUE)
LOCATED = ("CorLoc, training", "CorLoc, test")
MEASURES = ("image AP", *LOCATED, "detection AP")
GRID, FOLDS = (1.0, 10.0, 100.0, 1000.0), 3
# start and tolerance of the training runs that choose C
FOLD_START, ROUGH = "LDA", 1e-2
WINDOWS = WindowSettings(most=120)
PARTS = ("horse", "starts", "cards", "methods")


# ---------------------------------------------------------------------------------------------------------
# Images, their windows, and their objects
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Images:
    """An image set with its candidate windows, one bag per image."""

    image_set: ImageSet
    bags: BagSet

    @cached_property
    def described(self) -> Features:
        """The features of all true boxes, (n, d)."""
        images = self.image_set
        vectors = np.empty((len(images), self.bags.windows.shape[1]), np.float32)
        for image in range(len(self.bags)):
            rows = np.flatnonzero(images.image_of == image)
            vectors[rows] = describe_windows(images.open_image(image), images.boxes[rows])
        return vectors

    def part(self, query: str, chosen: Bools) -> BagSet:
        """Return the bags of the `chosen` images (n,), and which of them show `query`."""
        bags = bags_of(self.bags, chosen)
        return replace(bags, relevance=self.image_set.image_relevance(query)[chosen])

    def with_true_boxes(self, query: str, chosen: Bools) -> BagSet:
        """Return the bags of the `chosen` images; of those that show `query`, with true boxes as windows."""
        bags, shown = self.part(query, chosen), self.image_set.relevance(query) > 0
        windows, boxes = list[Features](), list[Floats]()
        for position, image in enumerate(np.flatnonzero(chosen)):
            rows = slice(bags.starts[position], bags.starts[position + 1])
            true = self.described[shown & (self.image_set.image_of == image)]
            windows.append(true if len(true) else bags.windows[rows])
            boxes.append(np.tile([0, 0, 1, 1], (len(true), 1)) if len(true) else bags.boxes[rows])
        starts = np.append(0, np.cumsum([len(part) for part in windows]))
        return BagSet(np.concatenate(windows), starts, np.concatenate(boxes), bags.relevance)


def images_of(source: Source, folder: Path) -> Images:
    """Return the set built from a source, with its windows; print how long the windows take."""
    image_set, _ = build_image_set(source, folder / "set")
    begun = time.perf_counter()
    bags = windows_of(image_set, WINDOWS, folder)
    seconds, count = time.perf_counter() - begun, len(bags.windows) / len(bags)
    print(
        f"{image_set.title}: {len(bags):,} images, {count:.0f} windows per image, {seconds:.1f} s", flush=True
    )
    return Images(image_set, bags)


def scenes(seed: int, images: int, folder: Path) -> Images:
    source = generated_source(SCENES, images=images, seed=seed, test_share=0.5)
    return images_of(source, folder / f"{SCENES} {seed}")


def photographs(folder: Path) -> Images | None:
    """Return the photographs of cards; None, and print why, if they are absent."""
    place = real_data("cards")
    if place is None:
        return None
    return images_of(make_source("PASCAL VOC", folder=str(place)), folder / "Cards")


# ---------------------------------------------------------------------------------------------------------
# Learning and measuring
# ---------------------------------------------------------------------------------------------------------


def learned(name: str, data: Images, query: str, chosen: Bools, **settings: Any) -> BagMethod:
    """Train a method on the `chosen` images; return one that scores windows with the weights."""
    settings = {"smallest_window": SMALLEST, **settings}
    if name not in (WHOLE, TRUE):
        return make_method(name, **settings).fit([data.part(query, chosen)])
    method = make_method(LATENT, **settings)
    exact = {"C": method.C, "tolerance": method.tolerance}
    if name == TRUE:
        bags = data.with_true_boxes(query, chosen)
        method.weights = make_method(LATENT, start="whole image", **exact).fit([bags]).weights
    else:
        whole = data.bags.windows[data.bags.starts[:-1][chosen]]
        relevance = data.image_set.image_relevance(query)[chosen]
        method.weights = make_method("AP-SVM", **exact).fit([Query(whole, relevance)]).solution.weights
    return method


def image_scores(name: str, bags: BagSet, scores: Floats) -> Floats:
    """Return (m,) the score of each image from those of its windows: of the best, or of the whole image."""
    return scores[bags.starts[:-1] if name == WHOLE else best_windows(scores, bags.starts)]


def located(data: Images, scores: Floats, query: str) -> tuple[float, float]:
    """Return CorLoc of training images and of test images that show `query`."""
    boxes, objects = (
        data.bags.boxes[best_windows(scores, data.bags.starts)],
        objects_of(data.image_set, query),
    )
    assert objects is not None
    parts = (np.flatnonzero(data.image_set.image_test == test) for test in (False, True))
    training, test = (part_localisation(boxes, objects, part) for part in parts)
    assert training is not None
    assert test is not None
    return training, test


def measured(name: str, data: Images, scores: Floats, query: str) -> list[float]:
    """Return MEASURES from the scores of all windows."""
    test, objects = np.flatnonzero(data.image_set.image_test), objects_of(data.image_set, query)
    assert objects is not None
    images, boxes, values = detections_of(data.bags, scores, test)
    detections = [(boxes[images == image], values[images == image]) for image in test]
    relevance = data.image_set.image_relevance(query)[test]
    return [
        average_precision(relevance, image_scores(name, data.bags, scores)[test]),
        *located(data, scores, query),
        detection_average_precision(detections, [objects[image] for image in test]),
    ]


def chosen_C(name: str, data: Images, query: str) -> float:
    """Return C of the highest mean image AP over folds of the training images, the lowest of equal ones."""
    relevance, learn = data.image_set.image_relevance(query), ~data.image_set.image_test
    fold_of = np.full(len(relevance), FOLDS)
    # every fold has its share of images that show the object
    for kind in (0, 1):
        rows = np.random.default_rng(0).permutation(np.flatnonzero(learn & (relevance == kind)))
        fold_of[rows] = np.arange(len(rows)) % FOLDS
    means = np.zeros(len(GRID))
    for fold in range(FOLDS):
        held = data.part(query, fold_of == fold)
        for number, C in enumerate(GRID):
            method = learned(
                name, data, query, learn & (fold_of != fold), C=C, start=FOLD_START, tolerance=ROUGH
            )
            values = image_scores(name, held, method.window_scores(held))
            means[number] += average_precision(held.relevance, values) / FOLDS
    return GRID[int(np.argmax(means))]


# ---------------------------------------------------------------------------------------------------------
# The parts
# ---------------------------------------------------------------------------------------------------------


def horse_tables(draws: Sequence[Images]) -> None:
    """Print CorLoc by rounds of the first draw, and the end of every draw."""
    # With all windows and without small ones.
    ends = []
    for smallest, (draw, data) in itertools.product((0.0, SMALLEST), enumerate(draws)):
        bags, by_round = data.part("horse", ~data.image_set.image_test), dict[int, Floats]()

        def record(event: ProgressEvent, by_round: dict[int, Floats] = by_round) -> None:
            by_round[event.round] = event.weights.copy()

        method = make_method(LATENT, start="whole image", smallest_window=smallest).fit([bags], record)
        by_round[max(by_round) + 1] = method.weights
        rows = []
        for number, weights in sorted(by_round.items()):
            measures = located(data, method.window_scores(data.bags, weights), "horse")
            objective = method.problem([bags]).at(weights).objective
            rows.append([str(number), f"{objective:.3f}", *(f"{value:.3f}" for value in measures)])
        if draw == 0:
            print(
                f"smallest window {smallest:.1%}\n\n{table(['before round', 'objective', *LOCATED], rows)}\n"
            )
        seconds, rounds = f"{method.certificate.seconds:.2f}", str(len(rows) - 1)
        ends.append([f"{smallest:.1%}", str(draw), rounds, seconds, *rows[0][2:], *rows[-1][2:]])
    header = [
        "smallest window",
        "draw",
        "rounds",
        "seconds",
        *(f"first {name}" for name in LOCATED),
        *LOCATED,
    ]
    print(table(header, ends), flush=True)


def start_values(data: Images, queries: Sequence[str], **settings: float) -> Floats:
    """Return (q, 2 s + 4) per query what each of s starts reaches, then the best start and true boxes."""
    # Columns: CorLoc of training images and the objective from each of s starts, then CorLoc from the lowest
    # objective, and with true boxes.
    rows = []
    for query in queries:
        learn = ~data.image_set.image_test
        method = learned(LATENT, data, query, learn, **settings)
        row = []
        for objective, weights in method.ends.values():
            row += [located(data, method.window_scores(data.bags, weights), query)[0], objective]
        row += located(data, method.window_scores(data.bags), query)
        true = learned(TRUE, data, query, learn, **settings)
        rows.append([*row, *located(data, true.window_scores(data.bags), query)])
    return np.array(rows)


LOWEST = [f"{end}: {name}" for end in ("lowest", "true boxes") for name in LOCATED]


def start_table(draws: Sequence[Images], queries: Sequence[str], **settings: float) -> str:
    """Return the table of the first draw, and the means of all."""
    values = np.array([start_values(data, queries, **settings) for data in draws])

    def cells(row: Floats) -> list[str]:
        of_starts = [f"{row[k]:.2f} ({row[k + 1]:.1f})" for k in range(0, 2 * len(STARTS), 2)]
        return [*of_starts, *(f"{value:.3f}" for value in row[2 * len(STARTS) :])]

    rows = [[query, *cells(row)] for query, row in zip(queries, values[0], strict=True)]
    rows += [[f"mean, draw {draw}", *cells(row)] for draw, row in enumerate(values.mean(axis=1))]
    if len(draws) > 1:
        rows.append(["mean of all", *cells(values.mean(axis=(0, 1)))])
    return table(["class", *STARTS, *LOWEST], rows)


def method_tables(draws: Sequence[Images], queries: Sequence[str]) -> None:
    """Print the mean and the interval of each measure over the draws, and the chosen C."""
    # Also the differences from Latent AP-SVM.
    values = np.empty((len(draws), len(METHODS), len(queries), len(MEASURES)))
    chosen = {name: Counter[float]() for name in METHODS}
    for draw, data in enumerate(draws):
        for (m, name), (q, query) in itertools.product(enumerate(METHODS), enumerate(queries)):
            C = chosen_C(name, data, query)
            chosen[name][C] += 1
            method = learned(name, data, query, ~data.image_set.image_test, C=C)
            values[draw, m, q] = measured(name, data, method.window_scores(data.bags), query)
        print(f"draw {draw}: {values[draw].mean(axis=1).round(3).tolist()}", file=sys.stderr, flush=True)
    # (draws, methods, measures)
    means = values.mean(axis=2)
    print(table(["method", *MEASURES], value_rows(means)), end="\n\n")
    print(table([f"minus {LATENT}", *MEASURES], difference_rows(means)), end="\n\n")
    print(table(["classes and draws with C of", *map("{:g}".format, GRID)], C_rows(chosen)))


def value_rows(means: Floats) -> Iterator[list[str]]:
    for m, name in enumerate(METHODS):
        yield [name, *(interval_words(mean_interval(column)) for column in means[:, m].T)]


def difference_rows(means: Floats) -> Iterator[list[str]]:
    base = means[:, METHODS.index(LATENT)].T
    for m, name in enumerate(METHODS):
        if name != LATENT:
            pairs = zip(means[:, m].T, base, strict=True)
            yield [name, *(interval_words(difference_interval(left, right)) for left, right in pairs)]


def interval_words(interval: Interval) -> str:
    """Format a mean and its 95% interval over the draws, which a single draw has not."""
    if np.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def C_rows(chosen: dict[str, Counter[float]]) -> Iterator[list[str]]:
    """Yield how often each C was chosen; * marks choices at the ends of the grid."""
    for name, counts in chosen.items():
        yield [name, *(f"{counts[C]}{'*' * (counts[C] > 0 and C in (GRID[0], GRID[-1]))}" for C in GRID)]


def main() -> None:
    options = options_of(
        __doc__, part=(PARTS, ("horse", "starts", "methods"), PARTS), images=(600, 60), draws=(5, 1)
    )
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder, draws = Path(temporary), list[Images]()
        if {"horse", "starts", "methods"} & set(options.part):
            draws = [scenes(FIRST_SEED + draw, options.images, folder) for draw in range(options.draws)]
            queries = draws[0].image_set.classes[: 2 if options.smoke else None]
        if "horse" in options.part:
            print("\nhorse, from the whole image\n")
            horse_tables(draws)
        if "starts" in options.part:
            print("\nCorLoc of training images (objective) from each start\n")
            print(start_table(draws, queries), flush=True)
        cards = photographs(folder) if "cards" in options.part else None
        if cards is not None:
            print("\ncards: CorLoc of training images (objective) from each start\n")
            print(start_table([cards], cards.image_set.classes), flush=True)
        if "methods" in options.part:
            print("\nmeans over the classes, and their 95% intervals over the draws\n")
            method_tables(draws, queries)


if __name__ == "__main__":
    main()
