"""Do latent methods find objects of which training only says which images show them (quicksort, section 6.2)?

    python benchmarks/find_the_object.py [--part horse starts cards sizes methods]

Every draw is a set of generated scenes (`Hidden objects`) of another seed; half of its images are for the test, so that
no test image is in two draws. CorLoc is the share of images that show the object whose best window overlaps it by half.
True boxes are used to measure, and to train the last method of a table, which is the ceiling.

horse: CorLoc by rounds from the whole image. starts: CorLoc and objective from each start, and from the lowest
objective. cards: the same on photographs of playing cards (PASCAL VOC in $RANKING_REAL_DATA or ../shared/data). sizes:
how many objects have a candidate window, by their size, and what is found in sets whose objects are small. methods: AP
of images, CorLoc and AP of detections by each method; C is chosen for each method and class by image AP over folds of
the training images, from one grid.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from timing import generated_source, machine, options_of, parser, table

from ranking import BagSet, Query, make_method
from ranking.core import Features, Floats, ImageSet, Ints, ProgressEvent, Source
from ranking.datasets import build_image_set, load_image_set, make_source
from ranking.features.windows import WindowSettings, describe_windows, windows_of
from ranking.inference.best_windows import best_windows
from ranking.methods.bag_method import SEVERAL
from ranking.methods.bag_starts import STARTS
from ranking.metrics import average_precision
from ranking.metrics.detection import (
    ENOUGH,
    correct_localisation,
    detection_average_precision,
    non_maximum_suppression,
    overlap,
)
from ranking.metrics.intervals import Interval
from ranking.metrics.statistics import difference_interval, mean_interval
from ranking.workspace.examples import folder_of

ROOT = Path(os.environ.get("RANKING_REAL_DATA") or Path(__file__).parents[2] / "shared" / "data")
PHOTOGRAPHS = {"Cards": "cards", "Helmets": "helmets/VOCdevkit"}  # folders in the layout of PASCAL VOC
SCENES, FIGURES = "Hidden objects", "Action figures"
WHOLE, TRUE = "AP-SVM, whole images", "Latent AP-SVM, true boxes"
METHODS = (WHOLE, "MI-SVM", "Latent AP-SVM", "Latent NDCG-SVM", TRUE)
MEASURES = ("image AP", "CorLoc, training", "CorLoc, test", "detection AP")
GRID, FOLDS, FIRST_C = (1.0, 10.0, 100.0, 1000.0), 3, 100.0
FOLD_START = "LDA"  # of the training runs that choose C
SHARES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 1.0)  # of the image that an object's box covers
WINDOWS = WindowSettings(most=120)
PARTS = ("horse", "starts", "cards", "sizes", "methods")
WindowScores = Callable[[Features], Floats]


# ---------------------------------------------------------------------------------------------------------
# Images, their windows, and their objects
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Images:
    """An image set with its candidate windows, one bag per image."""

    image_set: ImageSet
    bags: BagSet

    @property
    def learn(self) -> Ints:
        return np.flatnonzero(~self.image_set.image_test)

    @property
    def test(self) -> Ints:
        return np.flatnonzero(self.image_set.image_test)

    def objects(self, query: str) -> list[Ints]:
        """Return the rows of the boxes of class `query`, (k,) per image."""
        images, shown = self.image_set, self.image_set.relevance(query) > 0
        return [np.flatnonzero(shown & (images.image_of == image)) for image in range(len(self.bags))]

    def boxes(self, query: str, images: Ints) -> list[Ints]:
        objects = self.objects(query)
        return [self.image_set.boxes[objects[image]] for image in images]

    def relevance(self, query: str) -> Ints:
        """Return (m,) 1 for images that show `query`."""
        return np.array([len(rows) > 0 for rows in self.objects(query)], np.int64)

    @cached_property
    def described(self) -> Features:
        """The features of the true boxes, (n, d)."""
        images = self.image_set
        vectors = np.empty((len(images), self.bags.windows.shape[1]), np.float32)
        for image in range(len(self.bags)):
            rows = np.flatnonzero(images.image_of == image)
            vectors[rows] = describe_windows(images.open_image(image), images.boxes[rows])
        return vectors

    def part(self, images: Ints, query: str) -> BagSet:
        """Return the bags of some images, and which of them show `query`."""
        bags = self.bags
        rows = np.concatenate([np.arange(bags.starts[i], bags.starts[i + 1]) for i in images])
        starts = np.append(0, np.cumsum(np.diff(bags.starts)[images]))
        return BagSet(bags.windows[rows], starts, bags.boxes[rows], self.relevance(query)[images])

    def with_true_boxes(self, images: Ints, query: str) -> BagSet:
        """Return the bags of some images; of those that show `query`, the windows are its true boxes."""
        bags, objects = self.part(images, query), self.objects(query)
        windows, boxes = [], []
        for position, image in enumerate(images):
            rows = slice(bags.starts[position], bags.starts[position + 1])
            true = self.described[objects[image]]
            windows.append(true if len(true) else bags.windows[rows])
            boxes.append(np.tile([0, 0, 1, 1], (len(true), 1)) if len(true) else bags.boxes[rows])
        starts = np.append(0, np.cumsum([len(part) for part in windows]))
        return BagSet(np.concatenate(windows), starts, np.concatenate(boxes), bags.relevance)


def images_of(source: Source | Path, folder: Path) -> Images:
    """Return the set in a folder, or built from a source, with its windows; print how long the windows take."""
    if isinstance(source, Path):
        image_set = load_image_set(source)
    else:
        image_set, _ = build_image_set(source, folder / "set")
    begun = time.perf_counter()
    bags = windows_of(image_set, WINDOWS, folder)
    seconds, count = time.perf_counter() - begun, len(bags.windows) / len(bags)
    print(f"{image_set.title}: {len(bags):,} images, {count:.0f} windows per image, {seconds:.1f} s")
    return Images(image_set, bags)


def scenes(draw: int, images: int, folder: Path) -> Images:
    return images_of(
        generated_source(SCENES, images=images, seed=100 + draw, test_share=0.5), folder / f"{SCENES} {draw}"
    )


def photographs(name: str, folder: Path) -> Images | None:
    """Return photographs; None, and print why, if they are absent."""
    if not (ROOT / PHOTOGRAPHS[name]).is_dir():
        print(f"{name} are omitted: no folder {ROOT / PHOTOGRAPHS[name]}.")
        return None
    return images_of(make_source("PASCAL VOC", folder=str(ROOT / PHOTOGRAPHS[name])), folder / name)


# ---------------------------------------------------------------------------------------------------------
# Learning and measuring
# ---------------------------------------------------------------------------------------------------------


def learned(
    name: str, data: Images, images: Ints, query: str, C: float, start: str = SEVERAL
) -> WindowScores:
    """Train a method on some images; return the function that scores windows (rows, d)."""
    if name == WHOLE:
        whole = data.bags.windows[data.bags.starts[images]]
        method = make_method("AP-SVM", C=C).fit([Query(whole, data.relevance(query)[images])])
        return lambda windows: np.asarray(method.score(Query(windows)), np.float64)
    true = name == TRUE
    bags = data.with_true_boxes(images, query) if true else data.part(images, query)
    latent = make_method("Latent AP-SVM" if true else name, C=C, start="whole image" if true else start)
    weights = latent.fit([bags]).weights
    return lambda windows: np.asarray(windows @ weights.astype(np.float32), np.float64)


def image_scores(name: str, data: Images, scores: Floats) -> Floats:
    """Return (m,) the score of each image from those of all windows: of its best window, or of the whole image."""
    starts = data.bags.starts
    return scores[starts[:-1] if name == WHOLE else best_windows(scores, starts)]


def corloc(data: Images, scores: Floats, query: str, images: Ints) -> float:
    """Return CorLoc of the images among `images` that show `query`."""
    shown = images[data.relevance(query)[images] > 0]
    best = best_windows(scores, data.bags.starts)[shown]
    return correct_localisation(data.bags.boxes[best], data.boxes(query, shown))


def measured(name: str, data: Images, scores: Floats, query: str) -> Floats:
    """Return MEASURES from the scores of all windows."""
    test, starts, detections = data.test, data.bags.starts, []
    for image in test:
        boxes, values = (part[starts[image] : starts[image + 1]] for part in (data.bags.boxes, scores))
        kept = non_maximum_suppression(boxes, values)
        detections.append((boxes[kept], values[kept]))
    return np.array(
        [
            average_precision(data.relevance(query)[test], image_scores(name, data, scores)[test]),
            corloc(data, scores, query, data.learn),
            corloc(data, scores, query, test),
            detection_average_precision(detections, data.boxes(query, test)),
        ]
    )


def chosen_C(name: str, data: Images, query: str) -> float:
    """Return C of the highest mean image AP over folds of the training images, the lowest of equal ones."""
    relevance, learn = data.relevance(query), data.learn
    fold_of = np.empty(len(learn), np.int64)
    for kind in (0, 1):  # every fold has its share of images that show the object
        rows = np.random.default_rng(0).permutation(np.flatnonzero(relevance[learn] == kind))
        fold_of[rows] = np.arange(len(rows)) % FOLDS
    means = []
    for C in GRID:
        values = []
        for fold in range(FOLDS):
            score = learned(name, data, learn[fold_of != fold], query, C, FOLD_START)
            held = learn[fold_of == fold]
            of_images = image_scores(name, data, score(data.bags.windows))
            values.append(average_precision(relevance[held], of_images[held]))
        means.append(np.mean(values))
    return GRID[int(np.argmax(means))]


# ---------------------------------------------------------------------------------------------------------
# The parts
# ---------------------------------------------------------------------------------------------------------


def horse_tables(draws: Sequence[Images]) -> None:
    """Print CorLoc by rounds of the first draw, and the end of every draw."""
    ends = []
    for draw, data in enumerate(draws):
        bags, by_round = data.part(data.learn, "horse"), dict[int, Floats]()

        def keep(event: ProgressEvent, by_round: dict[int, Floats] = by_round) -> None:
            by_round[event.round] = event.weights.copy()

        method = make_method("Latent AP-SVM", start="whole image").fit([bags], keep)
        seconds = method.certificate.seconds
        by_round[max(by_round) + 1] = method.weights
        rows = []
        for number, weights in sorted(by_round.items()):
            scores = np.asarray(data.bags.windows @ weights.astype(np.float32), np.float64)
            found = [corloc(data, scores, "horse", images) for images in (data.learn, data.test)]
            objective = method.problem([bags]).at(weights).objective
            rows.append([str(number), f"{objective:.3f}", *(f"{value:.3f}" for value in found)])
        if draw == 0:
            print(table(["before round", "objective", *MEASURES[1:3]], rows), end="\n\n")
        ends.append([str(draw), str(len(rows) - 1), f"{seconds:.2f}", rows[0][2], *rows[-1][1:]])
    print(table(["draw", "rounds", "seconds", "CorLoc before", "objective", *MEASURES[1:3]], ends))


def start_rows(data: Images, queries: Sequence[str]) -> Iterator[list[float]]:
    """Yield per query: test CorLoc and objective from each start, then training and test CorLoc from the lowest
    objective, and with true boxes."""
    for query in queries:
        bags, row, lowest = data.part(data.learn, query), list[float](), (np.inf, 0.0, 0.0)
        for start in STARTS:
            method = make_method("Latent AP-SVM", start=start).fit([bags])
            scores = np.asarray(data.bags.windows @ method.weights.astype(np.float32), np.float64)
            objective = method.certificate.primal
            training, test = (corloc(data, scores, query, images) for images in (data.learn, data.test))
            row += [test, objective]
            lowest = min(lowest, (objective, training, test))
        true = learned(TRUE, data, data.learn, query, FIRST_C)(data.bags.windows)
        yield [*row, *lowest[1:], corloc(data, true, query, data.test)]


def start_table(draws: Sequence[Images], queries: Sequence[str]) -> str:
    """Return the table of the first draw, and the means of all."""
    values = np.array([list(start_rows(data, queries)) for data in draws])
    pairs = 2 * len(STARTS)

    def cells(row: Floats) -> list[str]:
        of_starts = [f"{row[k]:.2f} ({row[k + 1]:.1f})" for k in range(0, pairs, 2)]
        return [*of_starts, *(f"{value:.2f}" for value in row[pairs:])]

    rows = [[query, *cells(row)] for query, row in zip(queries, values[0], strict=True)]
    rows += [[f"mean, draw {draw}", *cells(row)] for draw, row in enumerate(values.mean(axis=1))]
    if len(draws) > 1:
        rows.append(["mean of draws", *cells(values.mean(axis=(0, 1)))])
    lowest = [f"lowest: {name}" for name in MEASURES[1:3]]
    return table(["class", *STARTS, *lowest, "true boxes"], rows)


def size_table(sets: Sequence[Images]) -> str:
    """Return the share of objects that a window overlaps by half, by the share of the image that an object covers."""
    rows = []
    for data in sets:
        images = data.image_set
        shares = (images.boxes[:, 2:] - images.boxes[:, :2]).prod(axis=1) / images.image_sizes[
            images.image_of
        ].prod(axis=1)
        covered = np.array(
            [
                overlap(box[None], data.bags.boxes[data.bags.starts[i] : data.bags.starts[i + 1]]).max()
                >= ENOUGH
                for box, i in zip(images.boxes, images.image_of, strict=True)
            ]
        )
        cells = [images.title, f"{100 * np.median(shares):.1f}%", f"{covered.mean():.2f}"]
        for low, high in itertools.pairwise(SHARES):
            chosen = (shares > low) & (shares <= high)
            cells.append(f"{covered[chosen].mean():.2f} ({chosen.sum()})" if chosen.any() else "-")
        rows.append(cells)
    edges = [f"to {100 * high:.0f}%" for high in SHARES[1:]]
    return table(["objects", "median share", "all", *edges], rows)


def method_tables(draws: Sequence[Images], queries: Sequence[str]) -> None:
    """Print each measure as mean and interval over the draws, the differences from Latent AP-SVM, and the chosen C."""
    values = np.empty((len(draws), len(METHODS), len(queries), len(MEASURES)))
    chosen = np.empty(values.shape[:3])
    for draw, data in enumerate(draws):
        for m, name in enumerate(METHODS):
            for q, query in enumerate(queries):
                chosen[draw, m, q] = chosen_C(name, data, query)
                score = learned(name, data, data.learn, query, chosen[draw, m, q])
                values[draw, m, q] = measured(name, data, score(data.bags.windows), query)
    means = values.mean(axis=2)  # (draws, methods, measures)
    print(table(["method", *MEASURES], value_rows(means)), end="\n\n")
    print(table(["minus Latent AP-SVM", *MEASURES], difference_rows(means)), end="\n\n")
    print(table(["C of", *(f"{C:g}" for C in GRID)], C_rows(chosen)))


def value_rows(means: Floats) -> Iterator[list[str]]:
    for m, name in enumerate(METHODS):
        yield [name, *(interval_words(mean_interval(column)) for column in means[:, m].T)]


def difference_rows(means: Floats) -> Iterator[list[str]]:
    base = METHODS.index("Latent AP-SVM")
    for m, name in enumerate(METHODS):
        if m != base:
            pairs = zip(means[:, m].T, means[:, base].T, strict=True)
            yield [name, *(interval_words(difference_interval(left, right)) for left, right in pairs)]


def interval_words(interval: Interval) -> str:
    """Format a mean and its 95% interval over the draws; * where it excludes 0 as a difference does."""
    if np.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def C_rows(chosen: Floats) -> Iterator[list[str]]:
    """Yield how often each C was chosen; * marks the ends of the grid."""
    for m, name in enumerate(METHODS):
        counts = [int((chosen[:, m] == C).sum()) for C in GRID]
        ends = {0, len(GRID) - 1}
        yield [name, *(f"{n}{'*' if n and k in ends else ''}" for k, n in enumerate(counts))]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    arguments.add_argument("--images", type=int, default=600, help="per draw; half of them are for the test")
    arguments.add_argument("--draws", type=int, default=5)
    arguments.add_argument("--queries", nargs="+", help="classes of the scenes (default: all)")
    options = options_of(
        arguments, images=40, draws=1, queries=["horse"], part=["horse", "starts", "methods"]
    )
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        draws = [scenes(draw, options.images, folder) for draw in range(options.draws)]
        queries = options.queries or list(draws[0].image_set.classes)
        if "horse" in options.part:
            print("\nhorse, from the whole image\n")
            horse_tables(draws)
        if "starts" in options.part:
            print("\ntest CorLoc (objective) from each start\n")
            print(start_table(draws, queries))
        cards = photographs("Cards", folder) if {"cards", "sizes"} & set(options.part) else None
        if "cards" in options.part and cards is not None:
            print("\ntest CorLoc (objective) from each start\n")
            print(start_table([cards], cards.image_set.classes))
        if "sizes" in options.part:
            others = [images_of(folder_of(FIGURES), folder), photographs("Helmets", folder), cards]
            sets = [draws[0], *(data for data in others if data is not None)]
            print("\nobjects that a window overlaps by half (number of objects)\n")
            print(size_table(sets))
        if "methods" in options.part:
            print("\nmeans over the classes, and their 95% intervals over the draws\n")
            method_tables(draws, queries)


if __name__ == "__main__":
    main()
