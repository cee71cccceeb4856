"""MidRank: one ranker for each length of subsequences, and their orders fused (midrank, sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ranking.inference.best_permutation import WindowScores, best_permutations
from ranking.inference.rank_fusion import weighted_votes, winner_takes_all
from ranking.methods.common_settings import penalty
from ranking.methods.order_method import Arrays, Grid, OrderMethod, has_order
from ranking.methods.rank_svm import RankSVM
from ranking.methods.registry import METHODS
from ranking.methods.subsequence_maps import MAX_POOLED, REPRESENTATIONS, blocks, max_pooled
from ranking.metrics import kendall_tau
from ranking.optimise.sdca import PlaceHinges, sdca
from ranking.settings import setting
from ranking.subsequences import (
    DISAGREEMENTS,
    DRAWN,
    SCRAMBLED,
    deltas,
    longest_chain,
    training_subsequences,
)
from ranking.types import (
    Certificate,
    Features,
    Floats,
    Ints,
    OnProgress,
    ProgressEvent,
    SequenceSet,
    StopTraining,
)

FUSIONS = ("weighted votes", "winner takes all", "best length")
FOLDS = 3  # of the training sequences, where one length is to be chosen
MOST_JUDGED = 300  # held-out sequences of a fold


class Rankings(NamedTuple):
    """What the rankers say of m sequences before fusion.

    lengths: of the r rankers. first: (N,) the orders of RankSVM, each sequence from 0 to its length. orders: (r, N)
    the best orders found, `first` where a sequence is shorter than the ranker. values: (r, m) eq. 3 of them, NaN there.
    """

    lengths: tuple[int, ...]
    first: Ints
    orders: Ints
    values: Floats


class LengthRanker(NamedTuple):
    """theta: (p, d) in the blocks of the representation; level: the weight of the constant."""

    theta: Floats
    level: float


@METHODS.register("MidRank")
@dataclass(kw_only=True, eq=False)
class MidRank(OrderMethod):
    """min mu/2 ||theta||^2 + sum_i max(0, 1 - delta_i theta.psi_i) for each length by itself (eq. 4).

    The psi_i are subsequences of that length, half of them in the right order and half scrambled, m in all, and
    mu = m / C. A new sequence gets one order from each length, that with the greatest sum of signed roots of theta.psi
    over its windows (eq. 3) as far as the search finds it, begun at the order of RankSVM; then the orders are fused.

    Lengths of which no training sequence has as many different grades are not trained; where that leaves none, the one
    length is that of the most grades, 2 at least. `lengths` tells which were. A ranker that is longer than a new
    sequence has no say in its order; where all are, the order is that of RankSVM.

    The constant is not in the paper. On its public figures, sequences of 8, the rankers of lengths 7 and 8 stand far
    below RankSVM without it; with it, and left out of the search, the fused orders stand above RankSVM. There "stacked"
    has the best single lengths, and "stacked difference" more often the better votes.

    The certificate sums primal and dual over lengths, and leaves RankSVM out. Progress comes from RankSVM as round 0,
    and from one length after the other as rounds from 1; training that is stopped keeps the lengths that it began, and
    with fusion by the best length has not chosen: the shortest then stands for it.
    """

    order = 29
    summary: ClassVar[str] = (
        "Compares whole subsequences with scrambled ones, one ranker a length, and lets them vote."
    )
    objective: ClassVar[str] = (
        r"\sum_{\lambda}\Bigl(\tfrac{\mu}{2}\|\vartheta_\lambda\|^2 + \sum_i \max\bigl(0,\,"
        r"1 - \delta_i\,\vartheta_\lambda^\top\psi(X_i, Y_i)\bigr)\Bigr)"
    )

    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))

    C: float = penalty(10_000.0, "subsequence")
    shortest: int = setting(
        3, label="Shortest subsequences", help="The first ranker learns from subsequences of so many samples.",
        formula=r"\lambda \ge", minimum=2, maximum=10,
    )  # fmt: skip
    longest: int = setting(
        8, label="Longest subsequences", help="The last ranker learns from subsequences of so many samples.",
        formula=r"\lambda \le", minimum=2, maximum=10,
    )  # fmt: skip
    representation: str = setting(
        "stacked difference",
        label="Representation",
        help="How an ordered subsequence becomes one vector.",
        formula=r"\psi(X, Y)",
        choices=REPRESENTATIONS,
    )
    subsequences: int = setting(
        10_000, label="Subsequences a length", formula=r"i = 1 \dots",
        help="So many in the right order, and as many scrambled ones, are drawn for each length.",
        minimum=10, maximum=1_000_000, log=True,
    )  # fmt: skip
    trees: int = setting(
        3, label="Search trees", help="Each but the first begins at an order that no earlier one has visited.",
        minimum=1, maximum=100,
    )  # fmt: skip
    fusion: str = setting(
        "weighted votes",
        label="Fusion",
        help="How the orders of all lengths become one: votes weighted by the value of each order, the order with the "
        "greatest value, or the one length that is best on held-out training sequences.",
        choices=FUSIONS,
    )
    disagreement: str = setting(
        "zero-one",
        label="Disagreement",
        help="How much a scrambled subsequence counts: all alike, by its wrong pairs, or by its loss of NDCG.",
        formula=r"\delta(Y, Y^*)",
        choices=DISAGREEMENTS,
        advanced=True,
    )
    drawn: str = setting(
        "any", label="Draw subsequences", choices=DRAWN, advanced=True,
        help="Of any places of a training sequence, or of consecutive ones.",
    )  # fmt: skip
    scrambled: str = setting(
        "any order", label="Scramble", choices=SCRAMBLED, advanced=True,
        help="What becomes of the right order in a wrong example.",
    )  # fmt: skip
    constant: float = setting(
        1.0, label="Constant feature", formula=r"\psi \leftarrow [\psi, B]", minimum=0.0, maximum=1000.0, advanced=True,
        help="One more component of every training subsequence, 0 for none. Without it scrambles cannot all lie on the "
        "wrong side, since of an order and its reverse one scores about as much above zero as the other below.",
    )  # fmt: skip
    constant_in_search: str = setting(
        "left out", label="Constant in the search", choices=("left out", "counted"), advanced=True,
        help="Left out, as eq. 3 is written, or counted: then roots turn around where training parts right from wrong.",
    )  # fmt: skip
    start_C: float = setting(
        1000.0, label="Penalty of RankSVM", formula=r"C_{\mathrm{RankSVM}}", advanced=True,
        help="The same for the RankSVM whose order the search begins with.", minimum=1e-6, maximum=1e9, log=True,
    )  # fmt: skip
    seed: int = setting(
        0, label="Seed", help="Fixes the subsequences, the steps of training and the later starts of the search.",
        minimum=0, maximum=2**31 - 1, advanced=True,
    )  # fmt: skip
    tolerance: float = setting(
        1e-2,
        label="Stop at this duality gap",
        help="Training of a length ends when its objective is proven to be within this share of the best possible.",
        formula=r"\frac{\text{primal} - \text{dual}}{\text{primal}} \le \text{tolerance}",
        minimum=1e-7,
        maximum=0.5,
        log=True,
        advanced=True,
    )
    max_iterations: int = setting(
        300,
        label="Iterations at most",
        help="A length that has not converged by then ends with the best weights so far, and training says so.",
        formula=r"t \le t_{\max}",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )

    start: RankSVM | None = field(default=None, init=False, repr=False)
    rankers: dict[int, LengthRanker] = field(default_factory=dict, init=False, repr=False)
    best_length: int = field(default=0, init=False, repr=False)  # 0 unless fusion chose one

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shortest > self.longest:
            raise ValueError(
                f"MidRank: shortest must be at most longest, got {self.shortest} and {self.longest}"
            )

    @property
    def lengths(self) -> tuple[int, ...]:
        """Those that were trained, rising."""
        return tuple(self.rankers)

    @property
    def weights(self) -> dict[int, Floats]:
        """Length to theta (p, d), in the blocks of the representation."""
        return {length: ranker.theta for length, ranker in self.rankers.items()}

    # -----------------------------------------------------------------------------------------------------
    # Training
    # -----------------------------------------------------------------------------------------------------

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate:
        chain = longest_chain(sequences)
        shortest, longest = min(self.shortest, chain), min(self.longest, chain)
        reports = _Reports(on_progress)
        self.start = RankSVM(C=self.start_C).fit(sequences, reports)
        self.rankers, self.best_length = {}, 0
        proven: list[Certificate] = []
        for number, length in enumerate(range(shortest, longest + 1), start=1):
            reports.begin(number)
            problem = self.problem(sequences, length)
            solution = sdca(problem, self.tolerance, self.max_iterations, reports, self.seed)
            self.rankers[length] = LengthRanker(solution.theta, solution.level)
            proven.append(solution.certificate)
            if reports.stopped:
                break
        if self.fusion == "best length":
            self.best_length = self.lengths[0] if reports.stopped else self._choose_length(sequences)
        primal, dual = sum(one.primal for one in proven), sum(one.dual for one in proven)
        return Certificate(
            primal,
            dual,
            primal - dual,
            sum(one.iterations for one in proven),
            sum(one.seconds for one in proven),
            all(one.converged for one in proven) and not reports.stopped,
        )

    def problem(self, sequences: SequenceSet, length: int) -> PlaceHinges:
        """Eq. 4 for one length, on subsequences of `sequences` that the seed decides."""
        drawn = training_subsequences(
            sequences, length, self.subsequences, self.drawn, self.scrambled, self.seed + length
        )
        signs = deltas(sequences.grades[drawn.rows], self.disagreement)
        features, rows = sequences.features, drawn.rows
        if self.representation == MAX_POOLED:
            features, rows = max_pooled(features, rows), np.arange(len(rows))[:, None]
            matrix = np.ones((1, 1))
        else:
            matrix = blocks(self.representation, length)
        costs = np.ones(len(signs))
        return PlaceHinges(features, rows, matrix, signs, costs, len(signs) / self.C, self.constant)

    def _choose_length(self, sequences: SequenceSet) -> int:
        """The trained length with the greatest mean Kendall tau on held-out sequences, of equal ones the shorter.

        Whole sequences are held out. Where they share samples, those of a held-out one were trained on in others. A
        length that the others are too short for is not judged there; the shortest stands where none was judged.
        """
        generator = np.random.default_rng(self.seed)
        fold = generator.permutation(len(sequences)) % FOLDS
        taus: list[Floats] = []
        for number in range(FOLDS):
            held, rest = (
                np.flatnonzero(fold == number)[:MOST_JUDGED],
                sequences.part(np.flatnonzero(fold != number)),
            )
            if not len(held) or not has_order(rest):
                continue
            ends = {"shortest": self.lengths[0], "longest": self.lengths[-1]}
            other = replace(self, fusion="weighted votes", **ends).fit(rest)
            judged = sequences.part(held)
            places = [other.lengths.index(one) if one in other.lengths else -1 for one in self.lengths]
            taus += [np.append(found, np.nan)[places] for found in _taus(judged, other.rankings(judged))]
        table = np.array(taus).reshape(-1, len(self.lengths))
        counts = (~np.isnan(table)).sum(axis=0)
        means = np.where(counts > 0, np.nansum(table, axis=0) / np.maximum(counts, 1), -np.inf)
        return self.lengths[int(np.argmax(means))]

    # -----------------------------------------------------------------------------------------------------
    # Prediction
    # -----------------------------------------------------------------------------------------------------

    def window_scores(self, length: int, features: Features) -> WindowScores:
        """What the ranker of one length says of samples (n, d)."""
        theta, level = self.rankers[length]
        offset = self.constant * level if self.constant_in_search == "counted" else 0.0
        if self.representation == MAX_POOLED:
            return WindowScores(
                np.zeros((len(features), length)), offset, features.astype(np.float64), theta[0]
            )
        return WindowScores(features @ (blocks(self.representation, length).T @ theta).T, offset)

    def rankings(self, sequences: SequenceSet) -> Rankings:
        """The orders of all rankers for all sequences; scores of places are computed once for the whole pool."""
        assert self.start is not None
        sizes = np.diff(sequences.starts)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        begin = sequences.starts[:-1][owner]
        scores = sequences.features @ self.start.direction
        first = np.lexsort((-scores[sequences.members], owner)) - begin
        orders = np.repeat(first[None], len(self.rankers), axis=0)
        values = np.full((len(self.rankers), len(sizes)), np.nan)
        for row, length in enumerate(self.rankers):
            enough = sizes >= length
            inside = enough[owner]
            found = best_permutations(
                self.window_scores(length, sequences.features),
                sequences.members[inside],
                np.concatenate([[0], np.cumsum(sizes[enough])]),
                first[inside],
                self.trees,
                self.seed,
            )
            orders[row, inside], values[row, enough] = found.orders, found.values
        return Rankings(self.lengths, first, orders, values)

    def score_sequences(self, sequences: SequenceSet) -> Floats:
        return scores_of_orders(self.fused(self.rankings(sequences), sequences.starts), sequences.starts)

    def fused(self, rankings: Rankings, starts: Ints) -> Ints:
        """(N,) one order a sequence, from 0 to its length; `first` where no ranker has one."""
        fused = rankings.first.copy()
        judged = ~np.isnan(rankings.values).all(axis=0)
        sizes = np.diff(starts)
        inside = np.repeat(judged, sizes)
        if self.fusion == "best length":
            fused[inside] = rankings.orders[self.lengths.index(self.best_length), inside]
            return fused
        fuse = weighted_votes if self.fusion == "weighted votes" else winner_takes_all
        ends = np.concatenate([[0], np.cumsum(sizes[judged])])
        fused[inside] = fuse(rankings.orders[:, inside], rankings.values[:, judged], ends)
        return fused

    def scores_of(self, features: Floats) -> Floats:
        n = len(features)
        if n == 0:
            return np.zeros(0)
        return self.score_sequences(
            SequenceSet(features, np.zeros(n, np.int64), np.arange(n), np.array([0, n]))
        )

    # -----------------------------------------------------------------------------------------------------
    # Keeping
    # -----------------------------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        assert self.start is not None
        kept: Arrays = {
            "start": self.start.direction,
            "lengths": np.array(self.lengths),
            "levels": np.array([ranker.level for ranker in self.rankers.values()]),
            "best_length": np.array(self.best_length),
        }
        return {**kept, **{f"theta_{length}": theta for length, theta in self.weights.items()}}

    def restore(self, arrays: Arrays) -> None:
        self.start = RankSVM(C=self.start_C)
        self.start.columns = self.columns
        self.start.restore({"direction": arrays["start"]})
        lengths, levels = np.asarray(arrays["lengths"]), np.asarray(arrays["levels"], np.float64)
        if not len(lengths) or levels.shape != lengths.shape or (np.diff(lengths) < 1).any():
            raise ValueError(f"expected one level for each length, got {levels.shape} for {lengths}")
        self.rankers = {}
        for length, level in zip(lengths.tolist(), levels.tolist(), strict=True):
            theta = np.asarray(arrays[f"theta_{length}"], np.float64)
            pooled = self.representation == MAX_POOLED
            shape = (1 if pooled else len(blocks(self.representation, length)), self.columns)
            if theta.shape != shape:
                raise ValueError(f"expected theta of {shape} for length {length}, got {theta.shape}")
            self.rankers[length] = LengthRanker(theta, level)
        self.best_length = int(arrays["best_length"])
        if self.fusion == "best length" and self.best_length not in self.rankers:
            raise ValueError(f"the best length {self.best_length} was not trained")


def scores_of_orders(orders: Ints, starts: Ints) -> Floats:
    """(N,) how many samples stand behind each in its sequence, for orders from 0 to its length.

    >>> scores_of_orders(np.array([1, 2, 0]), np.array([0, 3]))
    array([0., 2., 1.])
    """
    sizes = np.diff(starts)
    begin = np.repeat(starts[:-1], sizes)
    scores = np.empty(len(orders))
    scores[orders + begin] = np.repeat(starts[1:], sizes) - 1 - np.arange(len(orders))
    return scores


def _taus(sequences: SequenceSet, rankings: Rankings) -> list[Floats]:
    """For each sequence with two different grades: (r,) Kendall tau of each ranker, NaN where it has no order."""
    scores = [scores_of_orders(orders, sequences.starts) for orders in rankings.orders]
    found = []
    for number in range(len(sequences)):
        span = slice(sequences.starts[number], sequences.starts[number + 1])
        grades = sequences.grades[sequences.members[span]]
        if (grades != grades[0]).any():
            taus = np.array([kendall_tau(grades, one[span]) for one in scores])
            found.append(np.where(np.isnan(rankings.values[:, number]), np.nan, taus))
    return found


class _Reports:
    """Passes progress on with the number of the ranker, 0 for RankSVM; once told to stop, every later one stops."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress
        self.number, self.stopped = 0, False
        self.iterations, self.seconds = 0, 0.0  # before this ranker began
        self.last = (0, 0.0)

    def begin(self, number: int) -> None:
        """The ranker of that number begins."""
        self.number, self.iterations, self.seconds = number, self.last[0] + 1, self.last[1]

    def __call__(self, event: ProgressEvent) -> None:
        if self.stopped:
            raise StopTraining
        self.last = (self.iterations + event.iteration, self.seconds + event.seconds)
        if self.on_progress is not None:
            try:
                self.on_progress(
                    replace(event, iteration=self.last[0], seconds=self.last[1], round=self.number)
                )
            except StopTraining:
                self.stopped = True
                raise
