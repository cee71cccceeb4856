"""Two to four runs on one image set and one query, and the comparison of their rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.run_settings import TrainSettings
from ranking.core.settings import settings_dict, settings_of
from ranking.datasets.splits import blocks_of
from ranking.features.graph.image_graph import graph_words
from ranking.features.projection import projection_words
from ranking.methods import make_method
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled, resample
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import SAMPLES, Run
from ranking.workspace.run_files import read_scores
from ranking.workspace.store import Store

FEWEST, MOST = 2, 4
SPLITS = ("test", "train")
TOP = 10  # default cutoff of rows and measures


@dataclass(frozen=True, eq=False)
class Compared:
    """Runs on one image set and one query; `names` and the rankings of `compared` are in their order. resampled: their
    AP, NDCG and P@k, and the same measures on resampled images of the split."""

    runs: Sequence[Run]
    names: Sequence[str]
    images: ImageSet
    split: str
    compared: Comparison
    resampled: Resampled

    @classmethod
    def at_home(cls, store: Store, runs: Sequence[Run], split: str = "test", top: int = TOP) -> Self:
        """Compare runs of a data folder. ValueError if they cannot be compared: not two to four, one without scores,
        one twice, different images or queries, no relevant sample."""
        if not FEWEST <= len(runs) <= MOST:
            raise InputError("comparison", f"{FEWEST} to {MOST} training runs", len(runs))
        ids = [run.id for run in runs]
        if twice := [run_id for place, run_id in enumerate(ids) if run_id in ids[:place]]:
            named = ", ".join(dict.fromkeys(twice))
            raise InputError("repeated training runs", "none", named, "name each training run once")
        for run in runs:
            if run.task != SAMPLES or not run.has_scores:
                raise InputError(
                    f"run {run.id}",
                    "a training run with a ranking",
                    f"{run.called} ({run.state})",
                    "choose another run",
                )
        images = store.image_set(runs[0].settings["set"])
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


def names_of(runs: Sequence[Run]) -> list[str]:
    """Return a short unique name for each run: the user's name or the method, with the id where that is ambiguous."""
    named = [run.name or str(run.settings["method"]) for run in runs]
    return [
        f"{name}, {run.id}" if named.count(name) > 1 else name for run, name in zip(runs, named, strict=True)
    ]


def settings_facts(run: Run) -> dict[str, str]:
    """Describe the settings and the outcome of a run by name, including all settings of its method, also defaults."""
    settings = TrainSettings.from_json(run.settings)
    method = make_method(settings.method, **settings.method_settings)
    values, proof = settings_dict(method), run.result.get("certificate", {})
    features = (f"{name}{_listed(given)}" for name, given in settings.features)
    facts = {"Method": settings.method, "Features": " + ".join(features)}
    facts |= {item.label.partition(":")[0]: _spoken(values[item.name]) for item in settings_of(method)}
    if settings.projection is not None:
        facts["Projection"] = projection_words(settings.projection)
    if settings.graph is not None:
        facts["Neighbours"] = graph_words(settings.graph)
    if settings.warm_start is not None:
        facts["Warm start from run"] = settings.warm_start
    if settings.corrections:
        facts["Corrected labels"] = f"{len(settings.corrections):,}"
    if proof.get("relative_gap") is not None:
        facts["Duality gap, share of the primal"] = f"{proof['relative_gap']:.2g}"
    if proof:
        facts["Iterations"], facts["Seconds"] = f"{proof['iterations']:,}", f"{proof['seconds']:.3g}"
    if run.imported is not None:
        facts["Trained"] = "elsewhere, imported from a file"
    return {**facts, "Training": run.id}


def _listed(given: dict[str, Any]) -> str:
    return f" ({', '.join(f'{name} = {_spoken(value)}' for name, value in given.items())})" if given else ""


def _spoken(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
