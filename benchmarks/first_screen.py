"""The first screen of the README: its tables and its picture.

    make figures

compares SVM, AP-SVM, HOB-SVM and HOAP-SVM by the protocol of high-order (section 5) on the bundled action figures,
1,200 scenes and ten actions, and on photographs of helmets: a PASCAL VOC folder helmets/VOCdevkit in $RANKING_REAL_DATA
or ../shared/data, which is left out where there is none. Boxes are told by HOG and colour, and those of one image are
neighbours. Five folds by image, the same for all; C and eta are chosen by the mean AP over them; then each method is
trained on all training images and tested. SVM and HOB-SVM, which count mistakes, choose among other C than AP-SVM and
HOAP-SVM, which rank: equal C do not mean the same. HOAP-SVM begins with the HOB-SVM of C = 0.001. Trainings end at a
proven gap of 1%.

It prints the table and writes data/first_screen.webp: for each set the query on which the folds put the best method
farthest ahead of SVM, and what either ranks first among the test samples. The drawn figures are shown; of photographs
of people only whether each was right.

With --folder, image sets and trainings are kept there, and the same command goes on where it was.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ranked_rows import Part, Row, save
from timing import machine, options_of, parser, table

from ranking.datasets import Thumbnails, build_image_set, load_image_set, make_source
from ranking.experiments.cell_store import CellStore
from ranking.experiments.exports import plain
from ranking.experiments.material import material_of
from ranking.experiments.pace import Progress
from ranking.experiments.plan import plan_of
from ranking.experiments.results import Results
from ranking.experiments.running import run_experiment
from ranking.experiments.tables import AVERAGE, chosen_table
from ranking.intervals import interval, redrawn
from ranking.reports.differences import (
    BETTER,
    WORSE,
    Marks,
    differences,
    marks_of_folds,
    marks_of_folds_words,
    marks_of_test,
    marks_of_test_words,
)
from ranking.reports.findings import Findings
from ranking.reports.galleries import mistake_words
from ranking.run_settings import Protocol
from ranking.types import Floats, ImageSet, Source

FEATURES = (("HOG", {}), ("Colour", {}))
ETA = (1e-4, 1e-3, 1e-2)
Family = tuple[tuple[tuple[str, dict[str, float]], ...], tuple[float, ...]]
FAMILIES: tuple[Family, ...] = (  # methods that share the values of C, and these
    ((("SVM", {}), ("HOB-SVM", {})), (1e-5, 1e-4, 1e-3, 1e-2)),
    ((("AP-SVM", {}), ("HOAP-SVM", {"start_C": 1e-3})), (10.0, 100.0, 1000.0)),
)
METHODS = ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM")
TOLERANCE = 1e-2
PICTURE = Path(__file__).parents[1] / "data" / "first_screen.webp"
FIGURES, HELMETS = "Action figures", "Helmets"


def sources(images: int, names: Sequence[str]) -> dict[str, Source]:
    """The sets of those names that are there; `images`: of the action figures."""
    found = {FIGURES: make_source(FIGURES, images=images)} if FIGURES in names else {}
    if HELMETS not in names:
        return found
    root = Path(os.environ.get("RANKING_REAL_DATA") or Path(__file__).parents[2] / "shared" / "data")
    helmets = root / "helmets" / "VOCdevkit"
    if helmets.is_dir():
        found[HELMETS] = make_source("PASCAL VOC", folder=str(helmets))
    else:
        print(
            f"{HELMETS} are left out: no folder {helmets}. Those of the README are the photographs of "
            "github.com/TigerandRosa/paper_code (Apache-2.0), resized to 480 pixels: boxes of the classes head and "
            "helmet, in the layout of PASCAL VOC 2007. RANKING_REAL_DATA names the folder that holds helmets/."
        )
    return found


def image_set(source: Source, folder: Path) -> ImageSet:
    """The set in `folder`, which is made there where it is not."""
    if not (folder / "manifest.json").exists():
        build_image_set(source, folder)
    return load_image_set(folder)


def findings(images: ImageSet, folder: Path, queries: Sequence[str], quick: bool) -> Findings:
    """Both families on a set, trained as far as they are not kept in `folder`, as one experiment.

    queries: of the set's classes, all by default. quick: the last value of each grid alone.
    """
    cells, found = CellStore(folder / "cells"), []
    for methods, values in FAMILIES:
        grids = {"C": values[-1:], "eta": ETA[-1:]} if quick else {"C": values, "eta": ETA}
        protocol = Protocol(
            images.key, FEATURES, methods, queries=tuple(queries), grids=grids, tolerance=TOLERANCE
        )
        plan = plan_of(protocol, images)
        material = lambda plan=plan: material_of(plan, images, folder / "features")  # noqa: E731
        found.append((plan, run_experiment(plan, material, cells, say)))
    plan, first = found[0]
    contenders = {one.name: one for _, results in found for one in results.contenders}
    outcomes = {place: one for _, results in found for place, one in results.outcomes.items()}
    keys = {place: key for _, results in found for place, key in results.keys.items()}
    ordered = tuple(contenders[name] for name in METHODS)
    return Findings(plan, Results(first.protocol, first.queries, ordered, outcomes, keys), images, cells)


class Line(NamedTuple):
    """What stands beside a name in the table, by method."""

    name: str
    folds: list[str]
    test: list[str]


def say(progress: Progress) -> None:
    if progress.done % 20 == 0 or progress.seconds_left is None:
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        print(f"{progress.done} of {progress.total}: {progress.what}{left}", file=sys.stderr, flush=True)


def lines_of(found: Findings) -> list[Line]:
    """Of each query, and of their average where there are several that are not each other's opposite."""
    results, apart = found.results, differences(found)
    folds, test = marks_of_folds(apart, METHODS[0]), marks_of_test(apart, METHODS[0])
    held, lines, again = found.plan.splits.all[None].held, [], []
    for query in results.queries:
        scores = [found.scores(query, name, None) for name in METHODS]
        drawn = redrawn(found.images.relevance(query)[held], scores, found.images.image_of[held])
        again.append((drawn.values["AP"], drawn.drawn["AP"]))
        lines.append(line(query, fold_means(results, query), *again[-1], folds, test))
    if len(lines) > 2:
        means = [
            statistics.fmean(values)
            for values in zip(*(fold_means(results, q) for q in results.queries), strict=True)
        ]
        values, draws = (
            np.mean(parts, axis=0) for parts in zip(*again, strict=True)
        )  # equal images in each draw
        marks = {}
        for method, one in zip(METHODS, draws, strict=True):
            apart_from_first = interval(0.0, one - draws[0])
            if apart_from_first.without_zero:
                marks[AVERAGE, method] = BETTER if apart_from_first.low > 0 else WORSE
        lines.append(line(AVERAGE, means, values, draws, {}, marks))
    return lines


def fold_means(results: Results, query: str) -> list[float]:
    """The mean AP over the folds of each method at its chosen setting."""
    return [statistics.fmean(results.validation(query, name) or (math.nan,)) for name in METHODS]


def line(name: str, means: Sequence[float], values: Floats, draws: Floats, folds: Marks, test: Marks) -> Line:
    """means, values: by method, over the folds and on the test samples; draws: (4, b) on test sets drawn again."""
    first, second = [], []
    for place, method in enumerate(METHODS):
        ends = interval(float(values[place]), draws[place])
        first.append(cell(means[place], max(means), folds.get((name, method))))
        between = f"<br><sub>{points(ends.low)}–{points(ends.high)}</sub>"
        second.append(cell(values[place], max(values), test.get((name, method))) + between)
    return Line(name, first, second)


def cell(value: float, best: float, mark: str | None) -> str:
    told = points(value)
    return (f"**{told}**" if value == best else told) + (f" {mark}" if mark else "")


def points(value: float) -> str:
    """An AP in the way of the tables of the field.

    >>> points(0.5126), points(1.0)
    ('.513', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def part_of(name: str, found: Findings) -> Part:
    """What the best method on the folds and the first one make of the query where they lie farthest apart."""
    results = found.results
    means = {query: fold_means(results, query) for query in results.queries}
    average = [statistics.fmean(values) for values in zip(*means.values(), strict=True)]
    best = max(range(1, len(METHODS)), key=average.__getitem__)
    query = max(means, key=lambda query: means[query][best] - means[query][0])
    crops, rows = (Thumbnails(found.images.folder) if name == FIGURES else None), []
    for method in (METHODS[0], METHODS[best]):
        ranked = found.ranking(query, method, None)
        if ranked is None:
            raise ValueError(f"{method} was not tested on {query!r}; run the command again")
        rows.append(
            Row(method, f"test AP {points(ranked.average_precision)}\n{mistake_words(ranked)}", ranked, crops)
        )
    return Part(f"{name}: {query}", rows)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--folder", type=Path, help="keep image sets, features and trainings there")
    arguments.add_argument("--picture", type=Path, default=PICTURE, help="the WebP to write")
    arguments.add_argument("--sets", nargs="+", choices=(FIGURES, HELMETS), default=(FIGURES, HELMETS))
    arguments.add_argument("--images", type=int, default=1200, help="how many action figures")
    arguments.add_argument("--queries", nargs="+", default=(), help="of the action figures' classes, not all")
    options = options_of(arguments, sets=[FIGURES], images=60, queries=["walking", "running"], picture=None)
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as place:
        folder, lines, parts, notes = options.folder or Path(place), [], [], []
        for name, source in sources(options.images, options.sets).items():
            queries = options.queries if name == FIGURES else ()
            found = findings(image_set(source, folder / name), folder, queries, options.smoke)
            lines += lines_of(found)
            parts.append(part_of(name, found))
            unproven, trainings = found.results.unproven, len(found.results.outcomes)
            notes.append(f"{name}: {trainings:,} trainings, {unproven} of them not converged.")
            notes.append(plain(chosen_table(found.results)))
        save(parts, options.picture or folder / "picture.webp")
    heads = [f"{part}: {method}" for part in ("folds", "test") for method in METHODS]
    print(table(["AP", *heads], [[one.name, *one.folds, *one.test] for one in lines]) + "\n")
    print(marks_of_folds_words(METHODS[0]), marks_of_test_words(METHODS[0]), *notes, sep="\n")


if __name__ == "__main__":
    main()
