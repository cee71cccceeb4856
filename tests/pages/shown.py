"""What a page shows, as tests compare it: texts as people read them, numbers, and keys of buttons."""

from __future__ import annotations

import json
import re


def plain(element) -> str:
    """The text of an element, or a text, without what keeps it from being markdown."""
    return (element if isinstance(element, str) else element.value).replace("\\", "")


def text_of(app) -> str:
    """All that a page says, its boxes' options and its tables among it."""
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success, *app.title]
    boxes = [" ".join(box.options) for box in app.selectbox]
    tables = [table.value.to_csv() for table in app.dataframe]
    return "\n".join([*map(plain, parts), *boxes, *tables])


def captions(app) -> str:
    return " ".join(map(plain, app.caption))


def errors(app) -> list[str]:
    return [plain(element) for element in app.error]


def button_keys(app) -> list[str | None]:
    return [button.key for button in app.button]


def counts_in(elements) -> list[list[int]]:
    """The whole numbers of each element, in their order."""
    return [[int(number) for number in re.findall(r"\d+", plain(element))] for element in elements]


def texts(app):
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


def plain_texts(app):
    """The texts without the backslashes that keep names from being markdown."""
    return texts(app).replace("\\", "")


def components(app, name):
    parts = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in parts]


def figures(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def button(app, label):
    [button] = [each for each in app.button if each.label == label]
    return button


def turn_to(app, **address):
    """The same tab at another address of its page, which costs a fraction of opening another tab."""
    app.query_params.clear()
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def address(app):
    """The address of a page, whose values are lists of one text or plain texts, depending on who set them last."""
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


def numbers_in(text):
    """The whole numbers of a text, with or without commas between thousands."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]
