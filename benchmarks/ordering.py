"""How fast is MidRank's search for the best order?

    python benchmarks/ordering.py

The search starts from a random order. By the length of the sequence, lengths 3 to 8 are fused with three trees, and
compared with all orders (up to 9 samples), and with the same search with the plain evaluation of eq. 3 for every swap,
in which psi is formed from 1,000 features and multiplied by theta (three swaps, times the number of swaps). Then one
ranker up to length 500, and its memory; and many sequences of 8 in one call.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from timing import machine, medians, options_of, table

from ranking.inference.best_permutation import WindowScores, best_permutations, exhaustive_permutations
from ranking.inference.rank_fusion import weighted_votes
from ranking.inference.swap_kernels import new_paths, search
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
    """Return the least number of swaps that the search evaluates: all swaps of each visited order."""
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


def main() -> None:
    options = options_of(
        __doc__,
        samples=([8, 9, 12, 20, 40], [8, 12]),
        long=([100, 200, 500], [20]),
        features=(1000, 20),
        many=(20_000, 100),
    )
    print(machine())
    show_inference(np.random.default_rng(0), options)


if __name__ == "__main__":
    main()
