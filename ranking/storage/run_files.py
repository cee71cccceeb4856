"""Read the projection and the scores of a training run from its folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.features.projection import Projection
from ranking.storage.run import Run

AGAIN = "train again"


def read_scores(file: Path, whose: str, count: int) -> Floats:
    """Return the scores (count,) in `file`, none NaN; InputError if unreadable or of another number."""
    # NumPy's own message is not shown, because it suggests running code in the file.
    try:
        stored = np.lib.format.open_memmap(file, mode="r")
    except FileNotFoundError as error:
        raise InputError(f"scores of {whose}", f"a file {file.name}", "none", AGAIN) from error
    except (OSError, ValueError, OverflowError) as error:
        raise _damaged(file, whose) from error
    if stored.dtype.kind != "f" or stored.shape != (count,):
        expected, came = f"{count:,} numbers in {file.name}", f"{stored.dtype} of shape {stored.shape}"
        raise InputError(f"scores of {whose}", expected, came, AGAIN)
    scores: Floats = np.array(stored)
    if np.isnan(scores).any():
        raise _damaged(file, whose)
    return scores


def _damaged(file: Path, whose: str) -> InputError:
    return InputError(f"scores of {whose}", f"numbers in {file.name}", "a damaged file", AGAIN)


def projection_of(run: Run) -> Projection | None:
    """Return the projection saved with a training run, None without one; ValueError if unreadable."""
    if run.settings.get("projection") is None:
        return None
    if not run.projection_file.exists():
        folder = f"the projection of training run {run.id} in its folder"
        raise InputError(run.projection_file.name, folder, remedy="train again")
    return Projection.load(run.projection_file)
