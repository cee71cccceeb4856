"""A training of a ranker of labels needs an image set, settings and a folder for features: no store, no run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from labelled_pictures import patches

from ranking import LabelSet, label_training, method_class
from ranking.label_training import label_metrics, label_set_of, make_label_ranker, train_labels
from ranking.metrics import break_even_precision
from ranking.run_settings import LabelTrainSettings
from ranking.types import ImageSet, ProgressEvent, StopTraining

SETTINGS = LabelTrainSettings(
    "key",
    (("Colour", {"bins": 2}),),
    "C-star p@k",
    {"core_size": 2, "C": 10.0, "tolerance": 0.05},
    min_images=4,
)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return patches(tmp_path_factory.mktemp("patches") / "set")


def whole_precision(method: Any, part: LabelSet) -> float:
    """The mean break-even precision from scores of all images at once."""
    part = part.part(part.labels.any(axis=1))
    scores = method.scores(part, part.labels.sum(axis=1))
    return float(np.mean([break_even_precision(z, s) for z, s in zip(part.labels, scores, strict=True)]))


@pytest.mark.parametrize("name", ["C-star p@k", "Independent p@k"])
def test_a_training_without_a_store(
    images: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(label_training, "BLOCK", 7)  # so that there are several, the last one not full
    steps: list[str] = []
    iterations: list[ProgressEvent] = []
    settings = replace(SETTINGS, method=name, method_settings={"C": 10.0, "tolerance": 0.05})
    trained = train_labels(
        images,
        settings,
        tmp_path,
        on_step=lambda what, done, total: steps.append(what),
        on_iteration=iterations.append,
        on_fitted=lambda: steps.append("fitted"),
    )
    assert list(dict.fromkeys(steps)) == ["Colour", "Training", "fitted"]
    assert iterations
    assert trained.certificate is not None
    assert trained.certificate.relative_gap <= 0.05
    labels = label_set_of(images, settings, tmp_path)
    assert "rare" in images.classes
    assert "rare" not in labels.names
    for part, rows in (("train", ~labels.test), ("test", labels.test)):
        metrics = trained.metrics[part]
        assert metrics["BEP"] == pytest.approx(whole_precision(trained.method, labels.part(rows)), abs=1e-12)
        assert metrics["images"] == labels.labels[rows].any(axis=1).sum()
        assert 0.5 < metrics["BEP"] < 1.0
    assert trained.metrics["train"]["images"] < (~labels.test).sum(), "an image without labels is left out"
    trained.method.save(tmp_path / "model.npz")
    again = method_class(name).load(tmp_path / "model.npz")
    assert label_metrics(again, labels.part(labels.test)) == trained.metrics["test"]


def test_it_learns_from_training_images_alone(images: ImageSet, tmp_path: Path) -> None:
    labels = images.labels.copy()
    labels[images.test] = ~labels[images.test]
    fields = {name: getattr(images, name) for name in images.__dataclass_fields__ if name != "test"}
    settings = replace(SETTINGS, min_images=1)
    usual = train_labels(images, settings, tmp_path).metrics
    changed = train_labels(ImageSet(**{**fields, "labels": labels}), settings, tmp_path).metrics
    assert usual["train"] == changed["train"]
    assert usual["test"] != changed["test"]


def test_where_no_image_has_a_label_there_is_no_precision(images: ImageSet, tmp_path: Path) -> None:
    method = train_labels(images, SETTINGS, tmp_path).method
    labels = label_set_of(images, SETTINGS, tmp_path)
    nothing = labels.part(~labels.labels.any(axis=1))
    assert len(nothing) > 0
    assert label_metrics(method, nothing) == label_metrics(method, labels.part([])) == {"images": 0.0}


def test_who_stops_a_training_gets_the_best_weights_so_far(images: ImageSet, tmp_path: Path) -> None:
    def stop(event: ProgressEvent) -> None:
        if event.iteration >= 2:
            raise StopTraining

    endless = replace(SETTINGS, method_settings={"C": 1e5, "tolerance": 1e-7})
    trained = train_labels(images, endless, tmp_path, on_iteration=stop)
    assert trained.certificate is not None
    assert not trained.certificate.converged
    assert trained.certificate.iterations == 2
    assert 0.0 < trained.metrics["test"]["BEP"] <= 1.0


def test_settings_that_make_no_training_are_refused(images: ImageSet, tmp_path: Path) -> None:
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"method": "AP-SVM"}, "AP-SVM"),
        ({"method": "RankSVM"}, "RankSVM"),
        ({"method": "TOP-k"}, "TOP-k"),
        ({"method_settings": {"core_size": -1}}, "core_size"),
        ({"features": ()}, "feature"),
        ({"min_images": 100}, "100"),
    )
    for change, name in changes:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            train_labels(images, replace(SETTINGS, **change), tmp_path)
        assert name in str(caught.value), change
    assert cast(Any, make_label_ranker("C-star p@k", {"core_size": 3})).core_size == 3
