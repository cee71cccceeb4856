"""Settings describe themselves and refuse what they may not be, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ranking.settings import Setting, check_settings, setting, settings_dict, settings_of


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


def test_settings_are_the_described_fields_in_their_order() -> None:
    settings = settings_of(Plugin)
    assert [item.name for item in settings] == [
        "C",
        "rounds",
        "shrink",
        "algorithm",
        "centred",
        "note",
        "depth",
    ]
    assert settings[0] == Setting(
        "C", 1.0, "C", "Weight of the loss.", formula="C", minimum=1e-6, maximum=1e6, log=True
    )
    assert [item.kind for item in settings] == [float, int, float, str, bool, str, type(None)]
    assert settings_of(Plugin(C=3.0)) == settings


def test_an_unknown_detail_of_a_setting_is_an_error() -> None:
    @dataclass
    class Misspelt:
        C: float = setting(1.0, label="C", help="Weight.", minimun=0)

    with pytest.raises(TypeError, match="minimun"):
        settings_of(Misspelt)


def test_the_dictionary_of_settings_recreates_the_plugin() -> None:
    plugin = Plugin(C=2.0, algorithm="greedy")
    values = settings_dict(plugin)
    assert values == {
        "C": 2.0, "rounds": 10, "shrink": 0.0, "algorithm": "greedy", "centred": False,
        "note": "", "depth": None,
    }  # fmt: skip
    assert Plugin(**values) == plugin


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"C": 1e-6},
        {"C": 1e6},
        {"C": 5},
        {"C": np.float64(0.5)},
        {"rounds": 1},
        {"rounds": 10**300},
        {"shrink": -3.0},
        {"algorithm": "greedy"},
        {"centred": True},
        {"note": "words"},
        {"depth": 2},
    ],
)
def test_allowed_values_pass(values: dict[str, Any]) -> None:
    check_settings(Plugin(**values))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"C": 0.0}, "Example: C must be between 1e-06 and 1000000.0, got 0.0"),
        ({"C": 1000001}, "Example: C must be between 1e-06 and 1000000.0, got 1000001"),
        ({"C": math.nan}, "Example: C must be finite, got nan"),
        ({"C": -math.inf}, "Example: C must be finite, got -inf"),
        ({"C": 10**400}, f"Example: C must be finite, got {'1' + 39 * '0'}"),
        ({"C": "1"}, "Example: C must be float, got '1'"),
        ({"C": True}, "Example: C must be float, got True"),
        ({"C": None}, "Example: C must be float, got None"),
        ({"rounds": 0}, "Example: rounds must be at least 1, got 0"),
        ({"rounds": 2.0}, "Example: rounds must be int, got 2.0"),
        ({"rounds": True}, "Example: rounds must be int, got True"),
        ({"rounds": 10**400}, "Example: rounds must be finite, got 1000"),
        ({"shrink": 0.5}, "Example: shrink must be at most 0.0, got 0.5"),
        ({"algorithm": "best"}, "Example: algorithm must be one of 'auto', 'greedy', got 'best'"),
        ({"centred": 1}, "Example: centred must be bool, got 1"),
        ({"note": 3}, "Example: note must be str, got 3"),
        ({"depth": 3}, "Example: depth must be one of None, 1, 2, got 3"),
    ],
)
def test_a_bad_value_is_an_error_that_says_what_may_be(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"^Example: ") as raised:
        check_settings(Plugin(**values))
    assert str(raised.value).startswith(text)
