"""Do neighbours help? Test AP of SVM, AP-SVM, HOB-SVM and HOAP-SVM on images whose boxes tend to share their label.

    python benchmarks/neighbours.py --images 1200
    python benchmarks/neighbours.py --voc FOLDER --queries helmet

builds the bundled action figures, or imports a PASCAL VOC folder, and ranks the boxes of the test split by HOG and
colour for each query. Boxes of one image are neighbours. C and eta are chosen by 5-fold cross-validation on the
training split, folds by image, the same for all methods; the choice with the best mean AP is then trained on the
whole training split. HOAP-SVM begins with the HOB-SVM of the C that was chosen for that, or with AP-SVM.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import machine, options_of, parser, table

from ranking import Query, make_method
from ranking.datasets import build_image_set, make_source
from ranking.features import load_features
from ranking.image_graph import image_graph
from ranking.metrics import average_precision
from ranking.types import Bools, Features, ImageSet

FEATURES = [("HOG", {}), ("Colour", {})]
FOLDS = 5
TOLERANCE = 1e-2
MISCLASSIFICATION_C = (1e-5, 1e-4, 1e-3, 1e-2)
NEIGHBOURS_C = (1e-4, 1e-3)  # of HOB-SVM: what folds choose of the above
RANKING_C = (10.0, 100.0, 1000.0)
ETA = (0.0001, 0.001, 0.01)
Settings = dict[str, Any]
GRIDS: Mapping[str, tuple[str, Settings, Mapping[str, Sequence[float]]]] = {  # title: method, fixed, grid
    "SVM": ("SVM", {}, {"C": MISCLASSIFICATION_C}),
    "AP-SVM": ("AP-SVM", {}, {"C": RANKING_C}),
    "HOB-SVM": ("HOB-SVM", {}, {"eta": ETA, "C": NEIGHBOURS_C}),
    "HOAP-SVM": ("HOAP-SVM", {}, {"eta": ETA, "C": RANKING_C}),
    "HOAP-SVM from AP-SVM": ("HOAP-SVM", {"start": "AP-SVM"}, {"eta": ETA, "C": RANKING_C}),
}


def settings_in(grid: Mapping[str, Sequence[float]], quick: bool) -> Iterator[Settings]:
    """All of a grid; if `quick` the first alone."""
    for values in itertools.islice(itertools.product(*grid.values()), 1 if quick else None):
        yield dict(zip(grid, values, strict=True))


class Trained:
    """Methods trained on one query. Each C begins with the one before; HOAP-SVM with the HOB-SVM trained here."""

    def __init__(self, train: Query) -> None:
        self.train = train
        self.methods: dict[tuple[str, float, float], Any] = {}

    def fit(self, name: str, settings: Settings) -> Any:
        C, eta = settings["C"], settings.get("eta", 0.0)
        start = self.methods.get((name, eta, 0.0))
        if name == "HOAP-SVM":
            start = self.beginning(settings["start_C"], eta) if "start_C" in settings else None
        method = make_method(name, tolerance=TOLERANCE, **settings).fit([self.train], warm_start=start)
        self.methods[name, eta, C] = self.methods[name, eta, 0.0] = method
        return method

    def beginning(self, C: float, eta: float) -> Any:
        """HOAP-SVM at the weights of HOB-SVM: what it would train first, to the same gap."""
        if ("HOB-SVM", eta, C) not in self.methods:
            self.fit("HOB-SVM", {"C": C, "eta": eta})
        first = make_method("HOAP-SVM", eta=eta)
        found = self.methods["HOB-SVM", eta, C]
        first.solution, first.pairs = found.solution, found.pairs
        return first


class Laboratory:
    """An image set with its features and folds."""

    def __init__(self, images: ImageSet, features: Features, quick: bool) -> None:
        self.images, self.features, self.quick = images, features, quick
        learn = np.unique(images.image_of[~images.test])
        fold = np.full(len(images.image_names), -1)
        fold[np.random.default_rng(0).permutation(learn)] = np.arange(len(learn)) % FOLDS
        self.fold = fold[images.image_of]

    def query(self, name: str, rows: Bools) -> Query:
        graph = image_graph(self.images, "same image", FEATURES, self.features, rows)
        return Query(self.features[rows], self.images.relevance(name)[rows], graph)

    def evaluate(self, name: str) -> dict[str, tuple[float, float, Settings]]:
        """By title: the AP on test, the mean AP over the folds, and the settings that were chosen."""
        learn = ~self.images.test
        whole, test = Trained(self.query(name, learn)), self.query(name, ~learn)
        splits = [
            (self.query(name, learn & (self.fold != k)), self.query(name, learn & (self.fold == k)))
            for k in range(FOLDS)
        ]
        folds = [
            (Trained(train), held) for train, held in splits if train.relevance.any() and held.relevance.any()
        ]
        found: dict[str, tuple[float, float, Settings]] = {}
        for title, (method, fixed, grid) in GRIDS.items():
            began, start = time.perf_counter(), {}
            if title == "HOAP-SVM":
                start = {"start_C": found["HOB-SVM"][2]["C"]}
            choices = [settings | fixed | start for settings in settings_in(grid, self.quick)]
            means = [
                float(np.mean([ap(held, train.fit(method, settings)) for train, held in folds]))
                for settings in choices
            ]
            best = int(np.argmax(means))
            found[title] = ap(test, whole.fit(method, choices[best])), means[best], choices[best]
            seconds = time.perf_counter() - began
            print(f"{name}: {title} {found[title]}, {seconds:.0f} s", file=sys.stderr, flush=True)
            for settings, mean in zip(choices, means, strict=True):
                print(f"    {settings} {mean:.4f}", file=sys.stderr, flush=True)
        return found


def ap(query: Query, method: Any) -> float:
    return average_precision(query.relevance, method.score(query))


def agreement(images: ImageSet, name: str) -> float:
    """The share of pairs of boxes of one image, with at least one relevant box, that are both relevant."""
    relevance = images.relevance(name)
    totals, sizes = np.bincount(images.image_of, relevance), np.bincount(images.image_of)
    both = (totals * (totals - 1) / 2).sum()
    mixed = (totals * (sizes - totals)).sum()
    return float(both / max(both + mixed, 1))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--images", type=int, default=1200, help="how many action figures")
    arguments.add_argument("--voc", help="a PASCAL VOC folder to take instead")
    arguments.add_argument("--queries", nargs="+", help="of the classes, all by default")
    arguments.add_argument("--processes", type=int, default=2)
    options = options_of(arguments, images=60, queries=["walking", "running"])
    print(machine() + "\n")
    if options.voc and not Path(options.voc).is_dir():
        print(f"All is left out: there is no folder {options.voc}.")
        return
    source = (
        make_source("PASCAL VOC", folder=options.voc)
        if options.voc
        else make_source("Action figures", images=options.images)
    )
    with tempfile.TemporaryDirectory() as place:
        images, _ = build_image_set(source, Path(place) / "set")
        laboratory = Laboratory(images, load_features(images, FEATURES, Path(place)), options.smoke)
        queries = options.queries or list(images.classes)
        with multiprocessing.get_context("fork").Pool(options.processes) as pool:
            found = pool.map(laboratory.evaluate, queries, chunksize=1)
    rows = [
        [name, f"{agreement(images, name):.2f}", *(f"{of[title][0]:.3f}" for title in GRIDS)]
        for name, of in zip(queries, found, strict=True)
    ]
    means = [float(np.mean([of[title][0] for of in found])) for title in GRIDS]
    rows.append(["mean", "", *(f"{mean:.3f}" for mean in means)])
    print(table(["test AP", "agree", *GRIDS], rows))
    for name, of in zip(queries, found, strict=True):
        chosen = "; ".join(
            f"{title} {settings} (folds {mean:.3f})" for title, (_, mean, settings) in of.items()
        )
        print(f"\n{name}: {chosen}")


if __name__ == "__main__":
    main()
