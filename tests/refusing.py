"""Tables of input that is refused: what each case is refused with, to be compared with a table in one assertion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ranking.errors import InputError
from ranking.intake import Unusable


def refusal(call: Callable[..., object], *arguments: Any, **settings: Any) -> tuple[str, object] | None:
    """Subject and came of the InputError that the call ends in, or expected and came of Unusable; None where it ends
    well.

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
