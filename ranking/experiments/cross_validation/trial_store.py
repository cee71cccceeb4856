"""The finished trials of all experiments of a data folder, each a file named by the key of the trial.

A file is written completely or not at all, and never changes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ranking.core import Certificate, Floats
from ranking.core.errors import InputError, explained
from ranking.core.settings import GivenJson, Json
from ranking.experiments.cross_validation.trial import Outcome
from ranking.explain.playback import Playback, read_playback
from ranking.storage.json_numbers import json_numbers

# of a data folder
FOLDER = "experiments"
# folder of the recordings of some trials, named by their keys
RECORDINGS = "recordings"
# the end of the name of a file that is being written
PARTIAL = ".part"


class TrialStore:
    """The finished trials below a folder, for any number of processes; HomeError if it cannot be used."""

    # `shared` are other data folders whose trials are read as well; nothing is written to them.
    def __init__(self, folder: Path, shared: Sequence[Path] = ()) -> None:
        self._folder, self._folders = folder, [*shared, folder]
        self._trials = folder / "trials"
        # a cache, because files never change
        self._known: dict[str, Outcome] = {}
        self._explained = f"the data folder {folder}"
        with explained(self._explained):
            self._trials.mkdir(parents=True, exist_ok=True)

    def outcomes(self, keys: Iterable[str] | None = None) -> dict[str, Outcome]:
        """Return the outcomes of the finished trials among `keys`, or of all trials, by key."""
        with explained(self._explained):
            if keys is None:
                keys = {file.name for folder in self._folders for file in (folder / "trials").glob("?" * 64)}
            wanted = list(keys)
            for key in (key for key in wanted if key not in self._known):
                if (content := self._content(key)) is not None:
                    self._known[key] = _outcome(**json.loads(content.partition(b"\n")[0]))
            return {key: self._known[key] for key in wanted if key in self._known}

    def scores(self, key: str) -> Floats:
        """Return the scores (h,) of the held-out samples, as in the split; InputError without any."""
        with explained(self._explained):
            content = self._content(key)
        if content is None:
            raise InputError("trial", "a finished trial", key[:12], "run its experiment first")
        return np.frombuffer(content.partition(b"\n")[2], "<f8").astype(np.float64)

    def recording(self, key: str, held: int) -> Playback | None:
        """Return the recording of a trial with `held` held-out samples, or None; InputError if damaged."""
        files = [folder / RECORDINGS / key for folder in self._folders]
        with explained(self._explained):
            return next((read_playback(file, held) for file in files if file.exists()), None)

    def save(self, key: str, outcome: Outcome, scores: Floats, recording: Playback | None = None) -> None:
        """Store the result of a trial."""
        # before the outcome, which marks the trial as finished
        if recording is not None:
            (self._folder / RECORDINGS).mkdir(exist_ok=True)
            self._write(self._folder / RECORDINGS / key, recording.content())
        record = {
            "measures": dict(outcome.measures),
            "seconds": outcome.seconds,
            "certificate": json_numbers(asdict(outcome.certificate)),
        }
        self._write(self._trials / key, json.dumps(record).encode() + b"\n" + scores.astype("<f8").tobytes())

    def _content(self, key: str) -> bytes | None:
        files = (_bytes_of(folder / "trials" / key) for folder in self._folders)
        return next((content for content in files if content is not None), None)

    def _write(self, file: Path, content: bytes) -> None:
        partial = file.with_name(f"{file.name}.{os.getpid()}{PARTIAL}")
        with explained(self._explained):
            with open(partial, "wb") as written:
                written.write(content)
                written.flush()
                os.fsync(written.fileno())
            os.replace(partial, file)


def _bytes_of(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _outcome(measures: Mapping[str, float], seconds: float, certificate: GivenJson) -> Outcome:
    bounds = {"primal": np.inf, "dual": -np.inf, "gap": np.inf}
    numbers: Json = {
        name: bounds.get(name) if value is None else value for name, value in certificate.items()
    }
    return Outcome(measures, seconds, Certificate(**numbers))
