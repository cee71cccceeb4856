"""The process that imports or trains: ``python -m ranking.worker HOME RUN_ID``.

It says what it does in events.jsonl, ends by writing the run's final state, and stops soon after a SIGTERM.
Whatever it cannot tell itself (it was killed, it crashed) `ranking.jobs` tells for it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranking.events import SAVING, Cancelled, Report, json_numbers, with_last_gap
from ranking.jobs import LOCK_VARIABLE
from ranking.run import ENDED, Run, State, take_lock
from ranking.store import Store

if TYPE_CHECKING:  # imported where they are needed: the first event shall not wait for them
    from ranking.types import Floats, Ints, Method

MEMORY_VARIABLE = "RANKING_WORKER_MEMORY"
Result = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Work on one run until it has ended; the exit code is 0 unless there is no such run to work on."""
    if len(arguments) != 2:
        print("usage: python -m ranking.worker HOME RUN_ID", file=sys.stderr)
        return 2
    faulthandler.enable()
    store = Store(arguments[0])
    run = store.run(arguments[1])
    _hold_lock(run)
    if run.state in ENDED:
        print(f"run {run.id} is {run.state} already; start a new one", file=sys.stderr)
        return 2
    report = Report(run.events_file)
    signal.signal(signal.SIGTERM, report.stop)
    store.update_run(run.id, state="running", started=time.time(), pid=os.getpid())
    report.stopped |= store.run(run.id).cancelled is not None
    report.state("running")
    state, reason, result = _work(store, run, report)
    report.state(state, reason)
    store.end_run(run.id, state, reason, result)  # last: who reads it finds all events and files written
    return 0


def _hold_lock(run: Run) -> None:
    """Hold the lock handed over by `ranking.jobs`, or take it if started by hand, until the process ends."""
    inherited = os.environ.pop(LOCK_VARIABLE, None)
    if inherited is None:
        take_lock(run.folder)
    else:
        os.set_inheritable(int(inherited), False)  # no process of ours shall outlive us holding it


def _work(store: Store, run: Run, report: Report) -> tuple[State, str, Result]:
    """Do what `run` asks for; its final state, the reason for it and the result."""
    work = {"import": import_images, "train": train}[run.kind]
    try:
        _limit_memory()
        result = work(store, run, report)
    except Exception as error:
        _lift_memory_limit()
        if run.kind == "import":
            store.clear_draft(run)
        report.flush()
        if report.stopped and _was_stopped(error):
            return "cancelled", "cancelled before there was anything to keep", {}
        traceback.print_exc()
        return "failed", with_last_gap(run, _reason(error)), {}
    if report.stopped and run.kind == "train" and not result["certificate"]["converged"]:
        return "cancelled", with_last_gap(run, "cancelled; the best weights so far were kept"), result
    return "finished", "", result


def _was_stopped(error: Exception) -> bool:
    from ranking.types import StopTraining

    return isinstance(error, Cancelled | StopTraining)


def _reason(error: Exception) -> str:
    """An error in one line, for a person."""
    said = " ".join(str(error).split())[:500]
    if _lost_memory(error):
        limit = os.environ.get(MEMORY_VARIABLE)
        allowed = f" (it may use {int(limit) / 1e9:.3g} GB, set by {MEMORY_VARIABLE})" if limit else ""
        details = f": {said}" if said else ""
        return f"the worker ran out of memory{allowed}{details}; choose fewer features or a smaller image set"
    return said if isinstance(error, ValueError) and said else f"{type(error).__name__}: {said}"


def _lost_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind an error; libraries that could not be loaded tell it in words."""
    if error is None or isinstance(error, MemoryError):
        return error is not None
    told = any(words in str(error) for words in ("failed to map segment", "Cannot allocate memory"))
    return told or _lost_memory(error.__cause__ or error.__context__)


# ---------------------------------------------------------------------------------------------------------
# The two kinds of work
# ---------------------------------------------------------------------------------------------------------


def import_images(store: Store, run: Run, report: Report) -> Result:
    """Build the image set of a source in the run's draft folder; a person decides whether to keep it."""
    _expect(run, "source", "source_settings")
    report.progress("Reading the source", 0, 1)
    from ranking.datasets import build_image_set, make_source

    source = make_source(run.settings["source"], **run.settings["source_settings"])
    image_set, problems = build_image_set(
        source, run.draft, lambda done, total: report.progress("Importing images", done, total)
    )
    report.flush()
    written = json.dumps([asdict(problem) for problem in problems])
    _write_whole(run.problems_file, lambda path: path.write_text(written))
    counts = image_set.labels.sum(axis=0)
    return {
        "key": image_set.key,
        "title": image_set.title,
        "images": len(image_set.image_names),
        "samples": len(image_set),
        "classes": {name: int(count) for name, count in zip(image_set.classes, counts, strict=True)},
        "problems": len(problems),
    }


def train(store: Store, run: Run, report: Report) -> Result:
    """Train a method on the training samples of a set, score all samples, evaluate both parts."""
    _expect(run, "set", "features", "query", "method", "method_settings")
    settings = run.settings
    report.progress("Reading the image set", 0, 1)
    from ranking import Query, make_method
    from ranking.features import load_features, make_feature

    image_set = store.image_set(settings["set"])
    relevance = image_set.relevance(settings["query"])
    learn = ~image_set.test
    if not relevance[learn].any():
        raise ValueError(
            f"none of the {learn.sum()} training samples of {image_set.title} shows {settings['query']!r}; "
            "choose another class"
        )
    method = make_method(settings["method"], **settings["method_settings"])
    parts = [(name, dict(options)) for name, options in settings["features"]]
    warm_start = _warm_start(store, settings, method)
    features = load_features(image_set, parts, store.features, report.progress)
    report.progress("Training", 0, 1)
    query = Query(features[learn], relevance[learn], ids=image_set.ids[learn])
    method.fit([query], on_progress=report.iteration, warm_start=warm_start)
    report.flush()
    report.write({"event": "progress", "what": SAVING, "done": 0, "total": 1})  # even where it was cancelled
    scores = method.score(Query(features, ids=image_set.ids))
    _write_whole(run.model_file, method.save)
    _write_whole(run.scores_file, lambda path: _save_scores(path, scores))
    certificate = method.certificate
    if certificate is None:
        raise RuntimeError(f"{settings['method']} has no certificate after fit")
    return {
        "certificate": json_numbers({**asdict(certificate), "relative_gap": certificate.relative_gap}),
        "train": _evaluated(relevance[learn], scores[learn]),
        "test": _evaluated(relevance[~learn], scores[~learn]),
        "feature_sizes": {name: make_feature(name, **options).size for name, options in parts},
    }


def _evaluated(relevance: Ints, scores: Floats) -> dict[str, float]:
    """`evaluate`, or the counts alone where there is nothing relevant that could be ranked high."""
    from ranking.metrics import evaluate

    if not relevance.any():
        return {"positives": 0.0, "samples": float(len(relevance))}
    return evaluate(relevance, scores)


def _expect(run: Run, *names: str) -> None:
    missing = [name for name in names if name not in run.settings]
    if missing:
        raise ValueError(
            f"the settings of this {run.kind} lack {', '.join(missing)}; expected {', '.join(names)}"
        )


def _warm_start(store: Store, settings: dict[str, Any], method: Method) -> Any:
    """The trained method of the run that `settings` names, None where none is named."""
    run_id = settings.get("warm_start")
    if run_id is None:
        return None
    other = store.run(run_id)
    model = other.model_file
    if other.kind != "train" or not model.exists():
        raise ValueError(
            f"run {run_id} ({other.kind}, {other.state}) has no weights to start from; choose another"
        )
    theirs, ours = _learns(other.settings), _learns(settings)
    if theirs != ours:
        raise ValueError(f"run {run_id} cannot be started from: it learnt {theirs}, expected {ours}")
    return type(method).load(model)


def _learns(settings: dict[str, Any]) -> str:
    """What gives weights their meaning, in words: the method and the features with all their settings."""
    from ranking.features import make_feature
    from ranking.settings import settings_dict

    features = [make_feature(name, **options) for name, options in settings["features"]]
    parts = ", ".join(f"{feature.name} {settings_dict(feature)}" for feature in features)
    return f"{settings['method']} of {parts}"


# ---------------------------------------------------------------------------------------------------------
# What the worker writes
# ---------------------------------------------------------------------------------------------------------


def _write_whole(file: Path, write: Callable[[Path], object]) -> None:
    """Have `file` be there whole or not at all."""
    partial = file.with_name(f"partial-{file.name}")
    write(partial)
    with open(partial, "rb+") as stream:
        os.fsync(stream.fileno())
    os.replace(partial, file)


def _save_scores(file: Path, scores: Any) -> None:
    import numpy as np

    np.save(file, np.asarray(scores, dtype=np.float64), allow_pickle=False)


def _limit_memory() -> None:
    """Let the worker fail alone, and soon, where it would take the machine's memory."""
    text = os.environ.get(MEMORY_VARIABLE)
    if text:
        if not text.isdecimal() or int(text) == 0:
            raise ValueError(f"{MEMORY_VARIABLE} must be a number of bytes above 0, got {text!r}")
        import scipy.linalg  # noqa: F401 (its OpenBLAS waits for ever if it is loaded where memory is short)

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = int(text) if most == resource.RLIM_INFINITY else min(int(text), most)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _lift_memory_limit() -> None:
    """Room to say what went wrong."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
