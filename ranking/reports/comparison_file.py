"""A comparison file (JSON): the settings of its runs and the source of its image set, to recreate the comparison.

Bundled image sets exist everywhere, and sets whose source needs no files are generated again from its settings; the
key, a hash of all content, shows that the set is the same. A set that was imported from files is named by its key
only: the user has to import those files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ranking.core.errors import InputError
from ranking.core.run_settings import ImportSettings, TrainSettings
from ranking.core.settings import settings_of
from ranking.core.text import readable
from ranking.datasets import source_class, source_names
from ranking.features.graph.uploaded_pairs import is_edges_name
from ranking.reports.compared import FEWEST, MOST, SPLITS, Compared
from ranking.storage import examples
from ranking.storage.run import Run
from ranking.storage.sets import ImageSetRow
from ranking.storage.store import Store

NAMES = {"trainings", "names", "split", "image_set", "not_recreated"}


@dataclass(frozen=True)
class ComparisonSettings:
    """The content of a comparison: runs on one image set and one query with their names, and the split that they rank.

    source: how to generate the image set; None for bundled sets and for sets whose files have to be imported.
    """

    training_runs: tuple[TrainSettings, ...]
    names: tuple[str, ...]
    split: str = "test"
    source: ImportSettings | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read the output of `comparison_json`; raise ValueError for anything else."""
        training_runs = record.get("trainings")
        if not isinstance(training_runs, list) or not all(
            isinstance(training, dict) for training in training_runs
        ):
            raise InputError("trainings", "a list of settings by name", f"{json.dumps(training_runs):.60}")
        if unknown := record.keys() - NAMES:
            named = readable(", ".join(sorted(unknown)))
            raise InputError("settings of a comparison", f"some of {', '.join(sorted(NAMES))}", named)
        settings = tuple(TrainSettings.from_json(training) for training in training_runs)
        subjects = {(training.set, training.query) for training in settings}
        if not FEWEST <= len(settings) <= MOST or len(subjects) != 1:
            raise InputError(
                "trainings",
                f"{FEWEST} to {MOST} of one image set and one query",
                f"{len(settings)} of {len(subjects)}",
            )
        names, split = record.get("names", [""] * len(settings)), record.get("split", "test")
        if not isinstance(names, list) or [type(name) for name in names] != [str] * len(settings):
            raise InputError("names", f"{len(settings)}, one per training run", f"{json.dumps(names):.60}")
        if split not in SPLITS:
            raise InputError("split", "test or train", f"{json.dumps(split):.40}")
        source = _part(record, "image_set").get("source")
        made_by = (
            None if source is None else ImportSettings.from_json(_part(_part(record, "image_set"), "source"))
        )
        return cls(settings, tuple(names), split, made_by)

    @property
    def set(self) -> str:
        return self.training_runs[0].set


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name, {})
    if not isinstance(part, dict):
        raise InputError(name, "settings by name", f"{json.dumps(part):.60}")
    return part


def comparison_json(store: Store, shown: Compared) -> str:
    """Return the comparison file. Its "not_recreated" lists what another machine cannot generate from it."""
    training_runs = [TrainSettings.from_json(run.settings) for run in shown.runs]
    row = next(row for row in store.sets.rows() if row.key == shown.images.key)
    source = source_of(store, row)
    record = {
        "trainings": [replace(training, warm_start=None).to_json() for training in training_runs],
        "names": [run.name for run in shown.runs],
        "split": shown.split,
        "image_set": {
            "key": row.key,
            "title": row.title,
            "source": None if source is None else source.to_json(),
        },
        "not_recreated": _lacking(row, source, training_runs, shown.runs),
    }
    lines = [f" {json.dumps(name)}: {_written(value)}" for name, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _written(value: Any) -> str:
    """Return JSON with one line per list entry, which is easy to read and to print."""
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def source_of(store: Store, row: ImageSetRow) -> ImportSettings | None:
    """Return the settings that generate an image set again; None if it was read from files, or is of unknown origin."""
    for run in store.runs.all(task="images"):
        if run.result.get("key") == row.key and _makes_it_all(str(run.settings["source"])):
            return ImportSettings.from_json(run.settings)
    return None


def _makes_it_all(source: str) -> bool:
    """Return whether a source needs no files: none of its settings is free text, such as the name of a folder."""
    if source not in source_names():
        return False
    return all(item.choices or item.kind is not str for item in settings_of(source_class(source)))


def is_bundled(key: str) -> bool:
    """Return whether an image set is bundled with the app."""
    return key in examples.set_folders()


def _lacking(
    row: ImageSetRow,
    source: ImportSettings | None,
    training_runs: Sequence[TrainSettings],
    runs: Sequence[Run],
) -> list[str]:
    """Describe what the user has to import, or what will differ."""
    reasons = []
    if source is None and not is_bundled(row.key):
        reasons.append(
            f"the image set “{row.title}” was imported ({row.source}): import the same files with the same settings; "
            f"it is the same set if its key is {row.key}"
        )
    for training, run in zip(training_runs, runs, strict=True):
        if training.graph is not None and is_edges_name(training.graph):
            reasons.append(f"run {run.id} uses pairs from a CSV, {training.graph}: upload that CSV")
        if training.warm_start is not None:
            reasons.append(
                f"run {run.id} started from the weights of run {training.warm_start}, and starts without them here: "
                "a convex objective ends within its tolerance of the same value, others may not"
            )
    return reasons
