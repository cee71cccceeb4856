"""Measure the cost of recording a training run: ``python benchmarks/recording.py``.

Trains alternately with and without a recording, in one thread, as a worker does on two cores: on the bundled image
sets, and on synthetic features of the papers' size, with one query or seed each. The times are processor seconds of
training and evaluation, without features and the start of a process, and the part of them that is spent on recording,
files included.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from synthetic import SHAPE, Shape, correlated, scattered
from threadpoolctl import threadpool_limits
from timing import machine, options_of, table

from ranking import Query, make_method
from ranking.datasets import load_image_set
from ranking.experiments import recording, tasks
from ranking.experiments.recording import Recorder
from ranking.explain.playback import Playback, Scored
from ranking.features import load_features
from ranking.storage.examples import folder_of
from ranking.storage.run_settings import AnyTrainSettings, OrderTrainSettings, TrainSettings

METHODS = ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM", "RankSVM", "MidRank")
QUERIES = ("walking", "phoning", "riding bike", "jumping", "playing instrument")
SYNTHETIC = {"scattered": scattered, "correlated": correlated}
Train = Callable[[Recorder | None], object]


class Kept:
    """Writes each recording that a recorder passes on to the same file."""

    def __init__(self, file: Path) -> None:
        self.file, self.iterations = file, 0

    def __call__(self, playback: Playback) -> None:
        playback.save(self.file)
        self.iterations = len(playback)


def row_of(name: str, training_runs: Sequence[Train], repeats: int, kept: Kept) -> list[str]:
    """Return medians over the training runs, of the median over the repetitions of each."""
    without, with_it, own = [], [], []
    for train in training_runs:
        # compiles, and reads the features
        train(None)
        times: dict[bool, list[float]] = {False: [], True: []}
        spent = []
        for _ in range(repeats):
            for recorder in (None, Recorder(kept)):
                began = time.process_time()
                train(recorder)
                times[recorder is not None].append(time.process_time() - began)
                if recorder is not None:
                    spent.append(recorder.seconds)
        without.append(median(times[False]))
        with_it.append(median(times[True]))
        own.append(median(spent))
    share = median(part / whole for part, whole in zip(own, with_it, strict=True))
    return [
        name,
        f"{median(without):.3f} s",
        f"{median(with_it):.3f} s",
        f"{1000 * median(own):.1f} ms",
        f"{share:.1%}",
        f"{kept.iterations}",
        f"{kept.file.stat().st_size:,}",
    ]


def on_examples(
    methods: Sequence[str], queries: Sequence[str], place: Path
) -> Iterator[tuple[str, list[Train]]]:
    """Yield training runs on the bundled image sets."""
    for name, make in (("Action figures", samples_settings), ("Timeline cars", sequences_settings)):
        images = load_image_set(folder_of(name))
        features = (("HOG", {}), ("Colour", {}))
        load_features(images, features, place)
        for method in methods:
            if settings := make(images.key, features, method, queries):
                yield (
                    f"{name}: {method}",
                    [
                        lambda recorder, images=images, each=each: tasks.train(
                            images, each, place, recorder=recorder
                        )
                        for each in settings
                    ],
                )


def samples_settings(key: str, features, method: str, queries: Sequence[str]) -> list[AnyTrainSettings]:  # type: ignore[no-untyped-def]
    if method not in ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"):
        return []
    return [TrainSettings(key, features, query, method, {}, graph=None) for query in queries]


def sequences_settings(key: str, features, method: str, queries: Sequence[str]) -> list[AnyTrainSettings]:  # type: ignore[no-untyped-def]
    if method not in ("RankSVM", "MidRank"):
        return []
    return [
        OrderTrainSettings(key, features, "year", method, {}, {"seed": seed}) for seed in range(len(queries))
    ]


def at_papers_size(methods: Sequence[str], seeds: int, shape: Shape) -> Iterator[tuple[str, list[Train]]]:
    """Yield training runs of linear methods on synthetic features, without test samples."""
    for kind, make in SYNTHETIC.items():
        made = [make(seed, shape) for seed in range(seeds)]
        queries = [Query(features, relevant.astype(np.int64)) for features, relevant in made]
        for method in methods:
            if method in ("SVM", "AP-SVM"):
                yield (
                    f"{kind}: {method}",
                    [lambda recorder, q=q, m=method: fit(m, q, recorder) for q in queries],
                )


def fit(name: str, query: Query, recorder: Recorder | None) -> None:
    method = make_method(name)
    if recorder is None:
        method.fit([query])
        method.score(query)
        return
    recorder.begin(
        len(query.features), lambda weights, rounds: Scored(method.score_by(query, np.stack(weights)))
    )
    method.fit([query], recorder.record)
    recorder.end(method.certificate, Scored(method.score(query)))


def main() -> None:
    options = options_of(
        __doc__,
        repeats=(5, 1),
        samples=(SHAPE.samples, 300),
        queries=(QUERIES, ["walking"]),
        methods=(METHODS, ["SVM"]),
    )
    recording.time.monotonic = time.process_time  # type: ignore[attr-defined]
    rows = []
    with tempfile.TemporaryDirectory() as scratch, threadpool_limits(1):
        place = Path(scratch)
        kept = Kept(place / "playback.npz")
        shape = SHAPE._replace(
            samples=options.samples, relevant=SHAPE.relevant * options.samples // SHAPE.samples
        )
        for name, training_runs in (
            *on_examples(options.methods, options.queries, place),
            *at_papers_size(options.methods, len(options.queries), shape),
        ):
            rows.append(row_of(name, training_runs, options.repeats, kept))
    print(
        f"{machine()}; medians over {len(options.queries)} queries or seeds, each of {options.repeats} training runs\n"
    )
    print(table(["training run", "without", "with", "recording", "share", "iterations", "bytes"], rows))


if __name__ == "__main__":
    main()
