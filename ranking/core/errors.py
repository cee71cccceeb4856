"""Errors whose parts are attributes: of input, and of data folders that cannot be used."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

LONGEST = 300  # characters of `came` in a message
# Remedies for a data folder that cannot be used.
GONE = (
    "its files were moved or removed while the app was running: put them back, "
    "or restart the app to start with an empty data folder"
)
REBUILD = "press “Rebuild the database” in the app, which removes nothing"
DAMAGED = f"the database is lost or damaged: {REBUILD}, or set RANKING_HOME to a new folder"
ELSEWHERE = "ask the administrator of this app to rebuild the database"
BUSY = "another process is using it: try again in a moment"
CLOSED = "set RANKING_HOME to a folder that can be written, or change its permissions"
FULL = "free some space there, or set RANKING_HOME to a folder that can be written"


class InputError(ValueError):
    """Input that cannot be used; the message is made of its parts.

    subject: what the input is: an argument, a setting or a file. expected: what it has to be, a noun phrase. came: the
    actual input: a value or, where it is clearer, a phrase; None where there is nothing to show. remedy: what to do
    about it, an imperative; "" where `expected` makes it clear.

    >>> str(InputError("bins of Colour", "2 to 16", 17))
    'bins of Colour: expected 2 to 16, got 17'
    >>> str(InputError("SVM", "a trained method", remedy="call fit first"))
    'SVM: expected a trained method; call fit first'
    """

    def __init__(self, subject: str, expected: str, came: object = None, remedy: str = "") -> None:
        super().__init__(subject, expected, came, remedy)  # the arguments that pickle restores it from
        self.subject, self.expected, self.came, self.remedy = subject, expected, came, remedy

    def __str__(self) -> str:
        sentence = f"{self.subject}: expected {self.expected}"
        if self.came is not None:
            sentence += f", got {_shown(self.came)}"
        return f"{sentence}; {self.remedy}" if self.remedy else sentence


def _shown(came: object) -> str:
    """Return `came` as the message shows it, at most LONGEST characters.

    >>> _shown(1234567), _shown(np.float64(0.5)), _shown("a larger file"), _shown(True)
    ('1,234,567', '0.5', 'a larger file', 'True')
    """
    if isinstance(came, np.generic):
        came = came.item()
    text = f"{came:,}" if isinstance(came, int) and not isinstance(came, bool) else str(came)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class HomeError(OSError):
    """The data folder ("home") cannot be used: no permission, no space, no database.

    subject: what cannot be used; without `why` it is the whole message. why: the reason. remedy: what to do about it.
    lost: the data folder whose database has to be rebuilt (`ranking.workspace.database_copies.rebuild`); None where
    rebuilding does not help.
    """

    def __init__(self, subject: str, why: str = "", remedy: str = "", lost: Path | None = None) -> None:
        super().__init__(subject)  # OSError takes further arguments for an error number
        self.subject, self.why, self.remedy, self.lost = subject, why, remedy, lost

    def __str__(self) -> str:
        return f"cannot use {self.subject}: {self.why}; {self.remedy}" if self.why else self.subject


@contextmanager
def explained(
    subject: str, home: Path | None = None, is_lost: Callable[[Path], bool] = lambda home: False
) -> Iterator[None]:
    """Turn system and database errors of the block into a HomeError about `subject`, with a remedy.

    home: the data folder whose database is used, if it can be rebuilt. is_lost: whether it has to be rebuilt.
    """
    try:
        yield
    except (HomeError, sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise
    except OSError as error:
        raise HomeError(subject, error.strerror or str(error), _remedy(error)) from error
    except sqlite3.DatabaseError as error:
        lost = home if home is not None and is_lost(home) else None
        remedy = DAMAGED if lost is not None else _remedy_of_database(error, home)
        raise HomeError(subject, str(error), remedy, lost) from error


def _remedy(error: OSError) -> str:
    """Return what to do about an error of the operating system."""
    closed = isinstance(error, PermissionError | NotADirectoryError | FileExistsError)
    read_only = error.errno in (errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
    return GONE if isinstance(error, FileNotFoundError) else CLOSED if closed or read_only else FULL


def _remedy_of_database(error: sqlite3.DatabaseError, home: Path | None) -> str:
    """Return what to do about an error of the database of `home`; None is a database that the user cannot rebuild."""
    message = str(error)
    if "unable to open" in message:
        return CLOSED if home is not None and home.is_dir() else GONE
    for phrase, remedy in (
        ("no such table", GONE),
        ("no such column", ELSEWHERE),
        ("not a database", ELSEWHERE),
        ("malformed", ELSEWHERE),
        ("locked", BUSY),
        ("readonly", CLOSED),
    ):
        if phrase in message:
            return remedy
    return FULL
