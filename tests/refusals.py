"""What tests ask of an error: its parts, never its sentence. The sentences are tested in test_errors.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ranking.core.errors import InputError
from ranking.files import Unusable

ANYTHING: Any = object()


@contextmanager
def refused(subject: str, came: Any = ANYTHING) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """The block must end in an InputError about `subject`, and because of `came` where that is given."""
    # For example: with refused("bins of Colour", 17): make_feature("Colour", bins=17)
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    assert error.subject == subject
    assert came is ANYTHING or error.came == came
    assert error.expected


def refusal(call: Callable[..., object], *arguments: Any, **settings: Any) -> tuple[str, object] | None:
    """Subject and came of an InputError, expected and came of Unusable, or None without an error.

    >>> def halve(n):
    ...     if n % 2:
    ...         raise InputError("n", "an even number", n)
    >>> refusal(halve, 3), refusal(halve, 4)
    (('n', 3), None)
    """
    try:
        call(*arguments, **settings)
    except InputError as error:
        return error.subject, error.came
    except Unusable as error:
        return error.expected, error.came
    return None
