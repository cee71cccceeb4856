"""Near copies among the images of a set: the same image mirrored, rotated, darkened or cropped, or the next video
frame.

Each image has a fingerprint, computed while its pixels are in memory (`fingerprints.py`). Pairs with similar hashes
are candidates (`candidates.py`). A candidate is a near copy if its two images match in detail after one is aligned to
the other (`alignment.py`, `matching.py`).
"""

from ranking.datasets.copies.fingerprints import Fingerprint, fingerprints
from ranking.datasets.copies.matching import Copies, near_copies

__all__ = ["Copies", "Fingerprint", "fingerprints", "near_copies"]
