"""Errors of the readers of files, as errors about the file that a person named."""

from __future__ import annotations

from ranking.core.errors import InputError


def in_file(file: str, expected: str, error: Exception) -> InputError:
    """`error` as one about a part of `file`, which should have been what is `expected`.

    >>> str(in_file("a.mat", "faces", InputError("feat", "21 x 5", "3 x 5")))
    'a.mat, feat: expected 21 x 5, got 3 x 5'
    >>> str(in_file("a.mat", "faces", OverflowError("too large")))
    'a.mat: expected faces, got too large'
    """
    if isinstance(error, InputError):
        return InputError(f"{file}, {error.subject}", error.expected, error.came, error.remedy)
    return InputError(file, expected, str(error))
