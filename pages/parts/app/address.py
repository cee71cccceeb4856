"""The address (URL) is the truth about what a page shows; widgets are made from it and write to it.

`get` and `read` read it, `put` and `amend` change it, and `bound` ties a widget to one name of it. What is not
in the address has its default. A value that cannot be read is dropped with a complaint that `complaints` hands
over: the page goes on with the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.parts.app import keys

T = TypeVar("T")
Parse = Callable[[str], Any]
Show = Callable[[Any], str]

PICTURE, NOTES = "on", "notes"  # what keys.LECTURE may be


def get(name: str) -> str | None:
    """What the address says of `name`, or what something else that it names implies of it."""
    implied: dict[str, str] = st.session_state.get(keys.IMPLIED, {})
    return st.query_params.get(name, implied.get(name))


def imply(values: dict[str, str]) -> None:
    """What the address need not say, because a training run that it names says it; for this run of the page."""
    st.session_state[keys.IMPLIED] = values


def put(**changes: str | None) -> None:
    """Change the address; None drops a name. What depended on a changed name is dropped (keys.depends)."""
    _set(changed(**changes))


def changed(**changes: str | None) -> dict[str, str]:
    """The address as `put` would make it, for a link."""
    before = st.query_params.to_dict()
    new = [name for name, value in changes.items() if before.get(name) != value]
    kept = {name: value for name, value in before.items() if not any(keys.depends(name, on) for on in new)}
    return {name: value for name, value in {**kept, **changes}.items() if value is not None}


def amend(**changes: str | None) -> None:
    """Have the address say more, or less, about the same thing: nothing else is dropped."""
    after = {**st.query_params.to_dict(), **changes}
    _set({name: value for name, value in after.items() if value is not None})


def only(**names: str) -> dict[str, str]:
    """An address that names these and nothing else but the room, for a link."""
    room = st.query_params.get(keys.ROOM)
    return names if room is None else {keys.ROOM: room, **names}


def _set(address: dict[str, str]) -> None:
    if address != st.query_params.to_dict():  # each change is a step for the browser's Back
        st.query_params.from_dict(address)


def complain(message: str) -> None:
    """Say, above the page, that part of the address was not understood."""
    st.session_state.setdefault(keys.COMPLAINTS, []).append(message)


def complaints() -> list[str]:
    """What was not understood on the way to the address as it is now: a page that runs again says it again."""
    new: list[str] = st.session_state.pop(keys.COMPLAINTS, [])
    before, where = st.session_state.get(keys.COMPLAINED, ([], None))
    here = st.query_params.to_dict()
    messages = list(dict.fromkeys([*before, *new])) if where == here else new
    st.session_state[keys.COMPLAINED] = (messages, here)
    return messages


def read(name: str, parse: Callable[[str], T], default: T) -> T:
    """The value of `name`; the default, with a complaint, where the text cannot be parsed (ValueError)."""
    text = get(name)
    if text is None:
        return default
    try:
        return parse(text)
    except ValueError as error:
        instead = "Going on without it." if default is None else f"Showing {_shown(default)} instead."
        complain(f"The address asks for {name} = {text[:60]!r}: {error}. {instead}")
        if name in st.query_params:
            amend(**{name: None})
        return default


def bound(name: str, parse: Parse, default: Any, show: Show = str) -> dict[str, Any]:
    """Keyword arguments that tie a widget to `name`: it shows the address's value and writes to it."""
    key = keys.widget(name)
    value = read(name, parse, default)
    # What another page's widget of that name shows is still there, and would not be what this one shows.
    arriving = st.session_state.get(keys.PAGE_DONE) != st.session_state.get(keys.PAGE_SHOWN)
    if arriving or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return {"key": key, "on_change": _write, "args": (name, show)}


def one_of(choices: Sequence[T], show: Show = str) -> Callable[[str], T]:
    """A parser that accepts the shown form of one of `choices`."""

    def parse(text: str) -> T:
        for choice in choices:
            if show(choice) == text:
                return choice
        listed = ", ".join(show(choice) for choice in choices[:12])
        raise ValueError(f"expected one of {listed}{', …' if len(choices) > 12 else ''}")

    return parse


def some_of(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """A parser of different names joined by commas."""
    parse_name = one_of(choices)

    def parse(text: str) -> list[str]:
        names = [parse_name(part) for part in text.split(",") if part]
        if len(set(names)) < len(names):
            raise ValueError("expected each name once")
        return names

    return parse


def lecture() -> str | None:
    """How a lecture shows the page: its picture alone, or with all notes beside; None outside of lectures."""
    return read(keys.LECTURE, one_of([PICTURE, NOTES]), None)


def number(kind: type, low: float | None = None, high: float | None = None) -> Callable[[str], Any]:
    """A parser of int or float numbers between `low` and `high`."""
    if low is None or high is None:
        allowed = (
            f"at most {high:g}" if high is not None else f"at least {low:g}" if low is not None else "any"
        )
    else:
        allowed = f"{low:g} to {high:g}"

    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise ValueError("expected a number") from None
        if not (float("-inf") < value < float("inf")):
            raise ValueError("expected a finite number")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"expected {allowed}")
        return value

    return parse


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _write(name: str, show: Show) -> None:
    value = st.session_state[keys.widget(name)]
    put(**{name: None if value is None else show(value)})
