"""What McRank and LambdaMART share: trees that LightGBM grows one after the other, kept as arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ranking.core import Floats, Ints, OnProgress, SequenceSet, StopTraining
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.methods.forest import Forest
from ranking.methods.order_method import Arrays, Grid, OrderMethod
from ranking.solvers.clock import Clock

EMPTY = np.zeros(0, np.int64)
BoostedLoss = Callable[
    [Floats], tuple[float, Floats, Floats]
]  # sums to loss, and its first and second slopes

# One thread and no choice of its own, so that the same samples give the same trees.
FIXED = {
    "objective": "none",
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "use_missing": False,
    "verbosity": -1,
}


@dataclass(kw_only=True, eq=False)
class Boosted(OrderMethod):
    """Gradient boosting of regression trees. LightGBM is imported where training begins: scores need it no more."""

    grid: ClassVar[Grid] = Grid("rounds", (10, 30, 100, 300))

    rounds: int = setting(
        100,
        label="Rounds of boosting",
        help="Each adds one tree, or one for each grade.",
        formula=r"T",
        minimum=1,
        maximum=10_000,
        usual=(10, 500),
    )
    learning_rate: float = setting(
        0.1,
        label="Learning rate",
        help="How much of each tree is added.",
        formula=r"f \leftarrow f + \nu\,h_t",
        minimum=1e-4,
        maximum=1.0,
        log=True,
    )
    leaves: int = setting(
        10, label="Leaves of a tree at most", help="More leaves: more is told apart.", minimum=2, maximum=4096
    )
    least: int = setting(
        5,
        label="Samples in a leaf at least",
        help="Counted in the pool: a sample that stands in many sequences is one.",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    forest: Forest = field(
        default_factory=lambda: Forest(EMPTY, np.zeros(0), EMPTY, EMPTY, EMPTY, EMPTY), init=False, repr=False
    )

    @abstractmethod
    def loss(self, sequences: SequenceSet, rows: Ints) -> tuple[int, BoostedLoss]:
        """How many outputs the samples in `rows` of the pool have, and the loss of those."""

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> None:
        import lightgbm  # here, since it takes a second or two

        clock, rows = Clock(on_progress), np.unique(sequences.members)
        outputs, loss = self.loss(sequences, rows)
        heard: list[float] = []

        def objective(sums: Floats, _: object) -> tuple[Floats, Floats]:
            value, gradient, curvature = loss(sums)
            heard.append(value)
            return gradient, curvature

        parameters = {
            **FIXED,
            "num_class": outputs,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.least,
        }
        dataset = lightgbm.Dataset(
            sequences.features[rows].astype(np.float64), np.zeros(len(rows)), params=parameters
        )
        booster = lightgbm.Booster(parameters, dataset)
        try:
            with suppress(StopTraining):  # the trees so far are the result
                for number in range(self.rounds):
                    finished = booster.update(fobj=objective)
                    clock.report(number, heard[-1], -np.inf, 0)
                    if finished:  # nothing is left to be split
                        break
        except lightgbm.basic.LightGBMError as error:  # it refuses what no tree can be grown of
            raise InputError(
                "training samples",
                f"a feature that splits them into two leaves of at least {self.least} samples",
                f"{len(rows):,} samples that no feature splits",
                "let leaves have fewer samples, or train on more samples or other features",
            ) from error
        self.forest = Forest.of_trees(booster.dump_model()["tree_info"], outputs)

    def arrays(self) -> Arrays:
        return self.forest.arrays()

    def restore(self, arrays: Arrays) -> None:
        self.forest = Forest.of_arrays(arrays).checked(self.columns)
