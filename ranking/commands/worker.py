"""The process that executes a run: ``python -m ranking.commands.worker HOME RUN_ID``.

A run is an import, a training run or a study.

It reports progress in events.jsonl, writes the run's final state at its end, and stops soon after a SIGTERM. If it is
killed or crashes, `ranking.storage.jobs` writes the final state instead.
"""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ranking.core import Floats, Method, OnStep, SampleMethod, StopTraining
from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.storage import queue
from ranking.storage.events import BEST_KEPT, Cancelled, Report, why_it_ended, with_last_gap
from ranking.storage.home import write_whole
from ranking.storage.import_questions import Answer, ask
from ranking.storage.importing import steps_of, uploads_named
from ranking.storage.jobs import LOCK_VARIABLE
from ranking.storage.json_numbers import certificate_numbers
from ranking.storage.memory import IMPORT_MEMORY, lift_memory_limit, limit_memory, reason_of, release_memory
from ranking.storage.run import ENDED, Run, State, take_lock
from ranking.storage.run_settings import (
    AnyStudySettings,
    AnyTrainSettings,
    BagTrainSettings,
    TrainSettings,
    study_settings,
    train_settings,
)
from ranking.storage.space import SpaceWatch
from ranking.storage.store import Store

# Modules that a worker does not need before its first event are imported where they are used.
if TYPE_CHECKING:
    from ranking.explain.playback import Playback
    from ranking.features.projection import Projection

# interval at which training writes its current scores
SO_FAR_SECONDS = 0.5
# How often a queued worker checks whether it may start: interval per run before it, and longest interval.
TURN_SECONDS, MAX_TURN_SECONDS = 0.1, 2.0


def main(arguments: Sequence[str]) -> int:
    """Execute one run and return 0; return 2 if the arguments are wrong or the run had ended before."""
    if len(arguments) != 2:
        print("usage: python -m ranking.commands.worker HOME RUN_ID", file=sys.stderr)
        return 2
    faulthandler.enable()
    store = Store(arguments[0])
    run = store.runs.get(arguments[1])
    _hold_lock(run)
    if run.state in ENDED:
        print(f"run {run.id} has already ended ({run.state}); start a new one", file=sys.stderr)
        return 2
    report = Report(run.events_file)
    signal.signal(signal.SIGTERM, report.stop)
    store.runs.update(run.id, pid=os.getpid())
    report.stopped |= store.runs.get(run.id).cancelled is not None
    _wait_for_turn(store, run, report)
    store.runs.update(run.id, state="running", started=time.time())
    report.state("running")
    state, reason, result = _work(store, run, report)
    # On a full disk the record of the run may still fit, and it is what counts.
    with contextlib.suppress(OSError):
        report.state(state, reason)
    # Last: who reads that the run has ended then sees all its events and files.
    store.runs.end(run.id, state, reason, result)
    queue.leave(store.home, run)
    return 0


def _wait_for_turn(store: Store, run: Run, report: Report) -> None:
    """Wait until the run may work, or is cancelled."""
    while not report.stopped:
        queue.enter(store.home, run)
        if not (before := queue.waits_for(store.home, run)):
            return
        time.sleep(min(TURN_SECONDS * before, MAX_TURN_SECONDS))


def _hold_lock(run: Run) -> None:
    """Hold the lock handed over by `ranking.storage.jobs` until the process ends."""
    # If the process was started by hand, it takes the lock.
    inherited = os.environ.pop(LOCK_VARIABLE, None)
    if inherited is None:
        take_lock(run.folder)
    else:
        # No child process may keep the lock after this process ends.
        os.set_inheritable(int(inherited), False)


def _work(store: Store, run: Run, report: Report) -> tuple[State, str, Json | None]:
    """Execute `run`; return its final state, the reason, and the result."""
    # The result None keeps the result that is already in the run's record.
    works = {"import": import_, "train": train, "study": study}
    memory = IMPORT_MEMORY if run.is_import else None
    try:
        limit_memory(memory)
        result = works[run.kind](store, run, report)
    except Exception as error:
        lift_memory_limit()
        # the first error is the one to report
        with contextlib.suppress(OSError):
            report.flush()
        if report.stopped and isinstance(error, Cancelled | StopTraining):
            return "cancelled", str(error) or why_it_ended(store.runs.get(run.id)), None
        # stderr is a file on the same disk
        with contextlib.suppress(OSError):
            traceback.print_exc()
        reason = uploads_named(run, reason_of(error, memory))
        return "failed", why_it_ended(run, reason), None
    if report.stopped and run.is_training and not _converged(result):
        return "cancelled", with_last_gap(run, BEST_KEPT), result
    return "finished", "", result


@contextlib.contextmanager
def _in_time(store: Store, run: Run) -> Iterator[None]:
    """End an import whose work exceeds its time limit, in whichever step it is."""
    from ranking.files import Limits

    limits = Limits.from_environment()

    def end() -> None:
        try:
            store.runs.end(run.id, "failed", limits.too_slow)
        finally:
            os._exit(1)

    timer = threading.Timer(min(limits.seconds, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _converged(result: Json) -> bool:
    """Return whether training is proven to have converged; runs without a certificate do not count."""
    certificate = result["certificate"]
    return certificate is not None and bool(certificate["converged"])


# ---------------------------------------------------------------------------------------------------------
# The kinds of runs
# ---------------------------------------------------------------------------------------------------------


def _cache(store: Store, settings: AnyTrainSettings | AnyStudySettings) -> Path:
    """Return the folder in which the features and windows of a run are computed."""
    windows = settings.windows if isinstance(settings, BagTrainSettings) else {}
    given = [values for _, values in settings.features]
    if settings.set is None:
        return store.features.cache
    return store.features.cache_of(settings.set, windows, *given)


def _within_limits(store: Store, report: Report) -> OnStep:
    """Return `report.progress` that also ends a run whose workspace, or server, is full."""
    watch = SpaceWatch(store.home)

    def progress(what: str, done: float, total: int) -> None:
        watch()
        report.progress(what, done, total)

    return progress


def import_(store: Store, run: Run, report: Report) -> Json:
    """Import what the user uploads, as in `ranking.storage.importing`."""
    # Only its work has a time limit and a place in the queue; while it waits for an answer it has neither.
    steps = steps_of(store, run, _within_limits(store, report))
    answer: Answer | None = None
    for number in itertools.count(1):
        with _in_time(store, run):
            try:
                question = steps.send(answer) if answer is not None else next(steps)
            except StopIteration as end:
                result: Json = end.value
                break
            report.flush()
        queue.leave(store.home, run)
        release_memory()
        answer = ask(run, report, replace(question, number=number))
        _wait_for_turn(store, run, report)
    run.question_file.unlink(missing_ok=True)
    run.answer_file.unlink(missing_ok=True)
    store.runs.free(run)
    return result


def train(store: Store, run: Run, report: Report) -> Json:
    """Train as in `ranking.experiments.task`."""
    # The model is saved before it is evaluated, so that it survives a failed evaluation.
    settings = train_settings(run.settings)
    report.progress("Reading the image set", 0, 1)
    # only now, so that the first event does not wait for it
    from ranking.experiments import tasks
    from ranking.experiments.recording import Recorder

    def save(method: Method, projection: Projection | None) -> None:
        report.saving()
        # first: without it the method cannot be used
        if projection is not None:
            write_whole(run.projection_file, projection.save)
        write_whole(run.model_file, method.save)
        report.measuring()

    images = store.sets.get(settings.set)
    trained = tasks.train(
        images,
        settings,
        _cache(store, settings),
        on_step=_within_limits(store, report),
        on_iteration=report.iteration,
        on_fitted=save,
        on_scores=_SoFar(run.scores_so_far_file).save,
        recorder=Recorder(lambda recording: _record(run, recording)),
        warm_start=_warm_start(store, settings),
        edges=store.features.edges_of(settings.set, settings.graph),
    )
    run.scores_so_far_file.unlink(missing_ok=True)
    metrics, scores, bounds, localisation = trained.measured
    if localisation is not None:
        write_whole(run.localisation_file, localisation.save)
    if scores is not None:
        write_whole(run.scores_file, lambda path: _save_scores(path, scores))
    result = {"certificate": certificate_numbers(trained.certificate), **metrics}
    return result if bounds is None else {**result, "bounds": bounds._asdict()}


def _warm_start(store: Store, settings: AnyTrainSettings) -> Method | None:
    """Return the trained method of the run that `settings` names as warm start, or None."""
    from ranking.experiments.sample_task import training_signature
    from ranking.methods import load_method

    if not isinstance(settings, TrainSettings) or settings.warm_start is None:
        return None
    source = store.runs.get(settings.warm_start)
    if source.task != settings.task or not source.model_file.exists():
        came = f"run {source.id} ({source.kind_name}, {source.state})"
        raise InputError("warm_start", "a training run with weights to start from", came, "choose another")
    theirs, ours = training_signature(TrainSettings.from_json(source.settings)), training_signature(settings)
    if theirs != ours:
        came = f"run {source.id}, which learned {theirs}"
        raise InputError("warm_start", f"a training run that learned {ours}", came, "choose another")
    return load_method(SampleMethod, settings.method, source.model_file)


def study(store: Store, run: Run, report: Report) -> Json:
    """Run a study as in `ranking.experiments.study`."""
    # Partial results are written as they are ready, and kept however the run ends.
    settings = study_settings(run.settings)
    report.progress("Reading the image set" if settings.set else "Starting", 0, 1)
    from ranking.experiments import studies
    from ranking.experiments.cross_validation.trial_store import FOLDER
    from ranking.experiments.study import Context

    images = None if settings.set is None else store.sets.get(settings.set)
    context = Context(
        images,
        _cache(store, settings),
        trials=tuple(home / FOLDER for home in (store.home, *store.shared)),
        edges=None if images is None else store.features.edges_of(images.key, settings.graph),
        on_step=_within_limits(store, report),
        on_result=lambda result: store.runs.update(run.id, result=result),
        check=report.check,
    )
    result = studies.run(settings, context)
    report.flush()
    return result


# ---------------------------------------------------------------------------------------------------------
# Files that the worker writes
# ---------------------------------------------------------------------------------------------------------


class _SoFar:
    """Writes the current scores of a running training run at intervals."""

    def __init__(self, file: Path) -> None:
        self._file, self._written = file, -math.inf

    def save(self, scores: Floats) -> None:
        now = time.monotonic()
        if now - self._written >= SO_FAR_SECONDS:
            self._written = now
            # Only a view for another page: on a full disk, training continues without it.
            with contextlib.suppress(OSError):
                write_whole(self._file, lambda path: _save_scores(path, scores))


def _record(run: Run, recording: Playback) -> None:
    # Only a view of the run: on a full disk, training continues without it.
    with contextlib.suppress(OSError):
        write_whole(run.playback_file, recording.save)


def _save_scores(file: Path, scores: Floats) -> None:
    import numpy as np

    np.save(file, np.asarray(scores, dtype=np.float64), allow_pickle=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
