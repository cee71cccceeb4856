"""What a localisation run located: its file, and the detections in it."""

from __future__ import annotations

import numpy as np
from bag_problems import bag_set
from refusals import refused

from ranking import make_method
from ranking.explain.localisation import Localisation, detections_of, read_localisation
from ranking.metrics.detection import non_maximum_suppression

IMAGES = 24


def localisation() -> Localisation:
    bags = bag_set()
    method = make_method("Latent AP-SVM", start="several").fit([bags])
    return Localisation.of(method, bags, method.window_scores(bags), np.arange(12, IMAGES))


MADE = localisation()


def test_a_saved_localisation_is_read_unchanged(tmp_path):
    MADE.save(tmp_path / "localisation.npz")
    back = read_localisation(tmp_path / "localisation.npz", IMAGES)
    for name, array in vars(MADE).items():
        assert np.array_equal(getattr(back, name), array), name


def test_detections_are_what_suppression_leaves_highest_first():
    bags, random = bag_set(), np.random.default_rng(0)
    scores = random.normal(size=len(bags.windows))
    scores[random.random(len(scores)) < 0.3] = -np.inf
    images = np.arange(3, 9)
    detected, boxes, confidences = detections_of(bags, scores, images)
    assert (np.diff(confidences) <= 0).all()
    assert {*detected.tolist()} <= {*images.tolist()}
    for image in images:
        rows = np.arange(*bags.starts[image : image + 2])
        rows = rows[np.isfinite(scores[rows])]
        kept = rows[non_maximum_suppression(bags.boxes[rows], scores[rows])]
        assert confidences[detected == image].tolist() == scores[kept].tolist()
        assert (boxes[detected == image] == bags.boxes[kept].astype(int)).all()


def test_incomplete_localisations_are_refused_with_a_message(tmp_path):
    MADE.save(tmp_path / "localisation.npz")
    whole = (tmp_path / "localisation.npz").read_bytes()
    for data, images in ((b"", IMAGES), (b"garbage", IMAGES), (whole[:-100], IMAGES), (whole, IMAGES - 1)):
        (tmp_path / "localisation.npz").write_bytes(data)
        with refused("localisation.npz"):
            read_localisation(tmp_path / "localisation.npz", images)


def test_a_missing_localisation_file_is_refused(tmp_path):
    with refused("localisation.npz"):
        read_localisation(tmp_path / "localisation.npz", IMAGES)
