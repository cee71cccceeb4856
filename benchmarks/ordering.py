"""How fast and how good is MidRank's search for the best order, and how long does training take?

    python benchmarks/ordering.py [--part inference agreement training]

- inference: the search from a random order, by the length of the sequence: lengths 3 to 8 fused with three trees,
  compared with all orders (up to 9 samples), and with the same search with the plain evaluation of eq. 3 for every
  swap, in which psi is formed from 1,000 features and multiplied by theta (three swaps, times the number of swaps);
  then one ranker up to length 500, and its memory; and many sequences of 8 in one call.
- agreement: how often the search finds the best of all orders of 8 samples, by the number of trees, for rankers
  trained on generated sequences (a class for each position, as with the public figures) and for random scores.
- training: 10,000 sequences of 8 over a pool of 1,000 samples with 500 features, lengths 3 to 8, as many subsequences
  of each length, to a gap of 1%.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from timing import machine, medians, options_of, parser, table

from ranking import make_method
from ranking.core import SequenceSet
from ranking.inference.best_permutation import WindowScores, best_permutations, exhaustive_permutations
from ranking.inference.rank_fusion import weighted_votes
from ranking.inference.swap_kernels import new_paths, search
from ranking.methods.mid_rank import MidRank
from ranking.methods.subsequence_maps import blocks

LENGTHS = tuple(range(3, 9))
TREES = 3


def plain_swap(order: np.ndarray, samples: np.ndarray, thetas: dict[int, np.ndarray]) -> float:
    """Evaluate eq. 3 of one order for all lengths, from features."""
    total = 0.0
    for length, theta in thetas.items():
        for start in range(len(order) - length + 1):
            psi = (blocks("stacked difference", length) @ samples[order[start : start + length]]).ravel()
            score = theta @ psi
            total += np.copysign(np.sqrt(abs(score)), score)
    return total


def swaps_of(scores: WindowScores, n: int) -> int:
    """Return the least number of swaps that the search evaluates: all swaps of each visited order, by its paths."""
    paths = new_paths(TREES, n)
    grown = search(scores.model, np.arange(n), np.arange(n), 0, paths)
    return int((paths.depths[:grown] + 1).sum()) * n * (n - 1) // 2


def show_inference(generator: np.random.Generator, options: argparse.Namespace) -> None:
    rows, columns = [], options.features
    for n in options.samples:
        samples = generator.standard_normal((n, columns))
        thetas = {length: generator.standard_normal((length - 1) * columns) for length in LENGTHS}
        sequence = np.arange(n), np.array([0, n]), generator.permutation(n)

        def fused() -> np.ndarray:
            orders, values = [], []
            for length, theta in thetas.items():  # noqa: B023
                blocks, nothing = theta.reshape(length - 1, columns), np.zeros(columns)
                position_weights = np.vstack([blocks, nothing]) - np.vstack([nothing, blocks])
                best = best_permutations(WindowScores(samples @ position_weights.T), *sequence, trees=TREES)  # noqa: B023
                orders.append(best.orders)
                values.append(best.values)
            return weighted_votes(np.stack(orders), np.stack(values), sequence[1])  # noqa: B023

        def some_plain_swaps() -> None:
            order = sequence[2]  # noqa: B023
            for position in range(1, 4):
                order[[0, position]] = order[[position, 0]]
                plain_swap(order, samples, thetas)  # noqa: B023

        def all_orders() -> None:
            for length in LENGTHS:
                exhaustive_permutations(WindowScores(samples[:, :length]), *sequence)  # noqa: B023

        tasks = {"fused": fused, "plain": some_plain_swaps}
        if n <= 9:
            tasks["all"] = all_orders
        seconds = medians(tasks, 5)
        counts = [swaps_of(WindowScores(samples[:, :length]), n) for length in LENGTHS]
        plain = seconds["plain"] / 3 * np.mean(counts)
        rows.append(
            [
                str(n),
                f"{1e3 * seconds['fused']:.2f}",
                f"{1e3 * seconds['all']:.1f} ({seconds['all'] / seconds['fused']:.0f}x)" if "all" in tasks else "-",
                f"{plain:.2f} ({plain / seconds['fused']:,.0f}x)",
            ]
        )  # fmt: skip
    print(f"\nLengths 3 to 8 fused, {TREES} trees, {columns} features, one sequence, random start\n")
    print(table(["samples", "search, ms", "all orders, ms", "plain evaluation, s"], rows))
    rows = []
    for n in options.long:
        scores = WindowScores(generator.standard_normal((n, 8)))
        sequence = np.arange(n), np.array([0, n]), generator.permutation(n)
        best_permutations(scores, *sequence)
        tracemalloc.start()
        start = time.process_time()
        best_permutations(scores, *sequence, trees=TREES)
        seconds = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append([str(n), f"{seconds:.2f}", f"{peak / 1024:.0f}"])
    print(f"\nOne ranker of length 8, {TREES} trees, random start and random scores of positions\n")
    print(table(["samples", "processor seconds", "Python's arrays at most, KB"], rows))
    count = options.many
    scores = WindowScores(generator.standard_normal((500, 5)))
    many = generator.integers(0, 500, 8 * count), np.arange(0, 8 * count + 1, 8), np.tile(np.arange(8), count)
    start = time.perf_counter()
    best_permutations(scores, *many, trees=TREES)
    print(f"\n{count:,} sequences of 8, one ranker, {TREES} trees: {time.perf_counter() - start:.2f} s")


# ---------------------------------------------------------------------------------------------------------
# Trained rankers
# ---------------------------------------------------------------------------------------------------------


def random_sequences(generator: np.random.Generator, pool: int, columns: int, count: int) -> SequenceSet:
    """Sample sequences with one sample of each of 8 classes, whose means are not on a line: the class is the grade."""
    grades = np.arange(pool) % 8
    features = generator.standard_normal((8, columns))[grades] + 2.5 * generator.standard_normal(
        (pool, columns)
    )
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    members = generator.integers(0, pool // 8, (count, 8)) * 8 + generator.permuted(
        np.tile(np.arange(8), (count, 1)), axis=1
    )
    return SequenceSet(features, grades, members.ravel(), np.arange(0, 8 * count + 1, 8))


def show_agreement(generator: np.random.Generator, options: argparse.Namespace) -> None:
    count = options.tested
    both = random_sequences(generator, 1000, 50, 2 * count)
    method = make_method("MidRank", subsequences=options.subsequences).fit(both.part(range(count)))
    test = both.part(range(count, 2 * count))
    first = method.rankings(test).first
    models = {f"trained, {length}": method.window_scores(length, test.features) for length in LENGTHS}
    models |= {
        f"random, {length}": WindowScores(generator.standard_normal((1000, length))) for length in (3, 8)
    }
    rows = []
    for name, scores in models.items():
        best = exhaustive_permutations(scores, test.members, test.starts, first).values
        shares = []
        for trees in (1, 2, 3, 5, 10):
            searched = best_permutations(scores, test.members, test.starts, first, trees)
            shares.append(f"{(searched.values >= best - 1e-9).mean():.1%}")
        rows.append([name, *shares])
    print(f"\nShare of {count} sequences of 8 samples whose best order was found, by the number of trees\n")
    print(table(["scores, length", "1 tree", "2", "3", "5", "10"], rows))


def show_training(generator: np.random.Generator, options: argparse.Namespace) -> None:
    sequences = random_sequences(generator, 1000, 500, options.sequences)
    each = len(sequences)  # subsequences of each length in order, and as many scrambled ones
    MidRank(subsequences=10).fit(sequences)
    rows = []
    for representation in ("stacked difference", "stacked"):
        start = time.perf_counter()
        method = make_method("MidRank", representation=representation, subsequences=each).fit(sequences)
        seconds, proven = time.perf_counter() - start, method.certificate
        rows.append(
            [
                representation,
                f"{seconds:.1f}",
                f"{proven.seconds:.1f}",
                str(proven.iterations),
                f"{proven.relative_gap:.1%}",
            ]
        )
    size = f"{len(sequences):,} sequences of 8, lengths 3 to 8, {2 * each:,} subsequences each, 500 features"
    print(f"\nTraining on {size}\n")
    print(table(["representation", "seconds", "of it SDCA", "iterations", "gap"], rows))


def main() -> None:
    arguments = parser(__doc__)
    parts = {"inference": show_inference, "agreement": show_agreement, "training": show_training}
    arguments.add_argument("--part", nargs="+", choices=list(parts), default=list(parts))
    add = arguments.add_argument
    add("--samples", nargs="+", type=int, default=[8, 9, 12, 20, 40], help="inference: samples per sequence")
    add("--long", nargs="+", type=int, default=[100, 200, 500], help="inference: samples, with one ranker")
    add("--features", type=int, default=1000, help="inference: features per sample")
    add("--many", type=int, default=20_000, help="inference: sequences of 8")
    add("--tested", type=int, default=500, help="agreement: training sequences, and as many test sequences")
    add("--subsequences", type=int, default=2000, help="agreement: training subsequences of each length")
    add("--sequences", type=int, default=10_000, help="training: sequences")
    options = options_of(
        arguments, samples=[8, 12], long=[20], features=20, many=100, tested=20, subsequences=50, sequences=60
    )
    print(machine())
    for part in options.part:
        parts[part](np.random.default_rng(0), options)


if __name__ == "__main__":
    main()
