"""The base of the label rankers: structured SVMs on p@k of an image's labels (c-star, section 4)."""

from __future__ import annotations

import dataclasses
import zlib
from abc import abstractmethod
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ranking.core import Certificate, Floats, Ints, LabelSet, Method, OnProgress
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, check_settings, setting, settings_dict
from ranking.methods import saved
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.label_features import MAPS, LabelFeatures, LabelMap
from ranking.methods.label_prediction import LabelPrediction
from ranking.methods.registry import METHODS
from ranking.solvers.clock import Clock
from ranking.solvers.top_k_cccp import top_k_cccp
from ranking.solvers.top_k_planes import Planes, top_k_planes
from ranking.solvers.top_k_risk import TopKRisk, TopKSolution, TopKWeights
from ranking.solvers.top_k_subgradient import top_k_subgradient

# times the tolerance: the accuracy of the convex problems of CCCP
INNER = 0.3
SOLVERS = ("planes", "subgradient")


@dataclass(kw_only=True, eq=False)
class LabelRanker(Method):
    """Base of the methods that rank the labels of an image (c-star, eqs. 1, 2, 6).

    min 1/2 ||w||^2 + C/M sum_m { max_t [ Delta(t, z_m) + t's + t'Ft ] - t~'s - t~'Ft~ }.

    w is the weights of the scores s, v_i among them (a constant feature), and each interaction F_ij of two labels
    once. k is the number of labels of each image (break-even; an image without labels then has one output and adds
    nothing), or fixed, with the tightest bound (eq. 8) by CCCP. The setting `unary` chooses the features in which
    scores are linear.
    """

    ranks: ClassVar[str] = "labels"

    C: float = penalty(100.0, "label error")
    k: int = setting(
        0,
        label="k: labels per image",
        help="0: the number of labels that each image has (break-even). Any other value applies to all images; several "
        "label sets then attain the minimum loss, the objective is not convex, and training stops when no round can "
        "lower it.",
        formula=r"\Delta(t, z) = \tfrac1k\, t^\top (1 - z)",
        minimum=0,
        maximum=10_000,
        usual=(0, 20),
    )
    unary: str = setting(
        "linear",
        label="Unary scores",
        help="Linear in the features, in the features of a kernel, or in the score of an SVM that is trained for each "
        "label.",
        formula=r"s_i(x) = v_i + w_i^\top x,\quad v_i + \sum_m \alpha_{im} k(x_m, x),\quad v_i + a_i\,\text{svm}_i(x)",
        choices=tuple(MAPS),
    )
    gamma: float = setting(
        1.0,
        label="γ: kernel coefficient",
        help="The factor of distances in the RBF and the chi-square kernel, relative to the mean distance. Large: only "
        "near images matter.",
        formula=r"k(x, y) = \exp(-\gamma\, d(x, y) / \bar d)",
        minimum=1e-4,
        maximum=1e4,
        log=True,
        advanced=True,
    )
    solver: str = setting(
        "planes",
        label="Solver",
        help="Both find the same optimum, with a duality gap. Planes are fast; the paper uses subgradient descent.",
        formula=r"\min_w\,\text{primal}(w) = \max_\alpha\,\text{dual}(\alpha)",
        choices=SOLVERS,
        advanced=True,
    )
    # Relative to the gain over weights 0, which is small where labels are hard to predict.
    tolerance: float = closed_gap(
        1e-2,
        "Training stops when the objective is proven to be within this share of the optimum, and within this share of "
        "the optimum's gain over zero weights.",
        r"\frac{\text{primal} - \text{dual}}{\min(\text{primal}, \text{primal at } 0 - \text{dual})}"
        r" \le \text{tolerance}",
    )
    max_iterations: int = most_iterations(1000)
    weights: TopKWeights | None = field(default=None, init=False, repr=False)
    certificate: Certificate | None = field(default=None, init=False, repr=False)
    core: Ints = field(default_factory=lambda: np.empty(0, np.int64), init=False, repr=False)
    names: tuple[str, ...] = field(default=(), init=False, repr=False)
    usual_k: int = field(default=1, init=False, repr=False)
    columns: int = field(default=0, init=False, repr=False)
    fingerprint: int = field(default=0, init=False, repr=False)
    # the fitted map
    features: LabelMap = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def is_convex(cls, settings: GivenSettings) -> bool:
        """Return whether k is that of each image.

        With one k for all images the choice of eq. 8 is not convex.
        """
        return bool(settings["k"] == 0)

    @property
    def core_size(self) -> int:
        """The most labels that interact with all others."""
        return 0

    @abstractmethod
    def choose_core(self, label_set: LabelSet) -> list[int]:
        """Return the labels that interact with all others, by their numbers."""

    # -----------------------------------------------------------------------------------------------------
    # Training
    # -----------------------------------------------------------------------------------------------------

    def fit(
        self, label_set: LabelSet, on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self:
        """Train on all images of `label_set` (pass `label_set.part(~label_set.test)`); return self.

        warm_start: another run on the same images, labels and core, at whose weights outputs are computed first.
        ValueError for label sets that cannot train a model.
        """
        self._check(label_set)
        core = np.array(self.choose_core(label_set), np.int64)
        kind = MAPS[self.unary]
        features, label_features = kind.fitted(label_set, self.gamma)
        fingerprint = self._identify(label_set, core)
        start = None if warm_start is None else self._start(warm_start, fingerprint)
        solution = self._solve(self.risk(label_set, label_features, core), Clock(on_progress), start)
        self.features, self.core, self.names = features, core, label_set.names
        self.columns, self.fingerprint = label_set.features.shape[1], fingerprint
        mean = float(label_set.labels.sum(axis=1).mean())
        self.usual_k = self.k or min(max(1, round(mean)), len(self.names))
        self.weights, self.certificate = solution.weights, solution.certificate
        return self

    def risk(self, label_set: LabelSet, label_features: LabelFeatures, core: Ints) -> TopKRisk:
        """Return the objective on `label_set` with its mapped features.

        For a fixed k its truth is yet to be chosen.
        """
        labels = label_set.labels
        k = labels.sum(axis=1) if self.k == 0 else np.full(len(labels), self.k)
        return TopKRisk(
            label_features.shared, label_features.own, labels, labels, k.astype(np.int64), core, self.C
        )

    def _solve(self, risk: TopKRisk, clock: Clock, start: TopKWeights | None) -> TopKSolution:
        if self.k == 0:
            return self._convex(risk, self.tolerance, self.max_iterations, clock, start)
        # shared by all rounds: they are outputs of the same images
        planes: list[Planes] = []

        def convex(touching: TopKRisk, iterations: int, number: int) -> TopKSolution:
            planes[:] = planes or [Planes.at_truth(touching)]
            return self._convex(touching, INNER * self.tolerance, iterations, clock, None, planes[0], number)

        return top_k_cccp(risk, convex, self.tolerance, self.max_iterations, clock, start)

    def _convex(
        self,
        risk: TopKRisk,
        tolerance: float,
        iterations: int,
        clock: Clock,
        start: TopKWeights | None,
        planes: Planes | None = None,
        number: int = 0,
    ) -> TopKSolution:
        if self.solver == "subgradient":
            return top_k_subgradient(risk, tolerance, iterations, clock, number)
        return top_k_planes(risk, tolerance, iterations, clock, start, planes, number)

    def _check(self, label_set: LabelSet) -> None:
        if not isinstance(label_set, LabelSet):
            raise InputError(
                "label_set", f"a LabelSet, because {self.name} ranks labels", type(label_set).__name__
            )
        images, labels = label_set.labels.shape
        if not label_set.labels.any() or label_set.labels.all():
            missing = (
                "label that an image lacks" if images and label_set.labels.any() else "image with a label"
            )
            raise InputError(
                "label_set", f"at least one {missing}", remedy="train on images with some of the labels"
            )
        if self.k > labels:
            raise InputError(f"{self.name}: k", f"at most {labels}, the number of labels", self.k)

    def _identify(self, label_set: LabelSet, core: Ints) -> int:
        """Return a fingerprint: of two training runs with equal ones, the weights of one fit the other."""
        settings = (
            f"{label_set.features.shape} {label_set.features.dtype} {self.unary} {self.gamma} {core.tolist()}"
        )
        features = np.ascontiguousarray(label_set.features).reshape(-1).view(np.uint8)
        return zlib.crc32(
            features.data, zlib.crc32(label_set.labels.tobytes(), zlib.crc32(settings.encode()))
        )

    def _start(self, warm_start: Self, fingerprint: int) -> TopKWeights:
        if type(warm_start) is not type(self) or warm_start.weights is None:
            raise InputError("warm_start", f"a fitted {self.name}", repr(warm_start))
        if warm_start.fingerprint != fingerprint:
            raise InputError(
                "warm_start",
                "a run on the same images, labels, core and unary scores",
                remedy="start from a run that differs only in C, k or solver",
            )
        return warm_start.weights

    # -----------------------------------------------------------------------------------------------------
    # Prediction
    # -----------------------------------------------------------------------------------------------------

    def prediction(
        self, label_set: LabelSet, k: npt.ArrayLike | None = None, answers: npt.ArrayLike | None = None
    ) -> LabelPrediction:
        """Return the model's prediction for images; their labels are not used.

        k: how many labels, a number or (M,); by default the fixed k of training, or the mean number of labels of its
        images, rounded. answers: (M, L) of 1, -1 and 0. Where answers require it, k is raised to the number of labels
        forced inside, or lowered to the number not forced outside.
        """
        weights = self._fitted()
        if label_set.names != self.names:
            raise InputError(
                "labels of the images", f"the {len(self.names)} labels that {self.name} was trained on"
            )
        if label_set.features.shape[1] != self.columns:
            raise InputError(
                "features of the images",
                f"{self.columns} per image, as {self.name} was trained on",
                label_set.features.shape[1],
            )
        unary = weights.unary(*self.features(label_set.features))
        marks = np.zeros(unary.shape, np.int8) if answers is None else np.asarray(answers, np.int8)
        if marks.shape != unary.shape:
            raise InputError("answers", f"shape {unary.shape}, one per image and label", marks.shape)
        sizes = np.broadcast_to(np.asarray(self.usual_k if k is None else k), (len(unary),))
        sizes = np.clip(sizes, (marks > 0).sum(axis=1), unary.shape[1] - (marks < 0).sum(axis=1))
        return LabelPrediction(unary, self.core, weights.interactions, sizes, marks)

    def scores(self, label_set: LabelSet, k: npt.ArrayLike | None = None) -> Floats:
        """Return (M, L) the scores that rank the labels of each image; `prediction` returns more."""
        return self.prediction(label_set, k).scores

    def _fitted(self) -> TopKWeights:
        if self.weights is None:
            raise InputError(self.name, "a trained method", remedy="call fit first")
        return self.weights

    # -----------------------------------------------------------------------------------------------------
    # Files
    # -----------------------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Write settings, weights, core, map and certificate as one .npz file without code."""
        weights = self._fitted()
        assert self.certificate is not None
        fields = {item.name: getattr(self.features, item.name) for item in dataclasses.fields(self.features)}
        arrays = {f"map_{key}": value for key, value in fields.items() if isinstance(value, np.ndarray)}
        header = {
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": asdict(self.certificate),
            "names": self.names,
            "usual_k": self.usual_k,
            "columns": self.columns,
            "fingerprint": self.fingerprint,
            "map": {key: value for key, value in fields.items() if not isinstance(value, np.ndarray)},
        }
        saved.write(path, header, {**weights._asdict(), "core": self.core, **arrays})

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the method that `save` wrote; ValueError for any other file."""
        header, arrays = saved.read(path, cls.name)
        try:
            method = METHODS.make_as(cls, cls.name, **header["settings"])
            method.weights = TopKWeights(*(arrays[part] for part in TopKWeights._fields))
            method.certificate = Certificate(**header["certificate"])
            method.core, method.names = arrays["core"], tuple(header["names"])
            method.usual_k, method.columns = int(header["usual_k"]), int(header["columns"])
            method.fingerprint = int(header["fingerprint"])
            stored = {
                key.removeprefix("map_"): value for key, value in arrays.items() if key.startswith("map_")
            }
            method.features = MAPS[method.unary](**header["map"], **stored)
            method._check_shapes()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise saved.unreadable(path, error) from error
        return method

    def _check_shapes(self) -> None:
        """Raise ValueError unless weights, core and names fit together."""
        weights, labels = self._fitted(), len(self.names)
        shapes = len(weights.shared), weights.own.shape, weights.interactions.shape
        if shapes != (labels, (labels,), (len(self.core), labels)):
            raise InputError(
                "shapes of the weights", f"those of {labels} labels and {len(self.core)} in the core", shapes
            )
