"""What a worker does and leaves behind; most tests call its main in this process, a few watch a real one."""

from __future__ import annotations

import errno
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import zip_of
from dated_pictures import dated
from hidden_squares import settings_of, squares_of
from labelled_pictures import patches_of
from PIL import Image
from refusals import refused
from working import (
    RECORDS,
    Held,
    ended,
    events_of,
    heard,
    here,
    is_cleared,
    kept,
    kill,
    raising,
    steps_of,
    wait,
)

from ranking import Query, method_class, method_names
from ranking.commands import worker
from ranking.core import ImageSet, SampleMethod
from ranking.core.errors import InputError
from ranking.experiments.ablations import MidRankStudy
from ranking.experiments.labelling_simulation import LabellingSimulation
from ranking.experiments.study import Context
from ranking.experiments.timing_studies import TimingOutcome
from ranking.explain.localisation import read_localisation
from ranking.explain.playback import MAX_ITERATIONS, Playback, read_playback
from ranking.files import Limits
from ranking.formats.import_preview import ImportPreview
from ranking.methods import METHODS, methods_by_loss
from ranking.methods.linear import LinearMethod
from ranking.metrics.ablation_curves import AblationResult
from ranking.storage import import_questions, jobs, memory, workspaces
from ranking.storage.events import (
    BEST_KEPT,
    MEASURING,
    NO_WEIGHTS,
    NOTHING_STORED,
    SAVING,
    WEIGHTS_ALONE,
    Report,
    cancel_reason,
    with_last_gap,
)
from ranking.storage.import_questions import (
    UNDECIDED,
    WAITING,
    Answer,
    Question,
    Steps,
    open_question,
    reply,
)
from ranking.storage.memory import MEMORY_VARIABLE, reason_of
from ranking.storage.run import ENDED, Run
from ranking.storage.run_archive import export_run
from ranking.storage.run_settings import (
    AblationSettings,
    FeaturesSettings,
    ImportSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    SimulationSettings,
    TimingSettings,
)
from ranking.storage.runs import Runs
from ranking.storage.space import WORKSPACE_LIMIT, FullError, SpaceWatch, bytes_of
from ranking.storage.store import Store

COLOUR = [["Colour", {}]]
SMALL = {"side": 32}
Stop = Callable[..., None]
pytestmark = pytest.mark.usefixtures("worker_here")


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
    """Send the worker a SIGTERM, or do something else, at a report of that kind that meets a condition."""
    reports = {kind: getattr(Report, kind) for kind in ("progress", "iteration")}

    def stop(kind: str, condition: Callable[..., bool], act: Callable[[], Any] = end_this_process) -> None:
        def tell(self: Report, *given: Any) -> None:
            if kind == "progress":
                # so it ends at the next one
                reports[kind](self, *given)
            if condition(*given):
                act()
            if kind != "progress":
                reports[kind](self, *given)

        monkeypatch.setattr(Report, kind, tell)

    return stop


def end_this_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


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
    return store.sets.get(imported.result["key"])


@pytest.fixture(scope="module")
def images(store: Store) -> ImageSet:
    """Of many labels."""
    return patches_of(store)


@pytest.fixture(scope="module")
def dated_images(store: Store, tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    folder = tmp_path_factory.mktemp("dated") / "set"
    dated(folder)
    return store.sets.get(store.sets.add(folder, "Dated"))


def training(digits: ImageSet, **changes: Any) -> dict[str, Any]:
    settings = {"set": digits.key, "features": COLOUR, "query": "3", "method": "AP-SVM"}
    return {**settings, "method_settings": {"C": 10.0}, "warm_start": None, **changes}


@pytest.fixture(scope="module")
def task_settings(digits: ImageSet, images: ImageSet, dated_images: ImageSet) -> dict[str, dict[str, Any]]:
    """Settings of each kind of run, of trainings by their task, for small image sets."""
    colour, drawing = (("Colour", {"bins": 2}),), {"length": 5, "train": 30, "test": 20}
    labels = LabelTrainSettings(images.key, colour, "C-star p@k", {"core_size": 2, "C": 10.0}, min_images=4)
    orders = dated_images.key, (("Colour", {"bins": 3}),), "year"
    given = {"longest": 4, "subsequences": 100}
    methods = (("Independent p@k", {}), ("C-star p@k", {"core_size": 2}))
    asking = SimulationSettings(images.key, colour, methods, ("closest maxima", "core first"))
    return {
        "import": {"source": "Digits", "source_settings": {}},
        "samples": training(digits),
        "labels": labels.to_json(),
        "sequences": OrderTrainSettings(*orders, "MidRank", given, drawing).to_json(),
        "asking": replace(asking, questions=2, folds=3, min_images=4).to_json(),
        "midrank": AblationSettings(*orders, "subsequence length", given, drawing).to_json(),
        "timing": TimingSettings(share=0.05, dimensions=5, rounds=1, seed=3).to_json(),
    }


# ------------------------------------------------------------------------------------------------- import


def test_an_import_ends_as_an_image_set_with_its_report(imported, digits):
    assert (imported.state, imported.reason) == ("finished", "")
    result = imported.result
    assert (result["key"], result["title"]) == (digits.key, "Digits")
    assert (result["images"], result["samples"], result["problems"]) == (1797, 1797, 0)
    assert result["classes"]["3"] == digits.relevance("3").sum() == 183
    last = events_of(imported, "progress")[-1]
    assert last == {"event": "progress", "what": "Importing images", "done": 1797, "total": 1797}


def test_a_cancelled_import_leaves_no_files_and_no_process(empty):
    before = kept(empty)
    settings = {"source": "Digits", "source_settings": {}}
    run = jobs.start(empty, "import", settings, lambda run: run.uploaded_file.write_bytes(b"zip"))
    assert heard(run, what="Importing images")["total"] == 1797
    # it works in the worker itself, so there is nobody to be left behind
    if sys.platform == "linux":
        assert {file.read_text() for file in Path(f"/proc/{run.pid}/task").glob("*/children")} == {""}
    jobs.cancel(empty, run.id)
    assert ended(empty, run).state == "cancelled"
    wait(lambda: is_cleared(run))
    assert kept(empty) == before


# ------------------------------------------------------------------- uploads, and that nothing of them is left


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


UPLOAD = ImportSettings(upload="My zoo.zip").to_json()
CLASS_FOLDERS = ImportSettings("Class folders", upload="My zoo.zip").to_json()
# what is in the folder of every run
ALWAYS = RECORDS | {"events.jsonl"}


def uploaded(store: Store, zoo: Path) -> Run:
    """An import of the ZIP file in a process of its own."""
    return jobs.start(store, "import", UPLOAD, lambda run: run.uploaded_file.write_bytes(zoo.read_bytes()))


def test_an_upload_is_read_shown_read_again_and_added_by_one_process(empty, zoo):
    """While it waits it takes no place among those that work."""
    run = uploaded(empty, zoo)
    question = wait(lambda: open_question(run))
    preview = ImportPreview.from_json(question.reading)
    assert preview.content is not None
    assert (question.about, question.number, preview.source) == ("files", 1, "Class folders")
    assert (preview.content.title, preview.content.images, len(preview.content.crops)) == ("My zoo", 15, 12)
    files = {"upload.zip", "question.json", "stderr.txt", *ALWAYS}
    assert {path.name for path in run.folder.iterdir()} == files
    pid = empty.runs.get(run.id).pid
    wait(lambda: not list((empty.home / "queue" / "imports").iterdir()))
    reply(run, Answer(0, changes={"title": "no answer to this question"}))
    reply(run, Answer(1, False, {"source_settings": {"seed": 3}}))
    question = wait(lambda: open_question(run))
    assert (question.number, question.reading["source_settings"]["seed"]) == (2, 3)
    reply(run, Answer(2, changes={"title": "Zoo"}))
    run = ended(empty, run)
    assert (run.state, run.reason, run.pid, run.result["title"]) == ("finished", "", pid, "Zoo")
    assert [row.key for row in empty.sets.rows()] == [run.result["key"]]
    assert {path.name for path in run.folder.iterdir()} == {"stderr.txt", *ALWAYS}


def test_an_import_that_waits_is_cancelled_by_the_user_or_after_a_day_and_leaves_no_byte(
    empty, zoo, monkeypatch
):
    before = kept(empty)
    run = uploaded(empty, zoo)
    wait(lambda: open_question(run))
    jobs.recover(empty)
    assert open_question(empty.runs.get(run.id)) is not None, "a server that starts leaves it alone"
    jobs.cancel(empty, run.id)
    run = ended(empty, run)
    assert (run.state, run.reason) == ("cancelled", NOTHING_STORED)
    wait(lambda: is_cleared(run))
    monkeypatch.setattr(import_questions, "WAIT_HOURS", 0.0)
    run = empty.runs.create("import", UPLOAD)
    run.uploaded_file.write_bytes(zoo.read_bytes())
    assert worker.main([str(empty.home), run.id]) == 0
    run = empty.runs.get(run.id)
    assert (run.state, run.reason) == ("cancelled", UNDECIDED)
    assert kept(empty) == before


def test_a_killed_import_leaves_no_files_and_names_its_last_step(empty, zoo):
    for step in ("Reading it as Class folders", WAITING, "Importing images"):
        before = kept(empty)
        run = uploaded(empty, zoo)
        if step == "Importing images":
            reply(run, Answer(1))
        heard(run, what=step)
        kill(empty.runs.get(run.id))
        run = ended(empty, run)
        assert run.state == "failed"
        # the small file may have been read, and the import wait again, between the step that was heard and the kill
        crashed = "My zoo.zip crashed its reader (last step: " in run.reason
        assert not (crashed and step == WAITING), run.reason
        assert crashed or "killed (SIGKILL)" in run.reason
        wait(lambda run=run: is_cleared(run))
        assert kept(empty) == before
        assert empty.sets.rows() == []
    first, again = (here(empty, UPLOAD, "import", zoo) for _ in range(2))
    assert (first.result["known"], again.result["known"]) == (False, True)
    assert len(empty.sets.rows()) == 1


def test_an_upload_is_imported_under_its_file_name_and_its_copy_deleted(empty, zoo, stop):
    run = here(empty, CLASS_FOLDERS, "import", zoo)
    assert (run.state, run.result["title"], run.result["images"]) == ("finished", "My zoo", 14)
    assert run.result["classes"] == {"cat": 7, "dog": 7}
    reading = empty.sets.reading(run.result["key"])
    assert run.result["problems"] == len(reading.problems)
    assert any("broken.png" in problem.file for problem in reading.problems)
    assert [row.about for row in reading.decisions] == ["classes", "split"]
    assert empty.sets.get(run.result["key"]).classes == ("cat", "dog")
    # of its limit
    wait(lambda: not any(isinstance(each, threading.Timer) for each in threading.enumerate()))
    assert {path.name for path in run.folder.iterdir()} == set(ALWAYS)
    assert list(empty.home.rglob("*.zip")) == []
    stop("progress", lambda what, done, total: what == "Importing images")
    run = here(empty, CLASS_FOLDERS, "import", zoo)
    assert (run.state, run.reason) == ("cancelled", NOTHING_STORED)
    assert is_cleared(run)


def test_a_failed_import_has_a_reason_and_leaves_no_files(empty, tmp_path, failures):
    (tmp_path / "bad.zip").write_bytes(os.urandom(5000))
    (tmp_path / "VOC").mkdir()
    before = kept(empty)
    folder = {"source": "PASCAL VOC", "source_settings": {"folder": str(tmp_path / "VOC")}}
    for settings, upload, name in (
        (UPLOAD, tmp_path / "bad.zip", "My zoo.zip"),
        (CLASS_FOLDERS, tmp_path / "bad.zip", "My zoo.zip"),
        (folder, None, str(tmp_path / "VOC")),
        (UPLOAD, None, "My zoo.zip"),
    ):
        run = here(empty, settings, "import", upload)
        assert run.state == "failed"
        assert isinstance(failures[-1], ValueError)
        assert name in run.reason
        assert str(empty.home) not in run.reason, "how it is called here is nobody's business"
        wait(lambda run=run: is_cleared(run))
        assert kept(empty) == before
    assert isinstance(failures[-1], InputError), "the uploaded copy has gone"


def test_an_import_that_fills_the_disk_is_deleted_before_it_fails(empty, zoo, monkeypatch):
    """Its standard error and its events lie on that disk too, and no record can be written there."""
    full = OSError(errno.ENOSPC, "No space left on device")
    fail, write = raising(full), Runs._write

    def guarded(runs: Runs, run: Run) -> None:
        assert run.state not in ENDED or not run.draft.exists()
        write(runs, run)

    monkeypatch.setattr(Runs, "_write", guarded)
    monkeypatch.setattr("ranking.datasets.folder.ImageSetWriter.finish", fail)
    monkeypatch.setattr(worker.traceback, "print_exc", fail)
    monkeypatch.setattr(Report, "state", lambda self, state, reason="": fail() if reason else None)
    before = kept(empty)
    run = here(empty, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
    assert (run.state, run.reason) == ("failed", reason_of(full))
    assert kept(empty) == before


def test_an_import_ends_when_its_workspace_is_full_also_at_its_end(tmp_path, zoo, monkeypatch, failures):
    """The space is measured while it grows, and at its end: between two measurements it may write a lot."""
    visitor = Store(tmp_path / "workspaces" / workspaces.create(tmp_path))
    monkeypatch.setenv(WORKSPACE_LIMIT, "400000")
    for seconds in (0.0, 10_000.0):
        monkeypatch.setattr(SpaceWatch, "SECONDS", seconds)
        run = here(visitor, CLASS_FOLDERS, "import", zoo)
        assert run.state == "failed"
        assert isinstance(failures[-1], FullError)
        assert run.reason == reason_of(failures[-1])
    assert visitor.sets.rows() == []
    monkeypatch.setenv(WORKSPACE_LIMIT, "100000000")
    assert here(visitor, CLASS_FOLDERS, "import", zoo).state == "finished"
    monkeypatch.setenv(WORKSPACE_LIMIT, str(bytes_of(visitor.home)))
    with pytest.raises(FullError):
        visitor.runs.create("import", CLASS_FOLDERS)


@pytest.mark.parametrize("settings", [UPLOAD, FeaturesSettings("x").to_json()], ids=["images", "features"])
def test_reading_an_upload_has_a_time_limit_that_excludes_waiting(empty, monkeypatch, settings):
    codes: queue.Queue[int] = queue.Queue()
    waited: list[bool] = []
    monkeypatch.setenv("RANKING_IMPORT_SECONDS", "1")
    monkeypatch.setattr(worker.os, "_exit", codes.put)

    def ask(run: Run, report: Report, question: Question) -> Answer:
        # longer than it may work
        time.sleep(2.0)
        waited.append(codes.empty())
        return Answer(question.number)

    def steps(*_: object) -> Steps:
        yield Question("files", {})
        return {"code": codes.get(timeout=180)}

    monkeypatch.setattr(worker, "ask", ask)
    monkeypatch.setattr(worker, "steps_of", steps)
    run = here(empty, settings, "import")
    assert waited == [True]
    assert (run.state, run.reason, run.result) == ("failed", Limits(seconds=1).too_slow, {})
    assert "RANKING_IMPORT_SECONDS" in run.reason
    assert is_cleared(run), "whoever started it may be gone"


# ------------------------------------------------------------------------------------------------- train


@pytest.fixture(scope="module")
def trained(store: Store, digits: ImageSet) -> Run:
    """By a process of its own."""
    run = ended(store, jobs.start(store, "train", training(digits, features=[["HOG", SMALL], *COLOUR])))
    # its process ends a little later than its work
    wait(lambda: not run.alive)
    return run


def test_a_training_ends_with_model_scores_metrics_and_certificate(trained):
    assert (trained.state, trained.reason) == ("finished", "")
    assert trained.result["test"]["AP"] > 0.8
    certificate = trained.result["certificate"]
    assert certificate["converged"] is True
    assert certificate["gap"] == pytest.approx(certificate["primal"] - certificate["dual"])
    assert certificate["relative_gap"] <= 1e-3
    scores = np.load(trained.scores_file, allow_pickle=False)
    assert (scores.shape, scores.dtype) == ((1797,), np.float64)
    assert method_class("AP-SVM").load(trained.model_file).certificate.gap == certificate["gap"]
    assert not list(trained.folder.glob("partial-*"))


def test_a_training_run_reports_its_steps_and_every_bound(trained):
    every = jobs.events(trained)[0]
    assert every[0] == {"event": "state", "state": "running", "reason": ""}
    assert steps_of(trained) == ["Reading the image set", "HOG and Colour", "Training", SAVING, MEASURING]
    last = [event.get("what", event["event"]) for event in every[-4:]]
    assert last == ["iteration", SAVING, MEASURING, "state"]
    assert every[-4]["iteration"] == trained.result["certificate"]["iterations"]


def test_a_warm_start_begins_where_a_training_of_the_same_ended(store, digits, trained, imported, failures):
    cold = here(store, training(digits))
    warm = here(store, training(digits, warm_start=cold.id))
    assert warm.state == "finished"
    assert warm.result["certificate"]["iterations"] < cold.result["certificate"]["iterations"]
    assert warm.result["certificate"]["relative_gap"] <= 1e-3
    without = [imported, store.runs.create("train", {})]
    for task in ("labels", "sequences"):
        without.append(store.runs.create("train", {"task": task}))
    for task in ("asking", "midrank", "timing", "experiment", "cvxpy", "describe"):
        without.append(store.runs.create("study", {"task": task}))
    for one in without[2:]:
        one.model_file.write_bytes(cold.model_file.read_bytes())
    for first in (trained, *without):
        assert here(store, training(digits, warm_start=first.id)).state == "failed"
        error = failures[-1]
        assert isinstance(error, InputError)
        assert error.subject == "warm_start"
        assert first.id in str(error.came)
        assert ("AP-SVM of HOG {" in str(error.came)) == (first is trained), "other features"


@dataclass
class Mean(SampleMethod):
    """A method with no setting, no bound and no certificate."""

    weights: Any = field(default=None, init=False)

    def fit(self, queries: Any, on_progress: Any = None, warm_start: Any = None) -> Mean:
        self.weights = queries[0].features.mean(axis=0)
        return self

    def score(self, query: Query) -> Any:
        return query.features @ self.weights

    def save(self, path: Path) -> None:
        path.write_bytes(self.weights.tobytes())

    @classmethod
    def load(cls, path: Path) -> Mean:
        raise NotImplementedError


def test_methods_without_a_certificate_are_trained(store, digits, stop, monkeypatch):
    monkeypatch.setattr(METHODS, "_classes", {name: METHODS.get(name) for name in method_names()})
    METHODS.register("Mean")(Mean)
    for last, state in (("", "finished"), ("Training", "cancelled")):
        stop("progress", lambda what, *_, last=last: what == last)
        run = here(store, training(digits, method="Mean", method_settings={}))
        assert run.state == state, run.reason
        assert run.result["certificate"] is None
        assert run.has_scores
        assert run.model_file.exists()


def test_files_are_whole_or_not_there(store, digits, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")

    def half(self: Any, path: Path) -> None:
        Path(path).write_bytes(b"half a mod")
        raise full

    monkeypatch.setattr(LinearMethod, "save", half)
    run = here(store, training(digits))
    assert run.state == "failed"
    assert run.reason == with_last_gap(run, reason_of(full)) != reason_of(full)
    assert not run.model_file.exists()


def test_a_training_run_stores_its_scores_so_far_while_it_is_running(store, digits, monkeypatch):
    shapes = []
    iterate = Report.iteration

    def watched(self: Report, event: Any) -> None:
        # the newest
        live = next(run for run in store.runs.all("train") if run.state not in ENDED)
        shapes.append(np.load(live.scores_so_far_file).shape)
        iterate(self, event)

    monkeypatch.setattr(Report, "iteration", watched)
    run = here(store, training(digits))
    assert run.state == "finished"
    assert shapes[0] == (np.count_nonzero(~digits.test),)
    assert not run.scores_so_far_file.exists(), "its scores are there now"


def recording_of(run: Run, samples: int) -> Playback:
    playback = read_playback(run.playback_file, samples)
    assert playback is not None
    return playback


def test_a_training_is_recorded_and_ends_with_its_scores(store, digits):
    for method in method_names(ranks="samples"):
        run = here(store, training(digits, method=method, method_settings={}))
        assert run.state == "finished", run.reason
        playback = recording_of(run, len(digits))
        assert np.array_equal(playback.scores[-1], np.load(run.scores_file).astype(np.float32)), method
        certificate = run.result["certificate"]
        assert playback.iterations[-1] == certificate["iterations"]
        assert (playback.primal[-1], playback.dual[-1]) == (certificate["primal"], certificate["dual"])
        first = sorted({event["iteration"] for event in events_of(run, "iteration")})[: MAX_ITERATIONS // 2]
        assert playback.iterations[: len(first)].tolist() == first, method
        # The weights of the last report before the end rank nearly as the end does: scores are the method's own. All
        # are 0 as long as no weights are better than those of the start.
        if playback.primal[-2] < playback.primal[0]:
            assert np.corrcoef(playback.scores[-2], playback.scores[-1])[0, 1] > 0.9, method


def test_a_cancelled_training_keeps_its_recording(store, digits, stop):
    stop("iteration", lambda event: event.iteration == 2)
    run = here(store, training(digits, method_settings={"C": 1000.0}))
    assert run.state == "cancelled"
    assert recording_of(run, len(digits)).iterations.tolist() == [0, 1, 2]


# -------------------------------------------------------------------------------------- the other kinds


def test_rankers_of_labels_and_methods_of_orders_end_with_their_models(store, task_settings):
    steps = ["Reading the image set", "Training", SAVING, MEASURING]
    for task, measure, chance in (
        ("samples", "AP", 0.1),
        ("labels", "BEP", 0.5),
        ("sequences", "pair accuracy", 0.5),
    ):
        run = here(store, task_settings[task])
        assert (run.state, run.reason) == ("finished", "")
        assert run.result["certificate"]["converged"] is True
        assert all(chance < run.result[part][measure] <= 1.0 for part in ("train", "test"))
        assert method_class(run.settings["method"]).load(run.model_file).certificate.converged
        assert (run.has_model, run.has_scores) == (True, task != "labels")
        # it may be kept from before
        assert [step for step in steps_of(run) if step != "Colour"] == steps
        rounds = {event["round"] for event in events_of(run, "iteration")}
        assert rounds == ({0, 1, 2} if task == "sequences" else {0})
    assert np.load(run.scores_file).shape == (20 * 5,)


def test_a_model_is_kept_before_it_is_measured(store, task_settings, monkeypatch):
    for task, measure in (
        ("samples", "sample_task.evaluate_or_count"),
        ("labels", "label_task.label_metrics"),
        ("sequences", "order_task.mean_measures"),
    ):
        monkeypatch.setattr(f"ranking.experiments.{measure}", raising(MemoryError()))
        run = here(store, task_settings[task])
        assert run.state == "failed"
        assert run.reason == with_last_gap(run, WEIGHTS_ALONE.format(reason_of(MemoryError())))
        assert method_class(run.settings["method"]).load(run.model_file).certificate.converged
        assert (run.has_model, run.has_scores) == (False, False)


def test_a_study_ends_with_its_curves_and_a_timing_with_its_times(
    store, dated_images, task_settings, monkeypatch
):
    run = here(store, task_settings["midrank"], "study")
    assert (run.state, run.reason) == ("finished", "")
    settings = AblationSettings.from_json(run.settings)
    expected = MidRankStudy().run(settings, Context(dated_images, store.features.cache))
    assert AblationResult.from_json(run.result) == AblationResult.from_json(expected)
    assert events_of(run, "progress")[-1]["what"] == "Training MidRank"
    monkeypatch.setattr("ranking.experiments.timing_studies.SHARES", (1.0,))
    run = here(store, task_settings["timing"], "study")
    assert (run.state, run.reason) == ("finished", "")
    points = 4 * len(methods_by_loss())
    assert len(TimingOutcome.from_json(run.result).points) == points
    assert last_progress(run) == ("Timed", points, points)


def last_progress(run: Run) -> tuple[Any, ...]:
    last = events_of(run, "progress")[-1]
    return last["what"], last["done"], last["total"]


def test_a_simulation_ends_with_its_curves_and_keeps_finished_folds(store, images, task_settings, stop):
    run = here(store, task_settings["asking"], "study")
    assert (run.state, run.reason) == ("finished", "")
    settings = SimulationSettings.from_json(run.settings)
    whole = LabellingSimulation().run(settings, Context(images, store.features.cache))["curves"]
    assert run.result["curves"] == whole
    assert len(run.result["seconds"]) == 3
    assert last_progress(run) == ("Fold 3 of 3: asking C-star p@k, core first", 3, 3)
    for step, folds in (("Fold 3 of 3: asking", 2), ("Fold 1 of 3: training", 0)):
        stop("progress", lambda what, done, total, step=step: what.startswith(step))
        run = here(store, task_settings["asking"], "study")
        assert (run.state, run.reason, run.parts_done) == ("cancelled", cancel_reason(run), folds)
        assert last_progress(run)[0].startswith(step), "it stopped within that step"
        kept = [curve["folds"] for curve in run.result.get("curves", [])]
        assert kept == [curve["folds"][:folds] for curve in whole if folds]
    stop("progress", lambda what, done, total: what.startswith("Fold 2 of 3"), raising(MemoryError()))
    run = here(store, task_settings["asking"], "study")
    assert (run.state, run.reason, run.parts_done) == ("failed", reason_of(MemoryError()), 1)


# ------------------------------------------------------------------------------------------------- cancel


def test_stopped_training_keeps_the_best_weights(store, digits, task_settings, stop):
    endless = {"C": 1e6, "tolerance": 1e-7, "max_iterations": 1_000_000}
    stop("iteration", lambda event: event.iteration >= 3)
    for task, settings in (("samples", endless), ("labels", {**endless, "core_size": 2})):
        run = here(store, {**task_settings[task], "method_settings": settings})
        assert (run.state, run.reason) == ("cancelled", with_last_gap(run, BEST_KEPT))
        certificate = run.result["certificate"]
        assert (certificate["iterations"], certificate["converged"]) == (3, False)
        method = method_class(run.settings["method"]).load(run.model_file)
        assert method.certificate.gap == certificate["gap"]
        assert run.has_model
        assert run.has_scores == (task == "samples")
    squares = squares_of(store)
    run = here(store, settings_of(squares.key, start="several").to_json())
    assert (run.state, run.result["certificate"]["converged"]) == ("cancelled", False)
    assert run.has_scores
    located = read_localisation(run.localisation_file, len(squares.image_names))
    assert located.starts.tolist() == ["whole image"], "where it was stopped"
    with refused("run " + run.id):
        export_run(store, run.id)
    stop("iteration", lambda event: event.round == 2)
    longer = {**task_settings["sequences"]["method_settings"], "longest": 5, "tolerance": 1e-7}
    run = here(store, {**task_settings["sequences"], "method_settings": longer})
    assert (run.state, run.reason) == ("cancelled", with_last_gap(run, BEST_KEPT))
    assert method_class("MidRank").load(run.model_file).lengths == (3, 4)


def test_a_run_stopped_before_it_has_learned_keeps_nothing(store, task_settings, stop):
    kept = sorted(store.features.cache.iterdir())
    for kind, changes, step, reason in (
        ("samples", {"features": [["HOG", {}]]}, "HOG", NO_WEIGHTS),
        ("midrank", {}, "subsequences of 4", NOTHING_STORED),
        ("timing", {}, "", NOTHING_STORED),
    ):
        stop("progress", lambda what, done, total, step=step: what.endswith(step))
        run = here(store, {**task_settings[kind], **changes}, "train" if kind == "samples" else "study")
        assert (run.state, run.reason, run.result) == ("cancelled", reason, {}), kind
        assert not run.model_file.exists()
        assert last_progress(run)[1] < 100, "at one of the next images"
        assert kind != "train" or sorted(store.features.cache.iterdir()) == kept


# ------------------------------------------------------------------------------------------- the process


def test_a_run_cancelled_before_its_worker_starts_is_not_trained(store, digits):
    """Another browser may cancel between the new row and the new process, whose pid it does not know."""
    run = store.runs.create("train", training(digits))
    store.runs.update(run.id, cancelled=time.monotonic() + 100)
    assert worker.main([str(store.home), run.id]) == 0
    assert store.runs.get(run.id).state == "cancelled"


def test_every_error_of_exhausted_memory_and_of_a_full_disk_is_explained(monkeypatch):
    wrapped = OSError("no such library")
    wrapped.__cause__ = ImportError("libblas.so: failed to map segment from shared object")
    for error in (MemoryError("Unable to allocate 3 GiB"), OSError(12, "Cannot allocate memory"), wrapped):
        monkeypatch.setenv(MEMORY_VARIABLE, "3000000000")
        for default in (None, 5 * 10**9):
            assert all(part in reason_of(error, default) for part in (str(error), MEMORY_VARIABLE, "3 GB"))
        monkeypatch.delenv(MEMORY_VARIABLE)
        assert MEMORY_VARIABLE not in reason_of(error)
        assert "a smaller image set" in reason_of(error)
        assert "smaller files" in reason_of(error, 5 * 10**9)
        assert "5 GB" in reason_of(error, 5 * 10**9)
    space = reason_of(OSError(errno.ENOSPC, "?")).partition("(")[0]
    for full in (OSError(errno.EDQUOT, "?"), OSError(errno.EFBIG, "?")):
        assert reason_of(full).startswith(space), full
    assert reason_of(RuntimeError("the oracle\nis silent")) == "RuntimeError: the oracle is silent"
    assert reason_of(ValueError("no such\nclass")) == "no such class"


def test_a_memory_limit_that_is_no_number_is_refused(store, monkeypatch):
    for limit in ("2 GB", "0", "-1", str(2**63), "9" * 5000, "٣"):
        monkeypatch.setenv(MEMORY_VARIABLE, limit)
        with refused(MEMORY_VARIABLE) as caught:
            memory.limit_memory()
        assert caught.value.came == repr(limit)[:80]
    run = here(store, {})
    assert (run.state, run.reason) == ("failed", str(caught.value))


def test_readers_of_untrusted_files_have_a_memory_limit_even_if_none_is_set(store, monkeypatch, zoo):
    """Training has no limit by default."""
    # How much memory it takes is for whoever starts it to say. The limit is lifted to report an error.
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    limits: list[int | None] = []
    with monkeypatch.context() as patch:
        patch.setattr(worker, "limit_memory", limits.append)
        here(store, {"source": "Class folders", "source_settings": {"folder": str(zoo)}}, "import")
        here(store, FeaturesSettings("0" * 64, str(zoo)).to_json(), "import")
        here(store, {})
    assert limits == [4 * 2**30, 4 * 2**30, None]
    before = resource.getrlimit(resource.RLIMIT_AS)
    memory.limit_memory(None)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    monkeypatch.setenv(MEMORY_VARIABLE, str(2**45))
    assert here(store, {}).state == "failed"
    assert resource.getrlimit(resource.RLIMIT_AS) == (before[1], before[1])
    monkeypatch.delenv(MEMORY_VARIABLE)
    monkeypatch.setattr(worker, "steps_of", raising(MemoryError()))
    assert "4.29 GB" in here(store, UPLOAD, "import").reason


def test_calls_without_a_run_or_with_a_running_one_are_refused(store, trained, capfd):
    assert worker.main([]) == 2
    assert "python -m ranking.commands.worker" in capfd.readouterr().err
    with pytest.raises(ValueError, match=r"\.\./x"):
        worker.main([str(store.home), "../x"])
    assert worker.main([str(store.home), trained.id]) == 2
    assert trained.id in capfd.readouterr().err
    assert store.runs.get(trained.id) == trained
    held = Held()
    run = held(store)
    with pytest.raises(BlockingIOError):
        worker.main([str(store.home), run.id])
    held.let_die()
    assert store.runs.get(run.id).state == "queued"


def test_invalid_settings_fail_a_run_with_a_short_reason(store, task_settings, failures, capfd):
    for kind, change, name in (
        ("samples", {"set": "f" * 64}, "ffff"),
        ("samples", {"warm_start": "../../../x"}, "../../../x"),
        ("samples", {"warm_start": "aaaaaaaaaa"}, "aaaaaaaaaa"),
        ("samples", {"task": "weather"}, "weather"),
        ("labels", {"method": "AP-SVM"}, "AP-SVM"),
        ("sequences", {"drawing": 3}, "drawing"),
        ("asking", {"strategies": ["guess"]}, "guess"),
        ("midrank", {"study": "weather"}, "weather"),
        ("timing", {"task": "weather"}, "weather"),
        ("timing", {"share": 7}, "share"),
        ("import", {"source": "Postcards"}, "Postcards"),
    ):
        kinds = {"samples": "train", "labels": "train", "sequences": "train", "import": "import"}
        run = here(store, {**task_settings[kind], **change}, kinds.get(kind, "study"))
        assert run.state == "failed", change
        assert isinstance(failures[-1], ValueError), change
        assert run.reason == reason_of(failures[-1])
        assert name in run.reason
        assert "Traceback" not in run.reason
        assert "Traceback" in capfd.readouterr().err
        assert not run.model_file.exists()
