"""The base of McRank and LambdaMART: regression trees, grown, stored and evaluated by LightGBM."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ranking.core import Floats, Ints, OnProgress, SequenceSet, StopTraining
from ranking.core.errors import InputError
from ranking.core.settings import Json, Settings, setting
from ranking.methods.order_method import Arrays, Grid, OrderMethod
from ranking.solvers.clock import Clock

if TYPE_CHECKING:
    from lightgbm import Booster

# sums to the loss's first and second slopes
Objective = Callable[[Floats, object], tuple[Floats, Floats]]

# One thread and fixed choices, so that the same samples give the same trees.
FIXED = {
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "use_missing": False,
    "verbosity": -1,
}


class Boosting(NamedTuple):
    """The arguments of LightGBM besides the features of the samples."""

    # its parameters
    options: Settings
    # arguments of its Dataset
    rows: Json
    # None for a built-in one
    objective: Objective | None
    loss: Callable[[Booster], float]


@dataclass(kw_only=True, eq=False)
class Boosted(OrderMethod):
    """Gradient boosting of regression trees.

    LightGBM is imported where it is used: that takes a second or two.
    """

    grid: ClassVar[Grid] = Grid("rounds", (10, 30, 100, 300))

    rounds: int = setting(
        100,
        label="Boosting rounds",
        help="Each round adds one tree, or one tree per grade.",
        formula=r"T",
        minimum=1,
        maximum=10_000,
        usual=(10, 500),
    )
    learning_rate: float = setting(
        0.1,
        label="Learning rate",
        help="The factor by which each tree is added.",
        formula=r"f \leftarrow f + \nu\,h_t",
        minimum=1e-4,
        maximum=1.0,
        log=True,
    )
    leaves: int = setting(
        10,
        label="Maximum leaves per tree",
        help="More leaves model finer distinctions.",
        minimum=2,
        maximum=4096,
    )
    least: int = setting(
        5,
        label="Minimum samples per leaf",
        help="Counted in the pool: a sample in many sequences counts once.",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    booster: Booster = field(init=False, repr=False)

    @abstractmethod
    def boosting(self, sequences: SequenceSet, rows: Ints) -> Boosting:
        """What is learned about the samples in `rows` of the pool."""

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> None:
        import lightgbm

        clock, rows = Clock(on_progress), np.unique(sequences.members)
        boosting = self.boosting(sequences, rows)
        parameters = {
            **FIXED,
            **boosting.options,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.least,
        }
        features = sequences.features[rows].astype(np.float64)
        booster = lightgbm.Booster(parameters, lightgbm.Dataset(features, **boosting.rows, params=parameters))
        unsplit = InputError(
            "training samples",
            f"a feature that splits them into two leaves of at least {self.least} samples",
            f"{len(rows):,} samples that no feature splits",
            "let leaves have fewer samples, or train on more samples or other features",
        )
        try:
            # the trees so far are the result
            with suppress(StopTraining):
                for number in range(self.rounds):
                    finished = booster.update(fobj=boosting.objective)
                    if finished and number == 0:
                        raise unsplit
                    clock.report(number, boosting.loss(booster), -np.inf, 0)
                    # no leaf can be split
                    if finished:
                        break
        except lightgbm.basic.LightGBMError as error:
            # raised where no tree can be grown
            raise unsplit from error
        # without the training samples
        self.booster = lightgbm.Booster(model_str=booster.model_to_string())

    def outputs(self, features: Floats) -> Floats:
        """Return (n,) the sums of the trees for samples (n, d), or (n, K) the probability of each class."""
        return np.asarray(self.booster.predict(features, num_threads=1))

    def arrays(self) -> Arrays:
        return {"booster": np.array(self.booster.model_to_string())}

    def restore(self, arrays: Arrays) -> None:
        import lightgbm

        try:
            self.booster = lightgbm.Booster(model_str=str(arrays["booster"]))
        except lightgbm.basic.LightGBMError as error:
            raise InputError("booster", "trees as LightGBM writes them", str(error)) from error
        if self.booster.num_feature() != self.columns:
            raise InputError("features of the booster", f"{self.columns}", self.booster.num_feature())
