"""The base of methods that rank images by the best of their windows (quicksort, section 6.2)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, ClassVar, Self

import numpy as np

from ranking.core import BagSet, Bools, Certificate, Floats, Ints, Method, OnProgress, ProgressEvent
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, check_settings, setting, settings_dict
from ranking.inference.best_windows import best_windows
from ranking.methods import saved
from ranking.methods.bag_starts import STARTS
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.registry import METHODS
from ranking.solvers import Cut
from ranking.solvers.bag_cccp import BagSolution, bag_cccp
from ranking.solvers.bag_risk import BagProblem, Place
from ranking.solvers.block import exact_product
from ranking.solvers.clock import Clock
from ranking.solvers.relay import JoinedProgress

SEVERAL = "several"
# of the runs that give first weights
START_TOLERANCE = 1e-2


class Descents(JoinedProgress):
    """Descents of a problem from several starts, reported as one run with the lowest objective so far."""

    # One clock runs over all starts.

    def __init__(
        self, problem: BagProblem, tolerance: float, max_iterations: int, on_progress: OnProgress | None
    ) -> None:
        zero = np.zeros(problem.windows.shape[1])
        # at_zero: the objective at weights 0
        self.problem, self.at_zero = problem, problem.at(zero).objective
        super().__init__(on_progress, ProgressEvent(0, self.at_zero, -math.inf, 0.0, 0, weights=zero))
        # of the latest descent
        self.end: Place
        self._tolerance, self._max_iterations = tolerance, max_iterations
        self._best: BagSolution | None = None
        self._clock = Clock(self.report)

    def descend(self, start: Floats | Ints) -> BagSolution:
        """Descend from `start`; return the lowest solution of all starts so far, with the time of all."""
        left = 0 if self.stopped else self._max_iterations
        solution = bag_cccp(self.problem, start, self._tolerance, left, self._clock)
        self.end = solution.place
        self._begin_after(solution)
        if self._best is None or solution.place.objective < self._best.place.objective:
            self._best = solution
        certificate = replace(self._best.certificate, seconds=self._clock.seconds)
        return replace(self._best, certificate=certificate)

    def prepare(self, problem: BagProblem, start: Floats | Ints, rounds: int | None) -> BagSolution:
        """Descend on a problem that gives a start."""
        # Its progress is reported as waiting, so that it can be stopped.
        clock = Clock(self._wait)
        solution = bag_cccp(problem, start, START_TOLERANCE, self._max_iterations, clock, rounds)
        self._begin_after(solution)
        return solution

    def report(self, event: ProgressEvent) -> None:
        """Pass on the progress of a descent, with the lowest objective of all descents."""
        before = self.before
        # the lower bound of this round belongs to other weights
        if event.primal > before.primal:
            event = replace(event, primal=before.primal, dual=-math.inf, weights=before.weights)
        super().report(event)

    def _wait(self, _: ProgressEvent) -> None:
        before = self.before
        self._clock.report(0, before.primal, before.dual, 0, before.planes, weights=before.weights)

    def _begin_after(self, solution: BagSolution) -> None:
        self.before = replace(self.latest, seconds=0.0, passes=self.before.passes + solution.passes)


@dataclass(kw_only=True, eq=False)
class BagMethod(Method):
    """A method that learns from images with candidate windows which window shows the object.

    An image's score is that of its best window. The objective is not convex: training alternates between the best
    windows of the images that show the object and a convex problem (`solvers.bag_cccp`), until no round gains more
    than the tolerance.
    """

    ranks: ClassVar[str] = "windows"

    C: float = penalty(100.0, "ranking error")

    start: str = setting(
        SEVERAL,
        label="Start from",
        help="The window that is first assumed to show the object. The objective is not convex, so the result "
        "depends on it. several: train from every other start and keep the lowest objective, which needs no "
        "true boxes. LDA: the best windows by linear discriminant analysis. self-paced: learn first from the "
        "images with the highest scores, then from more and more.",
        formula=r"h_i^{(0)}",
        choices=(SEVERAL, *STARTS),
    )
    smallest_window: float = setting(
        0.0,
        label="Smallest window",
        help="Windows that cover a smaller share of their image are ignored. Raise it if the best windows show "
        "only a part of the object.",
        formula=r"\frac{|h|}{|x_i|} \ge \text{smallest}",
        minimum=0.0,
        maximum=0.5,
        advanced=True,
    )
    size_bonus: float = setting(
        0.0,
        label="Bonus for large windows",
        help="The logarithm of the share of the image that a window covers, times this number, is added to its score. "
        "Raise it if the best windows show only a part of the object.",
        formula=r"s_i(w) = \max_h\ w^\top\varphi_i(h) + \beta\log\tfrac{|h|}{|x_i|}",
        minimum=0.0,
        maximum=100.0,
        usual=(0.0, 1.0),
        advanced=True,
    )
    tolerance: float = closed_gap(
        help="Training stops when no further round can lower the objective by more than this share of it.",
        formula=r"\frac{\text{objective} - \text{dual of its convex bound}}{\text{objective}} \le \text{tolerance}",
    )
    max_iterations: int = most_iterations(5000, "A start")
    # (d,) w; None before `fit`
    weights: Floats | None = field(default=None, init=False, repr=False)
    certificate: Certificate | None = field(default=None, init=False, repr=False)
    # By start: the objective and the weights where training from it ended; not saved.
    ends: dict[str, tuple[float, Floats]] = field(default_factory=dict, init=False, repr=False)
    bias: float = field(default=0.0, init=False, repr=False)
    # whether the objective is lower than at weights 0
    learned: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def is_convex(cls, settings: GivenSettings) -> bool:
        return False

    @abstractmethod
    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        """Return the most violated output for the best scores of images (n,), by loss-augmented inference."""

    @property
    def outcome(self) -> str:
        """What training proved, in words."""
        if self.certificate is None:
            return "not trained"
        if not self.certificate.converged:
            so_far = "" if self.learned else "; so far nothing was learned"
            return f"stopped while rounds could still gain{so_far}"
        if not self.learned:
            return "nothing was learned; try another start, a larger C or other features"
        return (
            f"no round gains more: another would lower the objective by at most {100 * self.tolerance:.3g}%"
        )

    def fit(
        self,
        bag_sets: Sequence[BagSet],
        on_progress: OnProgress | None = None,
        warm_start: Self | None = None,
    ) -> Self:
        """Train on one bag set, given as a list like queries; return self.

        on_progress is called after every iteration and may raise StopTraining. Its primal is the objective where the
        round began, and its passes are products with all windows. warm_start: a fitted method of the same kind, whose
        weights are the start. ValueError without both images that show the object and images that do not.

        Windows in a file that `numpy.load` maps are read by blocks.
        """
        problem = self.problem(bag_sets)
        [bags] = bag_sets
        weights = None if warm_start is None else self._weights_of(warm_start, bags)
        self.ends = {}
        descents = Descents(problem, self.tolerance, self.max_iterations, on_progress)
        solution = self._solve(bags, descents, weights)
        self.weights, self.certificate = solution.place.weights, solution.certificate
        self.learned = solution.place.objective < (1.0 - self.tolerance) * descents.at_zero
        self.bias = self.bias_of(solution.place.image_scores, problem.relevant)
        return self

    def bias_of(self, scores: Floats, relevant: Bools) -> float:
        """Return what is added to all scores, from the best scores (n,) of the training images."""
        return 0.0

    def problem(self, bag_sets: Sequence[BagSet]) -> BagProblem:
        """Return the objective on one bag set; ValueError unless it can be trained on."""
        if len(bag_sets) != 1 or not isinstance(bag_sets[0], BagSet):
            raise InputError("bag_sets", "a list of one BagSet", f"{bag_sets!r:.60}")
        [bags] = bag_sets
        if bags.relevance is None:
            raise InputError(
                "bag_sets", "the relevance of the images", remedy="train on BagSet(..., relevance)"
            )
        relevant = bags.relevance > 0
        if relevant.all() or not relevant.any():
            missing = "does not show the object" if relevant.any() else "shows the object"
            raise InputError("bag_sets", f"at least one image that {missing}", f"none of {len(bags):,}")
        return BagProblem(bags.windows, bags.starts, self.bonus(bags), relevant, self.C, self.cut)

    def bonus(self, bags: BagSet) -> Floats:
        """Return (rows,) what is added to each window's score; -inf for windows below the smallest one."""
        shares = bags.shares
        return np.where(shares < self.smallest_window, -np.inf, self.size_bonus * np.log(shares))

    def _solve(self, bags: BagSet, descents: Descents, weights: Floats | None) -> BagSolution:
        if weights is not None:
            return descents.descend(weights)
        for name in STARTS if self.start == SEVERAL else (self.start,):
            if descents.stopped:
                break
            start = STARTS[name](bags, descents.problem, descents.prepare)
            best = descents.descend(start)
            self.ends[name] = descents.end.objective, descents.end.weights
        return best

    def _weights_of(self, warm_start: Self, bags: BagSet) -> Floats:
        if type(warm_start) is not type(self) or warm_start.weights is None:
            raise InputError("warm_start", f"a fitted {self.name}", repr(warm_start))
        if len(warm_start.weights) != bags.windows.shape[1]:
            raise InputError(
                "warm_start",
                f"weights for {bags.windows.shape[1]} features, as the windows have",
                len(warm_start.weights),
                "start from a run on the same features",
            )
        return warm_start.weights

    # -----------------------------------------------------------------------------------------------------
    # Prediction
    # -----------------------------------------------------------------------------------------------------

    def window_scores(self, bags: BagSet, weights: Floats | None = None) -> Floats:
        """Return (rows,) the score of every window; -inf for windows below the smallest one.

        weights: those of a `ProgressEvent` instead of the learned ones; then without a bias.
        """
        bias = self.bias if weights is None else 0.0
        weights = self._fitted() if weights is None else weights
        if bags.windows.shape[1] != len(weights):
            raise InputError(
                "windows of the images",
                f"{len(weights)} features per window, as {self.name} was trained on",
                bags.windows.shape[1],
            )
        return exact_product(bags.windows, weights) + (self.bonus(bags) + bias)

    def score(self, bags: BagSet) -> Floats:
        """Return (n,) the score of every image, that of its best window; `rank` of them is the prediction."""
        scores = self.window_scores(bags)
        return scores[best_windows(scores, bags.starts)]

    def best_windows(self, bags: BagSet) -> Ints:
        """Return (n,) the row of every image's best window, the first of equal ones."""
        return best_windows(self.window_scores(bags), bags.starts)

    def _fitted(self) -> Floats:
        if self.weights is None:
            raise InputError(self.name, "a trained method", remedy="call fit first")
        return self.weights

    # -----------------------------------------------------------------------------------------------------
    # Files
    # -----------------------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Write settings, weights and certificate as one .npz file without code."""
        weights = self._fitted()
        assert self.certificate is not None
        header = {
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": asdict(self.certificate),
            "bias": self.bias,
            "learned": self.learned,
        }
        saved.write(path, header, {"weights": weights})

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the method that `save` wrote; ValueError for any other file."""
        header, arrays = saved.read(path, cls.name)
        try:
            method = METHODS.make_as(cls, cls.name, **header["settings"])
            method.certificate = Certificate(**header["certificate"])
            method.weights, method.bias = arrays["weights"], float(header["bias"])
            method.learned = bool(header["learned"])
        except (KeyError, TypeError, ValueError) as error:
            raise saved.unreadable(path, error) from error
        return method
