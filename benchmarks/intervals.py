"""How often does a confidence interval contain the true value, and how long does it take?

    python benchmarks/intervals.py [--sets 400]

Test sets are sampled from a population of images with three samples each, whose labels and scores are correlated within
an image. The measures of two rankings on 400,000 images serve as the true values. A 95% interval should contain them
for 95% of the test sets; the standard error of this share is 1.1 points at 400 sets.
"""

from __future__ import annotations

import time

import numpy as np
from timing import machine, options_of, parser, table

from ranking import metrics
from ranking.core import Floats, Ints
from ranking.metrics.intervals import resample

EACH = 3  # samples in an image


def population(images: int, generator: np.random.Generator) -> tuple[Ints, Floats, Ints]:
    """Relevance (n,), scores of two rankings (2, n), the better one last, and the image of each sample (n,)."""
    image_of = np.repeat(np.arange(images), EACH)
    scene = (generator.random(images) < 0.1)[image_of]
    own = generator.random(len(image_of)) < 0.1
    relevance = np.where(generator.random(len(image_of)) < 0.8, scene, own).astype(np.int64)
    shared = 0.7 * generator.standard_normal(images)[image_of]
    noise = generator.standard_normal((2, len(image_of)))
    worse = relevance + shared + noise[0]
    better = 1.3 * relevance + shared + 0.7 * noise.sum(axis=0)
    return relevance, np.array([worse, better]), image_of


def held(images: int, sets: int, truth: Floats, generator: np.random.Generator) -> list[str]:
    """Return one row: how often the intervals of AP and of the difference contain the true value."""
    hits, used = np.zeros(3), 0
    for seed in range(sets):
        relevance, scores, image_of = population(images, generator)
        if not relevance.any():
            continue
        resampled = resample(relevance, scores, image_of, seed=seed)
        intervals = (
            resampled.interval("AP", 0),
            resampled.interval("AP", 1),
            resampled.difference("AP", 1, 0),
        )
        values = (truth[0], truth[1], truth[1] - truth[0])
        hits += [
            interval.low <= value <= interval.high for interval, value in zip(intervals, values, strict=True)
        ]
        used += 1
    return [f"{images:,}", *(f"{100 * share:.1f}%" for share in hits / used)]


def seconds(images: int, rankings: int, generator: np.random.Generator) -> float:
    """Return the least of three times."""
    relevance, scores, image_of = population(images, generator)
    several = np.repeat(scores, rankings // 2, axis=0)
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        resample(relevance, several, image_of, cutoffs=range(1, 21))
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sets", type=int, default=400, help="test sets of each size (default: 400)")
    arguments.add_argument("--images", nargs="+", type=int, default=[60, 200, 800], help="sizes of test sets")
    arguments.add_argument("--truth", type=int, default=400_000, help="images that define the true values")
    arguments.add_argument("--timed", type=int, default=1667, help="images of the test set that is timed")
    options = options_of(arguments, sets=20, images=[60], truth=4_000, timed=60)
    generator = np.random.default_rng(0)
    relevance, scores, _ = population(options.truth, generator)
    truth = np.array([metrics.average_precision(relevance, row) for row in scores])
    rows = [held(images, options.sets, truth, generator) for images in options.images]
    print(machine(), end="\n\n")
    print(
        table(["images", f"AP, truth {truth[0]:.3f}", f"AP, truth {truth[1]:.3f}", "their difference"], rows)
    )
    took = seconds(options.timed, 4, generator)
    print(f"\nFour rankings of {EACH * options.timed:,} samples, 2,000 draws: {took:.2f} s")


if __name__ == "__main__":
    main()
