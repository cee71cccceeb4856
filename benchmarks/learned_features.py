"""How much better do methods rank by the default features than by HOG and Colour alone, which are not learned?

    python benchmarks/learned_features.py [--deals 5]

The test AP is that of SVM with its default settings, the mean over classes: on photographs of playing cards and of
helmets in $RANKING_REAL_DATA or ../shared/data, which are ignored where there are none, and on the bundled action
figures and label scenes. On the bundled timeline cars it is the Kendall tau of RankSVM over test sequences. First for
the split of the set itself, then as the mean over other splits into as many training and test images. Near copies stay
on one side. The difference is the mean over all splits, followed by the least and the greatest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from timing import machine, options_of, points, real_data, table

from ranking import Query, make_method
from ranking.core import Features, ImageSet
from ranking.datasets import load_image_set
from ranking.datasets.sequences import draw_sequences
from ranking.datasets.splits import random_part
from ranking.features import default_names, load_features
from ranking.features.opened import open_image_set
from ranking.metrics import average_precision, kendall_tau
from ranking.storage.examples import folder_of

PLAIN = ("HOG", "Colour")
# folders of photographs, and bundled image sets
PHOTOGRAPHS = {"cards": "cards", "helmets": "helmets/VOCdevkit"}
BUNDLED = {"figures": "Action figures", "scenes": "Label scenes", "cars": "Timeline cars"}
# the classes that are ranked, if not all
QUERIES = {"figures": ("riding bike", "phoning")}
CRITERION = "year"


def image_sets(names: Sequence[str], folder: Path) -> Iterator[tuple[str, ImageSet]]:
    """Yield those of the named sets that exist; photographs are imported into `folder`."""
    for name in names:
        if name in BUNDLED:
            yield name, load_image_set(folder_of(BUNDLED[name]))
        elif path := real_data(PHOTOGRAPHS[name]):
            yield name, open_image_set(path, folder=folder / name).images


def deals(images: ImageSet, count: int) -> Iterator[ImageSet]:
    """Yield the set, and then with its images split anew, with as many test images."""
    yield images
    groups, number = np.unique(images.image_groups, return_inverse=True)
    for seed in range(count):
        yield replace(images, image_test=random_part(len(groups), images.image_test.mean(), seed)[number])


def mean_precision(images: ImageSet, features: Features, queries: Sequence[str]) -> float:
    """Return the mean of the test AP of SVM over the classes that both splits show."""
    learn, test, measured = ~images.test, images.test, []
    for query in queries:
        relevance = images.relevance(query)
        if relevance[learn].any() and relevance[test].any():
            method = make_method("SVM").fit([Query(features[learn], relevance[learn])])
            measured.append(average_precision(relevance[test], method.score(Query(features[test]))))
    return float(np.mean(measured))


def mean_tau(images: ImageSet, features: Features) -> float:
    """Return the mean Kendall tau of RankSVM over test sequences."""
    (train, _), (test, _) = draw_sequences(images, features, CRITERION)
    scores = make_method("RankSVM").fit(train).score(Query(test.features))
    sequences = [test.sequence(number) for number in range(len(test))]
    return float(np.mean([kendall_tau(test.grades[rows], scores[rows]) for rows in sequences]))


def measured(name: str, images: ImageSet, features: Features) -> float:
    if CRITERION in images.criteria:
        return mean_tau(images, features)
    return mean_precision(images, features, QUERIES.get(name, images.classes))


def main() -> None:
    sets = [*PHOTOGRAPHS, *BUNDLED]
    options = options_of(__doc__, deals=(5, 1), sets=(sets, ["cars"], sets))
    print(machine() + "\n")
    rows, names = [], (PLAIN, tuple(default_names()))
    with tempfile.TemporaryDirectory() as folder:
        for name, images in image_sets(options.sets, Path(folder)):
            features = [
                load_features(images, [(part, {}) for part in parts], Path(folder) / "features")
                for parts in names
            ]
            values = np.array(
                [
                    [measured(name, deal, matrix) for matrix in features]
                    for deal in deals(images, options.deals)
                ]
            )
            gains = values[:, -1] - values[:, 0]
            numbers = (*values[0], *values[1:].mean(axis=0), gains.mean(), gains.min(), gains.max())
            *shown, least, greatest = map(points, numbers)
            rows.append([name, f"{len(images):,}", *shown, f"{least} to {greatest}"])
    columns = [" + ".join(parts) for parts in names]
    header = [
        "set",
        "samples",
        *columns,
        *(f"{column}, other splits" for column in columns),
        "difference",
        "",
    ]
    print(table(header, rows))


if __name__ == "__main__":
    main()
