"""Near copies among the images of a set: the same image mirrored, rotated, darkened or cropped, or a video frame later.

Each image has a fingerprint, taken while its pixels are in memory (`fingerprints.py`). Similar hashes make candidates
(`candidates.py`); a candidate is a near copy where the two images match in detail after one is moved onto the other
(`alignment.py`, `matching.py`).
"""

from ranking.datasets.copies.fingerprints import Fingerprint, fingerprints
from ranking.datasets.copies.matching import Copies, near_copies

__all__ = ["Copies", "Fingerprint", "fingerprints", "near_copies"]
