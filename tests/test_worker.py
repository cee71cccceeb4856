"""What a worker does and leaves. Most tests call its main in this process; a few watch a real one."""

from __future__ import annotations

import errno
import json
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from dated_pictures import dated
from labelled_pictures import patches
from PIL import Image
from refusals import refused
from working import be_patient, contents, ended, events_of, heard, here, steps_of, wait
from zipped import zip_of

from ranking import Query, jobs, make_method, method_class, method_names, worker, worker_limits
from ranking.asking_simulation import simulate_asking
from ranking.datasets.looking import Look
from ranking.errors import InputError
from ranking.events import BEST_KEPT, NO_WEIGHTS, NOTHING_TO_KEEP, Report, said_of_cancelled, with_last_gap
from ranking.features import load_features, make_feature
from ranking.intake import Limits
from ranking.jobs import WEIGHTS_ALONE, take_lock
from ranking.label_training import label_metrics, label_set_of
from ranking.methods import METHODS
from ranking.methods.linear import LinearMethod
from ranking.metrics import evaluate
from ranking.order_studies import study_orders
from ranking.order_training import drawn_for_test
from ranking.room_layout import FOLDERS
from ranking.room_quotas import DiskWatch, FullError, bytes_of
from ranking.rooms import Rooms
from ranking.run import ENDED, Kind, Run
from ranking.run_settings import (
    AskingSettings,
    FeaturesSettings,
    ImportSettings,
    LabelTrainSettings,
    LookSettings,
    OrderTrainSettings,
    StudySettings,
)
from ranking.store import Store
from ranking.study_curves import Outcome
from ranking.timing_studies import TimingOutcome
from ranking.types import ImageSet
from ranking.worker_limits import MEMORY_VARIABLE, reason_of

COLOUR = [["Colour", {}]]
SMALL = {"side": 32}
Stop = Callable[..., None]


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the worker's main does to its process is undone or left out."""
    monkeypatch.setattr(worker.faulthandler, "enable", lambda: None)
    handler, memory = signal.getsignal(signal.SIGTERM), resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """The errors by which runs failed in this process."""
    errors: list[Exception] = []

    def remember(error: Exception, default: int | None = None) -> str:
        errors.append(error)
        return reason_of(error, default)

    monkeypatch.setattr(worker, "reason_of", remember)
    return errors


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Stop:
    """Have the worker get a SIGTERM at the first report of that kind for which a condition holds."""

    def stop(kind: str, condition: Callable[..., bool]) -> None:
        tell = getattr(Report, kind)

        def tell_and_stop(self: Report, *given: Any) -> None:
            if kind == "progress":
                tell(self, *given)  # so it ends at the next one
            if condition(*given):
                os.kill(os.getpid(), signal.SIGTERM)
            if kind != "progress":
                tell(self, *given)

        monkeypatch.setattr(Report, kind, tell_and_stop)

    return stop


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("worker"))


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture(scope="module")
def imported(store: Store) -> Run:
    return here(store, {"source": "Digits", "source_settings": {}}, "import")


@pytest.fixture(scope="module")
def digits(store: Store, imported: Run) -> ImageSet:
    return store.image_set(store.keep(imported.id))


def training(digits: ImageSet, **changes: Any) -> dict[str, Any]:
    settings = {"set": digits.key, "features": COLOUR, "query": "3", "method": "AP-SVM"}
    return {**settings, "method_settings": {"C": 10.0}, "warm_start": None, **changes}


# ------------------------------------------------------------------------------------------------- import


def test_an_import_ends_as_a_draft_with_its_report(imported: Run, digits: ImageSet) -> None:
    assert (imported.state, imported.reason) == ("finished", "")
    result = imported.result
    assert (result["key"], result["title"]) == (digits.key, "Digits")
    assert (result["images"], result["samples"], result["problems"]) == (1797, 1797, 0)
    assert result["classes"]["3"] == digits.relevance("3").sum() == 183
    assert json.loads(imported.problems_file.read_text()) == []
    last = events_of(imported, "progress")[-1]
    assert last == {"event": "progress", "what": "Importing images", "done": 1797, "total": 1797}


def test_a_cancelled_import_leaves_no_byte_and_no_process(empty: Store) -> None:
    before = contents(empty)
    settings = {"source": "Action figures", "source_settings": {"images": 100_000}}
    run = jobs.start(empty, "import", settings, lambda run: run.brought_file.write_bytes(b"zip"))
    assert heard(run, what="Importing images")["total"] == 100_000
    if sys.platform == "linux":  # it draws in the worker itself, so there is nobody to be left behind
        children = [file.read_text() for file in Path(f"/proc/{run.pid}/task").glob("*/children")]
        assert children
        assert not any(children)
    jobs.cancel(empty, run.id)
    assert ended(empty, run).state == "cancelled"
    wait(lambda: not run.folder.exists())
    assert contents(empty) == before
    with pytest.raises(ValueError, match=run.id):
        empty.keep(run.id)


# ------------------------------------------------------------------- what is brought, and that none of it is left


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A ZIP file of two folders of images, of 800 kB, and one file that is no image."""
    for number in range(14):
        folder = tmp_path / "zoo" / ("cat" if number % 2 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).integers(0, 255, (120, 160, 3), np.uint8)
        Image.fromarray(noise).save(folder / f"{number}.png")
    (tmp_path / "zoo" / "cat" / "broken.png").write_bytes(b"no image")
    return zip_of(tmp_path / "zoo", tmp_path / "zoo.zip")


LOOK = LookSettings("", brought="My zoo.zip").to_json()
CLASS_FOLDERS = ImportSettings("Class folders", brought="My zoo.zip").to_json()


def test_an_upload_is_looked_at_and_imported_under_its_own_name_and_its_copy_goes(
    empty: Store, zoo: Path, stop: Stop
) -> None:
    before = contents(empty)
    run = here(empty, LOOK, "import", zoo)
    assert (run.state, run.result) == ("finished", {"source": "Class folders"})
    look = Look.from_json(json.loads(run.look_file.read_text()))
    assert look.seen is not None
    assert (look.seen.title, look.seen.images, len(look.seen.crops)) == ("My zoo", 15, 12)
    names = ["brought.zip", "events.jsonl", "lock", "look.json"]
    assert sorted(path.name for path in run.folder.iterdir()) == names
    empty.discard(run.id)
    empty.discard(here(empty, CLASS_FOLDERS, "import", zoo).id)
    assert contents(empty) == before
    run = here(empty, CLASS_FOLDERS, "import", zoo)
    assert (run.state, run.result["title"], run.result["images"]) == ("finished", "My zoo", 14)
    assert run.result["classes"] == {"cat": 7, "dog": 7}
    problems = json.loads(run.problems_file.read_text())
    assert run.result["problems"] == len(problems)
    assert set(problems[0]) == {"file", "expected", "came", "done"}
    assert any("broken.png" in problem["file"] for problem in problems)
    assert empty.image_set(empty.keep(run.id)).classes == ("cat", "dog")
    wait(
        lambda: not any(isinstance(each, threading.Timer) for each in threading.enumerate())
    )  # of its time limit
    names = ["events.jsonl", "lock", "problems.json"]
    assert sorted(path.name for path in run.folder.iterdir()) == names
    assert list(empty.home.rglob("*.zip")) == []
    stop("progress", lambda what, done, total: what == "Importing images")
    run = here(empty, CLASS_FOLDERS, "import", zoo)
    assert (run.state, run.reason) == ("cancelled", NOTHING_TO_KEEP)
    assert not run.folder.exists()


def test_what_cannot_be_imported_fails_in_words_and_leaves_not_one_byte(
    empty: Store, tmp_path: Path, failures: list[Exception]
) -> None:
    (tmp_path / "bad.zip").write_bytes(os.urandom(5000))
    (tmp_path / "VOC").mkdir()
    before = contents(empty)
    folder = {"source": "PASCAL VOC", "source_settings": {"folder": str(tmp_path / "VOC")}}
    for settings, brought, name in (
        (LOOK, tmp_path / "bad.zip", "My zoo.zip"),
        (CLASS_FOLDERS, tmp_path / "bad.zip", "My zoo.zip"),
        (folder, None, str(tmp_path / "VOC")),
        (LOOK, None, "My zoo.zip"),
    ):
        run = here(empty, settings, "import", brought)
        assert run.state == "failed"
        assert isinstance(failures[-1], ValueError)
        assert name in run.reason
        assert "Traceback" not in run.reason
        assert str(empty.home) not in run.reason, "how it is called here is nobody's business"
        wait(lambda run=run: not run.folder.exists())
        assert contents(empty) == before
    gone = failures[-1]
    assert isinstance(gone, InputError)
    assert (gone.subject, gone.came) == ("My zoo.zip", None), "the uploaded copy"


def test_an_import_that_fills_the_disk_gives_it_back_before_it_is_told(
    empty: Store, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its standard error and its events lie on that disk too, and no row can be written there."""
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_: object) -> None:
        raise full

    end_run = Store.end_run

    def guarded(store: Store, run_id: str, *arguments: Any) -> bool:
        assert not (store.home / "runs" / run_id / "draft").exists()
        return end_run(store, run_id, *arguments)

    monkeypatch.setattr(Store, "end_run", guarded)
    monkeypatch.setattr("ranking.datasets.folder.ImageSetWriter.finish", fail)
    monkeypatch.setattr(worker.traceback, "print_exc", fail)
    monkeypatch.setattr(Report, "state", lambda self, state, reason="": fail() if reason else None)
    before = contents(empty)
    run = here(empty, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
    assert (run.state, run.reason) == ("failed", reason_of(full))
    assert contents(empty) == before


def test_an_import_ends_when_it_fills_its_room_also_at_its_end(
    tmp_path: Path, zoo: Path, monkeypatch: pytest.MonkeyPatch, failures: list[Exception]
) -> None:
    """What it may take is looked at while it grows, and once more at its end: between two looks it may write a lot."""
    monkeypatch.setenv(FOLDERS, str(zoo))
    room = Store(Rooms(tmp_path / "server").make("room-of-anna"))
    before, settings = contents(room), ImportSettings("Class folders", {"folder": str(zoo)}).to_json()
    monkeypatch.setenv("RANKING_ROOM_DISK", "400000")
    finished: list[Path] = []
    for seconds in (0.0, 10_000.0):
        monkeypatch.setattr(DiskWatch, "SECONDS", seconds)
        with monkeypatch.context() as patch:
            patch.setattr(worker, "_write_whole", lambda file, write: finished.append(file) or write(file))
            run = here(room, settings, "import")
        assert run.state == "failed"
        assert isinstance(failures[-1], FullError)
        assert run.reason == reason_of(failures[-1])
        assert contents(room) == before
    assert len(finished) == 1, "the first ended before it had read all, the second at its end"
    monkeypatch.setenv("RANKING_ROOM_DISK", "100000000")
    run = here(room, settings, "import")
    assert run.state == "finished"
    monkeypatch.setenv("RANKING_ROOM_DISK", str(bytes_of(room.home)))
    with pytest.raises(FullError):
        room.create_run("import", settings)
    taken = bytes_of(room.home)
    key = room.keep(run.id)
    assert len(room.image_set(key)) == run.result["samples"]
    assert bytes_of(room.home) <= taken + 4096


def test_an_import_that_hangs_is_ended(empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: queue.Queue[int] = queue.Queue()
    monkeypatch.setenv("RANKING_INTAKE_SECONDS", "1")
    monkeypatch.setattr(worker.os, "_exit", codes.put)
    monkeypatch.setattr(worker, "import_images", lambda *_: {"code": codes.get(timeout=180)})
    run = here(empty, LOOK, "import")
    assert (run.state, run.reason, run.result) == ("failed", Limits(seconds=1).too_slow, {})
    assert "RANKING_INTAKE_SECONDS" in run.reason
    assert not run.folder.exists(), "whoever started it may be gone"


# ------------------------------------------------------------------------------------------------- train


@pytest.fixture(scope="module")
def trained(store: Store, digits: ImageSet) -> Run:
    """By a process of its own."""
    run = ended(store, jobs.start(store, "train", training(digits, features=[["HOG", SMALL], *COLOUR])))
    wait(lambda: not run.alive)  # its process ends a little later than its work
    return run


def test_a_training_ends_with_model_scores_metrics_and_certificate(
    store: Store, trained: Run, digits: ImageSet
) -> None:
    assert (trained.state, trained.reason) == ("finished", "")
    scores = np.load(trained.scores_file, allow_pickle=False)
    assert (scores.shape, scores.dtype) == ((1797,), np.float64)
    relevance = digits.relevance("3")
    for part, rows in (("train", ~digits.test), ("test", digits.test)):
        assert trained.result[part] == evaluate(relevance[rows], scores[rows])
    assert trained.result["test"]["AP"] > 0.8
    certificate = trained.result["certificate"]
    assert certificate["converged"] is True
    assert certificate["gap"] == pytest.approx(certificate["primal"] - certificate["dual"])
    assert certificate["relative_gap"] <= 1e-3
    assert not list(trained.folder.glob("partial-*"))
    model = method_class("AP-SVM").load(trained.model_file)
    assert model.weights.shape == (make_feature("HOG", **SMALL).size + make_feature("Colour").size,)
    features = load_features(digits, [("HOG", SMALL), ("Colour", {})], store.features)
    np.testing.assert_allclose(model.score(Query(features, ids=digits.ids)), scores, rtol=1e-6, atol=1e-9)
    alone = make_method("AP-SVM", C=10.0).fit([Query(features[~digits.test], relevance[~digits.test])])
    assert alone.certificate.primal == pytest.approx(certificate["primal"], rel=2e-3)


def test_a_training_tells_its_steps_and_every_bound(trained: Run) -> None:
    every = jobs.events(trained)[0]
    assert every[0] == {"event": "state", "state": "running", "reason": ""}
    steps = ["Reading the image set", "HOG and Colour", "Training", "Saving the weights"]
    assert steps_of(trained) == steps
    iterations = events_of(trained, "iteration")
    assert iterations[-1]["iteration"] == trained.result["certificate"]["iterations"]
    last = [event.get("what", event["event"]) for event in every[-3:]]
    assert last == ["iteration", "Saving the weights", "state"]
    for event in iterations:
        if event["dual"] is not None:
            assert event["gap"] == pytest.approx(event["primal"] - event["dual"])


def test_a_warm_start_begins_where_a_training_of_the_same_ended(
    store: Store, digits: ImageSet, trained: Run, imported: Run, failures: list[Exception]
) -> None:
    cold = here(store, training(digits))
    warm = here(store, training(digits, warm_start=cold.id))
    assert warm.state == "finished"
    assert warm.result["certificate"]["iterations"] < cold.result["certificate"]["iterations"]
    assert warm.result["certificate"]["relative_gap"] <= 1e-3
    without = [imported, store.create_run("train", {})]
    for kind in ("label", "order", "asking", "study", "timing", "experiment"):
        without.append(store.create_run(kind, {}))
        without[-1].model_file.write_bytes(cold.model_file.read_bytes())
    for first in (trained, *without):
        run = here(store, training(digits, warm_start=first.id))
        error = failures[-1]
        assert run.state == "failed"
        assert isinstance(error, InputError)
        assert error.subject == "warm_start"
        assert first.id in str(error.came)
        assert ("AP-SVM of HOG {" in str(error.came)) == (first is trained)
        assert ("AP-SVM of Colour {" in error.expected) == (first is trained), "other features"


@dataclass
class Mean:
    """A method with no setting, no bound and no certificate: the direction from the mean to the relevant."""

    weights: Any = None
    stops: ClassVar[bool] = False

    def fit(self, queries: Any, on_progress: Any = None, warm_start: Any = None) -> Mean:
        features, relevant = queries[0].features, queries[0].relevance > 0
        self.weights = features[relevant].mean(axis=0) - features.mean(axis=0)
        if self.stops:
            os.kill(os.getpid(), signal.SIGTERM)
        return self

    def score(self, query: Query) -> Any:
        return query.features @ self.weights

    def save(self, path: Path) -> None:
        with open(path, "wb") as file:
            np.savez(file, weights=self.weights)


def test_a_method_need_not_have_a_certificate(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    method_names(ranks="samples")
    monkeypatch.setitem(METHODS._classes, "Mean", Mean)
    for stops, state in ((False, "finished"), (True, "cancelled")):
        monkeypatch.setattr(Mean, "stops", stops)
        run = here(store, training(digits, method="Mean", method_settings={}))
        assert run.state == state, run.reason
        assert run.result["certificate"] is None
        scores = np.load(run.scores_file)
        assert run.result["test"] == evaluate(digits.relevance("3")[digits.test], scores[digits.test])
        assert run.model_file.exists()


def test_files_are_whole_or_not_there(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    def half(self: Any, path: Path) -> None:
        Path(path).write_bytes(b"half a mod")
        raise full

    monkeypatch.setattr(LinearMethod, "save", half)
    run = here(store, training(digits))
    assert run.state == "failed"
    assert run.reason == with_last_gap(run, reason_of(full)) != reason_of(full)
    assert not run.model_file.exists()


def test_a_training_leaves_the_scores_that_it_has_while_it_goes_on(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = []
    iterate = Report.iteration

    def look(self: Report, event: Any) -> None:
        live = next(run for run in store.runs("train") if run.state not in ENDED)  # the newest
        shapes.append(np.load(live.scores_so_far_file).shape)
        iterate(self, event)

    monkeypatch.setattr(Report, "iteration", look)
    run = here(store, training(digits))
    assert run.state == "finished"
    assert shapes[0] == (np.count_nonzero(~digits.test),)
    assert not run.scores_so_far_file.exists(), "its scores are there now"


# ------------------------------------------------------------------------------------------------- cancel

ENDLESS = {"C": 1e6, "tolerance": 1e-7, "max_iterations": 1_000_000}


def test_a_real_training_that_is_cancelled_keeps_its_best_weights(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)
    endless = {**ENDLESS, "solver": "coordinate descent"}  # the others are done within a second
    settings = training(digits, query="8", method="SVM", method_settings=endless)
    run = jobs.start(store, "train", settings)
    heard(run, event="iteration")
    jobs.cancel(store, run.id)
    run = ended(store, run)
    assert run.state == "cancelled", run.reason
    assert run.result["certificate"]["converged"] is False
    assert run.result["train"]["AP"] > 0.1
    model = method_class("SVM").load(run.model_file)
    assert model.certificate.gap == run.result["certificate"]["gap"]
    assert np.load(run.scores_file).shape == (1797,)


def test_a_training_that_is_stopped_keeps_its_best_weights(
    store: Store, digits: ImageSet, stop: Stop
) -> None:
    stop("iteration", lambda event: event.iteration >= 3)
    run = here(store, training(digits, method_settings=ENDLESS))
    assert (run.state, run.reason) == ("cancelled", with_last_gap(run, BEST_KEPT))
    assert run.result["certificate"]["iterations"] == 3


def test_a_training_that_is_stopped_during_features_keeps_nothing(
    store: Store, digits: ImageSet, stop: Stop
) -> None:
    kept = sorted(store.features.iterdir())
    stop("progress", lambda what, done, total: what == "HOG")
    run = here(store, training(digits, features=[["HOG", {}]]))
    assert (run.state, run.reason, run.result) == ("cancelled", NO_WEIGHTS, {})
    assert events_of(run, "progress")[-1]["done"] < 100, "at one of the next images"
    assert not run.model_file.exists()
    assert sorted(store.features.iterdir()) == kept


# ------------------------------------------------------------------------------------------- the process


def test_a_worker_looks_now_and_then_whether_it_is_its_turn(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    ahead = iter([3, 40, 1, 0])
    monkeypatch.setattr(worker, "claim_turn", lambda store, run: next(ahead))
    clock = SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=slept.append)
    monkeypatch.setattr(worker, "time", clock)
    run = here(store, training(digits))
    assert (run.state, run.pid) == ("finished", os.getpid())
    assert slept == pytest.approx([0.3, 2.0, 0.1])
    ahead = iter([1, 1])  # it does not ask a third time
    clock.sleep = lambda seconds: os.kill(os.getpid(), signal.SIGTERM)
    run = here(store, training(digits))
    assert (run.state, run.reason) == ("cancelled", NO_WEIGHTS)


def test_a_run_that_was_cancelled_before_its_worker_looked_is_not_worked_on(
    store: Store, digits: ImageSet
) -> None:
    """Another browser may cancel between the new row and the new process, whose pid it does not know."""
    run = store.create_run("train", training(digits))
    store.update_run(run.id, cancelled=time.monotonic() + 100)
    assert worker.main([str(store.home), run.id]) == 0
    assert store.run(run.id).state == "cancelled"


def test_every_face_of_lost_memory_and_of_a_full_disk_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    faces = [
        MemoryError("Unable to allocate 3 GiB"),
        ImportError("libblas.so: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory"),
    ]
    for error in faces:
        wrapped = OSError("no such library")
        wrapped.__cause__ = error
        for each in (error, wrapped):
            monkeypatch.setenv(MEMORY_VARIABLE, "3000000000")
            for part in (str(each), MEMORY_VARIABLE, "3 GB"):
                assert part in reason_of(each)
            assert "3 GB" in reason_of(each, 5 * 10**9)
            monkeypatch.delenv(MEMORY_VARIABLE)
            assert MEMORY_VARIABLE not in reason_of(each)
            assert "5 GB" in reason_of(each, 5 * 10**9)
    plain = OSError("no such library")
    assert reason_of(plain) == "OSError: no such library"
    assert reason_of(RuntimeError("the oracle\nis silent")) == "RuntimeError: the oracle is silent"
    assert reason_of(ValueError("ab\n" * 1000)) == ("ab " * 1000)[:500]
    assert reason_of(ValueError()) == "ValueError: "
    space = reason_of(OSError(errno.ENOSPC, "?")).partition("(")[0]
    for full in (
        OSError(errno.EDQUOT, "?"),
        OSError(errno.EFBIG, "?"),
        OSError("80 requested and 12 written"),
    ):
        assert reason_of(full).startswith(space), full
        assert str(full) in reason_of(full)
    assert not reason_of(ValueError("80 requested and 12 written")).startswith(space)
    assert not reason_of(OSError(errno.EACCES, "?")).startswith(space)


def test_the_memory_limit_stays_below_the_system_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, "1000000000")
    for most, expected in ((resource.RLIM_INFINITY, 10**9), (2 * 10**9, 10**9), (10**8, 10**8)):
        limits: list[tuple[int, int]] = []
        with monkeypatch.context() as patch:
            patch.setattr(worker_limits.resource, "getrlimit", lambda kind, most=most: (most, most))
            patch.setattr(worker_limits.resource, "setrlimit", lambda kind, pair, to=limits: to.append(pair))
            worker_limits.limit_memory()
            worker_limits.lift_memory_limit()
        assert limits == [(expected, most), (most, most)]


def test_a_memory_limit_that_is_no_number_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("2 GB", "0", "-1", str(2**63), "9" * 5000, "٣"):
        monkeypatch.setenv(MEMORY_VARIABLE, limit)
        with refused(MEMORY_VARIABLE) as caught:
            worker_limits.limit_memory()
        assert caught.value.came == repr(limit)[:80]
    monkeypatch.setenv(MEMORY_VARIABLE, "2 GB")
    run = here(store, {})
    assert (run.state, run.reason) == (
        "failed",
        str(InputError(MEMORY_VARIABLE, f"a number of bytes, 1 to {2**63 - 1}", "'2 GB'")),
    )


def test_what_looks_at_files_of_strangers_has_a_memory_limit_also_where_none_is_set(
    store: Store, monkeypatch: pytest.MonkeyPatch, zoo: Path
) -> None:
    """A training has none: how much it takes is for whoever starts it to say. It is lifted to tell what went wrong."""
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    limits: list[int | None] = []
    with monkeypatch.context() as patch:
        patch.setattr(worker, "limit_memory", limits.append)
        here(store, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
        here(store, FeaturesSettings("0" * 64, str(zoo)).to_json(), "features")
        here(store, {})
    assert limits == [4 * 2**30, 4 * 2**30, None]
    before = resource.getrlimit(resource.RLIMIT_AS)
    worker_limits.limit_memory(None)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    monkeypatch.setenv(MEMORY_VARIABLE, str(2**45))
    assert here(store, {}).state == "failed"
    assert resource.getrlimit(resource.RLIMIT_AS) == (before[1], before[1])
    monkeypatch.delenv(MEMORY_VARIABLE)

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(worker, "import_images", fail)
    assert "4.29 GB" in here(store, LOOK, "import").reason


def test_calls_that_name_no_run_or_one_at_work_are_refused(
    store: Store, trained: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    assert worker.main([]) == 2
    assert "python -m ranking.worker" in capfd.readouterr().err
    with pytest.raises(ValueError, match=r"\.\./x"):
        worker.main([str(store.home), "../x"])
    assert worker.main([str(store.home), trained.id]) == 2
    assert trained.id in capfd.readouterr().err
    assert store.run(trained.id) == trained
    run = store.create_run("train", {})
    lock = take_lock(run.folder)
    with pytest.raises(BlockingIOError):
        worker.main([str(store.home), run.id])
    os.close(lock)
    assert store.run(run.id).state == "queued"


# -------------------------------------------------------------------------------------- rankers of labels


@pytest.fixture(scope="module")
def images(store: Store, tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return store.image_set(store.adopt(folder, "Patches"))


def label_training(images: ImageSet, **method_settings: Any) -> dict[str, Any]:
    given = {"core_size": 2, "C": 10.0, **method_settings}
    features = (("Colour", {"bins": 2}),)
    return LabelTrainSettings(images.key, features, "C-star p@k", given, min_images=4).to_json()


def test_a_ranker_of_labels_ends_with_its_model_and_how_well_it_ranks(
    store: Store, images: ImageSet, stop: Stop
) -> None:
    run = here(store, label_training(images), "label")
    assert (run.state, run.reason) == ("finished", "")
    assert run.result["certificate"]["converged"] is True
    assert run.result["certificate"]["relative_gap"] <= 1e-2
    assert run.has_model
    assert not run.has_scores
    method = method_class("C-star p@k").load(run.model_file)
    labels = label_set_of(images, LabelTrainSettings.from_json(run.settings), store.features)
    for part, rows in (("train", ~labels.test), ("test", labels.test)):
        assert run.result[part] == label_metrics(method, labels.part(rows))
        assert run.result[part]["BEP"] > 0.5
    assert steps_of(run) == ["Reading the image set", "Colour", "Training", "Saving the weights"]
    assert events_of(run, "iteration")
    assert [each.id for each in store.runs("label", images.key)] == [run.id]
    stop("iteration", lambda event: event.iteration >= 3)
    run = here(store, label_training(images, C=1e5, tolerance=1e-7), "label")
    assert (run.state, run.reason) == ("cancelled", with_last_gap(run, BEST_KEPT))
    assert run.result["certificate"]["iterations"] == 3
    assert run.has_model
    assert method_class("C-star p@k").load(run.model_file).certificate.iterations == 3


# ------------------------------------------------------------------------------------- methods of orders


@pytest.fixture(scope="module")
def dated_images(store: Store, tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    folder = tmp_path_factory.mktemp("dated") / "set"
    dated(folder)
    return store.image_set(store.adopt(folder, "Dated"))


def order_training(images: ImageSet, **method_settings: Any) -> dict[str, Any]:
    given = {"longest": 4, "subsequences": 100, **method_settings}
    drawing = {"length": 5, "train": 30, "test": 20}
    settings = OrderTrainSettings(images.key, (("Colour", {"bins": 3}),), "year", "MidRank", given, drawing)
    return settings.to_json()


def test_a_method_of_orders_ends_with_its_model_and_the_scores_of_its_test_sequences(
    store: Store, dated_images: ImageSet, stop: Stop
) -> None:
    run = here(store, order_training(dated_images), "order")
    assert (run.state, run.reason) == ("finished", "")
    assert run.result["certificate"]["converged"] is True
    assert run.has_model
    assert run.has_scores
    assert run.result["test"]["sequences"] == 20
    settings = OrderTrainSettings.from_json(run.settings)
    features = load_features(dated_images, settings.features, store.features)
    drawn = drawn_for_test(dated_images, settings, features)
    method = method_class("MidRank").load(run.model_file)
    np.testing.assert_array_equal(np.load(run.scores_file), method.score_sequences(drawn.sequences))
    steps = ["Reading the image set", "Colour", "Training", "Saving the weights", "Measuring the orders"]
    assert steps_of(run) == steps
    assert {event["round"] for event in events_of(run, "iteration")} == {0, 1, 2}
    assert [each.id for each in store.runs("order", dated_images.key)] == [run.id]
    stop("iteration", lambda event: event.round == 2)
    run = here(store, order_training(dated_images, longest=5, tolerance=1e-7), "order")
    assert (run.state, run.reason) == ("cancelled", with_last_gap(run, BEST_KEPT))
    assert method_class("MidRank").load(run.model_file).lengths == (3, 4)


def test_a_method_of_orders_is_kept_before_it_is_measured(
    store: Store, dated_images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ranking.order_training.mean_measures", fail)
    run = here(store, order_training(dated_images), "order")
    assert run.state == "failed"
    assert run.reason == with_last_gap(run, WEIGHTS_ALONE.format(reason_of(MemoryError())))
    assert method_class("MidRank").load(run.model_file).lengths
    assert not run.has_model
    assert not run.has_scores


# ------------------------------------------------------------------------------- studies and simulations


def study(images: ImageSet, name: str) -> dict[str, Any]:
    training = order_training(images)
    return {**{name: training[name] for name in training if name != "method"}, "study": name}


def test_a_study_ends_with_its_curves_and_keeps_no_part_of_them(
    store: Store, dated_images: ImageSet, stop: Stop
) -> None:
    settings = study(dated_images, "subsequence length")
    run = here(store, settings, "study")
    assert (run.state, run.reason) == ("finished", "")
    expected = study_orders(dated_images, StudySettings.from_json(settings), store.features)
    assert Outcome.from_json(run.result) == expected
    assert events_of(run, "progress")[-1]["what"] == "Training MidRank"
    stop("progress", lambda what, done, total: what.endswith("subsequences of 4"))
    run = here(store, settings, "study")
    assert (run.state, run.reason, run.result) == ("cancelled", NOTHING_TO_KEEP, {})


def test_a_timing_ends_with_its_outcome_and_keeps_no_part_of_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, stop: Stop
) -> None:
    monkeypatch.setattr("ranking.timing_studies.SHARES", (1.0,))
    settings = {"share": 0.05, "dimensions": 5, "rounds": 1, "seed": 3}
    run = here(store, settings, "timing")
    assert (run.state, run.reason) == ("finished", "")
    assert len(TimingOutcome.from_json(run.result).points) == 8
    last = events_of(run, "progress")[-1]
    assert (last["what"], last["done"], last["total"]) == ("Timed", 8, 8)
    stop("progress", lambda what, done, total: done > 2)
    run = here(store, settings, "timing")
    assert (run.state, run.reason, run.result) == ("cancelled", NOTHING_TO_KEEP, {})


def simulation(images: ImageSet) -> dict[str, Any]:
    methods = (("Independent p@k", {}), ("C-star p@k", {"core_size": 2}))
    strategies = ("closest maxima", "core first")
    settings = AskingSettings(images.key, (("Colour", {"bins": 2}),), methods, strategies)
    return replace(settings, questions=2, folds=3, min_images=4).to_json()


def test_a_simulation_ends_with_a_curve_for_each_method_and_strategy(
    store: Store, images: ImageSet, stop: Stop
) -> None:
    run = here(store, simulation(images), "asking")
    assert (run.state, run.reason) == ("finished", "")
    assert [(curve["method"], curve["strategy"]) for curve in run.result["curves"]] == [
        ("Independent p@k", "closest maxima"),
        ("C-star p@k", "closest maxima"),
        ("C-star p@k", "core first"),
    ]
    for curve in run.result["curves"]:
        assert np.shape(curve["folds"]) == (3, 3)
        assert curve["mean"] == pytest.approx(np.mean(curve["folds"], axis=0))
        assert curve["mean"][0] < curve["mean"][-1]
    whole = simulate_asking(images, AskingSettings.from_json(run.settings), store.features)
    assert run.result["curves"] == [curve.to_json() for curve in whole]
    assert len(run.result["seconds"]) == 3
    assert min(run.result["seconds"]) > 0
    progress = events_of(run, "progress")
    assert progress[-1]["done"] == progress[-1]["total"] == 3
    assert any(event["done"] % 1 for event in progress), "within a fold too"
    assert {"Fold 2 of 3: training Independent p@k", "Fold 3 of 3: asking C-star p@k, core first"} <= set(
        steps_of(run)
    )
    for step, folds in (("Fold 3 of 3: asking", 2), ("Fold 1 of 3: training", 0)):
        stop("progress", lambda what, done, total, step=step: what.startswith(step))
        run = here(store, simulation(images), "asking")
        assert (run.state, run.reason, run.folds_done) == ("cancelled", said_of_cancelled(run), folds)
        assert events_of(run, "progress")[-1]["what"].startswith(step), "it stopped within that step"
        kept = [curve["folds"] for curve in run.result.get("curves", [])]
        assert kept == [curve.folds[:folds].tolist() for curve in whole if folds]


def test_a_simulation_that_fails_keeps_its_finished_folds_too(
    store: Store, images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Report.progress

    def fail_in_it(self: Report, what: str, done: float, total: int) -> None:
        tell(self, what, done, total)
        if what.startswith("Fold 2 of 3"):
            raise MemoryError

    monkeypatch.setattr(Report, "progress", fail_in_it)
    run = here(store, simulation(images), "asking")
    assert (run.state, run.reason, run.folds_done) == ("failed", reason_of(MemoryError()), 1)


def test_settings_that_make_no_sense_are_a_plain_reason(
    store: Store,
    digits: ImageSet,
    images: ImageSet,
    dated_images: ImageSet,
    failures: list[Exception],
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings: dict[Kind, dict[str, Any]] = {
        "train": training(digits),
        "label": label_training(images),
        "order": order_training(dated_images),
        "asking": simulation(images),
        "study": study(dated_images, "number of trees"),
        "timing": {"share": 0.05},
        "import": {"source": "Digits", "source_settings": {}},
    }
    changes: tuple[tuple[Kind, dict[str, Any], str], ...] = (
        ("train", {"set": "f" * 64}, "ffff"),
        ("train", {"query": "7 of 9"}, "7 of 9"),
        ("train", {"method_settings": {"Q": 1.0}}, "Q"),
        ("train", {"features": [["SIFT", {}]]}, "SIFT"),
        ("train", {"warm_start": "../../../x"}, "../../../x"),
        ("train", {"warm_start": "aaaaaaaaaa"}, "aaaaaaaaaa"),
        ("label", {"method": "AP-SVM"}, "AP-SVM"),
        ("order", {"drawing": 3}, "drawing"),
        ("asking", {"strategies": ["guess"]}, "guess"),
        ("asking", {"folds": 100}, "100"),
        ("asking", {"sets": 1}, "sets"),
        ("study", {"study": "weather"}, "weather"),
        ("timing", {"share": 7}, "share"),
        ("import", {"source": "Postcards"}, "Postcards"),
    )
    for kind, change, name in changes:
        run = here(store, {**settings[kind], **change}, kind)
        assert run.state == "failed", change
        assert isinstance(failures[-1], ValueError), change
        assert run.reason == reason_of(failures[-1])
        assert name in run.reason
        assert "Traceback" not in run.reason
        assert "Traceback" in capfd.readouterr().err
        assert not run.model_file.exists()
