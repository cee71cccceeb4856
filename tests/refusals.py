"""What tests ask of an error: its parts, never its sentence. The sentences are tested in test_errors.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ranking.errors import InputError

ANYTHING: Any = object()


@contextmanager
def refused(subject: str, came: Any = ANYTHING) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """The block must end in an InputError about `subject`, and because of `came` where that is given.

    with refused("bins of Colour", 17):
        make_feature("Colour", bins=17)
    """
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    assert error.subject == subject
    assert came is ANYTHING or error.came == came
    assert error.expected
