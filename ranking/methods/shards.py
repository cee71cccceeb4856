"""SVM, AP-SVM and NDCG-SVM trained on features whose rows lie in shards on the workers of a Dask cluster.

Only products with vectors are transferred: `scores` sends weights (d,) to each shard and receives its scores; `normal`
sends its part of the coefficients (n,) and receives (d,), which are summed here in float64. The workers compute the
exact products for certificates in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ranking.core import Features, Floats, OnProgress, as_floats, check_features
from ranking.core.errors import InputError
from ranking.methods.linear import UnaryMethod
from ranking.solvers.block import Block

if TYPE_CHECKING:
    from distributed import Client, Future

M = TypeVar("M", bound=UnaryMethod)


class ShardedFeatures:
    """Features (n, d) in shards, whose rows follow each other in the order of the shards.

    >>> ShardedFeatures.scattered(client, features).shape  # doctest: +SKIP
    (100000, 2916)
    """

    def __init__(self, client: Client, shards: Sequence[Future]) -> None:
        """Take arrays (n_i, d) on workers as shards; ValueError unless all are finite and equally wide.

        Shards from `client.submit(read, file)` are read again where a worker is lost; scattered ones are lost with
        it.
        """
        if not shards:
            raise InputError("shards", "at least one", 0)
        self._client, self._shards = client, tuple(shards)
        shapes = client.gather([client.submit(_checked_shape, shard, pure=False) for shard in shards])
        widths = sorted({columns for _, columns in shapes})
        if len(widths) > 1:
            raise InputError("shards", "the same number of features in each", widths)
        self._ends = np.cumsum([rows for rows, _ in shapes])
        self.shape: tuple[int, int] = (int(self._ends[-1]), widths[0])
        workers_of = client.who_has(self._shards)
        self._holders = [list(workers_of[shard.key]) for shard in self._shards]

    @classmethod
    def scattered(cls, client: Client, features: Features) -> ShardedFeatures:
        """Distribute the rows of local features (n, d) evenly among the workers, one shard each."""
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        parts = np.array_split(features, len(workers))
        shards = [
            client.scatter(part, workers=[worker], hash=False)
            for part, worker in zip(parts, workers, strict=True)
        ]
        return cls(client, shards)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def count(self) -> int:
        """The number of shards."""
        return len(self._shards)

    def split(self, values: Floats) -> list[Floats]:
        """Split values (..., n) of the rows by shard."""
        return np.split(values, self._ends[:-1], axis=-1)

    def products(
        self, product: Callable[..., Floats], scale: float, values: Sequence[tuple[Floats, ...]]
    ) -> list[Floats]:
        """Return the result of a method of `Block` for each shard, computed where it is stored.

        values: the arguments for each shard. ConnectionError where rows are lost with their worker.
        """
        futures = [
            self._client.submit(
                _product,
                shard,
                scale,
                product,
                arguments,
                workers=holders,
                allow_other_workers=True,
                pure=False,
            )
            for shard, holders, arguments in zip(self._shards, self._holders, values, strict=True)
        ]
        try:
            products: list[Floats] = self._client.gather(futures)
        except CancelledError as error:
            raise ConnectionError(
                f"a worker was lost with rows of the features that had no other copy ({error}). Distribute them again, "
                "or pass shards that workers read from files, which are read again if a worker is lost"
            ) from error
        return products


@dataclass(frozen=True, eq=False)
class ShardedBlock:
    """A `FeatureMatrix` whose rows are in shards."""

    features: ShardedFeatures
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.features.shape

    @property
    def rows(self) -> Features:
        raise InputError(
            "features", "an array, which this solver reads row by row", "shards", "train by cutting planes"
        )

    def scores(self, weights: Floats) -> Floats:
        return np.concatenate(self._of_each(Block.scores, weights))

    def normal(self, coefficients: Floats) -> Floats:
        return self._sum(Block.normal, coefficients)

    def exact_scores(self, weights: Floats) -> Floats:
        return np.concatenate(self._of_each(Block.exact_scores, weights))

    def exact_normal(self, coefficients: Floats) -> Floats:
        return self._sum(Block.exact_normal, coefficients)

    def lengths(self) -> Floats:
        return np.concatenate(self._of_each(Block.lengths))

    def _of_each(self, product: Callable[..., Floats], *values: Floats) -> list[Floats]:
        return self.features.products(product, self.scale, [values] * self.features.count)

    def _sum(self, product: Callable[..., Floats], coefficients: Floats) -> Floats:
        parts = [(part,) for part in self.features.split(coefficients)]
        total: Floats = np.sum(self.features.products(product, self.scale, parts), axis=0)
        return total


def _checked_shape(rows: npt.ArrayLike) -> tuple[int, ...]:
    return check_features(rows).shape


def _product(
    rows: Features, scale: float, product: Callable[..., Floats], values: tuple[Floats, ...]
) -> Floats:
    # as `check_features` takes them
    result: Floats = product(Block(as_floats(np.asarray(rows)), scale), *values)
    return result


def fit_on_shards(
    method: M, features: ShardedFeatures, relevance: npt.ArrayLike, on_progress: OnProgress | None = None
) -> M:
    """Train `method` on one query, the rows of `features` with relevance (n,); return it.

    The duality gap is recomputed in float64 where the rows are stored. ValueError for a method or solver that reads
    samples one by one.
    """
    if not method.sharded:
        raise InputError(
            "method",
            "one whose training needs only products with features, not their rows",
            method.name,
            "choose another method or solver",
        )
    return method.fit_matrix(ShardedBlock(features, method.scale), relevance, on_progress)


def score_on_shards(method: UnaryMethod, features: ShardedFeatures) -> Floats:
    """Return (n,) the score of each row as `method.score`; ValueError for another number of features."""
    return method.score_matrix(ShardedBlock(features, method.scale))
