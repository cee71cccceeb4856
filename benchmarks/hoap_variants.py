"""What could make HOAP-SVM rank better than HOB-SVM: `four_methods.py --variants` trains variants and prints one table.

C, eta, and all other open settings of a variant are chosen by the AP on three folds of the training images. Then each
variant is trained on all training images and tested. Differences are of test AP, by set and query.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from timing import points, table

from ranking.core import Features, ImageSet
from ranking.core.settings import Named
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.progress import Progress
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial_data import TrialData, trial_data_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.features import feature_columns
from ranking.metrics.statistics import difference_interval, paired_t_test
from ranking.storage.run_settings import Grids, Protocol

CCCP = importlib.import_module("ranking.solvers.cccp")

BOX: Named = (("HOG", {}), ("Colour", {}))
SCENE: Named = (*BOX, ("GIST of the image", {}))
GRIDS: Grids = {"C": (100.0, 1e3), "eta": (1e-3, 1e-2)}
START_GRID: Grids = {**GRIDS, "start_C": (100.0, 1e3, 1e4)}
WEAK_GRID: Grids = {**GRIDS, "eta": (1e-5, 1e-4, 1e-3, 1e-2)}
HOB, AP, BOTH = "HOB-SVM", "AP-SVM", "HOB-SVM and AP-SVM"
TOLERANCE, FOLDS = 1e-2, 3

# mean AP over the folds at the chosen point, and test AP there
Chosen = tuple[float, float]
# one per query and set
Column = list[Chosen]
Say = Callable[[Progress], None]
PAPER = f"starts: HOAP-SVM (start: {HOB})"
Change = Callable[[TrialData, Plan, ImageSet], TrialData]


def unchanged(trial_data: TrialData, plan: Plan, images: ImageSet) -> TrialData:
    return trial_data


def compare_hog(trial_data: TrialData, plan: Plan, images: ImageSet) -> TrialData:
    """Phi compares HOG only."""
    (columns,) = (
        columns_of_hog for part, columns_of_hog in feature_columns(BOX, images) if part.name == "HOG"
    )
    return replace(trial_data, compared=np.arange(columns.start, columns.stop))


@dataclass(frozen=True)
class FirstColumns:
    """Used like a projection: methods see only the first columns."""

    kept: int

    def __call__(self, features: Features) -> Features:
        return features[:, : self.kept]


def compare_standardised(trial_data: TrialData, plan: Plan, images: ImageSet) -> TrialData:
    """Phi compares features in units of their standard deviation over the training samples."""
    features, kept = trial_data.features, trial_data.features.shape[1]
    deviation = features[~images.test].std(axis=0)
    scaled = features / np.where(deviation > 0, deviation, 1.0)
    projections: Any = dict.fromkeys(trial_data.sides, FirstColumns(kept))
    both = np.hstack([features, scaled]).astype(np.float32)
    return replace(trial_data, features=both, compared=kept + trial_data.compared, projections=projections)


@dataclass(frozen=True)
class Study:
    """Methods with a choice of features and grids. still: of `ranking.solvers.cccp`."""

    name: str
    methods: Named
    features: Named = BOX
    grids: Grids = field(default_factory=lambda: GRIDS)
    still: float = 1.0
    change: Change = unchanged

    def run(self, images: ImageSet, folder: Path, queries: tuple[str, ...], report: Say) -> Results:
        """Return the results on a set, computing what is not stored in `folder`."""
        protocol = Protocol(
            images.key,
            self.features,
            self.methods,
            queries,
            self.grids,
            FOLDS,
            tolerance=TOLERANCE,
            widen=False,
        )
        plan = plan_of(protocol, images)

        def trial_data() -> TrialData:
            return self.change(trial_data_of(plan, images, folder / "features"), plan, images)

        with rounds_end_at(self.still):
            return run_experiment(plan, trial_data, TrialStore(folder / "variants" / self.name), report)


@contextmanager
def rounds_end_at(still: float) -> Iterator[None]:
    before, CCCP.STILL = CCCP.STILL, still
    try:
        yield
    finally:
        CCCP.STILL = before


def hoap(start: str) -> tuple[str, dict[str, Any]]:
    return "HOAP-SVM", {"start": start}


FIRST = Study("starts", ((AP, {}), (HOB, {}), hoap(HOB), hoap(AP), hoap(BOTH)))
FURTHER = (
    Study("start C", (hoap(HOB),), grids=START_GRID),
    Study("weak edges", ((HOB, {}), hoap(HOB)), grids=WEAK_GRID),
    Study("short rounds", (hoap(HOB),), still=10.0),
    Study("whole rounds", (hoap(HOB),), still=0.01),
    Study("Phi of HOG", ((HOB, {}), hoap(HOB)), change=compare_hog),
    Study("Phi standardised", ((HOB, {}), hoap(HOB)), change=compare_standardised),
    Study("scene in x", ((AP, {}), (HOB, {}), hoap(HOB)), features=SCENE),
)
NAMES = tuple(study.name for study in FURTHER)


def name_of(study: Study, method: str, settings: dict[str, Any]) -> str:
    """Return the name of a method in the experiment of a study: with its settings if it occurs more than once."""
    several = [name for name, _ in study.methods].count(method) > 1
    return f"{method} (start: {settings['start']})" if several else method


def measured(
    sets: Sequence[tuple[ImageSet, Path]], queries: Sequence[str], further: Sequence[str], report: Say
) -> dict[str, Column]:
    """For each variant the chosen values of every query of every set. further: the names of studies after the first."""
    columns: dict[str, Column] = {}
    for images, folder in sets:
        some = tuple(query for query in queries if query in images.classes)
        for study in (FIRST, *(study for study in FURTHER if study.name in further)):
            results = study.run(images, folder, some, report)
            for method, settings in study.methods:
                compared_method = name_of(study, method, settings)
                column = columns.setdefault(f"{study.name}: {compared_method}", [])
                column += [value_of(results, query, compared_method) for query in results.queries]
    hob, ap = (columns[f"starts: HOAP-SVM (start: {start})"] for start in (HOB, AP))
    columns["starts: HOAP-SVM (start chosen on folds)"] = [max(pair) for pair in zip(hob, ap, strict=True)]
    return columns


def value_of(results: Results, query: str, compared_method: str) -> Chosen:
    test = results.test(query, compared_method)
    assert test is not None
    return fmean(results.validation(query, compared_method) or ()), test


def variants_table(columns: dict[str, Column]) -> str:
    """Return a row per variant: AP on folds and test, and the differences of test AP."""
    # Differences from HOAP-SVM as in the paper, and from HOB-SVM on the same features.
    rows = []
    for name, column in columns.items():
        study = name.partition(":")[0]
        hob = columns.get(f"{study}: {HOB}", columns[f"starts: {HOB}"])
        against = [] if name.endswith((f": {AP}", f": {HOB}")) else [columns[PAPER], hob]
        cells = [apart(column, baseline) if baseline is not column else "" for baseline in against] or [
            "",
            "",
        ]
        rows.append([name, *(points(fmean(values)) for values in zip(*column, strict=True)), *cells])
    return table(["variant", "AP, folds", "test AP", "minus HOAP-SVM from HOB-SVM", "minus HOB-SVM"], rows)


def apart(column: Column, baseline: Column) -> str:
    """Format the mean difference of test AP; for several, with its 95% confidence interval and p of a paired t-test."""
    values_of_column, two = ([test for _, test in values] for values in (column, baseline))
    mean = fmean(values_of_column) - fmean(two)
    if values_of_column == two or len(values_of_column) == 1:
        return signed(mean)
    ends, p = difference_interval(values_of_column, two), paired_t_test(values_of_column, two)
    return f"{signed(mean)} ({signed(ends.low)} to {signed(ends.high)}), p = {p:.2f}"


def signed(value: float) -> str:
    return ("+" if value >= 0 else "") + points(value)
