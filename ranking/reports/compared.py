"""Two to four runs on one image set and one query, and the comparison of their rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.datasets.splits import blocks_of
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled, resample
from ranking.metrics.ranked import Ranking
from ranking.reports.settings_words import names_of
from ranking.storage.run import SAMPLES, Run
from ranking.storage.run_files import read_scores
from ranking.storage.store import Store

MIN_RUNS, MAX_RUNS = 2, 4
SPLITS = ("test", "train")
# default cutoff of rows and measures
TOP = 10


@dataclass(frozen=True, eq=False)
class Compared:
    """Runs on one image set and one query."""

    runs: Sequence[Run]
    # in the order of `runs`, as are the rankings of `compared`
    names: Sequence[str]
    images: ImageSet
    split: str
    compared: Comparison
    # AP, NDCG and P@k of the runs, and the same measures on resampled images of the split
    resampled: Resampled

    @classmethod
    def at_home(cls, store: Store, runs: Sequence[Run], split: str = "test", top: int = TOP) -> Self:
        """Compare runs of a data folder; ValueError if they cannot be compared."""
        # They must be two to four different runs with scores, on one image set and one query, with a relevant
        # sample.
        if not MIN_RUNS <= len(runs) <= MAX_RUNS:
            raise InputError("comparison", f"{MIN_RUNS} to {MAX_RUNS} training runs", len(runs))
        ids = [run.id for run in runs]
        if twice := [run_id for place, run_id in enumerate(ids) if run_id in ids[:place]]:
            named = ", ".join(dict.fromkeys(twice))
            raise InputError("repeated training runs", "none", named, "name each training run once")
        for run in runs:
            if run.task != SAMPLES or not run.has_scores:
                raise InputError(
                    f"run {run.id}",
                    "a training run with a ranking",
                    f"{run.kind_name} ({run.state})",
                    "choose another run",
                )
        images = store.sets.get(runs[0].settings["set"])
        rows = np.flatnonzero(images.test if split == "test" else ~images.test)
        subjects = {(run.settings["set"], run.settings["query"]) for run in runs}
        if subjects != {(images.key, query_of(runs[0]))}:
            raise InputError(
                "image sets and queries of the training runs", "one of each", f"{len(subjects)} pairs"
            )
        relevance = images.relevance(query_of(runs[0]))[rows]
        scores = [read_scores(run.scores_file, f"run {run.id}", len(images)) for run in runs]
        rankings = [Ranking.of(rows, relevance, each[rows]) for each in scores]
        compared = Comparison.of(rankings)
        if not relevance.any():
            raise InputError(
                f"relevant {split} samples", "at least one", 0, "choose another split or another query"
            )
        cutoffs = (min(top, len(rows)),)
        units = blocks_of(images, compared.samples)
        measures = resample(compared.relevance, compared.scores, units, cutoffs=cutoffs)
        return cls(runs, names_of(runs), images, split, compared, measures)  # fmt: skip

    @property
    def query(self) -> str:
        return query_of(self.runs[0])


def query_of(run: Run) -> str:
    """Return the class that a run ranks first."""
    return str(run.settings["query"])
