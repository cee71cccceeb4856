"""What does recording a training run cost: ``python benchmarks/recording.py``.

Trains with and without a recording in turn, on the bundled scenes. The seconds are processor seconds of training and
evaluation, without features; and the share of recording, including its files.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from timing import machine, options_of, parser, table

from ranking.core.run_settings import TrainSettings
from ranking.datasets import load_image_set
from ranking.experiments import recording, tasks
from ranking.experiments.recording import Recorder
from ranking.explain.playback import Playback
from ranking.features import default_names, load_features
from ranking.workspace.examples import folder_of


class Kept:
    """Writes the recording to one file, whenever a recorder passes it on."""

    def __init__(self, file: Path) -> None:
        self.file, self.iterations = file, 0

    def __call__(self, playback: Playback) -> None:
        playback.save(self.file)
        self.iterations = len(playback)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--query", default="walking")
    arguments.add_argument("--methods", default="SVM,AP-SVM,HOB-SVM,HOAP-SVM")
    options = options_of(arguments, repeats=1, methods="SVM")
    recording.time.monotonic = time.process_time  # type: ignore[attr-defined]
    folder = folder_of("Action figures")
    images, rows = load_image_set(folder), []
    features = tuple((name, {}) for name in default_names(images))
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        load_features(images, features, place)
        for method in options.methods.split(","):
            settings = TrainSettings(images.key, features, options.query, method, {}, graph=None)
            tasks.train(images, settings, place)  # compiles
            kept, without, with_it, own = Kept(place / "playback.npz"), [], [], []
            for _ in range(options.repeats):
                for recorder in (None, Recorder(kept)):
                    began = time.process_time()
                    tasks.train(images, settings, place, recorder=recorder)
                    took = time.process_time() - began
                    if recorder is None:
                        without.append(took)
                    else:
                        with_it.append(took)
                        own.append(recorder.seconds)
            shares = [part / whole for part, whole in zip(own, with_it, strict=True)]
            rows.append(
                [
                    method,
                    f"{median(without):.2f} s",
                    f"{median(with_it):.2f} s",
                    f"{1000 * median(own):.0f} ms",
                    f"{median(shares):.1%}",
                    f"{kept.iterations}",
                    f"{kept.file.stat().st_size:,}",
                ]
            )
    print(f"{machine()}; {len(images)} samples, query {options.query}, median of {options.repeats}\n")
    print(table(["method", "without", "with", "recording", "share", "iterations", "bytes"], rows))


if __name__ == "__main__":
    main()
