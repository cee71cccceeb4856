"""How fast is the most violated ranking, by four algorithms, compared with numpy.sort?

    python benchmarks/most_violated_ranking.py [--cold]

Scores are those of a random model ("start": relevance and score independent) or of a trained one ("end":
relevant samples three standard deviations higher, as after AP-SVM on separable features). Times include input
validation and all outputs (coefficients, loss, interleaving ranks, objective). Every time is the median over seeds of
medians over rounds in which all algorithms take turns, each with one uncounted call first; with --cold every call comes
directly after a call of another algorithm, with its caches. "-": not run, because it would take minutes (greedy, at
|N||P| above 2 x 10^8) or is not defined (search, for NDCG).
"""

from __future__ import annotations

import statistics

import numpy as np
from timing import machine, medians, milliseconds, options_of, table

from ranking.inference import most_violated_ranking

ALGORITHMS = ("auto", "select", "search", "greedy")
GREEDY_LIMIT = 2e8
SIZES = [(3120, 227), (10**5, 10**3), (10**6, 10**3)]


def scores_of(negatives: int, positives: int, stage: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    relevant = np.zeros(negatives + positives, dtype=bool)
    relevant[generator.choice(len(relevant), positives, replace=False)] = True
    return generator.standard_normal(len(relevant)) + 3.0 * (stage == "end") * relevant, relevant


def measure(negatives: int, positives: int, loss: str, stage: str, seed: int, cold: bool) -> dict[str, float]:
    """Return the median seconds of each algorithm that is run at this size, and of numpy.sort."""
    scores, relevant = scores_of(negatives, positives, stage, seed)
    negative_scores = scores[~relevant]

    def run(algorithm: str) -> float:
        return most_violated_ranking(scores, relevant, loss, algorithm).objective

    tasks = {"numpy.sort": lambda: np.sort(negative_scores)}
    for algorithm in ALGORITHMS:
        skipped = (algorithm == "greedy" and negatives * positives > GREEDY_LIMIT) or (
            algorithm == "search" and loss != "ap"
        )
        if not skipped:
            tasks[algorithm] = lambda algorithm=algorithm: run(algorithm)
    objectives = [run(name) for name in tasks if name != "numpy.sort"]
    assert np.ptp(objectives) <= 1e-9 * max(1.0, abs(objectives[0])), "the algorithms disagree"
    rounds = int(np.clip(2e6 // negatives, 5, 51))
    return medians(tasks, rounds, cold)


def row(negatives: int, positives: int, loss: str, stage: str, seeds: range, cold: bool) -> list[str]:
    runs = [measure(negatives, positives, loss, stage, seed, cold) for seed in seeds]
    times = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    greedy = f"{times['greedy'] / times['auto']:.0f}x" if "greedy" in times else "-"
    cells = [milliseconds(times.get(name)) for name in ("numpy.sort", *ALGORITHMS)]
    return [
        f"{negatives:,}",
        f"{positives:,}",
        loss,
        stage,
        *cells,
        f"{times['auto'] / times['numpy.sort']:.2f}",
        greedy,
    ]


def main() -> None:
    options = options_of(__doc__, cold=(False, False), seeds=(3, 1))
    sizes = [(1000, 50)] if options.smoke else SIZES
    header = [
        "\\|N\\|",
        "\\|P\\|",
        "loss",
        "scores",
        "numpy.sort, ms",
        *[f"{name}, ms" for name in ALGORITHMS],
    ]
    rows = [
        row(negatives, positives, loss, stage, range(options.seeds), options.cold)
        for negatives, positives in sizes
        for loss in ("ap", "ndcg")
        for stage in ("start", "end")
    ]
    print(machine())
    print(table([*header, "auto / sort", "greedy / auto"], rows))


if __name__ == "__main__":
    main()
