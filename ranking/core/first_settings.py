"""The meaning of settings that earlier versions stored, whose defaults differed. Imports no method.

In those versions C of the weighted 0-1 loss had no unit, MidRank trained no ties and kept the votes for samples that
were already placed, and the bundled image sets had settings for the seed that generated them (GENERATED_WITH).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RANKING_UNIT, PAPER_UNIT = "ranking", "paper"
FIRST: Mapping[str, Mapping[str, Any]] = {
    "SVM": {"C": 1e-2, "unit": PAPER_UNIT},
    "HOB-SVM": {"C": 1e-2, "unit": PAPER_UNIT},
    "HOAP-SVM": {"start_C": 1e-2, "unit": PAPER_UNIT},
    "MidRank": {"ties": "forbidden", "votes": "kept"},
}
UNIT = {"unit": RANKING_UNIT}
# Settings added later, with their defaults. Later versions store all of them; records with none of them are earlier.
LATER: Mapping[str, Mapping[str, Any]] = {
    "SVM": UNIT,
    "HOB-SVM": UNIT,
    "HOAP-SVM": UNIT,
    "MidRank": {"ties": "equal", "votes": "remaining order"},
}

GENERATED_WITH: Mapping[str, Mapping[str, Any]] = {
    "Action figures": {"seed": 10, "share": 0.75},
    "Label scenes": {"seed": 3},
    "Timeline cars": {"seed": 5},
}


def read_source_settings(source: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of an image-set source without those that generated the bundled set.

    >>> read_source_settings("Label scenes", {"images": 80, "seed": 3})
    {'images': 80}
    >>> read_source_settings("Label scenes", {"seed": 4}), read_source_settings("Digits", {"seed": 3})
    ({'seed': 4}, {'seed': 3})
    """
    generated_with = GENERATED_WITH.get(source, {}).items()
    return {name: value for name, value in settings.items() if (name, value) not in generated_with}


def as_first_meant(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of a method, completed by the defaults of the version that stored them.

    >>> as_first_meant("SVM", {"C": 1.0}), as_first_meant("SVM", {"C": 1.0, "unit": "ranking"})
    ({'C': 1.0, 'unit': 'paper'}, {'C': 1.0, 'unit': 'ranking'})
    >>> as_first_meant("MidRank", {"trees": 2})
    {'ties': 'forbidden', 'votes': 'kept', 'trees': 2}
    """
    if LATER.get(method, {}).keys() & settings.keys():
        return dict(settings)
    return {**FIRST.get(method, {}), **settings}


def as_stored(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a method as they are stored: with the defaults of the settings that were added later.

    >>> as_stored("SVM", {"C": 1.0}), as_stored("AP-SVM", {"C": 1.0})
    ({'unit': 'ranking', 'C': 1.0}, {'C': 1.0})
    """
    return {**LATER.get(method, {}), **settings}


def read_train_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of a training run, of samples or of sequences, in today's meaning."""
    return _read(settings, settings.get("method"))


def read_ablation_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of a MidRank ablation in today's meaning."""
    return _read(settings, "MidRank")


def _read(settings: Mapping[str, Any], method: object) -> dict[str, Any]:
    method_settings = settings.get("method_settings", {})
    if not isinstance(method, str) or not isinstance(method_settings, dict):
        return dict(settings)
    return {**settings, "method_settings": as_first_meant(method, method_settings)}
