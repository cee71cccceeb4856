"""MidRank ablations: the effect of single settings, as in the figures of section 5.5 (midrank, Figs. 4 to 6).

Given an image set with criteria, for example from `ranking.datasets.load_image_set`::

    settings = AblationSettings(image_set.key, (("HOG", {}),), "year", "subsequence length", drawing={"length": 20})
    result = MidRankStudy().run(settings, Context(image_set, Path("features")))
    AblationResult.from_json(result).curves[0].measures["Kendall tau"].mean
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ranking.core import Features, Ints
from ranking.core.errors import InputError
from ranking.datasets.sequences import GROUPS, SampledSequences
from ranking.experiments.ablation_bench import Bench, make_mid_rank
from ranking.experiments.order_task import features_to_order, make_drawing
from ranking.experiments.study import Context, Result, Study
from ranking.inference.best_permutation import (
    MAX_COMPARED,
    as_good,
    best_permutations,
    exhaustive_permutations,
)
from ranking.methods.length_rankings import Rankings
from ranking.methods.mid_rank import MidRank
from ranking.methods.mid_rank_settings import FUSIONS
from ranking.methods.subsequence_maps import REPRESENTATIONS
from ranking.metrics.ablation_curves import AblationResult, Curve, Measured, over_sequences
from ranking.storage.run_settings import AblationSettings

# of Fig. 5, right
TEST_LENGTHS = (5, 10, 15, 20)
# of Fig. 6b
MAX_TREES = 5
# of Fig. 6a
EXHAUSTIVE_LENGTHS = (4, 5, 6, 7, 8, 9)
SEARCH_LENGTHS = (*EXHAUSTIVE_LENGTHS, 12, 20, 40)
# timing rounds
ROUNDS = 7
# least duration of a timing round
ROUND_SECONDS = 0.05
# most sequences in a round
A_ROUND = 100
# most orders compared in a round of exhaustive search, unless one sequence has more
MAX_ORDERS = 1_000_000
AGREES, SECONDS = "share of best orders found", "seconds a sequence"
RANK_SVM, FUSED, ALONE, EXHAUSTIVE, SEARCH = (
    "RankSVM",
    "MidRank, weighted votes",
    "one ranker alone",
    "exhaustive search",
    "search trees",
)


class MidRankStudy(Study[AblationSettings]):
    """A figure of the MidRank paper as an `AblationResult`; equal settings give equal curves."""

    settings = AblationSettings

    def run(self, settings: AblationSettings, context: Context) -> Result:
        images = context.images
        assert images is not None
        if settings.study not in FIGURES:
            raise InputError("study", f"one of: {', '.join(FIGURES)}", repr(settings.study))
        figure, drawing = FIGURES[settings.study], make_drawing(settings.drawing)
        if drawing.of == GROUPS:
            raise InputError(
                "sequences of a study",
                "sequences of equal length",
                GROUPS,
                "choose sequences of any samples, or of one sample per group",
            )
        if drawing.test < 2:
            expected = "at least 2, because confidence intervals of means need two"
            raise InputError("test sequences", expected, drawing.test)
        make_mid_rank(settings.method_settings)
        # report an unknown criterion before features are computed
        images.numbers_of(settings.criterion)
        features, _ = features_to_order(images, settings, context.features, context.on_step)
        bench = Bench(images, features, settings, figure.steps, context.on_step)
        curves = figure.measure(bench)
        bench.end()
        return AblationResult(curves, bench.proven).to_json()


# ---------------------------------------------------------------------------------------------------------
# The figures
# ---------------------------------------------------------------------------------------------------------


def by_subsequence_length(bench: Bench) -> list[Curve]:
    """Fig. 4a: each ranker alone, compared with all rankers and with RankSVM."""
    method = bench.fit("Training MidRank", fusion=FUSIONS[0])
    test, lengths = bench.test, method.lengths
    rankings = method.rankings(test.sequences)
    alone = [bench.judged(test, orders) for orders in rankings.orders]
    fused = bench.judged(test, method.fused(rankings, test.sequences.starts))
    first = bench.judged(test, rankings.first)
    return [
        Curve.of(ALONE, lengths, alone),
        Curve.of(FUSED, lengths, [fused] * len(lengths)),
        Curve.of(RANK_SVM, lengths, [first] * len(lengths)),
    ]


def by_fusion(bench: Bench) -> list[Curve]:
    """Fig. 4b: the orders of the rankers, with each kind of rank fusion."""
    method = bench.fit("Training MidRank, and again on two thirds to choose a length", fusion="best length")
    test = bench.test
    rankings = method.rankings(test.sequences)
    results = [bench.judged(test, fused_by(method, way, rankings, test)) for way in FUSIONS]
    first = bench.judged(test, rankings.first)
    return [
        Curve.of("MidRank", FUSIONS, results),
        Curve.of(RANK_SVM, FUSIONS, [first] * len(FUSIONS)),
    ]


def fused_by(method: MidRank, way: str, rankings: Rankings, sampled: SampledSequences) -> Ints:
    method.fusion = way
    return method.fused(rankings, sampled.sequences.starts)


def by_test_length(bench: Bench) -> list[Curve]:
    """Fig. 5, right: each ranker alone, on test sequences of several lengths."""
    method = bench.fit("Training MidRank")
    curves = []
    for n in TEST_LENGTHS:
        bench.begin(f"Ordering test sequences of {n}")
        test = bench.test_of(n)
        lengths = [length for length in method.lengths if length <= n]
        orders = method.rankings(test.sequences).orders[: len(lengths)]
        curves.append(
            Curve.of(f"test sequences of {n}", lengths, [bench.judged(test, order) for order in orders])
        )
    return curves


def by_representation(bench: Bench) -> list[Curve]:
    """Fig. 5, left: MidRank with each representation of a subsequence."""
    results, test = [], bench.test
    for representation in REPRESENTATIONS:
        method = bench.fit(f"Training MidRank, {representation}", representation=representation)
        rankings = method.rankings(test.sequences)
        results.append(bench.judged(test, method.fused(rankings, test.sequences.starts)))
    first = bench.judged(test, rankings.first)
    return [
        Curve.of("MidRank", REPRESENTATIONS, results),
        Curve.of(RANK_SVM, REPRESENTATIONS, [first] * len(REPRESENTATIONS)),
    ]


def by_trees(bench: Bench) -> list[Curve]:
    """Fig. 6b: how often the search of a ranker finds the best of all orders, and the measures of its orders."""
    n = min(bench.drawing.length, MAX_COMPARED)
    method = bench.fit("Training MidRank", longest=min(bench.plain.longest, n))
    test = bench.test_of(n)
    bench.begin("Comparing all orders of every test sequence")
    best = exhaustive_rankings(method, test)
    counts = list(range(1, MAX_TREES + 1))
    results = []
    for trees in counts:
        bench.begin(f"Searching with {trees} {'tree' if trees == 1 else 'trees'}")
        method.trees = trees
        rankings = method.rankings(test.sequences)
        reached = as_good(rankings.values, best.values)
        agrees = {AGREES: over_sequences(reached.mean(axis=0))}
        results.append({**agrees, **bench.judged(test, method.fused(rankings, test.sequences.starts))})
    sure = {
        AGREES: Measured([1.0], [0.0]),
        **bench.judged(test, method.fused(best, test.sequences.starts)),
    }
    return [Curve.of(SEARCH, counts, results), Curve.of(EXHAUSTIVE, counts, [sure] * len(counts))]


def exhaustive_rankings(method: MidRank, sampled: SampledSequences) -> Rankings:
    """Return `MidRank.rankings` with the best of all orders, for sequences at least as long as the longest ranker."""
    sequences = sampled.sequences
    rankings = method.rankings(sequences)
    results = [
        exhaustive_permutations(
            method.window_scores(length, sequences.features),
            sequences.members,
            sequences.starts,
            rankings.first,
        )
        for length in method.lengths
    ]
    return rankings._replace(
        orders=np.array([result.orders for result in results]),
        values=np.array([result.values for result in results]),
    )


def by_time(bench: Bench) -> list[Curve]:
    """Fig. 6a: the time of the shortest ranker's search, and of exhaustive search."""
    method = bench.fit("Training MidRank", longest=bench.plain.shortest)
    curves = []
    for line, lengths in ((SEARCH, SEARCH_LENGTHS), (EXHAUSTIVE, EXHAUSTIVE_LENGTHS)):
        usable = [n for n in lengths if method.lengths[0] <= n <= len(bench.test.samples)]
        taken = []
        for n in usable:
            bench.begin(f"Timing {line}, sequences of {n}")
            taken.append({SECONDS: seconds_of(method, bench.test.sequences.features, n, line)})
        curves.append(Curve.of(line, usable, taken))
    return curves


def seconds_of(method: MidRank, features: Features, n: int, line: str) -> Measured:
    """Return the median of ROUNDS times in seconds per sequence, and half their interquartile range."""
    # Each begins at the order of RankSVM. The scores of positions are computed beforehand. A round has few
    # sequences, so that one thread handles all of them.
    assert method.start is not None
    count = max(1, min(A_ROUND, MAX_ORDERS // math.factorial(n))) if line == EXHAUSTIVE else A_ROUND
    random = np.random.default_rng(method.seed)
    rows = np.array([random.choice(len(features), n, replace=False) for _ in range(count)])
    first = np.argsort(-(features @ method.start.direction)[rows], axis=1, kind="stable").ravel()
    scores = method.window_scores(method.lengths[0], features)
    given = (scores, rows.ravel(), np.arange(count + 1) * n, first)
    taken = []
    for _ in range(ROUNDS + 1):
        begin, done = time.perf_counter(), 0
        while not done or time.perf_counter() - begin < ROUND_SECONDS:
            if line == EXHAUSTIVE:
                exhaustive_permutations(*given)
            else:
                best_permutations(*given, method.trees, method.seed)
            done += count
        taken.append((time.perf_counter() - begin) / done)
    # the first round may include compilation
    warm = np.array(taken[1:])
    return Measured([float(np.median(warm))], [float(np.subtract(*np.percentile(warm, [75, 25]))) / 2])


class Figure(NamedTuple):
    """figure: its number in the paper. across: the horizontal axis. steps: the approximate number of steps."""

    figure: str
    across: str
    steps: int
    measure: Callable[[Bench], list[Curve]]


FIGURES = {
    "subsequence length": Figure("4a", "length of the ranker's subsequences", 1, by_subsequence_length),
    "fusion": Figure("4b", "rank fusion", 1, by_fusion),
    "test length": Figure(
        "5, right", "length of the ranker's subsequences", 1 + len(TEST_LENGTHS), by_test_length
    ),
    "representation": Figure("5, left", "representation", len(REPRESENTATIONS), by_representation),
    "number of trees": Figure("6b", "search trees", 2 + MAX_TREES, by_trees),
    "time": Figure(
        "6a", "length of the sequence", 1 + len(SEARCH_LENGTHS) + len(EXHAUSTIVE_LENGTHS), by_time
    ),
}
