"""Settings describe themselves and refuse values that are not allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from refusals import refused

from ranking.core.settings import Setting, check_settings, setting, settings_dict, settings_of


@dataclass
class Plugin:
    name = "Example"
    hidden: int = 7
    C: float = setting(
        1.0, label="C", help="Weight of the loss.", formula="C", minimum=1e-6, maximum=1e6, log=True
    )
    rounds: int = setting(10, label="Rounds", help="How many rounds.", minimum=1, advanced=True)
    shrink: float = setting(0.0, label="Shrinkage", help="At most nothing.", maximum=0.0)
    algorithm: str = setting("auto", label="Algorithm", help="Which one.", choices=("auto", "greedy"))
    centred: bool = setting(False, label="Centred", help="Whether to subtract the mean.")
    note: str = setting("", label="Note", help="Anything.")
    depth: int | None = setting(None, label="Depth", help="None: unlimited.", choices=(None, 1, 2))


def test_settings_are_the_described_fields_in_their_order():
    settings = settings_of(Plugin)
    plugin = Plugin(C=2.0, algorithm="greedy")
    values = {"C": 2.0, "rounds": 10, "shrink": 0.0, "algorithm": "greedy", "centred": False}
    values |= {"note": "", "depth": None}
    assert [item.name for item in settings] == list(values)
    assert settings[0] == Setting(
        "C", 1.0, "C", "Weight of the loss.", formula="C", minimum=1e-6, maximum=1e6, log=True
    )
    assert [item.kind for item in settings] == [float, int, float, str, bool, str, type(None)]
    assert settings_of(plugin) == settings
    assert settings_dict(plugin) == values
    assert Plugin(**values) == plugin


def test_an_unknown_detail_of_a_setting_is_an_error():
    @dataclass
    class Misspelt:
        C: float = setting(1.0, label="C", help="Weight.", minimun=0)

    with pytest.raises(TypeError, match="minimun"):
        settings_of(Misspelt)


def test_allowed_values_of_settings_are_accepted():
    for value in (1.0, 1e-6, 1e6, 5, np.float64(0.5)):
        check_settings(Plugin(C=value))
    check_settings(Plugin(rounds=1, shrink=-3.0, centred=True, note="words", depth=2))
    check_settings(Plugin(rounds=10**300))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("C", 0.0, ["1e-06", "1,000,000.0"]),
        ("C", 1000001, ["1e-06", "1,000,000.0"]),
        ("C", -math.inf, []),
        ("C", "1", []),
        ("C", True, []),
        ("C", None, []),
        ("rounds", 0, ["1"]),
        ("rounds", 2.0, []),
        ("rounds", True, []),
        ("shrink", 0.5, ["0.0"]),
        ("algorithm", "best", ["'auto'", "'greedy'"]),
        ("centred", 1, []),
        ("note", 3, []),
        ("depth", 3, ["None", "1", "2"]),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(name, value, expected):
    with refused(f"{name} of Example", value if isinstance(value, int | float) else repr(value)) as caught:
        check_settings(Plugin(**{name: value}))
    assert all(part in caught.value.expected for part in expected)


def test_numbers_that_no_float_holds_are_refused():
    values: list[tuple[str, Any]] = [("C", math.nan), ("C", 10**400), ("rounds", 10**400)]
    for name, value in (*values, ("rounds", 10**5000)):
        with refused(f"{name} of Example") as caught:
            check_settings(Plugin(**{name: value}))
        assert len(str(caught.value)) < 100
