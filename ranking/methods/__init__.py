"""Learning-to-rank methods by name.

A new method is one new file here whose class carries ``@METHODS.register("name")``. The other files have base classes,
settings and training sets that methods share.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from ranking.core import Method, SampleMethod
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings
from ranking.losses import RankingLoss
from ranking.methods.direction import score_direction
from ranking.methods.registry import METHODS

__all__ = [
    "METHODS",
    "RANKED",
    "check_ranks",
    "load_method",
    "loss_of",
    "make_method",
    "make_method_as",
    "method_class",
    "method_names",
    "methods_by_loss",
    "score_direction",
]

M = TypeVar("M", bound=Method)

RANKED = {
    "samples": "samples",
    "sequences": "whole sequences",
    "labels": "the labels of an image",
    "windows": "images by the best of their windows",
}

make_method = METHODS.make
make_method_as = METHODS.make_as
method_class = METHODS.get


def method_names(ranks: str | None = None) -> list[str]:
    """Return the names of all methods, or of those that rank `ranks`.

    ranks: "samples" of a query as relevant or irrelevant, "sequences" of graded samples, the "labels" of an image, or
    "windows": images by the best of their windows.

    >>> "AP-SVM" in method_names(ranks="samples"), "AP-SVM" in method_names(ranks="labels")
    (True, False)
    """
    if ranks is not None and ranks not in RANKED:
        raise InputError("ranks", f"one of {', '.join(map(repr, RANKED))}", repr(ranks))
    return [name for name in METHODS.names() if ranks in (None, _ranks(name))]


def load_method(kind: type[M], name: str, file: Path) -> M:
    """Return the trained method `name`, which is of the class `kind`, from its file; InputError otherwise."""
    return METHODS.checked(kind, method_class(name).load(file))


def methods_by_loss() -> dict[RankingLoss, str]:
    """Return for each ranking loss the first method that minimises a bound on it, at default settings.

    >>> from ranking.losses import AveragePrecision
    >>> methods_by_loss()[AveragePrecision()]
    'AP-SVM'
    """
    methods: dict[RankingLoss, str] = {}
    for name in method_names(ranks="samples"):
        if (loss := loss_of(name)) is not None:
            methods.setdefault(loss, name)
    return methods


def loss_of(name: str, settings: GivenSettings | None = None) -> RankingLoss | None:
    """Return the loss of a method's most violated ranking, with its settings.

    None for a method without one, or that does not exist.
    """
    known = name in method_names(ranks="samples")
    loss = make_method_as(SampleMethod, name, **settings or {}).loss if known else None
    return loss if isinstance(loss, RankingLoss) else None


def check_ranks(name: str, ranks: str) -> None:
    """Raise InputError about "method" unless the method `name` exists and ranks `ranks`, one of RANKED."""
    if _ranks(name) != ranks:
        expected = f"one that ranks {RANKED[ranks]}"
        remedy = f"choose one of {', '.join(method_names(ranks))}"
        raise InputError("method", expected, f"{name}, which ranks {RANKED[_ranks(name)]}", remedy)


def _ranks(name: str) -> str:
    """Return what a method ranks."""
    return str(METHODS.get(name).ranks)
