"""A run: a snapshot of its record, the files in its folder, and the lock of its worker.

Its record is the file RECORD: the columns of `Run` except the folder's name, its id, and whether it is shared.
"""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from ranking.core import is_number
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, Json, Settings
from ranking.storage.records import Records
from ranking.storage.run_settings import KIND_NAMES, ImportSettings, TrainSettings

# An import never waits for runs of other kinds, asks the user before it finishes, and leaves nothing if it does not
# finish. The task of a run says what it is about within its kind.
Kind = Literal["import", "train", "study"]
State = Literal["queued", "running", "finished", "cancelled", "failed"]
ENDED = ("finished", "cancelled", "failed")
SAMPLES = TrainSettings.task
# The task of a run whose settings do not name it.
IMPLIED_TASKS = {"import": ImportSettings.task, "train": SAMPLES}
# the names that are needed before there is a Run
LOCK, RECORD = "lock", "run.json"


def task_of(kind: str, settings: GivenSettings) -> str:
    """Return the task of a run: what an import imports, what a training run ranks (`ranking.experiments.tasks`), or
    what a study measures (`ranking.experiments.studies`).

    >>> task_of("train", {"task": "sequences"}), task_of("train", {}), task_of("import", {"source": "COCO"})
    ('sequences', 'samples', 'images')
    """
    return str(settings.get("task", IMPLIED_TASKS.get(kind, "")))


@dataclass(frozen=True)
class Run:
    """A snapshot of an import, a training run or a study.

    Times are seconds since the epoch. pid: the worker's process; cancelled: when the user cancelled it, by the system's
    monotonic clock. name, star: set by the user; deleted: when the user deleted it, None if not. shared: whether it
    belongs to a shared data folder, which is read-only.
    """

    id: str
    kind: Kind
    state: State
    settings: Settings
    result: Json
    reason: str
    created: float
    started: float | None
    ended: float | None
    folder: Path
    pid: int | None = None
    cancelled: float | None = None
    name: str = ""
    star: bool = False
    deleted: float | None = None
    shared: bool = False

    @property
    def kind_name(self) -> str:
        """The name in messages of a run of its task."""
        return KIND_NAMES.get(self.task, "run")

    @property
    def task(self) -> str:
        """The task: see `task_of`."""
        return task_of(self.kind, self.settings)

    @property
    def corrections(self) -> tuple[str, ...]:
        """The ids of the samples with corrected labels, with which a run was trained."""
        return tuple(self.settings.get("corrections", ()))

    @property
    def is_import(self) -> bool:
        """Whether it imports what the user uploads."""
        return self.kind == "import"

    @property
    def is_training(self) -> bool:
        """Whether it is a training run, whose weights are kept even if it is cancelled."""
        return self.kind == "train"

    @property
    def parts_done(self) -> int:
        """Number of stored folds of a simulation, or trials of an experiment; 0 if its record has none."""
        if isinstance(done := self.result.get("done"), int):
            return done
        try:
            return min(len(curve["folds"]) for curve in self.result["curves"])
        except (KeyError, TypeError, ValueError):
            return 0

    @property
    def has_model(self) -> bool:
        """Whether it is a training run that has ended with weights and their metrics."""
        return self.state in ENDED and "test" in self.result and self.model_file.exists()

    @property
    def has_scores(self) -> bool:
        """Whether it is a training run that has ended with scores and their metrics."""
        return self.state in ENDED and "test" in self.result and self.scores_file.exists()

    @property
    def usable(self) -> bool:
        """Whether it is a training run that has ended with what its task shows: a model for labels, otherwise
        scores."""
        return self.has_model if self.task == "labels" else self.has_scores

    @property
    def lock_file(self) -> Path:
        """The file that its worker holds locked for its whole life."""
        return self.folder / LOCK

    @property
    def events_file(self) -> Path:
        """The events of its worker: see `ranking.storage.events`."""
        return self.folder / "events.jsonl"

    @property
    def stderr_file(self) -> Path:
        """The output of its worker's process."""
        return self.folder / "stderr.txt"

    @property
    def model_file(self) -> Path:
        """The trained method, for `type(method).load`."""
        return self.folder / "model.npz"

    @property
    def projection_file(self) -> Path:
        """The `ranking.features.projection.Projection` through which a method sees features, where it has one."""
        return self.folder / "projection.npz"

    @property
    def scores_file(self) -> Path:
        """(n,) float64: scores of all samples of the set; for a sequence-ranking run, of the members of its test
        sequences; for a localisation run, of all images."""
        return self.folder / "scores.npy"

    @property
    def scores_so_far_file(self) -> Path:
        """(t,) float64, during training with loss-augmented inference: scores of the training samples at its last
        call."""
        return self.folder / "scores_so_far.npy"

    @property
    def playback_file(self) -> Path:
        """The recording of a run that ranks samples, sequences or images: `ranking.explain.playback`."""
        return self.folder / "playback.npz"

    @property
    def localisation_file(self) -> Path:
        """What a localisation run located: `ranking.explain.localisation`."""
        return self.folder / "localisation.npz"

    @property
    def uploaded_file(self) -> Path:
        """The file that the user uploaded, a ZIP file or one of features, until the import ends."""
        return self.folder / "upload.zip"

    @property
    def question_file(self) -> Path:
        """The last question of an import: see `ranking.storage.import_questions`."""
        return self.folder / "question.json"

    @property
    def answer_file(self) -> Path:
        """The user's last answer to the questions of an import."""
        return self.folder / "answer.json"

    @property
    def draft(self) -> Path:
        """The folder in which an import builds its image set, or the matrix of uploaded vectors."""
        return self.folder / "draft"

    @property
    def alive(self) -> bool:
        """Whether a worker holds the run: the lock on its folder lives exactly as long as the process."""
        return is_held(self.lock_file)


COLUMNS = tuple(field.name for field in fields(Run) if field.name not in ("id", "folder", "shared"))


def is_held(lock_file: Path) -> bool:
    """Return whether a process holds a lock; False without the file."""
    try:
        lock = os.open(lock_file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def record_of(run: Run) -> Json:
    """Return the content of RECORD."""
    return {name: getattr(run, name) for name in COLUMNS}


def _run(folder: Path, record: Json, shared: bool) -> Run:
    run = Run(id=folder.name, folder=folder, shared=shared, **record)
    sound = (
        is_run_id(run.id)
        and run.kind in get_args(Kind)
        and run.state in get_args(State)
        and isinstance(run.settings, dict)
        and isinstance(run.result, dict)
        and isinstance(run.reason, str)
        and isinstance(run.name, str)
        and isinstance(run.star, bool)
        and is_number(run.created)
        and all(
            time is None or is_number(time) for time in (run.started, run.ended, run.deleted, run.cancelled)
        )
        and (run.pid is None or isinstance(run.pid, int))
    )
    if not sound:
        raise ValueError("not a record of a run")
    return run


RUNS = Records(RECORD, _run)


def is_run_id(text: str) -> bool:
    """Return whether `text` is a valid id of a run: only valid ids may become part of a path."""
    return re.fullmatch(r"[a-z0-9]{10}", text) is not None


def is_set_key(text: str) -> bool:
    """Return whether `text` is a valid key of an image set: only valid keys may become part of a path."""
    return re.fullmatch(r"[0-9a-zA-Z_-]{8,128}", text) is not None


def checked_key(text: str) -> str:
    """Return a key of an image set unchanged; InputError for an invalid one, which must not become part of a path."""
    if not is_set_key(text):
        raise InputError("key of an image set", "8 to 128 letters and digits", f"{text[:140]!r}")
    return text


def take_lock(folder: Path) -> int:
    """Return the lock on a run's folder as an open file; BlockingIOError if a worker holds it."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock
