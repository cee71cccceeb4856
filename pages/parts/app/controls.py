"""Widgets tied to the URL: each shows the value of a URL parameter and writes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.parts.app import address, keys

T = TypeVar("T")
# values, or values with their labels
Options = Sequence[T] | Mapping[T, str]


def segments(label: str, name: str, options: Options[T], default: T | None = None, **given: Any) -> T:
    """One of a few options, side by side; without a default, no option has to be chosen."""
    chosen: T = st.segmented_control(
        label, list(options), required=default is not None, **_one_of(name, options, default), **given
    )
    return chosen


def select(label: str, name: str, options: Options[T], default: T | None = None, **given: Any) -> T:
    """One of many options, from a list; without a default, no option has to be chosen."""
    if default is None:
        given["index"] = None
    chosen: T = st.selectbox(label, list(options), **_one_of(name, options, default), **given)
    return chosen


def _one_of(name: str, options: Options[T], default: T | None) -> dict[str, Any]:
    shown = options.__getitem__ if isinstance(options, Mapping) else str
    return {"format_func": shown, **address.bound(name, address.one_of(list(options)), default, label=shown)}


def several(label: str, name: str, options: Options[str], default: Sequence[str], **given: Any) -> list[str]:
    """Some of the options, from a list."""
    shown = options.__getitem__ if isinstance(options, Mapping) else str
    bound = address.bound(name, address.some_of(list(options)), list(default), ",".join)
    return list(st.multiselect(label, list(options), format_func=shown, **bound, **given))


def pills(label: str, name: str, options: Sequence[str]) -> list[str]:
    """Some of a few options, side by side and in their order; by default all."""
    bound = address.bound(name, address.some_of(list(options)), list(options), ",".join)
    chosen = st.pills(label, options, selection_mode="multi", **bound)
    return [option for option in options if option in chosen]


def number(label: str, name: str, low: int, high: int, default: int, **given: Any) -> int:
    """A whole number in a box; a default above `high` is `high`."""
    bound = address.bound(name, address.number(int, low, high), min(default, high))
    return int(st.number_input(label, low, high, step=1, **bound, **given))


def slider(label: str, name: str, low: int, high: int, default: int, **given: Any) -> int:
    """A whole number on a scale."""
    return int(
        st.slider(label, low, high, **address.bound(name, address.number(int, low, high), default), **given)
    )


def range_slider(
    label: str, name: str, low: float, high: float, step: float, **given: Any
) -> tuple[float, float]:
    """The ends of a range on a scale; by default the whole scale."""

    def parse(text: str) -> tuple[float, float]:
        parse_end = address.number(float)
        ends = [parse_end(end) for end in text.split(",")]
        if len(ends) != 2 or ends[0] > ends[1]:
            raise ValueError("expected two numbers with a comma between them, the lower one first")
        first, last = (min(max(end, low), high) for end in ends)
        return first, last

    bound = address.bound(name, parse, (low, high), lambda ends: ",".join(f"{end:.6g}" for end in ends))
    first, last = st.slider(label, low, high, step=step, **bound, **given)
    return first, last


def toggle(label: str, name: str, **given: Any) -> bool:
    """A switch, by default off."""
    return bool(st.toggle(label, **address.bound(name, address.one_of((True, False)), False), **given))


def pages(name: str, count: int, default: int = 1) -> int:
    """One of `count` pages, from 1; nothing is shown for a single page."""
    if count <= 1:
        return 1
    return int(st.pagination(count, **address.bound(name, address.number(int, 1, count), default)))


def stepper(
    label: str,
    name: str,
    low: int,
    high: int,
    default: int,
    targets: Callable[[int], Mapping[str, int]],
    primary: str = "",
    **given: Any,
) -> int:
    """A whole number in a box, and buttons that set it to one of the `targets` of the current number."""
    now = number(label, name, low, high, default, **given)
    for text, target in targets(now).items():
        st.button(
            text,
            key=keys.widget(f"{name} {text}"),
            type="primary" if text == primary else "secondary",
            disabled=target == now or not low <= target <= high,
            on_click=address.put,
            kwargs={name: str(target)},
        )
    return now
