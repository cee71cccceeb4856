"""Typed paths of files and folders: resolved, read up to a limit, or refused with a reason."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.files import MAX_NAME, unread
from ranking.files.limits import megabytes


def typed_path(typed: str, expected: str) -> Path:
    """Return a typed path with `~` expanded; ValueError if it is empty or names an unknown user."""
    if not typed.strip():
        raise InputError("path", expected, "none", "type it")
    try:
        return Path(typed.strip()).expanduser()
    except RuntimeError as error:
        user = readable(typed, MAX_NAME).partition("/")[0]
        raise InputError(user, "a user with a home folder here", "none", "type the path in full") from error


def typed_file(typed: str | Path, expected: str) -> Path:
    """Return the path of a typed file; ValueError if there is none, or it is not a regular file."""
    path = typed_path(str(typed), expected)
    shown = readable(str(path), MAX_NAME)
    try:
        # so that pipes and devices are never opened
        is_file = path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise unread(shown, error) from error
    if not is_file:
        raise InputError(shown, expected, "no file")
    return path


def read_typed(typed: str | Path, limit: int, expected: str) -> bytes:
    """Return all bytes of a file of at most `limit` bytes; ValueError with what was expected and what was there."""
    path = typed_file(typed, expected)
    try:
        # a large file of another kind is not read
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(limit + 1) if size <= limit else b""
    except OSError as error:
        raise unread(readable(str(path), MAX_NAME), error) from error
    if max(size, len(data)) > limit:
        raise InputError(readable(str(path), MAX_NAME), expected, f"more than {megabytes(limit)}")
    return data


def in_file(file: str, expected: str, error: Exception) -> InputError:
    """Return `error` as an error about a part of `file`, or about `file`, which should have been `expected`.

    >>> str(in_file("a.mat", "faces", InputError("feat", "21 x 5", "3 x 5")))
    'a.mat, feat: expected 21 x 5, got 3 x 5'
    >>> str(in_file("a.mat", "faces", OverflowError("too large")))
    'a.mat: expected faces, got too large'
    """
    if isinstance(error, InputError):
        return InputError(f"{file}, {error.subject}", error.expected, error.came, error.remedy)
    return InputError(file, expected, str(error))


@contextmanager
def of_file(typed: str, expected: str) -> Iterator[None]:
    """Raise any error of a library that parses a file, which may be damaged, as one about it."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise in_file(readable(typed, MAX_NAME), expected, error) from error


def check_names(what: str, names: Sequence[str], given: Container[str]) -> None:
    """Raise InputError unless a file has all variables or arrays of those names."""
    if missing := [name for name in names if name not in given]:
        raise InputError(what, ", ".join(names), f"none called {', '.join(missing)}")
