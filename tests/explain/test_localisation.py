"""What a localisation run located: its file, and the detections in it."""

from __future__ import annotations

import numpy as np
import pytest
from archives import PICKLED, npy, packed, unpacked
from bag_problems import bag_set
from refusals import refused

from ranking import make_method
from ranking.explain.localisation import Localisation, detections_of, read_localisation
from ranking.metrics.detection import non_maximum_suppression

IMAGES = 24


def localisation() -> tuple[Localisation, bytes]:
    bags = bag_set()
    method = make_method("Latent AP-SVM", start="several").fit([bags])
    made = Localisation.of(method, bags, method.window_scores(bags), np.arange(12, IMAGES))
    return made, content(made)


def content(made: Localisation) -> bytes:
    return packed({f"{name}.npy": npy(array) for name, array in vars(made).items()})


MADE, DATA = localisation()


def test_a_localisation_comes_back_as_it_was(tmp_path):
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


def changed(**arrays: bytes) -> bytes:
    return packed({**unpacked(DATA), **{f"{name}.npy": array for name, array in arrays.items()}})


HOSTILE = {
    "no zip": (b"PK\x03\x04 nothing", "archive"),
    "code": (changed(boxes=PICKLED), "boxes.npy"),
    "a name of a path": (packed({**unpacked(DATA), "../scores.npy": b""}), "names in the archive"),
    "an array lacks": (packed({"boxes.npy": npy(MADE.boxes)}), "localisation"),
    "fewer images": (changed(boxes=npy(MADE.boxes[:-1])), "boxes of a localisation"),
    "an empty box": (changed(boxes=npy(MADE.boxes[:, [2, 1, 0, 3]])), "boxes of a localisation"),
    "a negative box": (changed(detections=npy(MADE.detections - 1000)), "detections of a localisation"),
    "another type": (changed(boxes=npy(MADE.boxes.astype(float))), "boxes of a localisation"),
    "an unknown image": (changed(detected=npy(MADE.detected + IMAGES)), "detected of a localisation"),
    "rising": (changed(confidences=npy(MADE.confidences[::-1].copy())), "confidences of a localisation"),
    "no number": (changed(objectives=npy(MADE.objectives * np.nan)), "objectives of a localisation"),
    "starts as numbers": (changed(starts=npy(np.arange(5))), "starts of a localisation"),
    "unknown starts": (changed(starts=npy(np.array(["<b>"] * 5))), "starts of a localisation"),
    "no text": (
        changed(starts=npy(np.full((5, 1), 0x7FFFFFFF, np.uint32).view("U1")[:, 0])),
        "starts of a localisation",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_localisation_is_refused_in_words(tmp_path, what):
    data, subject = HOSTILE[what]
    with refused(subject):
        Localisation.load(data, IMAGES)
    (tmp_path / "localisation.npz").write_bytes(data)
    with refused("localisation.npz"):
        read_localisation(tmp_path / "localisation.npz", IMAGES)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with refused("localisation.npz"):
        read_localisation(tmp_path / "localisation.npz", IMAGES)
