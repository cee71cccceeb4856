"""Errors whose parts are attributes: of input, and of data folders that cannot be used."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

# characters of `came` in a message
LONGEST = 300
# Remedies for a data folder that cannot be used.
GONE = (
    "its files were moved or removed while the app was running: put them back, "
    "or restart the app to start with an empty data folder"
)
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
        # the arguments that pickle restores it from
        super().__init__(subject, expected, came, remedy)
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
    """The data folder ("home") cannot be used: no permission, no space."""

    # `subject` cannot be used; without `why` it is the whole message.
    def __init__(self, subject: str, why: str = "", remedy: str = "") -> None:
        # OSError takes further arguments for an error number
        super().__init__(subject)
        self.subject, self.why, self.remedy = subject, why, remedy

    def __str__(self) -> str:
        return f"cannot use {self.subject}: {self.why}; {self.remedy}" if self.why else self.subject


@contextmanager
def explained(subject: str) -> Iterator[None]:
    """Turn errors of the operating system in the block into a HomeError about `subject`, with a remedy."""
    try:
        yield
    except HomeError:
        raise
    except OSError as error:
        raise HomeError(subject, error.strerror or str(error), _remedy(error)) from error


def _remedy(error: OSError) -> str:
    """Return what to do about an error of the operating system."""
    closed = isinstance(error, PermissionError | NotADirectoryError | FileExistsError)
    read_only = error.errno in (errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
    return GONE if isinstance(error, FileNotFoundError) else CLOSED if closed or read_only else FULL
