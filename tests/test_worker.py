from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from dated_pictures import dated
from labelled_pictures import patches
from PIL import Image
from zipped import zip_of

from ranking import Query, jobs, make_method, method_class, method_names, worker, worker_limits
from ranking.asking_simulation import simulate_asking
from ranking.datasets.looking import Look
from ranking.events import Report
from ranking.features import load_features, make_feature
from ranking.home import HomeError
from ranking.intake.zip_tree import READABLE
from ranking.jobs import take_lock
from ranking.label_training import label_metrics, label_set_of
from ranking.methods import METHODS
from ranking.methods.linear import LinearMethod
from ranking.metrics import evaluate
from ranking.order_studies import study_orders
from ranking.order_training import drawn_for_test
from ranking.room_layout import FOLDERS
from ranking.room_quotas import DiskWatch, FullError, bytes_of
from ranking.rooms import Rooms
from ranking.run import CALLED, ENDED, Kind, Run
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
from ranking.types import ImageSet, Problem, ProgressEvent, SourceBox, SourceImage

COLOUR = [["Colour", {}]]
WORKER = [sys.executable, "-m", "ranking.worker"]
SOON = 8.0  # seconds; a fraction of one where nothing else is at work


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Many tests call the worker's main here: what it does to its process is undone or left out."""
    monkeypatch.setattr(worker.faulthandler, "enable", lambda: None)
    handler, memory = signal.getsignal(signal.SIGTERM), resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("worker"))


@pytest.fixture(scope="module")
def imported(store: Store) -> Run:
    run = jobs.start(store, "import", {"source": "Digits", "source_settings": {}})
    return ended(store, run)


@pytest.fixture(scope="module")
def digits(store: Store, imported: Run) -> ImageSet:
    return store.image_set(store.keep(imported.id))


def training(digits: ImageSet, **changes: Any) -> dict[str, Any]:
    settings = {"set": digits.key, "features": COLOUR, "query": "3", "method": "AP-SVM"}
    return {**settings, "method_settings": {"C": 10.0}, "warm_start": None, **changes}


def here(store: Store, settings: dict[str, Any], kind: Any = "train") -> Run:
    """The run after the worker's main worked on it in this process."""
    run = store.create_run(kind, settings)
    assert worker.main([str(store.home), run.id]) == 0
    return store.run(run.id)


def ended(store: Store, run: Run, seconds: float = 60.0) -> Run:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run = jobs.poll(store, run.id)
        if run.state in ENDED:
            return run
        time.sleep(0.01)
    raise AssertionError(f"still {run.state} after {seconds} s: {jobs.events(run)[0][-3:]}")


def goes(folder: Path) -> bool:
    """Whether it is gone soon: a worker removes it after it has said that its work has ended."""
    until = time.monotonic() + 20
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not folder.exists()


def heard(run: Run, **wanted: Any) -> dict[str, Any]:
    """The first event with these values, as soon as it comes."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for event in jobs.events(run)[0]:
            if wanted.items() <= event.items():
                return event
        time.sleep(0.005)
    raise AssertionError(f"no event {wanted} in {jobs.events(run)[0]}")


# ------------------------------------------------------------------------------------------------- import


def test_an_import_ends_as_a_draft_with_its_report(imported: Run, digits: ImageSet) -> None:
    assert (imported.state, imported.reason) == ("finished", "")
    assert imported.result["key"] == digits.key
    assert (imported.result["title"], imported.result["images"], imported.result["samples"]) == (
        "Digits",
        1797,
        1797,
    )
    assert imported.result["classes"]["3"] == digits.relevance("3").sum() == 183
    assert imported.result["problems"] == 0
    assert json.loads((imported.folder / "problems.json").read_text()) == []
    last = [event for event in jobs.events(imported)[0] if event["event"] == "progress"][-1]
    assert last == {"event": "progress", "what": "Importing images", "done": 1797, "total": 1797}


class Halves:
    """Two images, one of which cannot be used."""

    def title(self) -> str:
        return "Halves"

    def __len__(self) -> int:
        return 2

    def records(self) -> Iterator[SourceImage | Problem]:
        file = io.BytesIO()
        Image.new("RGB", (9, 9)).save(file, "PNG")
        yield SourceImage("whole", file.getvalue(), (SourceBox((0, 0, 9, 9), ("dark",)),))
        yield Problem("half.xml", "an annotation", "half of one", "image left out")


def test_problems_are_kept_for_the_person_who_decides(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranking.datasets.make_source", lambda name, **settings: Halves())
    run = here(store, {"source": "Halves", "source_settings": {}}, "import")
    assert run.state == "finished"
    assert (run.result["samples"], run.result["classes"]) == (1, {"dark": 1})
    problems = json.loads((run.folder / "problems.json").read_text())
    assert len(problems) == run.result["problems"] == 2
    assert problems[0] == {
        "file": "half.xml",
        "expected": "an annotation",
        "came": "half of one",
        "done": "image left out",
    }
    assert store.image_set(store.keep(run.id)).title == "Halves"
    shutil.rmtree(store.home / "sets" / run.result["key"])


def test_a_source_that_cannot_be_read_is_a_plain_reason(store: Store, tmp_path: Path) -> None:
    (tmp_path / "VOC").mkdir()
    settings = {"source": "PASCAL VOC", "source_settings": {"folder": str(tmp_path / "VOC")}}
    run = here(store, settings, "import")
    assert run.state == "failed"
    assert str(tmp_path / "VOC") in run.reason
    assert "Traceback" not in run.reason
    assert not run.draft.exists()


def test_a_cancelled_import_leaves_nothing(store: Store) -> None:
    run = jobs.start(store, "import", {"source": "Digits", "source_settings": {"seed": 1}})
    heard(run, what="Importing images")
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    run = ended(store, run)
    assert time.monotonic() - begin < SOON
    assert run.state == "cancelled"
    assert goes(run.folder)
    with pytest.raises(ValueError, match=f"run {run.id}"):
        store.keep(run.id)


def test_drawing_scenes_stops_at_once_and_leaves_no_process(store: Store) -> None:
    settings = {"source": "Action figures", "source_settings": {"images": 100_000}}
    run = jobs.start(store, "import", settings)
    drawn = heard(run, what="Importing images")
    assert drawn["total"] == 100_000
    if sys.platform == "linux":  # it is drawn in the worker itself, so there is nobody to be left behind
        children = [file.read_text() for file in Path(f"/proc/{run.pid}/task").glob("*/children")]
        assert children
        assert not any(children)
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    run = ended(store, run)
    assert time.monotonic() - begin < SOON
    assert run.state == "cancelled"
    assert goes(run.folder)


# ------------------------------------------------------------------- what is brought, and that none of it is left


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A ZIP file of two folders of images."""
    for number in range(40):
        folder = tmp_path / "zoo" / ("cat" if number % 2 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).integers(0, 255, (120, 160, 3), np.uint8)
        Image.fromarray(noise).save(folder / f"{number}.png")
    return zip_of(tmp_path / "zoo", tmp_path / "zoo.zip")


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def everything(store: Store) -> dict[str, bytes]:
    """All files and folders of a home, but for the database, once what is leaving has left."""
    for rubbish in (store.home / "trash").iterdir():
        gone(rubbish)
    return {
        str(path.relative_to(store.home)): path.read_bytes() if path.is_file() else b""
        for path in sorted(store.home.rglob("*"))
        if not path.name.startswith(("ranking.sqlite", "queue.sqlite", "imports.sqlite", "looks.sqlite"))
    }


def upload(store: Store, file: Path, settings: dict[str, Any]) -> Run:
    return jobs.start(store, "import", settings, lambda run: shutil.copy(file, run.brought_file))


def looked(store: Store, file: Path, **settings: Any) -> Run:
    asked = LookSettings("", brought="My zoo.zip", **settings).to_json()
    return ended(store, upload(store, file, asked))


CLASS_FOLDERS = ImportSettings("Class folders", brought="My zoo.zip").to_json()


def test_an_import_looks_at_an_upload_and_stores_nothing_of_it(empty: Store, zoo: Path) -> None:
    before = everything(empty)
    run = looked(empty, zoo)
    assert (run.state, run.result) == ("finished", {"source": "Class folders"})
    look = Look.from_json(json.loads(run.look_file.read_text()))
    assert look.seen is not None
    assert (look.seen.title, look.seen.images, len(look.seen.crops)) == ("My zoo", 40, 12)
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "brought.zip", "events.jsonl", "lock", "look.json", "stderr.txt"
    ]  # fmt: skip
    empty.discard(run.id)
    assert everything(empty) == before


def test_an_upload_is_imported_under_its_own_name_and_its_copy_goes(empty: Store, zoo: Path) -> None:
    run = ended(empty, upload(empty, zoo, CLASS_FOLDERS))
    assert (run.state, run.result["title"], run.result["images"]) == ("finished", "My zoo", 40)
    key = empty.keep(run.id)
    assert empty.image_set(key).classes == ("cat", "dog")
    left = sorted(path.name for path in run.folder.iterdir())
    assert left == ["events.jsonl", "lock", "problems.json", "stderr.txt"]
    assert list(empty.home.rglob("*.zip")) == []


@pytest.mark.parametrize("kind", ["look", "import"])
def test_an_import_that_is_rejected_leaves_not_one_byte(empty: Store, tmp_path: Path, kind: str) -> None:
    (tmp_path / "bad.zip").write_bytes(os.urandom(5000))
    before = everything(empty)
    settings = LookSettings("", brought="bad.zip").to_json() if kind == "look" else CLASS_FOLDERS
    run = ended(empty, upload(empty, tmp_path / "bad.zip", settings))
    assert run.state == "failed"
    assert READABLE in run.reason
    assert str(empty.home) not in run.reason, "how it is called here is nobody's business"
    gone(run.folder)
    assert everything(empty) == before


def test_an_import_that_is_discarded_leaves_not_one_byte(empty: Store, zoo: Path) -> None:
    before = everything(empty)
    run = ended(empty, upload(empty, zoo, CLASS_FOLDERS))
    empty.discard(run.id)
    assert everything(empty) == before


def test_an_import_that_is_cancelled_leaves_not_one_byte(empty: Store, tmp_path: Path) -> None:
    before = everything(empty)
    run = jobs.start(
        empty, "import", {"source": "Digits", "source_settings": {}},
        lambda run: run.brought_file.write_bytes(b"zip"),
    )  # fmt: skip
    heard(run, what="Importing images")
    jobs.cancel(empty, run.id)
    assert ended(empty, run).state == "cancelled"
    gone(run.folder)
    assert everything(empty) == before


@pytest.mark.parametrize("alone", [False, True])
def test_an_import_that_is_killed_leaves_not_one_byte(
    empty: Store, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    """alone: nobody was there to see it, and the next start of a server settles it."""
    before = everything(empty)
    if alone:
        monkeypatch.setattr(jobs, "_await_end", lambda store, run_id, child: child.wait())
    run = jobs.start(
        empty, "import", {"source": "Action figures", "source_settings": {"images": 100_000}},
        lambda run: run.brought_file.write_bytes(b"zip"),
    )  # fmt: skip
    heard(run, what="Importing images")
    assert run.draft.is_dir()
    assert run.brought_file.exists()
    os.kill(empty.run(run.id).pid or 0, signal.SIGKILL)
    gone(run.lock_file, held=True)
    if alone:
        assert run.folder.exists()
        jobs.recover(empty)
    gone(run.folder)
    assert empty.run(run.id).state == "failed"
    assert everything(empty) == before


def test_a_disk_without_room_for_an_upload_is_said_and_nothing_is_left(empty: Store) -> None:
    def copy(run: Run) -> None:
        run.brought_file.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    before = everything(empty)
    run = jobs.start(empty, "import", LookSettings("", brought="zoo.zip").to_json(), copy)
    assert run.state == "failed"
    assert "No space left on device" in run.reason
    assert everything(empty) == before


@pytest.fixture
def full_disk(empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is read or written while an import fills the disk: SQLite needs some kilobytes even to read."""

    def guarded(original: Any) -> Any:
        def call(store: Store, run_id: str, *arguments: Any, **named: Any) -> Any:
            folder = store.home / "runs" / run_id
            if (folder / "brought.zip").exists() or (folder / "draft").exists():
                raise HomeError("disk I/O error")
            return original(store, run_id, *arguments, **named)

        return call

    monkeypatch.setattr(Store, "end_run", guarded(Store.end_run))
    monkeypatch.setattr(jobs, "poll", guarded(jobs.poll))


def test_an_upload_that_fills_the_disk_gives_it_back_before_it_is_told(empty: Store, full_disk: None) -> None:
    def copy(run: Run) -> None:
        run.brought_file.write_bytes(b"as much as there was room for")
        raise OSError(28, "No space left on device")

    before = everything(empty)
    run = jobs.start(empty, "import", LookSettings("", brought="zoo.zip").to_json(), copy)
    assert (run.state, "No space left on device" in run.reason) == ("failed", True)
    assert everything(empty) == before


def test_an_import_that_fills_the_disk_gives_it_back_before_it_is_told(
    empty: Store, full_disk: None, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own standard error lies on that disk too."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ranking.datasets.folder.ImageSetWriter.finish", fail)
    monkeypatch.setattr(worker.traceback, "print_exc", fail)
    before = everything(empty)
    run = here(empty, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
    assert (run.state, "there is no space left on the disk" in run.reason) == ("failed", True)
    assert everything(empty) == before


def test_a_worker_that_dies_on_a_disk_that_it_has_filled_leaves_nothing(
    empty: Store, full_disk: None
) -> None:
    before = everything(empty)
    run = jobs.start(
        empty, "import", {"source": "Action figures", "source_settings": {"images": 100_000}},
        lambda run: run.brought_file.write_bytes(b"zip"),
    )  # fmt: skip
    heard(run, what="Importing images")
    os.kill(empty.run(run.id).pid or 0, signal.SIGKILL)
    gone(run.folder)
    assert empty.run(run.id).state == "failed"
    assert everything(empty) == before


def test_an_import_ends_soon_after_it_has_filled_its_room(
    tmp_path: Path, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it may take is looked at while it grows, not when it is kept."""
    monkeypatch.setattr(DiskWatch, "SECONDS", 0.0)
    monkeypatch.setenv(FOLDERS, str(zoo))
    room = Store(Rooms(tmp_path / "server").make("room-of-anna"))
    before = everything(room)
    monkeypatch.setenv("RANKING_ROOM_DISK", "400000")
    settings = ImportSettings("Class folders", {"folder": str(zoo)}).to_json()
    run = here(room, settings, "import")
    assert run.state == "failed"
    assert run.reason.startswith("this room is full: it takes 4")
    assert everything(room) == before
    monkeypatch.setenv("RANKING_ROOM_DISK", "100000000")
    assert here(room, settings, "import").state == "finished"


def test_an_import_that_ends_beyond_what_its_room_may_take_fails_and_one_within_can_be_kept(
    tmp_path: Path, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at once more at its end: between two looks an import may write a lot."""
    monkeypatch.setenv(FOLDERS, str(zoo))
    room = Store(Rooms(tmp_path / "server").make("room-of-anna"))
    before, settings = everything(room), ImportSettings("Class folders", {"folder": str(zoo)}).to_json()
    assert DiskWatch.SECONDS > 4
    monkeypatch.setenv("RANKING_ROOM_DISK", "400000")
    run = here(room, settings, "import")
    assert (run.state, run.reason[:18]) == ("failed", "this room is full:")
    assert everything(room) == before
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


@pytest.mark.parametrize("kind", ["look", "import"])
def test_an_import_that_hangs_ends_in_time(empty: Store, kind: str) -> None:
    """Wherever it hangs, also in a look, which has no image to count."""
    settings = LookSettings("x").to_json() if kind == "look" else CLASS_FOLDERS
    run = empty.create_run("import", settings)
    program = (
        "import time; from ranking import worker; from ranking.store import Store\n"
        f"worker.import_images = lambda *_: time.sleep(60)\nworker.main([{str(empty.home)!r}, {run.id!r}])"
    )
    environment = {**os.environ, "RANKING_INTAKE_SECONDS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=50, capture_output=True)
    assert done.returncode == 1, done.stderr
    ended_so = empty.run(run.id)
    assert ended_so.state == "failed"
    assert ended_so.reason.startswith("the import took more than 1 seconds; bring fewer images, or set")
    assert not run.folder.exists(), "whoever started it may be gone"


def test_an_upload_that_has_gone_is_said(empty: Store) -> None:
    run = here(empty, LookSettings("", brought="zoo.zip").to_json(), "import")
    assert (run.state, run.reason) == (
        "failed", "the uploaded copy of zoo.zip is gone; drop it on the page again"
    )  # fmt: skip


def gone(path: Path, held: bool = False) -> None:
    """Return when there is no such file or folder, or, of a lock, when nobody holds it."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        if not path.exists():
            return
        if held:
            with contextlib.suppress(OSError):
                os.close(take_lock(path.parent))
                return
        time.sleep(0.01)
    raise AssertionError(f"{path} is still there: {sorted(path.rglob('*'))}")


# ------------------------------------------------------------------------------------------------- train


@pytest.fixture(scope="module")
def trained(store: Store, digits: ImageSet) -> Run:
    run = ended(store, jobs.start(store, "train", training(digits, features=[["HOG", {}], *COLOUR])))
    until = time.monotonic() + 20
    while run.alive and time.monotonic() < until:  # its process ends a little later than its work
        time.sleep(0.01)
    return run


def test_a_training_ends_with_model_scores_metrics_and_certificate(trained: Run, digits: ImageSet) -> None:
    assert (trained.state, trained.reason) == ("finished", "")
    scores = np.load(trained.folder / "scores.npy", allow_pickle=False)
    assert (scores.shape, scores.dtype) == ((1797,), np.float64)
    relevance = digits.relevance("3")
    for part, rows in (("train", ~digits.test), ("test", digits.test)):
        assert trained.result[part] == evaluate(relevance[rows], scores[rows])
    assert trained.result["test"]["AP"] > 0.8
    certificate = trained.result["certificate"]
    assert certificate["converged"] is True
    assert certificate["gap"] == pytest.approx(certificate["primal"] - certificate["dual"])
    assert certificate["relative_gap"] <= 1e-3
    sizes = [make_feature(name).size for name in ("HOG", "Colour")]
    model = method_class("AP-SVM").load(trained.folder / "model.npz")
    assert model.weights.shape == (sum(sizes),)
    assert not list(trained.folder.glob("partial-*"))


def test_a_training_tells_its_steps_and_every_bound(trained: Run) -> None:
    told = jobs.events(trained)[0]
    steps = list(dict.fromkeys(event["what"] for event in told if event["event"] == "progress"))
    assert steps == ["Reading the image set", "HOG and Colour", "Training", "Saving the weights"]
    iterations = [event for event in told if event["event"] == "iteration"]
    assert iterations[-1]["iteration"] == trained.result["certificate"]["iterations"]
    assert [event.get("what", event["event"]) for event in told[-3:]] == [
        "iteration",
        "Saving the weights",
        "state",
    ]
    for event in iterations:
        if event["dual"] is not None:
            assert event["gap"] == pytest.approx(event["primal"] - event["dual"])


@pytest.mark.parametrize("name", method_names(ranks="samples"))
def test_every_method_trains(store: Store, digits: ImageSet, name: str) -> None:
    run = here(store, training(digits, method=name, method_settings={"C": 0.1, "tolerance": 0.05}))
    assert (run.state, run.reason) == ("finished", "")
    assert run.result["certificate"]["relative_gap"] <= 0.05


def test_a_warm_start_begins_where_the_other_run_ended(store: Store, digits: ImageSet) -> None:
    cold = here(store, training(digits))
    warm = here(store, training(digits, warm_start=cold.id))
    assert warm.state == "finished"
    assert warm.result["certificate"]["iterations"] < cold.result["certificate"]["iterations"]
    assert warm.result["certificate"]["relative_gap"] <= 1e-3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"set": "f" * 64}, "there is no image set 'ffff"),
        ({"query": "7 of 9"}, "'7 of 9'"),
        ({"method": "TOP-SVM"}, "'TOP-SVM'"),
        ({"method_settings": {"C": -1.0}}, "-1.0"),
        ({"method_settings": {"D": 1.0}}, "'D'"),
        ({"features": []}, "at least one feature"),
        ({"features": [["SIFT", {}]]}, "'SIFT'"),
        ({"warm_start": "../../../x"}, "'../../../x' is not the id of a run"),
        ({"warm_start": "aaaaaaaaaa"}, "there is no run 'aaaaaaaaaa'"),
    ],
)
def test_settings_that_make_no_training_are_a_plain_reason(
    store: Store, digits: ImageSet, capfd: pytest.CaptureFixture[str], changes: dict[str, Any], reason: str
) -> None:
    run = here(store, training(digits, **changes))
    assert run.state == "failed"
    assert reason in run.reason
    assert "Traceback" not in run.reason
    assert "Traceback" in capfd.readouterr().err
    assert not (run.folder / "model.npz").exists()


def test_missing_settings_are_named(store: Store) -> None:
    run = here(store, {"set": "x", "query": "3"})
    assert run.reason.startswith("settings of a training: ")
    assert run.reason.endswith(" no features, method")
    assert here(store, {"source_settings": {}}, "import").reason.startswith("settings of an import: ")


@dataclass
class Mean:
    """A method with no setting, no bound and no certificate: the direction from the mean to the relevant."""

    weights: Any = None

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

    stops: ClassVar[bool] = False


@pytest.mark.parametrize(("stops", "state"), [(False, "finished"), (True, "cancelled")])
def test_a_method_need_not_have_a_certificate(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch, stops: bool, state: str
) -> None:
    method_names(ranks="samples")
    monkeypatch.setitem(METHODS._classes, "Mean", Mean)
    monkeypatch.setattr(Mean, "stops", stops)
    run = here(store, training(digits, method="Mean", method_settings={}))
    assert run.state == state, run.reason
    assert run.result["certificate"] is None
    scores = np.load(run.scores_file)
    assert run.result["test"] == evaluate(digits.relevance("3")[digits.test], scores[digits.test])
    assert run.model_file.exists()


def test_a_class_without_training_sample_is_told(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query: self.test.astype(np.int64))
    run = here(store, training(digits))
    assert run.reason == (
        f"none of the {(~digits.test).sum()} training samples of Digits shows '3'; choose another class"
    )


def test_a_class_without_test_sample_is_evaluated_where_it_can_be(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ImageSet.relevance
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query: plain(self, query) * ~self.test)
    run = here(store, training(digits))
    assert run.state == "finished"
    assert run.result["test"] == {"positives": 0.0, "samples": float(digits.test.sum())}
    assert run.result["train"]["AP"] > 0


def test_a_warm_start_needs_the_same_features_and_method(
    store: Store, digits: ImageSet, trained: Run
) -> None:
    run = here(store, training(digits, warm_start=trained.id))
    assert run.reason.startswith(f"run {trained.id} cannot be started from: it learnt AP-SVM of HOG {{")
    assert "expected AP-SVM of Colour {" in run.reason


def test_a_warm_start_needs_weights(store: Store, digits: ImageSet, imported: Run) -> None:
    run = here(store, training(digits, warm_start=imported.id))
    assert run.reason == (
        f"run {imported.id} (import, finished) has no weights to start from; choose another"
    )


def test_files_are_whole_or_not_there(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(self: Any, path: Path) -> None:
        Path(path).write_bytes(b"half a mod")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LinearMethod, "save", half)
    run = here(store, training(digits))
    assert run.state == "failed"
    assert run.reason.startswith(
        "there is no space left on the disk of the home folder ([Errno 28] No space left on device); "
        "free some, then start again; last heard of: iteration "
    )
    assert not (run.folder / "model.npz").exists()


# ------------------------------------------------------------------------------------------------- cancel

ENDLESS = {"C": 1e6, "tolerance": 1e-7, "max_iterations": 1_000_000}


def test_a_cancelled_training_keeps_its_best_weights(store: Store, digits: ImageSet) -> None:
    endless = {**ENDLESS, "solver": "coordinate descent"}  # the others are done within a second
    settings = training(digits, query="8", method="SVM", method_settings=endless)
    run = jobs.start(store, "train", settings)
    heard(run, event="iteration")
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    run = ended(store, run)
    seconds = time.monotonic() - begin
    assert run.state == "cancelled", run.reason
    assert seconds < SOON
    assert run.result["certificate"]["converged"] is False
    assert run.result["train"]["AP"] > 0.1
    model = method_class("SVM").load(run.folder / "model.npz")
    assert model.certificate.gap == run.result["certificate"]["gap"]
    assert np.load(run.folder / "scores.npy").shape == (1797,)


def test_a_training_cancelled_during_features_ends_at_the_next_image(store: Store, digits: ImageSet) -> None:
    shutil.rmtree(store.features)
    run = jobs.start(store, "train", training(digits, features=[["HOG", {}]]))
    heard(run, what="HOG")
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    run = ended(store, run)
    assert time.monotonic() - begin < SOON
    assert (run.state, run.reason) == ("cancelled", "cancelled before any weights were saved")
    assert run.result == {}
    assert not (run.folder / "model.npz").exists()
    assert not list(store.features.glob("*.npy"))


def test_training_stopped_by_a_signal_in_this_process(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Report.iteration

    def tell_and_stop(self: Report, event: Any) -> None:
        if event.iteration >= 3:
            os.kill(os.getpid(), signal.SIGTERM)
        tell(self, event)

    monkeypatch.setattr(Report, "iteration", tell_and_stop)
    run = here(store, training(digits, method_settings=ENDLESS))
    assert run.state == "cancelled"
    assert run.reason.startswith("cancelled; the best weights so far were kept; last heard of: iteration 3")
    assert run.result["certificate"]["iterations"] == 3


def test_an_import_stopped_by_a_signal_in_this_process(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def records(self: Halves) -> Iterator[SourceImage | Problem]:
        os.kill(os.getpid(), signal.SIGTERM)
        yield from Halves().records()

    stopping = type("Stopping", (Halves,), {"records": records})
    monkeypatch.setattr("ranking.datasets.make_source", lambda name, **settings: stopping())
    run = here(store, {"source": "Stopping", "source_settings": {}}, "import")
    assert (run.state, run.reason) == ("cancelled", "cancelled before there was anything to keep")
    assert not run.draft.exists()


# ------------------------------------------------------------------------------------------- the process


def test_the_first_event_comes_soon(store: Store, digits: ImageSet) -> None:
    begin = time.monotonic()
    run = jobs.start(store, "train", training(digits))
    heard(run, event="state", state="running")
    assert time.monotonic() - begin < 3  # 0.3 s on an idle machine
    assert ended(store, run).state == "finished"


@pytest.mark.parametrize("megabytes", [150, 450])
def test_too_little_memory_for_the_libraries_is_told(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    """What gives way differs from library to library: an exception, an exit, an abort; but never a standstill."""
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(megabytes * 10**6))
    run = ended(store, jobs.start(store, "train", training(digits)))
    assert run.state == "failed"
    assert "memory" in run.reason.lower()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 3 GiB"),
        ImportError("libblas.so: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_every_face_of_lost_memory_is_known(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setenv("RANKING_WORKER_MEMORY", "3000000000")
    reason = worker_limits.reason_of(error)
    assert reason.startswith("the worker ran out of memory (it may use 3 GB, set by RANKING_WORKER_MEMORY): ")
    assert str(error) in reason
    wrapped = OSError("no such library")
    wrapped.__cause__ = error
    assert worker_limits.reason_of(wrapped).endswith(
        ": no such library; choose fewer features or a smaller image set"
    )
    monkeypatch.delenv("RANKING_WORKER_MEMORY")
    assert worker_limits.reason_of(error).startswith("the worker ran out of memory: ")
    assert worker_limits.reason_of(OSError("no such library")) == "OSError: no such library"


@pytest.mark.parametrize(
    ("most", "expected"), [(resource.RLIM_INFINITY, 10**9), (2 * 10**9, 10**9), (10**8, 10**8)]
)
def test_the_memory_limit_stays_below_the_system_s_own(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: int
) -> None:
    limits = []
    monkeypatch.setenv("RANKING_WORKER_MEMORY", "1000000000")
    monkeypatch.setattr(worker_limits.resource, "getrlimit", lambda kind: (most, most))
    monkeypatch.setattr(worker_limits.resource, "setrlimit", lambda kind, pair: limits.append(pair))
    worker_limits.limit_memory()
    worker_limits.lift_memory_limit()
    assert limits == [(expected, most), (most, most)]


def test_what_looks_at_files_of_strangers_has_a_memory_limit_also_where_none_is_set(
    store: Store, monkeypatch: pytest.MonkeyPatch, zoo: Path
) -> None:
    """A training has none: how much it takes is for whoever starts it to say."""
    monkeypatch.delenv("RANKING_WORKER_MEMORY", raising=False)
    limits: list[int | None] = []
    monkeypatch.setattr(worker, "limit_memory", limits.append)
    here(store, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
    here(store, FeaturesSettings("0" * 64, str(zoo)).to_json(), "features")
    here(store, {})
    assert limits == [4 * 2**30, 4 * 2**30, None]
    monkeypatch.setattr(worker_limits.resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    monkeypatch.setattr(worker_limits.resource, "setrlimit", lambda kind, pair: limits.append(pair[0]))
    worker_limits.limit_memory(limits[0])
    worker_limits.limit_memory(None)
    assert limits[3:] == [4 * 2**30]
    reason = worker_limits.reason_of(MemoryError(), limits[0])
    assert reason.startswith(
        "the worker ran out of memory (it may use 4.29 GB, set by RANKING_WORKER_MEMORY)"
    )


def test_calls_that_name_no_run_are_refused(
    store: Store, trained: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    assert worker.main([]) == 2
    assert "usage: python -m ranking.worker HOME RUN_ID" in capfd.readouterr().err
    with pytest.raises(ValueError, match=r"'\.\./x'"):
        worker.main([str(store.home), "../x"])
    assert worker.main([str(store.home), trained.id]) == 2
    assert f"run {trained.id} is finished already; start a new one" in capfd.readouterr().err


def test_a_run_has_one_worker(store: Store) -> None:
    run = store.create_run("train", {})
    lock = take_lock(run.folder)
    second = subprocess.run([*WORKER, str(store.home), run.id], capture_output=True, text=True, timeout=30)
    os.close(lock)
    assert second.returncode != 0
    assert "BlockingIOError" in second.stderr
    assert store.run(run.id).state == "queued"


def test_the_model_scores_as_the_run_says(store: Store, trained: Run, digits: ImageSet) -> None:
    from ranking.features import load_features

    features = load_features(digits, [("HOG", {}), ("Colour", {})], store.features)
    model = method_class("AP-SVM").load(trained.folder / "model.npz")
    scores = np.load(trained.folder / "scores.npy")
    np.testing.assert_allclose(model.score(Query(features, ids=digits.ids)), scores, rtol=1e-6, atol=1e-9)
    alone = make_method("AP-SVM", C=10.0).fit(
        [Query(features[~digits.test], digits.relevance("3")[~digits.test])]
    )
    assert alone.certificate.primal == pytest.approx(trained.result["certificate"]["primal"], rel=2e-3)


# -------------------------------------------------------------------------------------- rankers of labels


@pytest.fixture(scope="module")
def images(store: Store, tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return store.image_set(store.adopt(folder, "Patches"))


def label_training(images: ImageSet, **method_settings: Any) -> dict[str, Any]:
    given = {"core_size": 2, "C": 10.0, **method_settings}
    return LabelTrainSettings(
        images.key, (("Colour", {"bins": 2}),), "C-star p@k", given, min_images=4
    ).to_json()


def simulation(images: ImageSet, **changes: Any) -> dict[str, Any]:
    methods = (("Independent p@k", {}), ("C-star p@k", {"core_size": 2}))
    strategies = ("closest maxima", "core first")
    settings = AskingSettings(
        images.key, (("Colour", {"bins": 2}),), methods, strategies, questions=2, folds=3, min_images=4
    )
    return replace(settings, **changes).to_json()


def test_a_ranker_of_labels_ends_with_its_model_and_how_well_it_ranks(store: Store, images: ImageSet) -> None:
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
    told = jobs.events(run)[0]
    steps = list(dict.fromkeys(event["what"] for event in told if event["event"] == "progress"))
    assert steps == ["Reading the image set", "Colour", "Training", "Saving the weights"]
    assert any(event["event"] == "iteration" for event in told)
    assert [one.id for one in store.runs("label", images.key)] == [run.id]


def test_a_stopped_ranker_of_labels_keeps_its_best_weights(
    store: Store, images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Report.iteration

    def tell_and_stop(self: Report, event: Any) -> None:
        if event.iteration >= 3:
            os.kill(os.getpid(), signal.SIGTERM)
        tell(self, event)

    monkeypatch.setattr(Report, "iteration", tell_and_stop)
    run = here(store, label_training(images, C=1e5, tolerance=1e-7), "label")
    assert run.state == "cancelled"
    assert run.reason.startswith("cancelled; the best weights so far were kept; last heard of: iteration 3")
    assert run.result["certificate"]["iterations"] == 3
    assert run.has_model
    assert method_class("C-star p@k").load(run.model_file).certificate.iterations == 3


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
    store: Store, dated_images: ImageSet
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
    told = jobs.events(run)[0]
    steps = list(dict.fromkeys(event["what"] for event in told if event["event"] == "progress"))
    assert steps[:3] == ["Reading the image set", "Colour", "Training"]
    assert steps[3:] == ["Saving the weights", "Measuring the orders"]
    assert {event["round"] for event in told if event["event"] == "iteration"} == {0, 1, 2}
    assert [one.id for one in store.runs("order", dated_images.key)] == [run.id]


def test_a_stopped_method_of_orders_keeps_the_lengths_that_it_has(
    store: Store, dated_images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Report.iteration

    def tell_and_stop(self: Report, event: Any) -> None:
        if event.round == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        tell(self, event)

    monkeypatch.setattr(Report, "iteration", tell_and_stop)
    run = here(store, order_training(dated_images, longest=5, tolerance=1e-7), "order")
    assert run.state == "cancelled"
    assert run.reason.startswith("cancelled; the best weights so far were kept; last heard of: round 2, ")
    assert method_class("MidRank").load(run.model_file).lengths == (3, 4)


def test_a_method_of_orders_is_kept_before_it_is_measured(
    store: Store, dated_images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ranking.order_training.mean_measures", fail)
    run = here(store, order_training(dated_images), "order")
    assert run.state == "failed"
    assert method_class("MidRank").load(run.model_file).lengths
    assert not run.has_model
    assert not run.has_scores


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"method": "AP-SVM"}, "AP-SVM"),
        ({"criterion": "age"}, "'age'"),
        ({"drawing": 3}, "drawing must be settings by name"),
    ],
)
def test_settings_that_order_nothing_are_a_plain_reason(
    store: Store, dated_images: ImageSet, settings: dict[str, Any], reason: str
) -> None:
    run = here(store, {**order_training(dated_images), **settings}, "order")
    assert run.state == "failed"
    assert reason in run.reason


def test_a_study_ends_with_its_curves_and_keeps_no_part_of_them(
    store: Store, dated_images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = order_training(dated_images)
    settings = {**{name: asked[name] for name in asked if name != "method"}, "study": "subsequence length"}
    run = here(store, settings, "study")
    assert (run.state, run.reason) == ("finished", "")
    expected = study_orders(dated_images, StudySettings.from_json(settings), store.features)
    assert Outcome.from_json(run.result) == expected
    told = [event for event in jobs.events(run)[0] if event["event"] == "progress"]
    assert told[-1]["what"] == "Training MidRank"
    refused = here(store, {**settings, "study": "weather"}, "study")
    assert refused.reason.startswith("study: ")
    tell = Report.progress

    def tell_and_stop(self: Report, what: str, done: int, total: int) -> None:
        tell(self, what, done, total)
        if what.endswith("subsequences of 4"):
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Report, "progress", tell_and_stop)
    run = here(store, settings, "study")
    assert (run.state, run.reason) == ("cancelled", "cancelled before there was anything to keep")
    assert run.result == {}


def test_a_timing_ends_with_its_outcome_and_keeps_no_part_of_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ranking.timing_studies.SHARES", (1.0,))
    settings = {"share": 0.05, "dimensions": 5, "rounds": 1, "seed": 3}
    run = here(store, settings, "timing")
    assert (run.state, run.reason) == ("finished", "")
    assert len(TimingOutcome.from_json(run.result).points) == 8
    last = [event for event in jobs.events(run)[0] if event["event"] == "progress"][-1]
    assert (last["what"], last["done"], last["total"]) == ("Timed", 8, 8)
    assert here(store, {"share": 7}, "timing").reason.startswith("share: ")
    tell = Report.progress

    def tell_and_stop(self: Report, what: str, done: float, total: int) -> None:
        tell(self, what, done, total)
        if done > 2:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Report, "progress", tell_and_stop)
    run = here(store, settings, "timing")
    assert (run.state, run.reason) == ("cancelled", "cancelled before there was anything to keep")
    assert run.result == {}


def test_a_training_leaves_the_scores_that_it_has_while_it_goes_on(
    store: Store, digits: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    iterate = Report.iteration

    def look(self: Report, event: ProgressEvent) -> None:
        live = next(run for run in store.runs("train") if run.state not in ENDED)  # the newest
        found.append(np.load(live.scores_so_far_file))
        iterate(self, event)

    monkeypatch.setattr(Report, "iteration", look)
    run = here(store, training(digits))
    assert run.state == "finished"
    assert found[0].shape == (np.count_nonzero(~digits.test),)
    assert not run.scores_so_far_file.exists(), "its scores are there now"


def test_a_simulation_ends_with_a_curve_for_each_method_and_strategy(store: Store, images: ImageSet) -> None:
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
    expected = simulate_asking(images, AskingSettings.from_json(run.settings), store.features)
    assert run.result["curves"] == [curve.to_json() for curve in expected]
    told = [event for event in jobs.events(run)[0] if event["event"] == "progress"]
    assert told[-1]["done"] == told[-1]["total"] == 3
    assert any(event["done"] % 1 for event in told), "within a fold too"
    assert len(run.result["seconds"]) == 3
    assert min(run.result["seconds"]) > 0
    assert "Fold 2 of 3: training Independent p@k" in {event["what"] for event in told}
    assert "Fold 3 of 3: asking C-star p@k, core first" in {event["what"] for event in told}


@pytest.mark.parametrize("during", ["training", "asking"])
@pytest.mark.parametrize(
    ("fold", "reason"),
    [
        (1, "cancelled before there was anything to keep"),
        (3, "cancelled; the finished folds were kept: 2 of 3"),
    ],
)
def test_a_stopped_simulation_keeps_its_finished_folds(
    store: Store, images: ImageSet, monkeypatch: pytest.MonkeyPatch, during: str, fold: int, reason: str
) -> None:
    tell = Report.progress

    def stop_in_it(self: Report, what: str, done: float, total: int) -> None:
        tell(self, what, done, total)
        if what.startswith(f"Fold {fold} of 3: {during}"):
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Report, "progress", stop_in_it)
    run = here(store, simulation(images), "asking")
    assert (run.state, run.reason) == ("cancelled", reason)
    assert run.folds_done == fold - 1
    last = [event for event in jobs.events(run)[0] if event["event"] == "progress"][-1]
    assert f"Fold {fold} of 3: {during}" in last["what"], "it stopped within that step"
    if run.folds_done:
        whole = simulate_asking(images, AskingSettings.from_json(run.settings), store.features)
        assert [one["folds"] for one in run.result["curves"]] == [one.folds[:2].tolist() for one in whole]


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
    assert (run.state, run.folds_done) == ("failed", 1)
    assert "memory" in run.reason


ENDLESS_STAR = {"core_size": 2, "C": 1e6, "tolerance": 1e-7, "max_iterations": 1_000_000}


def test_a_simulation_in_a_process_of_its_own_stops_soon(store: Store, images: ImageSet) -> None:
    run = jobs.start_once(store, "asking", simulation(images, methods=(("C-star p@k", ENDLESS_STAR),)))
    heard(run, what="Fold 1 of 3: training C-star p@k")
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    run = ended(store, run)
    assert time.monotonic() - begin < SOON
    assert (run.state, run.reason) == ("cancelled", "cancelled before there was anything to keep")


@pytest.mark.parametrize("asked_to_stop", [True, False])
def test_a_killed_simulation_has_its_finished_folds(
    store: Store, images: ImageSet, asked_to_stop: bool
) -> None:
    """Whether it was deaf to a cancel or the system killed it: what was measured is in its row."""
    run = store.create_run("asking", simulation(images))
    folds = {"method": "C-star p@k", "settings": {}, "strategy": "random", "folds": [[0.5], [0.6]]}
    store.update_run(run.id, state="running", result={"curves": [folds], "seconds": [1.0, 1.0]})
    if asked_to_stop:
        store.update_run(run.id, cancelled=time.monotonic())
    run = jobs.poll(store, run.id)
    assert run.state == ("cancelled" if asked_to_stop else "failed")
    assert run.folds_done == 2
    assert ("the finished folds were kept: 2 of 3" in run.reason) is asked_to_stop


@pytest.mark.parametrize(
    ("kind", "settings", "reason"),
    [
        ("label", {"method": "AP-SVM"}, "AP-SVM"),
        ("label", {"min_images": 1000}, "1,000 images"),
        ("asking", {"strategies": ["guess"]}, "no strategy is called 'guess'; choose one of: "),
        ("asking", {"folds": 100}, "48 images cannot be dealt into 100 folds; choose at most 48 folds"),
        ("asking", {"sets": 1}, "settings of a simulation: "),
    ],
)
def test_settings_that_rank_no_labels_are_a_plain_reason(
    store: Store, images: ImageSet, kind: Kind, settings: dict[str, Any], reason: str
) -> None:
    asked = label_training(images) if kind == "label" else simulation(images)
    run = here(store, {**asked, **settings}, kind)
    assert run.state == "failed"
    assert reason in run.reason


@pytest.mark.parametrize("kind", ["label", "order", "asking", "study", "timing", "experiment"])
def test_weights_of_another_kind_are_no_beginning_for_a_training(
    store: Store, digits: ImageSet, kind: Kind
) -> None:
    other = store.create_run(kind, {})
    store.end_run(other.id, "finished")
    run = here(store, training(digits, warm_start=other.id))
    assert run.reason == (
        f"run {other.id} ({CALLED[kind]}, finished) has no weights to start from; choose another"
    )
