"""A comparison as JSON that recreates it: the settings of its trainings, and where their image set comes from.

An image set that comes with the program is there anyway, and one whose source needs no files is made again from its
settings; the key, a hash of all its content, tells that it is the same. A set that was imported from files is named by
its key alone: those files have to be brought.
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
from ranking.workspace import examples
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow, Store

NAMES = {"trainings", "names", "split", "image_set", "not_recreated"}


@dataclass(frozen=True)
class ComparisonSettings:
    """What is compared: trainings of one image set and one query with their names, and the split that they rank.

    source: what makes the image set, None where its files have to be brought or it comes with the program.
    """

    trainings: tuple[TrainSettings, ...]
    names: tuple[str, ...]
    split: str = "test"
    source: ImportSettings | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """What `recipe` wrote; a ValueError says what else it is."""
        trainings = record.get("trainings")
        if not isinstance(trainings, list) or not all(isinstance(training, dict) for training in trainings):
            raise InputError("trainings", "a list of settings by name", f"{json.dumps(trainings):.60}")
        if unknown := record.keys() - NAMES:
            named = readable(", ".join(sorted(unknown)))
            raise InputError("settings of a comparison", f"some of {', '.join(sorted(NAMES))}", named)
        settings = tuple(TrainSettings.from_json(training) for training in trainings)
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
        return self.trainings[0].set


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name, {})
    if not isinstance(part, dict):
        raise InputError(name, "settings by name", f"{json.dumps(part):.60}")
    return part


def recipe(store: Store, shown: Compared) -> str:
    """The JSON. Under "not_recreated" it says what another machine cannot make from it."""
    trainings = [TrainSettings.from_json(run.settings) for run in shown.runs]
    row = next(row for row in store.image_sets() if row.key == shown.images.key)
    source = source_of(store, row)
    record = {
        "trainings": [replace(training, warm_start=None).to_json() for training in trainings],
        "names": [run.name for run in shown.runs],
        "split": shown.split,
        "image_set": {
            "key": row.key,
            "title": row.title,
            "source": None if source is None else source.to_json(),
        },
        "not_recreated": _lacking(row, source, trainings, shown.runs),
    }
    lines = [f" {json.dumps(name)}: {_written(value)}" for name, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _written(value: Any) -> str:
    """JSON with a line for each entry of a list, which is short enough to read and to print."""
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def source_of(store: Store, row: ImageSetRow) -> ImportSettings | None:
    """What makes an image set of a home again; None where it reads files, or nobody knows how it was made."""
    for run in store.runs(task="images"):
        if run.result.get("key") == row.key and _makes_it_all(str(run.settings["source"])):
            return ImportSettings.from_json(run.settings)
    return None


def _makes_it_all(source: str) -> bool:
    """Whether a source needs no files: it asks for no free text, such as the name of a folder."""
    if source not in source_names():
        return False
    return all(item.choices or item.kind is not str for item in settings_of(source_class(source)))


def comes_along(key: str) -> bool:
    """Whether an image set comes with the program, ready-made."""
    return key in examples.set_folders()


def _lacking(
    row: ImageSetRow, source: ImportSettings | None, trainings: Sequence[TrainSettings], runs: Sequence[Run]
) -> list[str]:
    """What has to be brought, in words."""
    reasons = []
    if source is None and not comes_along(row.key):
        reasons.append(
            f"the image set “{row.title}” was imported ({row.source}): bring the same files, and import them with the "
            f"same choices; it is the same set where its key is {row.key}"
        )
    for training, run in zip(trainings, runs, strict=True):
        if training.graph is not None and is_edges_name(training.graph):
            reasons.append(f"training {run.id} leans on pairs from a CSV, {training.graph}: bring that CSV")
        if training.warm_start is not None:
            reasons.append(
                f"training {run.id} began with the weights of training {training.warm_start}, here it begins with "
                "none: where its objective is convex it ends within its tolerance of the same one, elsewhere it may not"
            )
    return reasons
