"""Widgets for the settings that the dataclass fields of a plug-in describe."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.app import address, keys
from pages.parts.app.frame import escaped
from ranking.core.settings import GivenSettings, Setting, settings_of


def settings_form(
    owner: str,
    plugins: Sequence[tuple[str, type]],
    more: str,
    shared: bool = True,
    without: Collection[str] = (),
    usual: GivenSettings | None = None,
) -> dict[str, dict[str, Any]]:
    """Widgets for every setting of `plugins` (name, class); their values by plug-in and setting."""
    # Advanced settings are in an expander with the title `more`. The URL parameter of a setting is
    # owner.plugin.setting; with shared=False the URL does not contain it. without: names of settings that are
    # omitted. usual: values in place of defaults.
    described = [
        (name, replace(item, default=(usual or {}).get(item.name, item.default)))
        for name, plugin in plugins
        for item in settings_of(plugin)
        if item.name not in without
    ]
    values: dict[str, dict[str, Any]] = {name: {} for name, _ in plugins}
    for name, item in described:
        if not item.advanced:
            values[name][item.name] = _widget(owner, name, item, shared)
    advanced = [(name, item) for name, item in described if item.advanced]
    if advanced:
        with st.expander(escaped(more), key=keys.widget(f"{owner} {more} {' '.join(values)}")):
            for name, item in advanced:
                values[name][item.name] = _widget(owner, name, item, shared, several=len(plugins) > 1)
    return values


def _widget(owner: str, plugin: str, item: Setting, shared: bool, several: bool = False) -> Any:
    name = keys.setting(owner, plugin, item.name)
    # Not escaped: names and labels come from code, and a screen reader would read the backslashes aloud.
    label = f"{plugin}: {item.label}" if several else item.label
    bound: dict[str, Any] = {"key": keys.widget(name)}
    if shared:
        bound = address.bound(name, lambda text: parse(item, text), item.default)
    else:
        st.session_state.setdefault(bound["key"], item.default)
    formula = f"${item.formula}$" if item.formula else ""
    value = _choose(
        item, label, {**bound, "help": escaped(item.help) + (f"  \n{formula}" if item.advanced else "")}
    )
    if formula and not item.advanced:
        st.markdown(formula)
    return value


def _choose(item: Setting, label: str, bound: dict[str, Any]) -> Any:
    if item.choices:
        return st.selectbox(label, list(item.choices), format_func=item.shown, **bound)
    if item.kind is bool:
        return st.toggle(label, **bound)
    if item.kind is str:
        return st.text_input(label, **bound)
    low, high = item.minimum, item.maximum
    if item.kind is int:
        first, last = (None if end is None else int(end) for end in (low, high))
        return st.number_input(label, first, last, step=1, **bound)
    if item.log:
        return _power(item, label, bound)
    least, most = (None if end is None else float(end) for end in (low, high))
    return st.number_input(label, least, most, format="%g", step=_step(item), **bound)


def _power(item: Setting, label: str, bound: dict[str, Any]) -> float:
    """A choice of powers of ten; any other number in the URL is added to them."""
    value = float(st.session_state[bound["key"]])
    least, most = item.usual or (item.minimum, item.maximum)
    low = least or min(item.default, value) / 1e4
    high = most or max(item.default, value) * 1e4
    exponents = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    options = sorted({float(f"1e{exponent}") for exponent in exponents} | {value, float(item.default)})
    chosen = st.select_slider(label, options, format_func=_number, **bound)
    return float(chosen)


def _number(value: float) -> str:
    return f"{value:g}"


def _step(item: Setting) -> float:
    if item.minimum is None or item.maximum is None:
        return max(abs(float(item.default)), 1.0) / 10
    return (item.maximum - item.minimum) / 20


def parse(item: Setting, text: str) -> Any:
    """The value of a URL parameter; ValueError if it is not allowed."""
    value: Any = text
    if item.choices:
        return address.one_of(list(item.choices))(text)
    if item.kind is bool:
        return address.one_of((True, False))(text)
    if item.kind in (int, float):
        value = address.number(item.kind, item.minimum, item.maximum)(text)
    item.check("the URL", value)
    return value


def hold(key: str, beginning: Any) -> None:
    """Initialise a widget with `beginning`, unless it has a value already."""
    # The value is set in every run of the page, because the value of a run that the next run interrupts is
    # lost; the browser would then send the widget's first option, or an empty text.
    st.session_state[key] = st.session_state.get(key, beginning)
