"""One contract for every method that ranks labels: fit, scores, prediction, certificate, files, errors."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from label_problems import flat, images

from ranking import LabelSet, ProgressEvent, Query, StopTraining, make_method, method_class, method_names
from ranking.methods.label_features import MAPS
from ranking.settings import settings_dict, settings_of

EVERY = pytest.mark.parametrize("name", method_names(ranks="labels"))
EVERY_MAP = pytest.mark.parametrize("unary", MAPS)


def test_methods_are_told_apart_by_what_they_rank() -> None:
    samples, labels = method_names(ranks="samples"), method_names(ranks="labels")
    assert labels == ["Independent p@k", "C-star p@k"]
    assert not set(samples) & set(labels)
    orders = method_names(ranks="orders")
    assert not set(orders) & set(samples + labels)
    assert sorted(samples + labels + orders) == sorted(method_names())
    with pytest.raises(ValueError, match=r"ranks.*'samples', 'orders', 'labels'.*'images'"):
        method_names(ranks="images")


@EVERY
@EVERY_MAP
def test_fit_scores_and_prediction(name: str, unary: str) -> None:
    label_set = images(0, dtype=np.float32)
    method = make_method(name, unary=unary)
    assert method.certificate is None
    assert method.fit(label_set) is method
    prediction = method.prediction(label_set)
    scores = method.scores(label_set)
    assert (scores.shape, scores.dtype) == ((14, 5), np.float64)
    np.testing.assert_array_equal(scores, prediction.scores)
    assert prediction.k.tolist() == [round(label_set.labels.sum(axis=1).mean())] * 14
    members = prediction.best.members
    assert (members.sum(axis=1) == prediction.k).all()
    assert (scores[members] >= 0).all()
    assert (scores[~members] <= 0).all()
    certificate = method.certificate
    assert certificate.converged
    assert certificate.gap == certificate.primal - certificate.dual
    assert 0 <= certificate.relative_gap <= method.tolerance
    assert certificate.iterations >= 1
    assert certificate.seconds > 0


@EVERY
def test_labels_of_images_are_looked_at_in_training_alone(name: str) -> None:
    label_set = images(1)
    method = make_method(name).fit(label_set)
    blind = LabelSet(label_set.features, np.zeros_like(label_set.labels), label_set.names)
    np.testing.assert_array_equal(method.scores(blind), method.scores(label_set))
    assert method.scores(label_set.part([])).shape == (0, 5)


@EVERY
def test_answers_are_forced_and_k_makes_room_for_them(name: str) -> None:
    label_set = images(2)
    method = make_method(name).fit(label_set)
    answers = np.zeros((14, 5), int)
    answers[0], answers[1], answers[2, :2] = 1, -1, (1, -1)
    prediction = method.prediction(label_set, 2, answers)
    assert prediction.k.tolist() == [5, 0] + [2] * 12
    members = prediction.best.members
    assert members[0].all()
    assert not members[1].any()
    assert members[2, :2].tolist() == [True, False]
    assert prediction.scores[2, :2].tolist() == [np.inf, -np.inf]
    each = method.prediction(label_set, np.arange(14) % 6)
    assert each.best.members.sum(axis=1).tolist() == (np.arange(14) % 6).tolist()


@EVERY
def test_the_same_run_twice_is_the_same_and_leaves_the_images_alone(name: str) -> None:
    label_set = images(3)
    features, labels = label_set.features.copy(), label_set.labels.copy()
    runs = [make_method(name, C=10.0, max_iterations=7).fit(label_set) for _ in range(2)]
    np.testing.assert_array_equal(flat(runs[0]), flat(runs[1]))
    np.testing.assert_array_equal(label_set.features, features)
    np.testing.assert_array_equal(label_set.labels, labels)
    other = runs[0].fit(images(4))
    np.testing.assert_array_equal(
        flat(other), flat(make_method(name, C=10.0, max_iterations=7).fit(images(4)))
    )


@EVERY
@pytest.mark.parametrize("settings", [{}, {"k": 2}, {"solver": "subgradient"}])
def test_iterations_that_run_out_are_not_convergence(name: str, settings: dict[str, Any]) -> None:
    method = make_method(name, C=100.0, max_iterations=2, tolerance=1e-6, **settings).fit(images(5))
    assert not method.certificate.converged
    assert method.certificate.iterations == 2
    assert flat(method).any() or method.solver == "subgradient"  # whose first steps may be worse than none


@EVERY
@pytest.mark.parametrize("settings", [{}, {"k": 2}, {"solver": "subgradient"}])
def test_a_callback_hears_of_progress_and_can_stop(name: str, settings: dict[str, Any]) -> None:
    events: list[ProgressEvent] = []

    def stop(event: ProgressEvent) -> None:
        events.append(event)
        if event.iteration == 2:
            raise StopTraining

    method = make_method(name, C=100.0, tolerance=1e-6, **settings).fit(images(6), on_progress=stop)
    assert [event.iteration for event in events] == [0, 1, 2]
    assert all(event.dual <= event.primal for event in events)
    assert all(after.primal <= before.primal for before, after in itertools.pairwise(events))
    assert not method.certificate.converged


@EVERY
def test_a_warm_start_begins_where_the_other_run_ended(name: str) -> None:
    label_set = images(7, count=60)
    first = make_method(name, C=10.0, tolerance=1e-4).fit(label_set)
    events: list[ProgressEvent] = []
    make_method(name, C=10.0, tolerance=1e-4).fit(label_set, on_progress=events.append, warm_start=first)
    assert events[0].primal == pytest.approx(first.certificate.primal)
    larger = make_method(name, C=20.0, tolerance=1e-4).fit(label_set, warm_start=first)
    cold = make_method(name, C=20.0, tolerance=1e-4).fit(label_set)
    assert larger.certificate.converged
    assert larger.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-4)


@EVERY
def test_what_cannot_start_another(name: str) -> None:
    label_set = images(0)
    for other in (make_method(name), make_method(next(n for n in method_names(ranks="labels") if n != name))):
        with pytest.raises(ValueError, match=f"warm_start must be a fitted {name}"):
            make_method(name).fit(label_set, warm_start=other)
    with pytest.raises(ValueError, match="warm_start was trained on other images, labels, core or scores"):
        make_method(name).fit(label_set, warm_start=make_method(name).fit(images(1)))


@EVERY
@EVERY_MAP
def test_files_hold_all_of_it(name: str, unary: str, tmp_path: Path) -> None:
    label_set, path = images(1), tmp_path / "model.npz"
    method = make_method(name, unary=unary, C=3.0).fit(label_set)
    method.save(path)
    again = method_class(name).load(path)
    assert settings_dict(again) == settings_dict(method)
    assert again.certificate == method.certificate
    assert (again.names, again.usual_k) == (method.names, method.usual_k)
    np.testing.assert_array_equal(flat(again), flat(method))
    np.testing.assert_array_equal(again.scores(images(2)), method.scores(images(2)))
    warm = make_method(name, unary=unary, C=3.0).fit(label_set, warm_start=again)
    assert warm.certificate.primal == pytest.approx(method.certificate.primal, rel=2e-2)


@EVERY
def test_files_that_are_none_say_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    make_method(name).fit(images(0)).save(path)
    whole = path.read_bytes()
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    broken = [
        {"shared": arrays["shared"][1:]},
        {"own": arrays["own"][1:]},
        {"interactions": np.zeros((2, 3))},
        {"header": np.array(json.dumps({**header, "names": ["a"]}))},
        {"header": np.array(json.dumps({**header, "map": {}}))},
        {"header": np.array(json.dumps({key: header[key] for key in header if key != "usual_k"}))},
    ]
    for change in broken:
        np.savez(path, **{**arrays, **change})
        with pytest.raises(ValueError, match=r"model\.npz is not a saved method"):
            method_class(name).load(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"model\.npz is not a saved method"):
        method_class(name).load(path)
    make_method("AP-SVM").fit([Query(np.eye(4), [1, 0, 0, 1])]).save(path)
    with pytest.raises(ValueError, match=f"holds AP-SVM .*expected {name}"):
        method_class(name).load(path)


@EVERY
def test_settings_are_the_fields_that_a_caller_may_set(name: str) -> None:
    fields = {field.name for field in dataclasses.fields(method_class(name)) if field.init}
    known = {item.name for item in settings_of(method_class(name))}
    assert fields == known >= {"C", "k", "unary", "tolerance", "max_iterations"}


@EVERY
def test_what_cannot_be_trained_or_ranked(name: str) -> None:
    label_set = images(0)
    with pytest.raises(ValueError, match=f"{name} ranks labels: give fit a LabelSet, got list"):
        make_method(name).fit([Query(np.eye(3), [1, 0, 1])])
    for marks, missing in (
        (np.zeros((14, 5)), "image with a label"),
        (np.ones((14, 5)), "label that an image lacks"),
    ):
        with pytest.raises(ValueError, match=f"the label set has no {missing}"):
            make_method(name).fit(LabelSet(label_set.features, marks, label_set.names))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k must be at most 5, the number of labels, got 6"):
        make_method(name, k=6).fit(label_set)
    with pytest.raises(ValueError, match="is not trained; call fit first"):
        make_method(name).scores(label_set)
    method = make_method(name).fit(label_set)
    with pytest.raises(ValueError, match="was trained on 5 labels, these are not the same"):
        method.scores(LabelSet(label_set.features, label_set.labels, tuple("abcde")))
    with pytest.raises(ValueError, match="was trained on 3 features, the images have 4"):
        method.scores(images(0, columns=4))
    with pytest.raises(ValueError, match=r"answers must be \(14, 5\), one for each image and label"):
        method.prediction(label_set, answers=np.zeros(5))
    with pytest.raises(ValueError, match=f"no setting 'D'|{name}: C must be"):
        make_method(name, C="much")
