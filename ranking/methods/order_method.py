"""The base of methods that order sequences by the grades of their samples (midrank)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, Self

import numpy as np

from ranking.core import Certificate, Floats, Method, OnProgress, Query, SequenceSet
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import check_settings, settings_dict
from ranking.methods import saved
from ranking.methods.registry import METHODS

Arrays = dict[str, AnyArray]


class Grid(NamedTuple):
    """The setting that cross-validation chooses, and the values that it tries, the simplest model first."""

    setting: str
    values: tuple[float, ...]


@dataclass(kw_only=True, eq=False)
class OrderMethod(Method):
    """A method that learns from sequences of graded samples.

    Its dataclass fields are its settings.
    """

    ranks: ClassVar[str] = "sequences"
    grid: ClassVar[Grid]
    # with fewer different grades RankSVM is better, and pages say so
    enough_grades: ClassVar[int] = 2

    # number of features in training, 0 before
    columns: int = field(default=0, init=False, repr=False)
    certificate: Certificate | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_settings(self)

    @abstractmethod
    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate | None:
        """Learn from checked sequences; return the certificate, None where nothing is proven."""

    @abstractmethod
    def scores_of(self, features: Floats) -> Floats:
        """Return (n,) the scores of the samples of one sequence, given as (n, d) float64."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the model as arrays to be saved."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Set the model from `arrays`; KeyError or ValueError for missing arrays or wrong shapes."""

    def fit(
        self,
        queries: Sequence[Query] | SequenceSet,
        on_progress: OnProgress | None = None,
        warm_start: Self | None = None,
    ) -> Self:
        """Train on `queries`, or on sequences over one pool; return self.

        on_progress is called during training, and may raise StopTraining. ValueError where no sequence holds two
        different grades, where features have no column, or for a warm start, which these methods do not have.
        """
        if warm_start is not None:
            raise InputError(
                "warm_start", f"None, because {self.name} has no warm start", remedy="omit warm_start"
            )
        sequences = SequenceSet.of(queries)
        if not sequences.features.shape[1]:
            raise InputError("features", "one column or more", sequences.features.shape)
        if not has_order(sequences):
            raise InputError(
                "sequences",
                "at least one with two samples of different grades",
                remedy="choose another criterion, or longer sequences",
            )
        self.certificate = self.learn(sequences, on_progress)
        self.columns = sequences.features.shape[1]
        return self

    def score(self, query: Query) -> Floats:
        """Return (n,) the scores that rank the samples of one sequence; `rank` of them is the prediction."""
        if not self.columns:
            raise InputError(self.name, "a trained method", remedy="call fit first")
        if query.features.shape[1] != self.columns:
            raise InputError(
                "features of the query",
                f"{self.columns} per sample, as {self.name} was trained on",
                query.features.shape[1],
            )
        return self.scores_of(query.features.astype(np.float64, copy=False))

    def score_sequences(self, sequences: SequenceSet) -> Floats:
        """Return (N,) the `score` of every member, in the order of `sequences.members`.

        Most methods score each sample independently, so that a sample of the pool has one score in all sequences;
        methods whose scores depend on the rest of the sequence override this.
        """
        return self.score(Query(sequences.features))[sequences.members]

    def score_by(self, sequences: SequenceSet, weights: Sequence[Floats], rounds: Sequence[int]) -> Floats:
        """Return the scores (t, N) of all members at t reports of training whose reports have weights.

        weights, rounds: of the reports. The scores order the members as a model that is stopped at the report.
        """
        raise NotImplementedError(self.name)

    def save(self, path: Path | str) -> None:
        """Write settings, certificate and the model as one .npz file without code."""
        if not self.columns:
            raise InputError(self.name, "a trained method", remedy="call fit first")
        header = {
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": None if self.certificate is None else asdict(self.certificate),
            "columns": self.columns,
        }
        saved.write(path, header, self.arrays())

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the method that `save` wrote; ValueError for any other file."""
        header, arrays = saved.read(path, cls.name)
        try:
            method = METHODS.make_as(cls, cls.name, **header["settings"])
            proven = header["certificate"]
            method.certificate = None if proven is None else Certificate(**proven)
            method.columns = int(header["columns"])
            method.restore(arrays)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise saved.unreadable(path, error) from error
        return method


def has_order(sequences: SequenceSet) -> bool:
    """Return whether some sequence holds two different grades."""
    grades = sequences.grades[sequences.members]
    first = grades[sequences.starts[:-1]]
    return bool((grades != np.repeat(first, np.diff(sequences.starts))).any())
