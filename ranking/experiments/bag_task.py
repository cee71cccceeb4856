"""Training of methods that rank images by the best of their windows, and their measures (quicksort, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.core import BagSet, Bools, Floats, ImageSet, Ints, OnProgress, OnStep
from ranking.core.errors import InputError
from ranking.core.settings import Settings, settings_of
from ranking.core.text import readable
from ranking.experiments.recording import Recorder
from ranking.experiments.task import Measured, Task
from ranking.explain.localisation import Localisation, objects_of
from ranking.explain.playback import Scored, part_localisation
from ranking.features import rows_of
from ranking.features.projection import Projection
from ranking.features.windows.bags import windows_of
from ranking.features.windows.settings import WindowSettings
from ranking.inference.best_windows import best_windows
from ranking.methods.bag_method import BagMethod
from ranking.metrics import evaluate_or_count
from ranking.metrics.detection import detection_average_precision, window_recall
from ranking.storage.run_settings import BagTrainSettings

DESCRIBING = "Describing windows"


class BagData(NamedTuple):
    """All images as bags of windows with their relevance, and which are training images."""

    bags: BagSet
    # (n,)
    learn: Bools
    # the boxes of the objects, which only the measures use; None if they are not known
    objects: Sequence[Ints] | None


class BagTask(Task[BagTrainSettings, BagData, BagMethod]):
    """Ranking images by the best of their windows. Stores the scores (m,) of all images of the set."""

    settings = BagTrainSettings
    method = BagMethod

    def check(self, images: ImageSet, settings: BagTrainSettings) -> None:
        make_windows(settings.windows)
        if images.image_features is not None:
            raise InputError(
                "set", "images", f"{images.title}, which has features only", "choose another set"
            )
        shown = images.image_relevance(settings.query)[~images.image_test] > 0
        if shown.all() or not shown.any():
            got = f"{'all' if shown.any() else 'none'} of {len(shown):,} show it"
            what, expected = (
                f"training images of {images.title}",
                f"some that show {readable(settings.query)} and some that do not",
            )
            raise InputError(what, expected, got, "choose another class")

    def data(
        self,
        images: ImageSet,
        settings: BagTrainSettings,
        cache: Path,
        on_step: OnStep | None,
        edges: Ints | None,
    ) -> tuple[BagData, Projection | None]:
        def count(done: int, total: int) -> None:
            if on_step is not None:
                on_step(DESCRIBING, done, total)

        windows = windows_of(images, make_windows(settings.windows), cache, count)
        relevance = images.image_relevance(settings.query)
        bags = BagSet(windows.windows, windows.starts, windows.boxes, relevance, windows.ids)
        return BagData(bags, ~images.image_test, objects_of(images, settings.query)), None

    def fit(
        self, method: BagMethod, data: BagData, on_progress: OnProgress, warm_start: BagMethod | None
    ) -> None:
        method.fit([bags_of(data.bags, data.learn)], on_progress=on_progress)

    def record(self, recorder: Recorder, method: BagMethod, data: BagData) -> None:
        def score(weights: Sequence[Floats], rounds: Sequence[int]) -> Scored:
            scores = [method.window_scores(data.bags, each) for each in weights]
            best = [best_windows(each, data.bags.starts) for each in scores]
            values = [each[rows] for each, rows in zip(scores, best, strict=True)]
            return Scored(np.stack(values), data.bags.boxes[np.stack(best)].astype(np.int32))

        recorder.begin(len(data.bags), score, boxes=True, falls=True)

    def measure(self, method: BagMethod, data: BagData) -> Measured:
        bags, relevance = data.bags, np.asarray(data.bags.relevance)
        windows = method.window_scores(bags)
        scores = windows[best_windows(windows, bags.starts)]
        parts = {"train": np.flatnonzero(data.learn), "test": np.flatnonzero(~data.learn)}
        searched = parts["test"] if len(parts["test"]) else parts["train"]
        located = Localisation.of(method, bags, windows, searched)
        metrics = {part: evaluate_or_count(relevance[rows], scores[rows]) for part, rows in parts.items()}
        if data.objects is not None:
            for part, rows in parts.items():
                share = part_localisation(located.boxes, data.objects, rows)
                if share is not None:
                    metrics[part]["CorLoc"] = share
            objects = [data.objects[int(image)] for image in searched]
            if any(map(len, objects)):
                part = "test" if len(parts["test"]) else "train"
                metrics[part]["detection AP"] = detection_average_precision(
                    located.by_image(searched), objects
                )
                windows_of_images = [bags.boxes[bags.starts[i] : bags.starts[i + 1]] for i in searched]
                metrics[part]["window recall"] = window_recall(windows_of_images, objects)
        return Measured(metrics, scores, localisation=located)


def bags_of(bags: BagSet, chosen: Bools) -> BagSet:
    """Return the bags of the `chosen` images (n,)."""
    counts = np.diff(bags.starts)
    rows = np.repeat(chosen, counts)
    starts = np.concatenate([[0], np.cumsum(counts[chosen])])
    relevance = None if bags.relevance is None else bags.relevance[chosen]
    ids = None if bags.ids is None else bags.ids[chosen]
    return BagSet(rows_of(bags.windows, rows), starts, bags.boxes[rows], relevance, ids)


def make_windows(settings: Settings) -> WindowSettings:
    """Return how candidate windows are made; InputError for an unknown setting."""
    known = [item.name for item in settings_of(WindowSettings)]
    if unknown := [name for name in settings if name not in known]:
        expected = f"settings of candidate windows, which are {', '.join(known)}"
        raise InputError("windows", expected, readable(unknown[0]))
    return WindowSettings(**settings)
