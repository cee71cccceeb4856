"""What tests do on a page and what it shows: texts, the numbers in them, charts, buttons and its address."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pages.parts.app import frame

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def plain(element) -> str:
    """The text of an element, or a text, without what keeps it from being markdown."""
    return (element if isinstance(element, str) else element.value).replace("\\", "")


def texts(app) -> str:
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


def plain_texts(app) -> str:
    """The texts without the backslashes that keep names from being markdown."""
    return plain(texts(app))


def text_of(app) -> str:
    """All that a page says, its titles, its boxes' options and its tables among it."""
    titles = [plain(title) for title in app.title]
    boxes = [" ".join(box.options) for box in app.selectbox]
    tables = [table.value.to_csv() for table in [*app.dataframe, *app.table]]
    return "\n".join([plain_texts(app), *titles, *boxes, *tables])


def headline_of(app, start: str = "## ") -> str:
    """The first text of the page that begins so."""
    return next(text.value for text in app.markdown if text.value.startswith(start))


def captions(app) -> str:
    return " ".join(map(plain, app.caption))


def errors(app) -> list[str]:
    return [plain(element) for element in app.error]


def compared(app):
    """What is said of how the form differs from the run of the address."""
    return [element.value.replace("\\", "") for element in app.info if "compare" in (element.icon or "")]


def warnings(app):
    return "\n".join(element.value.replace("\\", "") for element in app.warning)


def pictures_of(app):
    """What the pictures of weights and the average show, in words."""
    alts = [alt for image in app.get("image") for alt in re.findall(r'alt: "(.*?)"', str(image.proto))]
    return [alt for alt in alts if "HOG" in alt or "average" in alt]


def button_keys(app) -> list[str | None]:
    return [button.key for button in app.button]


def counts_in(elements) -> list[list[float]]:
    """The numbers of each element, in their order."""
    return [numbers_in(plain(element)) for element in elements]


def components(app, name):
    parts = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in parts]


def button(app, label):
    [button] = [each for each in app.button if each.label == label]
    return button


def turn_to(app, **address):
    """The same tab at another address of its page, which costs a fraction of opening another tab."""
    app.query_params.clear()
    for name, value in address.items():
        app.query_params[name] = value
    return app.run()


def address(app):
    """The URL of a page; a value is a text, or a list of one text, depending on who set it last."""
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


def page_of(name: str) -> ModuleType:
    """The module of a page, for its functions: its steps are not run, which need a home and a browser."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frame, "show_page", lambda *_: None)
        return importlib.import_module(f"pages.{name}")


def program_of(name: str) -> ModuleType:
    """The module of a program in `data/`, for its functions."""
    spec: Any = importlib.util.spec_from_file_location(name, ROOT / "data" / f"{name}.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def press(app: Any, key: str) -> None:
    """Press a button."""
    app.button(key=key).click().run()


def choose(widgets: Any, name: str, value: Any) -> None:
    """Set the widget of a kind that edits `name` in the address: choose(app.slider, "step", 2)."""
    widgets(key=f"widget {name}").set_value(value).run()


def all_steps(app: Any, titles: Sequence[str]) -> None:
    """Show all steps of a lesson on one page: each below its title, and no way to the next."""
    choose(app.toggle, "all_steps", True)
    assert [header.value for header in app.header] == list(titles)
    assert "next step" not in button_keys(app)


def numbers_in(text: str) -> list[float]:
    """The numbers in a text, which may be escaped for markdown.

    >>> numbers_in("1,000 times −0.5 of 3%.")
    [1000.0, -0.5, 3.0]
    """
    matches = NUMBER.findall(plain(text).replace("−", "-"))
    return [float(number.replace(",", "")) for number in matches]


def charts_of(app: Any) -> list[dict[str, Any]]:
    """The Plotly charts of a page."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def values(packed: Any) -> np.ndarray:
    """The numbers of a trace, which Plotly gives as a list or packed."""
    if isinstance(packed, dict):
        return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])
    return np.array(packed, float)


def kinds(runs: Sequence[Any], kind: str) -> list[Any]:
    """The runs of one kind, or of one task."""
    return [run for run in runs if kind in (run.kind, run.task)]
