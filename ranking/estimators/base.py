"""What all estimators share: the settings of a method as parameters, its certificate and its weights."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ranking.core import Certificate, Floats, Method
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.methods import make_method_as

# `Query` and the sets of sequences and labels check that features are finite, with one pass over them.
DENSE = {"dtype": (np.float64, np.float32), "ensure_all_finite": False}


FROM_SIZES = "these are sizes: pass qid=np.repeat(np.arange(len(sizes)), sizes)"


M = TypeVar("M", bound=Method, covariant=True)


class Sparse(Protocol):
    """A sparse matrix or array of SciPy."""

    def toarray(self) -> AnyArray: ...


# y as scikit-learn takes it: (n,) values, or (n, L) marks
Targets = npt.ArrayLike
# (n, d) as scikit-learn takes it: array, data frame or sparse matrix
MatrixLike = npt.ArrayLike | Sparse


class Ranker(BaseEstimator, Generic[M]):  # type: ignore[misc]  # scikit-learn has no types
    """A registered method as an estimator; its parameters are the settings of the method.

    method: the class. method_: the fitted method, which `make_method` with the same settings would return.
    n_features_in_, feature_names_in_: of the training samples.
    """

    method: type[M]
    method_: M

    @property
    def certificate_(self) -> Certificate | None:
        """The proven bounds of training; None for methods without bounds."""
        return self.method_.certificate

    @property
    def coef_(self) -> Floats:
        """The weights of the features, for methods whose scores, without neighbours, are linear in them."""
        weights = self._linear_weights()
        if weights is None:
            raise AttributeError(f"the scores of this {type(self).__name__} are not linear in the features")
        return weights

    def _linear_weights(self) -> Floats | None:
        """Return `coef_`; None for scores that are not linear."""
        raise NotImplementedError

    def _make(self) -> M:
        """Return the method with the parameters as its settings; InputError for a wrong one."""
        settings = self.get_params(deep=False).items()
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings}
        return make_method_as(self.method, self.method.name, **plain)

    def _checked(self, X: MatrixLike, sparse: bool = False) -> Any:
        """Return samples to be scored, (n, d) as in training."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **checks(sparse, X))


def checks(sparse: bool, X: MatrixLike) -> Json:
    """Return the arguments of `validate_data`; sparse: whether X may be sparse, and is then checked there."""
    from scipy.sparse import issparse

    return {**DENSE, "accept_sparse": "csr" if sparse else False, "ensure_all_finite": issparse(X)}


def warn_of_lost_groups(ranker: object) -> None:
    """Warn where an estimator that uses groups is fitted without, because a search of scikit-learn further up, in this
    process, gave them to its splitter alone."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        of_search = frame.f_globals.get("__name__", "").startswith("sklearn.model_selection")
        if of_search and _is_given(frame.f_locals):
            name = type(ranker).__name__
            warnings.warn(
                f"groups split the samples, but {name} is fitted without them. To pass them on, call "
                "sklearn.set_config(enable_metadata_routing=True) and use "
                f"{name}().set_fit_request(groups=True).set_score_request(groups=True)",
                stacklevel=3,
            )
            return
        frame = frame.f_back


def _is_given(variables: Mapping[str, object]) -> bool:
    params = variables.get("params")
    return variables.get("groups") is not None or (
        isinstance(params, dict) and params.get("groups") is not None
    )


def refuse_weights(sample_weight: object) -> None:
    """Raise InputError unless sample_weight, which a pipeline with metadata routing passes to `score`, is None."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight",
            "None",
            "weights",
            "omit them, because measures of a ranking have no sample weights",
        )


def as_groups(groups: npt.ArrayLike | None, n: int) -> AnyArray | None:
    """Return (n,) `groups` as an array; InputError for another shape or a missing value."""
    if groups is None:
        return None
    import pandas as pd

    array = np.asarray(groups)
    # as objects, because numpy turns a missing value beside texts into a text
    if array.dtype.kind not in "iub" and (missing := int(np.sum(pd.isna(np.asarray(groups, object))))):
        remedy = "give every sample a group, or drop those without"
        raise InputError("groups or qid", "a value for each sample", f"{missing:,} missing", remedy)
    if array.shape != (n,):
        remedy = "" if array.ndim != 1 or array.dtype.kind not in "iu" or array.sum() != n else FROM_SIZES
        raise InputError("groups", f"shape ({n},), one per sample", array.shape, remedy)
    return array
