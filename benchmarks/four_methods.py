"""Four methods on samples whose neighbours tend to share their label: SVM, AP-SVM, HOB-SVM and HOAP-SVM.

    make figures

compares them by the protocol of the high-order paper (section 5): on three generated sets of action figures and
their ten actions, and on photographs of helmets, a PASCAL VOC folder helmets/VOCdevkit in $RANKING_REAL_DATA or
../shared/data, which is ignored where there is none. Features are HOG and colour; samples of one image are neighbours.
C and eta are chosen from one grid by five folds, which are assigned in five ways; then each method is trained on all
training images and tested. Training ends at a duality gap of 1%.

It prints the grids, the chosen settings, test AP as mean and standard deviation over sets and assignments of the folds,
and for each two methods whether one is significantly better: a t-test of the differences per set and action, each the
mean over the assignments.

With --variants it prints other tables: what HOAP-SVM learns (`hoap_reasons.py`), and what could make it rank better
(`hoap_variants.py`), with one assignment of folds.

With --folder, image sets and trials are kept there, and the same command continues where it stopped.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import hoap_reasons
import hoap_variants
import numpy as np
from timing import REAL_DATA, generated_source, machine, options_of, points, table

from ranking.core import Floats, ImageSet, Source
from ranking.datasets import build_image_set, load_image_set, make_source
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.progress import Progress
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.tables import point_words
from ranking.experiments.cross_validation.trial_data import trial_data_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.methods.hoap_svm import STARTS
from ranking.metrics.statistics import difference_interval, paired_t_test
from ranking.reports.findings import Findings
from ranking.storage.run_settings import PAPER_METHODS, Grids, Protocol

FEATURES = (("HOG", {}), ("Colour", {}))
GRIDS: Grids = {"C": (100.0, 1e3, 1e4), "eta": (1e-4, 1e-3, 1e-2)}
METHODS = [name for name, _ in PAPER_METHODS]
TOLERANCE, SIGNIFICANT = 1e-2, 0.05
FIGURES, HELMETS = "Action figures", "Helmets"
# folders in the layout of PASCAL VOC
PHOTOGRAPHS = {HELMETS: "helmets/VOCdevkit", "Cards": "cards"}


def sources(images: int, generated: int, names: Sequence[str]) -> dict[str, list[Source]]:
    """Return those of the named sets that exist; of action figures `generated` sets of `images` images."""
    sources_of: dict[str, list[Source]] = {}
    if FIGURES in names:
        sources_of[FIGURES] = [
            generated_source(FIGURES, images=images, seed=seed) for seed in range(generated)
        ]
    for name, folder in PHOTOGRAPHS.items():
        if name in names and (REAL_DATA / folder).is_dir():
            sources_of[name] = [make_source("PASCAL VOC", folder=str(REAL_DATA / folder))]
        elif name in names:
            print(f"{name} are ignored: no folder {REAL_DATA / folder}.")
    if HELMETS in names and HELMETS not in sources_of:
        print(
            "The tables of RESULTS.md are of the photographs of "
            "github.com/TigerandRosa/paper_code (Apache-2.0), resized to 480 pixels: boxes of the classes head and "
            "helmet, in the layout of PASCAL VOC 2007. RANKING_REAL_DATA names the folder that holds helmets/."
        )
    return sources_of


def grid_words(grids: Grids) -> str:
    return "; ".join(
        f"{name} of {', '.join(f'{value:g}' for value in values)}" for name, values in grids.items()
    )


def image_set(source: Source, folder: Path) -> ImageSet:
    """Return the set in `folder`, after creating it if necessary."""
    if not (folder / "manifest.json").exists():
        build_image_set(source, folder)
    return load_image_set(folder)


def findings(images: ImageSet, folder: Path, queries: Sequence[str], seed: int, grids: Grids) -> Findings:
    """Run the protocol on a set with folds assigned by `seed`; trials that are stored in `folder` are not repeated."""
    protocol = Protocol(
        images.key,
        FEATURES,
        queries=tuple(queries),
        grids=grids,
        seed=seed,
        tolerance=TOLERANCE,
    )
    plan, cells = plan_of(protocol, images), TrialStore(folder / "cells")
    results = run_experiment(plan, lambda: trial_data_of(plan, images, folder / "features"), cells, say)
    return Findings(plan, results, images, cells)


def say(progress: Progress) -> None:
    if progress.done % 20 == 0 or progress.seconds_left is None:
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        print(f"{progress.done} of {progress.total}: {progress.what}{left}", file=sys.stderr, flush=True)


def measured(findings_of: list[list[Findings]]) -> Floats:
    """Return test AP as (sets, assignments, queries, methods)."""
    queries = findings_of[0][0].results.queries
    return np.array(
        [
            [[[deal.results.test(query, name) for name in METHODS] for query in queries] for deal in deals]
            for deals in findings_of
        ],
        np.float64,
    )


def ap_table(queries: Sequence[str], values: Floats) -> str:
    """Return a row per query and a column per method: mean test AP, and its spread over sets and assignments."""
    of_query = [values[:, :, column] for column in range(len(queries))]
    rows = [
        [name, *map(spread, values_of.reshape(-1, len(METHODS)).T)]
        for name, values_of in zip(queries, of_query, strict=True)
    ]
    if len(queries) > 2:
        rows.append(["Average", *map(spread, values.mean(axis=2).reshape(-1, len(METHODS)).T)])
    return table(["test AP", *METHODS], rows)


def spread(values: Floats) -> str:
    """Format mean and standard deviation as tables in papers do.

    >>> spread(np.array([0.5, 0.52]))
    '.510 ± .014'
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return f"{points(float(np.mean(values)))} ± {points(deviation)}"


def claims_table(values: Floats) -> str:
    """Return a row for each two methods: the difference, on how many actions it is positive, and its significance."""
    rows = []
    # assignments share their images, so they are not independent observations
    means = values.mean(axis=1)
    for second, first in itertools.combinations(range(len(METHODS)), 2):
        apart = (means[..., first] - means[..., second]).ravel()
        p = paired_t_test(apart, np.zeros_like(apart))
        ends = difference_interval(apart, np.zeros_like(apart))
        by_query = (means[..., first] - means[..., second]).mean(axis=0)
        holds = "holds" if p < SIGNIFICANT and apart.mean() > 0 else "does not hold"
        if p < SIGNIFICANT and apart.mean() < 0:
            holds = "the other way round"
        rows.append(
            [
                f"{METHODS[first]} better than {METHODS[second]}",
                f"{apart.mean():+.3f}",
                f"{ends.low:+.3f} to {ends.high:+.3f}",
                f"{np.count_nonzero(by_query > 0)} of {len(by_query)}",
                f"{p:.3f}",
                holds,
            ]
        )
    return table(["claim", "difference", "95%", "queries", "p", ""], rows)


def chosen_words(findings_of: list[list[Findings]]) -> list[str]:
    """Count for each method which settings were chosen, over queries, assignments and sets."""
    sentences = []
    for name in METHODS:
        counts: Counter[str] = Counter()
        for findings in itertools.chain(*findings_of):
            for query in findings.results.queries:
                point = findings.results.chosen(query, name)
                assert point is not None
                counts[point_words(point, findings.results.at_end(query, name))] += 1
        sentences.append(
            f"{name}: " + "; ".join(f"{words} ({count})" for words, count in counts.most_common())
        )
    return sentences


def options_given() -> argparse.Namespace:
    return options_of(
        __doc__, folder=("", ""), sets=((FIGURES, HELMETS), [FIGURES], (FIGURES, *PHOTOGRAPHS)), images=(400, 120),
        generated=(3, 2), assignments=(5, 1), queries=([], ["walking", "running"]),
        variants=([], [], hoap_variants.NAMES),
    )  # fmt: skip


def main() -> None:
    options = options_given()
    grids = {name: values[-1:] for name, values in GRIDS.items()} if options.smoke else GRIDS
    print(machine() + "\n")
    print(grid_words(hoap_variants.GRIDS if options.variants else grids))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.folder or scratch)
        for name, of_name in sources(options.images, options.generated, options.sets).items():
            queries, findings_of = options.queries if name == FIGURES else (), []
            if options.variants:
                report_variants(name, of_name, folder, options.queries, options.variants)
                continue
            for number, source in enumerate(of_name):
                images = image_set(source, folder / f"{name} {number}")
                findings_of.append(
                    [findings(images, folder, queries, seed, grids) for seed in range(options.assignments)]
                )
            report(name, of_name[0], findings_of)
            if options.smoke:
                report_variants(name, of_name[:1], folder, queries[:1], hoap_variants.NAMES[-2:])


def report_variants(
    name: str, of_name: Sequence[Source], folder: Path, queries: Sequence[str], further: Sequence[str]
) -> None:
    """Print what HOAP-SVM learns on the sets of that name, and the effect of each variant."""
    folders = [folder / f"{name} {number}" for number in range(len(of_name))]
    sets = [(image_set(*pair), pair[1]) for pair in zip(of_name, folders, strict=True)]
    print(f"\n{name}, {len(sets)} image set(s): C = {hoap_reasons.C:g}, eta = {hoap_reasons.ETA:g}\n")
    print(hoap_reasons.reasons_table(sets, queries, STARTS[:3]), flush=True)
    print(f"\n{name}: C, eta and the rest chosen on {hoap_variants.FOLDS} folds\n")
    print(hoap_variants.variants_table(hoap_variants.measured(sets, queries, further, say)))


def report(name: str, source: Source, findings_of: list[list[Findings]]) -> None:
    """Print the tables of a set, or of several sets that were generated in the same way."""
    every = [query_findings.results for query_findings in itertools.chain(*findings_of)]
    images, share = len(findings_of[0][0].images.image_names), getattr(source, "share", None)
    described = (
        ""
        if share is None
        else f", {images} images each, with a chance of {share:g} that an action is shared"
    )
    print(f"\n{name}: {len(findings_of)} sets{described}; {len(findings_of[0])} assignments of folds\n")
    values = measured(findings_of)
    print(ap_table(every[0].queries, values) + "\n\n" + claims_table(values) + "\n")
    print(*chosen_words(findings_of), sep="\n")
    training_runs = sum(len(results.outcomes) for results in every)
    unproven = sum(results.unproven for results in every)
    print(f"{training_runs:,} runs, {unproven} of them not converged.")


if __name__ == "__main__":
    main()
