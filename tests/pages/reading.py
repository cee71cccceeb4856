"""What tests do on a page and read off it: its texts, the numbers in them, and its charts."""

from __future__ import annotations

import base64
import importlib
import json
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pages.parts import frame

NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def page_of(name: str) -> ModuleType:
    """The module of a page, for its functions: its steps are not run, which need a home and a browser."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frame, "show_page", lambda *_: None)
        return importlib.import_module(f"pages.{name}")


def sound(app: Any) -> Any:
    """The page, which must have run without an exception."""
    assert not app.exception
    return app


def press(app: Any, key: str) -> None:
    """Press a button."""
    sound(app.button(key=key).click().run())


def choose(widgets: Any, name: str, value: Any) -> None:
    """Set the widget of a kind that edits `name` in the address: choose(app.slider, "step", 2)."""
    sound(widgets(key=f"widget {name}").set_value(value).run())


def text_of(app: Any) -> str:
    """Everything that the page has as markdown or as a caption."""
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


def figures(text: str) -> list[float]:
    """The numbers in a text, which may be escaped for markdown.

    >>> figures("1,000 times −0.5 of 3%.")
    [1000.0, -0.5, 3.0]
    """
    return [
        float(number.replace(",", "")) for number in NUMBER.findall(text.replace("−", "-").replace("\\", ""))
    ]


def charts_of(app: Any) -> list[dict[str, Any]]:
    """The Plotly charts of a page."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def values(packed: Any) -> np.ndarray:
    """The numbers of a trace, which Plotly gives as a list or packed."""
    if isinstance(packed, dict):
        return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])
    return np.array(packed, float)


def lines_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """The traces of a chart that have names."""
    return [trace for trace in chart["data"] if "name" in trace]


def kinds(runs: Sequence[Any], kind: str) -> list[Any]:
    """The runs of one kind."""
    return [run for run in runs if run.kind == kind]
