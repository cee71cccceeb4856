"""Images whose labels are ranked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.core.arrays import AnyArray, Bools, Features, Ints, check_features, check_ids, check_marks
from ranking.core.errors import InputError


@dataclass(frozen=True, eq=False)
class LabelSet:
    """M images, each with a ranking of L labels (c-star, section 5).

    features: (M, d) float32 or float64, finite. labels: (M, L) bool, whether an image has a label. names: the L
    labels, all different. test: (M,) bool, whether an image is in the test split; none by default. ids: (M,) stable
    names of the images; the row numbers by default. groups: (M,) numbers; images of one group are on one side of
    every fold; each image has its own group by default.
    """

    features: Features
    labels: Bools
    names: tuple[str, ...]
    test: Bools = None  # type: ignore[assignment]  # arrays from __post_init__ on
    ids: AnyArray = None  # type: ignore[assignment]
    groups: Ints = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        count, names = len(features), tuple(self.names)
        if not all(isinstance(name, str) for name in names):
            raise InputError("names", "the labels as text", f"{names!r:.60}")
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise InputError("names", "different labels", f"{twice!r} twice", "give each label one column")
        object.__setattr__(self, "names", names)
        shape = (count, len(names))
        object.__setattr__(self, "labels", check_marks(self.labels, shape, "labels", "image and name"))
        test = np.zeros(count, np.bool_) if self.test is None else self.test
        object.__setattr__(self, "test", check_marks(test, (count,), "test", "image"))
        object.__setattr__(self, "ids", check_ids(self.ids, count, "image"))
        object.__setattr__(self, "groups", np.arange(count) if self.groups is None else self.groups)
        if np.shape(self.groups) != (count,):
            raise InputError("groups", f"({count},), one per image", np.shape(self.groups))

    def __len__(self) -> int:
        return len(self.features)

    def part(self, rows: npt.ArrayLike) -> LabelSet:
        """Return the images in `rows`: row numbers in any order, or (M,) bool."""
        chosen = np.asarray(rows)
        if not chosen.size and chosen.dtype != np.bool_:
            # an empty list becomes a float array
            chosen = chosen.astype(np.int64)
        labels, test, ids, groups = (
            column[chosen] for column in (self.labels, self.test, self.ids, self.groups)
        )
        return LabelSet(self.features[chosen], labels, self.names, test, ids, groups)
