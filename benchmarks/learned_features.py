"""How much better does a method rank with CNN beside HOG and colour?

    python benchmarks/learned_features.py [--folder FOLDER]

trains SVM on photographs of playing cards and of helmets (PASCAL VOC in $RANKING_REAL_DATA or ../shared/data, imported
as by the app, with near copies on one side of the split; omitted where there are none), on two actions of the bundled
action figures and on all concepts of the bundled label scenes. C is chosen for each class and each choice of features
by cross-validation on the training images. RankSVM ranks the bundled timeline cars, at its default C.

A row has the mean AP over classes on the test images, or Kendall's tau over all pairs of test images: first in the
split of the image set, then as the mean over deals. A deal is a random split of the same size, with the images of a
group on one side. Intervals of the difference are of the paired bootstrap over images, which are resampled in all
deals together, because deals share them.

With --folder, image sets, features and trials are kept there, and the same command continues where it stopped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine, options_of, points, real_data, table

from ranking import Query, make_method
from ranking.core import Floats, ImageSet, Ints
from ranking.datasets import load_image_set
from ranking.datasets.sequences import draw_sequences
from ranking.datasets.splits import blocks_of, random_part
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial_data import trial_data_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.feature_study import FOLDS
from ranking.features import load_features
from ranking.features.opened import open_image_set
from ranking.metrics import average_precision, kendall_tau, ranking_order
from ranking.metrics.intervals import DRAWS, interval, measures_of_counts, resampled_counts
from ranking.storage.examples import folder_of
from ranking.storage.run_settings import SMALL_GRIDS, Protocol

FEATURES = ((("HOG", {}), ("Colour", {})), (("HOG", {}), ("Colour", {}), ("CNN", {})))
YEAR = "year"


class Row(NamedTuple):
    """A row of the table: an image set, and what is measured on it."""

    source: str
    # of a class each; all classes if there are none
    queries: tuple[str, ...] = ()
    # ranks sequences by YEAR instead
    by_year: bool = False
    # in the real data; "" for a bundled set
    folder: str = ""


ROWS = {
    "cards": Row("Cards", folder="cards"),
    "helmets": Row("Helmets", folder="helmets/VOCdevkit"),
    "figures": Row("Action figures", ("riding bike", "phoning")),
    "scenes": Row("Label scenes"),
    "cars": Row("Timeline cars", by_year=True),
}


def image_set_of(row: Row, folder: Path) -> ImageSet | None:
    """Return the image set of a row, imported into `folder` if it is not bundled; None if it is absent."""
    if not row.folder:
        return load_image_set(folder_of(row.source))
    path = real_data(row.folder)
    imported = folder / row.source / "set"
    if path is None:
        return None
    return open_image_set(imported if imported.exists() else path, folder=folder / row.source).images


def dealt(images: ImageSet, units: Ints, seed: int) -> ImageSet:
    """Return the set with another split of the same size, in which no unit (n,) of samples is on both sides."""
    test = random_part(int(units.max()) + 1, float(images.image_test.mean()), seed)
    image_test = np.zeros(len(images.image_test), bool)
    image_test[images.image_of] = test[units]
    return replace(images, image_test=image_test)


class Measured(NamedTuple):
    """A measure with each of FEATURES: of the test images (2,), and of resampled test images (2, draws)."""

    values: Floats
    resampled: Floats


def measured(images: ImageSet, row: Row, counts: Ints, folder: Path) -> Iterator[Measured]:
    """Train and measure in the split of a set, class by class; counts (draws, n) of each sample in the resamples."""
    if row.by_year:
        yield measured_by_year(images, counts, folder)
        return
    queries = tuple(query for query in row.queries or images.classes if is_frequent(images, query))
    store, tested = TrialStore(folder / "trials"), []
    for parts in FEATURES:
        protocol = Protocol(images.key, parts, (("SVM", {}),), queries, SMALL_GRIDS, FOLDS)
        plan = plan_of(protocol, images)
        data = partial(trial_data_of, plan, images, folder / "features")
        results = run_experiment(plan, data, store)
        tested.append(
            [
                store.scores(results.keys[query, "SVM", results.chosen(query, "SVM"), None])
                for query in queries
            ]
        )
    test = np.flatnonzero(images.test)
    for query, *scores in zip(queries, *tested, strict=True):
        relevance, values, resampled = images.relevance(query)[test], [], []
        for each in scores:
            order = ranking_order(relevance, each)
            values.append(average_precision(relevance, each))
            resampled.append(measures_of_counts(relevance[order] > 0, counts[:, test[order]])["AP"])
        yield Measured(np.array(values), np.array(resampled))


def is_frequent(images: ImageSet, query: str) -> bool:
    """Whether a class is in enough blocks of training images for each fold, and among the test images."""
    relevant = images.relevance(query) > 0
    return len(np.unique(blocks_of(images, np.flatnonzero(relevant & ~images.test)))) >= FOLDS and bool(
        relevant[images.test].any()
    )


def measured_by_year(images: ImageSet, counts: Ints, folder: Path) -> Measured:
    """Train RankSVM on sequences, and measure Kendall's tau over all pairs of test images."""
    test = np.flatnonzero(images.test)
    years, drawn = images.numbers_of(YEAR)[test], counts[:, test]
    values, resampled = [], []
    for parts in FEATURES:
        vectors = load_features(images, parts, folder / "features")
        train = draw_sequences(images, vectors, YEAR)[0].sequences
        scores = np.asarray(make_method("RankSVM").fit(train).score(Query(vectors[test])))
        values.append(kendall_tau(years, scores))
        later = np.sign(years[:, None] - years)
        # equal scores are incorrect, as in `kendall_tau`
        correct = np.where(later * (scores[:, None] - scores) > 0, 1.0, -1.0) * np.abs(later)
        of_pairs, pairs = (
            np.einsum("bi,ij,bj->b", drawn, each, drawn, optimize=True) for each in (correct, np.abs(later))
        )
        resampled.append(of_pairs / pairs)
    return Measured(np.array(values), np.array(resampled))


def cells(parts: list[Measured]) -> list[str]:
    """Return the means over classes and deals with each of FEATURES, and their difference with its interval."""
    before, after = np.mean([part.values for part in parts], axis=0)
    # a resample without relevant sample of a class is NaN
    apart = np.nanmean([part.resampled[1] - part.resampled[0] for part in parts], axis=0)
    value, low, high = interval(float(after - before), apart)
    return [points(before), points(after), f"{points(value)} [{points(low)}, {points(high)}]"]


def main() -> None:
    names = list(ROWS)
    options = options_of(
        __doc__, deals=(5, 1), sets=(names, ["figures", "cars"], names), draws=(DRAWS, 50), folder=("", "")
    )
    print(machine() + "\n")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        for name in options.sets:
            row = ROWS[name]
            if (images := image_set_of(row, folder)) is None:
                continue
            units = blocks_of(images, np.arange(len(images)))
            generator = np.random.default_rng(0)
            counts = resampled_counts(int(units.max()) + 1, options.draws, generator)[:, units]
            own = list(measured(images, row, counts, folder))
            deals = [
                part
                for seed in range(options.deals)
                for part in measured(dealt(images, units, seed), row, counts, folder)
            ]
            what = "tau" if row.by_year else f"AP, mean of {len(own)}"
            rows.append([f"{row.source}: {what}", *cells(own), *cells(deals)])
            print(" | ".join(rows[-1]), flush=True)
    head = ["HOG + Colour", "with CNN", "difference"]
    print("\n" + table(["test", *head, *(f"{options.deals} deals: {text}" for text in head)], rows))


if __name__ == "__main__":
    main()
