"""Runs whose method sees features through a projection: it is kept beside the method, ranks elsewhere, and travels."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused
from test_run_archive import PICKLED, changed, npy, packed, unpacked
from working import not_imported

from ranking import Query, method_class, worker
from ranking.__main__ import main
from ranking.events import Report
from ranking.features import load_features
from ranking.features.projection import PCA, Projection
from ranking.run import Run
from ranking.run_archive import PROJECTION, export_run, import_run
from ranking.run_settings import TrainSettings
from ranking.store import Store
from ranking.training import projection_of

SEVEN: dict[str, Any] = {"kind": "PCA", "components": 7, "whiten": True}
PARTS = [["HOG", {"side": 32}]]


def trained(store: Store, key: str, **changes: Any) -> Run:
    settings = {"set": key, "features": PARTS, "query": "3", "method": "AP-SVM", "projection": SEVEN}
    run = store.create_run("train", {"method_settings": {"C": 10.0}, **settings, **changes})
    report = Report(run.events_file)
    store.end_run(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    return store.run(run.id)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A home with the digits and one training."""
    store = Store(tmp_path_factory.mktemp("origin"))
    draft = store.create_run("import", {"source": "Digits", "source_settings": {}})
    store.end_run(draft.id, "finished", result=worker.import_images(store, draft, Report(draft.events_file)))
    trained(store, store.keep(draft.id))
    return store


@pytest.fixture(scope="module")
def run(origin: Store) -> Run:
    return origin.runs("train")[-1]


@pytest.fixture(scope="module")
def exported(origin: Store, run: Run) -> bytes:
    return export_run(origin, run.id)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Store:
    return Store(tmp_path / "elsewhere")


def test_the_projection_lies_beside_the_method_and_gives_its_scores(origin: Store, run: Run) -> None:
    images, projection = origin.image_set(run.settings["set"]), projection_of(run)
    features = load_features(images, PARTS, origin.features)
    assert projection is not None
    np.testing.assert_array_equal(projection.axes, PCA(7, True).fitted(features, ~images.test).axes)
    method = method_class("AP-SVM").load(run.model_file)
    np.testing.assert_array_equal(np.load(run.scores_file), method.score(Query(projection(features))))


def test_the_command_line_ranks_through_it(
    origin: Store, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rank", run.id, "--home", str(origin.home), "--part", "all"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    scores = dict(zip(origin.image_set(run.settings["set"]).ids, np.load(run.scores_file), strict=True))
    assert len(rows) == len(scores)
    assert all(float(row["score"]) == scores[row["sample"]] for row in rows)


def test_without_its_projection_a_method_says_so(origin: Store, run: Run, tmp_path: Path) -> None:
    aside = run.projection_file.rename(tmp_path / "aside.npz")
    try:
        with refused(PROJECTION) as caught:
            projection_of(run)
        assert run.id in caught.value.expected
        with pytest.raises(ValueError, match=PROJECTION):
            export_run(origin, run.id)
    finally:
        aside.rename(run.projection_file)


def test_a_training_begins_with_no_weights_of_another_projection(origin: Store, run: Run) -> None:
    for projection in (None, {**SEVEN, "components": 8}, {**SEVEN, "whiten": False}):
        with refused("warm_start") as caught:
            worker._warm_start(origin, like(run, projection=projection))
        assert "'PCA'" in str(caught.value.came)
    assert worker._warm_start(origin, like(run)) is not None


def like(run: Run, **changes: Any) -> TrainSettings:
    return TrainSettings.from_json({**run.settings, "warm_start": run.id, **changes})


# ---------------------------------------------------------------------------------------------------------
# Archives
# ---------------------------------------------------------------------------------------------------------


def test_it_travels_with_its_training(origin: Store, run: Run, exported: bytes, elsewhere: Store) -> None:
    back = import_run(elsewhere, exported)
    assert back.settings["projection"] == SEVEN
    ours, theirs = projection_of(back), projection_of(run)
    assert ours is not None
    assert theirs is not None
    np.testing.assert_array_equal(ours.axes, theirs.axes)
    assert unpacked(export_run(elsewhere, back.id))[PROJECTION] == unpacked(exported)[PROJECTION]
    again = import_run(origin, exported)
    assert again.imported is not None
    assert again.imported["checked"] == {"metrics": True, "scores": True}
    origin.delete_run(again.id)
    origin.empty_deleted()


def with_arrays(exported: bytes, **changes: Callable[[Any], Any]) -> bytes:
    """The archive with other arrays in its projection, and everything else kept."""
    files = unpacked(exported)
    arrays = unpacked(files[PROJECTION])
    for name, change in changes.items():
        arrays[f"{name}.npy"] = npy(np.asarray(change(np.load(io.BytesIO(arrays[f"{name}.npy"])))))
    return packed({**files, PROJECTION: packed(arrays)})


FOREIGN: list[tuple[dict[str, Callable[[Any], Any]], list[str]]] = [
    ({"mean": lambda mean: mean[:-1]}, [PROJECTION]),
    ({"mean": lambda mean: mean * np.nan}, [PROJECTION]),
    ({"directions": lambda rows: 2 * rows}, [PROJECTION]),
    ({"variances": np.negative}, [PROJECTION]),
    ({"whiten": np.logical_not}, [PROJECTION]),
    ({"directions": lambda rows: rows[:6], "variances": lambda values: values[:6]}, ["model.npz", "6"]),
    (
        {"directions": lambda rows: rows[:, :-1] / np.linalg.norm(rows[:, :-1], axis=1)[:, None]}
        | {"mean": lambda mean: mean[:-1]},
        [PROJECTION, "323", "324"],
    ),
]


def test_a_projection_is_one_that_the_settings_ask_for(exported: bytes, elsewhere: Store) -> None:
    for changes, names in FOREIGN:
        not_imported(elsewhere, with_arrays(exported, **changes), *names)


def test_where_the_features_are_here_it_is_one_of_the_training_samples(
    origin: Store, exported: bytes, elsewhere: Store
) -> None:
    for changes in (
        {"mean": lambda mean: mean + 0.01},
        {"directions": lambda rows: np.roll(rows, 1, axis=1)},
        {"directions": lambda rows: rows[[0, 0, 2, 3, 4, 5, 6]]},
        {"variances": lambda values: values * 0.9},
        {"total": lambda total: total * 2},
        {"mean": lambda mean: mean * 1e300},
    ):
        archive = with_arrays(exported, **changes)
        not_imported(origin, archive, PROJECTION)
        back = import_run(elsewhere, archive)
        assert (back.imported or {})["checked"] == {"metrics": False, "scores": False}, "and is marked"


def test_what_was_fitted_on_all_samples_is_refused(origin: Store, run: Run, exported: bytes) -> None:
    images = origin.image_set(run.settings["set"])
    cheat: Projection = PCA(7, True).fitted(load_features(images, PARTS, origin.features))
    arrays = {
        name: (lambda _, name=name: getattr(cheat, name)) for name in ("mean", "directions", "variances")
    }
    arrays["total"] = lambda _: cheat.total
    not_imported(origin, with_arrays(exported, **arrays), PROJECTION)


def test_a_projection_stands_exactly_where_settings_tell_of_one(exported: bytes, elsewhere: Store) -> None:
    files = unpacked(exported)
    not_imported(elsewhere, packed({name: files[name] for name in files if name != PROJECTION}), PROJECTION)
    not_imported(
        elsewhere, changed(exported, lambda record: record["settings"].pop("projection")), PROJECTION
    )
    for settings, name in (
        ({"kind": "LDA"}, "LDA"),
        ({**SEVEN, "components": 6}, "7"),
        ([SEVEN], "projection"),
    ):
        archive = changed(
            exported, lambda record, settings=settings: record["settings"].update(projection=settings)
        )
        not_imported(elsewhere, archive, name)


def test_a_projection_holds_numbers_and_nothing_else(exported: bytes, elsewhere: Store) -> None:
    files = unpacked(exported)
    arrays = unpacked(files[PROJECTION])
    claim = npy(np.zeros(3)).replace(b"'shape': (3,), }               ", b"'shape': (30000000000000,), }  ")
    for content, name in (
        (b"no zip", PROJECTION),
        (packed({**arrays, "mean.npy": PICKLED}), "mean.npy"),
        (packed({**arrays, "mean.npy": claim}), "240,000,000,000,000"),
        (packed({**arrays, "../x.npy": b""}), "../x.npy"),
        (packed({"mean.npy": arrays["mean.npy"]}), PROJECTION),
    ):
        not_imported(elsewhere, packed({**files, PROJECTION: content}), name)
