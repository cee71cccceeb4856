"""Sequences of samples to be ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.core.arrays import Features, Ints, check_features, check_relevance
from ranking.core.errors import InputError
from ranking.core.queries import Query


@dataclass(frozen=True, eq=False)
class SequenceSet:
    """Sequences of samples that are to be ordered, over one pool of samples (midrank, section 3).

    features: (n, d) float32 or float64 of the pool, finite. grades: (n,) whole >= 0; the highest grade comes first,
    equal grades have no order. members: rows of the pool, sequence after sequence; sequence i is
    members[starts[i]:starts[i + 1]]. A row may be in many sequences, so that ten thousand sequences take little
    memory.
    """

    features: Features
    grades: Ints
    members: Ints
    starts: Ints

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "grades", check_relevance(self.grades, len(features)))
        members, starts = np.asarray(self.members), np.asarray(self.starts)
        for name, array in {"members": members, "starts": starts}.items():
            if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or not array.size):
                raise InputError(name, "whole numbers of shape (n,)", f"{array.dtype} of shape {array.shape}")
        if not len(starts) or starts[0] != 0 or starts[-1] != len(members) or (np.diff(starts) < 1).any():
            expected = f"numbers that rise from 0 to {len(members)}, the number of members"
            raise InputError("starts", expected, starts.tolist(), "omit empty sequences")
        if len(members) and not 0 <= members.min() <= members.max() < len(features):
            got = f"{members.min()} to {members.max()}"
            raise InputError("members", f"rows of the pool, 0 to {len(features) - 1}", got)
        object.__setattr__(self, "members", members.astype(np.int64))
        object.__setattr__(self, "starts", starts.astype(np.int64))

    @classmethod
    def of(cls, queries: Sequence[Query] | SequenceSet) -> SequenceSet:
        """Return `queries` as sequences over one pool, each query a sequence; a SequenceSet is returned as it is.

        >>> made = SequenceSet.of([Query(np.eye(2), np.array([0, 1])), Query(np.ones((3, 2)), np.array([2, 0, 1]))])
        >>> made.sequence(1), made.grades.tolist()
        (array([2, 3, 4]), [0, 1, 2, 0, 1])
        """
        if isinstance(queries, SequenceSet):
            return queries
        if not queries:
            raise InputError("queries", "at least one query", "an empty list")
        sizes = {query.features.shape[1] for query in queries}
        if len(sizes) > 1:
            raise InputError("queries", "the same number of features in each", sorted(sizes))
        grades = [query.relevance for query in queries if query.relevance is not None]
        if len(grades) < len(queries):
            got = f"{len(queries) - len(grades)} of {len(queries)} without"
            raise InputError("queries", "relevance in each", got, "give Query(features, relevance)")
        features = np.concatenate([query.features for query in queries])
        starts = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
        return cls(features, np.concatenate(grades), np.arange(len(features)), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sequence(self, number: int) -> Ints:
        """Return the pool rows of sequence `number`, in their given order."""
        return self.members[self.starts[number] : self.starts[number + 1]]

    def query(self, number: int) -> Query:
        """Return sequence `number` as a Query whose ids are rows of the pool."""
        rows = self.sequence(number)
        return Query(self.features[rows], self.grades[rows], ids=rows)

    def part(self, numbers: npt.ArrayLike) -> SequenceSet:
        """Return the sequences `numbers`, over the same pool."""
        chosen = np.asarray(numbers, np.int64)
        rows = [self.sequence(number) for number in chosen]
        starts = np.concatenate([[0], np.cumsum([len(members_of) for members_of in rows], dtype=np.int64)])
        members = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        return SequenceSet(self.features, self.grades, members, starts)
