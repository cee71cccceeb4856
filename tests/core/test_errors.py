"""The sentences of errors, once for each class of error."""

from __future__ import annotations

import pickle

import pytest

from ranking.core.errors import LONGEST, HomeError, InputError
from ranking.storage.space import FullError


def test_input_error_says_what_was_expected_what_came_and_the_remedy():
    for parts, sentence in (
        (("C", "at least 0", -1.5), "C: expected at least 0, got -1.5"),
        (("a", "text", "an image", "save it"), "a: expected text, got an image; save it"),
        (("SVM", "a trained method", None, "fit it"), "SVM: expected a trained method; fit it"),
    ):
        error = InputError(*parts)
        assert str(error) == sentence
        assert isinstance(error, ValueError)
        assert str(pickle.loads(pickle.dumps(error))) == sentence, "a worker process hands it on"
    assert len(str(InputError("name", "a name", "x" * 10_000))) < LONGEST + 50


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            HomeError("the folder /x", "disk full", "free some"),
            "cannot use the folder /x: disk full; free some",
        ),
        (HomeError("no such address"), "no such address"),
        (FullError("this workspace", "is full", "delete some"), "this workspace is full; delete some"),
    ],
)
def test_a_home_error_has_a_subject_a_reason_and_a_remedy(error, sentence):
    assert isinstance(error, HomeError)
    assert isinstance(error, OSError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.remedy) == (type(error), sentence, error.remedy)
