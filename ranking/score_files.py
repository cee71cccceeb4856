"""The scores that a training left, as a file of NumPy."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ranking.errors import InputError
from ranking.types import Floats

AGAIN = "train again"


def read_scores(file: Path, whose: str, count: int) -> Floats:
    """(count,) the scores in `file`; InputError where they cannot be read, or are others. What NumPy says of such a
    file is not told: it advises to run what is in it."""
    try:
        scores: Floats = np.load(file, allow_pickle=False)
        kind, shape = scores.dtype.kind, scores.shape
    except FileNotFoundError as error:
        raise InputError(f"scores of {whose}", f"a file {file.name}", "none", AGAIN) from error
    except (OSError, EOFError, ValueError, AttributeError, BadZipFile) as error:
        raise InputError(f"scores of {whose}", f"numbers in {file.name}", "a damaged file", AGAIN) from error
    if kind != "f" or shape != (count,):
        raise InputError(
            f"scores of {whose}",
            f"{count:,} numbers in {file.name}",
            f"{scores.dtype} of shape {shape}",
            AGAIN,
        )
    return scores
