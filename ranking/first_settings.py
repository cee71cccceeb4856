"""What stored settings meant before C of the weighted 0-1 loss had a unit; without importing a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RANKING_UNIT, PAPER_UNIT = "ranking", "paper"
FIRST: Mapping[str, Mapping[str, Any]] = {
    "SVM": {"C": 1e-2, "unit": PAPER_UNIT},
    "HOB-SVM": {"C": 1e-2, "unit": PAPER_UNIT},
    "HOAP-SVM": {"start_C": 1e-2, "unit": PAPER_UNIT},
}


def as_first_meant(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of a method, completed with what they meant if they are from before there was a unit.

    >>> as_first_meant("SVM", {"C": 1.0}), as_first_meant("SVM", {"C": 1.0, "unit": "ranking"})
    ({'C': 1.0, 'unit': 'paper'}, {'C': 1.0, 'unit': 'ranking'})
    """
    return dict(settings) if "unit" in settings else {**FIRST.get(method, {}), **settings}


def with_unit(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a method as they are stored: those that leave the unit open say it.

    >>> with_unit("SVM", {"C": 1.0}), with_unit("AP-SVM", {"C": 1.0})
    ({'unit': 'ranking', 'C': 1.0}, {'C': 1.0})
    """
    return {"unit": RANKING_UNIT, **settings} if method in FIRST else dict(settings)


def read_train_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of a training as they are meant today."""
    method, given = settings.get("method"), settings.get("method_settings", {})
    if not isinstance(method, str) or not isinstance(given, dict):
        return dict(settings)
    return {**settings, "method_settings": as_first_meant(method, given)}
