"""What it costs to record a training run: ``python benchmarks/recording.py``.

Trains on the scenes that come with the program, with and without a recording in turn, and prints the seconds of training
and measuring without features, and the share of them that is spent on recording.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from ranking.core.run_settings import TrainSettings
from ranking.datasets import load_image_set, ready_made_folder
from ranking.experiments import tasks
from ranking.experiments.recording import Recorder
from ranking.features import default_names, load_features

METHODS = ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--query", default="walking")
    parser.add_argument("--methods", default=",".join(METHODS))
    arguments = parser.parse_args()
    folder = ready_made_folder()
    assert folder is not None
    images = load_image_set(folder)
    print(f"{len(images)} samples, query {arguments.query}, median of {arguments.repeats}")
    print(
        f"{'':10s} {'without':>9s} {'with':>9s} {'recording':>10s} {'share':>7s} {'iterations':>11s} {'bytes':>9s}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        place, file = Path(scratch), Path(scratch) / "playback.npz"
        features = tuple((name, {}) for name in default_names(images))
        load_features(images, features, place)
        for method in arguments.methods.split(","):
            settings = TrainSettings(images.key, features, arguments.query, method, {}, graph=None)
            seconds: dict[bool, list[float]] = {False: [], True: []}
            spent, count = [], 0
            tasks.train(images, settings, place)  # compiles
            for _ in range(arguments.repeats):
                for recorded in (False, True):
                    sizes: list[int] = []

                    def keep(playback, sizes=sizes) -> None:  # type: ignore[no-untyped-def]
                        playback.save(file)
                        sizes.append(len(playback))

                    recorder = Recorder(keep) if recorded else None
                    began = time.perf_counter()
                    tasks.train(images, settings, place, recorder=recorder)
                    seconds[recorded].append(time.perf_counter() - began)
                    if recorder is not None:
                        spent.append(recorder.seconds / seconds[True][-1])
                        count = sizes[-1]
            without, recorded_seconds = median(seconds[False]), median(seconds[True])
            own = median(spent) * recorded_seconds
            print(
                f"{method:10s} {without:8.3f}s {recorded_seconds:8.3f}s {1000 * own:8.1f}ms {median(spent):7.1%} "
                f"{count:11d} {file.stat().st_size:9,d}"
            )


if __name__ == "__main__":
    main()
