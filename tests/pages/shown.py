"""What a page shows, for tests to look at."""

from __future__ import annotations

import json
import re


def texts(app):
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


def plain(app):
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


def keys_of(app):
    """The keys of the buttons."""
    return [each.key for each in app.button]


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
