"""Near copies among the images of a set.

Near copies are the same image mirrored, rotated, darkened or cropped, or the next video frame. Other folders
import from here only.

Each image has a fingerprint, computed while its pixels are in memory (`fingerprints.py`). Pairs with similar
hashes are candidates (`candidates.py`). A candidate is a near copy if its two images match in detail after
one is aligned to the other (`alignment.py`, `matching.py`). An import stores them in the folder of its image
set and keeps them on one side of the split (`stored.py`).
"""

from ranking.datasets.copies.fingerprints import Fingerprint, fingerprints
from ranking.datasets.copies.matching import near_copies
from ranking.datasets.copies.stored import (
    StoredCopies,
    are_together,
    group_copies,
    group_copies_together,
    stored_copies,
)

__all__ = [
    "Fingerprint",
    "StoredCopies",
    "are_together",
    "fingerprints",
    "group_copies",
    "group_copies_together",
    "near_copies",
    "stored_copies",
]
