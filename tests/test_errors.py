"""The sentences of errors, once for each class of error."""

from __future__ import annotations

import pickle

import pytest

from ranking.errors import LONGEST, InputError


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("C", "at least 0", -1.5), "C: expected at least 0, got -1.5"),
        (
            ("a.csv", "text in UTF-8", "an image", "save it as CSV"),
            "a.csv: expected text in UTF-8, got an image; save it as CSV",
        ),
        (
            ("SVM", "a trained method", None, "call fit first"),
            "SVM: expected a trained method; call fit first",
        ),
    ],
)
def test_input_error_says_what_was_expected_what_came_and_the_remedy(parts, sentence):
    error = InputError(*parts)
    assert str(error) == sentence
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == sentence, "a worker process hands it on"


def test_an_error_shows_no_more_of_what_came_than_a_screen_holds():
    assert len(str(InputError("name", "a name", "x" * 10_000))) < LONGEST + 50
