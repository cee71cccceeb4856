"""What stored settings meant in earlier versions, whose defaults were others; without importing a method.

C of the weighted 0-1 loss had no unit. MidRank trained no ties, and a sample that was passed over kept its votes. The
drawn image sets could be drawn with any seed; those that ship were drawn with DRAWN_WITH.
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
# The settings that came later with their defaults. Stored settings name them all; those that name none are earlier.
LATER: Mapping[str, Mapping[str, Any]] = {
    "SVM": UNIT,
    "HOB-SVM": UNIT,
    "HOAP-SVM": UNIT,
    "MidRank": {"ties": "equal", "votes": "remaining order"},
}

DRAWN_WITH: Mapping[str, Mapping[str, Any]] = {
    "Action figures": {"seed": 10, "share": 0.75},
    "Label scenes": {"seed": 3},
    "Timeline cars": {"seed": 5},
}


def read_source_settings(source: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of an image-set source as they are meant today: without those by which what ships was drawn.

    >>> read_source_settings("Label scenes", {"images": 80, "seed": 3})
    {'images': 80}
    >>> read_source_settings("Label scenes", {"seed": 4}), read_source_settings("Digits", {"seed": 3})
    ({'seed': 4}, {'seed': 3})
    """
    drawn_with = DRAWN_WITH.get(source, {}).items()
    return {name: value for name, value in settings.items() if (name, value) not in drawn_with}


def as_first_meant(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of a method, completed with what they meant if they are from an earlier version.

    >>> as_first_meant("SVM", {"C": 1.0}), as_first_meant("SVM", {"C": 1.0, "unit": "ranking"})
    ({'C': 1.0, 'unit': 'paper'}, {'C': 1.0, 'unit': 'ranking'})
    >>> as_first_meant("MidRank", {"trees": 2})
    {'ties': 'forbidden', 'votes': 'kept', 'trees': 2}
    """
    if LATER.get(method, {}).keys() & settings.keys():
        return dict(settings)
    return {**FIRST.get(method, {}), **settings}


def as_stored(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a method as they are stored: with the defaults of those that came later.

    >>> as_stored("SVM", {"C": 1.0}), as_stored("AP-SVM", {"C": 1.0})
    ({'unit': 'ranking', 'C': 1.0}, {'C': 1.0})
    """
    return {**LATER.get(method, {}), **settings}


def read_train_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of a training run, of samples or of sequences, as they are meant today."""
    return _read(settings, settings.get("method"))


def read_study_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of an ablation of MidRank as they are meant today."""
    return _read(settings, "MidRank")


def _read(settings: Mapping[str, Any], method: object) -> dict[str, Any]:
    method_settings = settings.get("method_settings", {})
    if not isinstance(method, str) or not isinstance(method_settings, dict):
        return dict(settings)
    return {**settings, "method_settings": as_first_meant(method, method_settings)}
