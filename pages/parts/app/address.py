"""The URL determines what a page shows; widgets are initialised from it and write to it.

`get` and `read` read parameters, `put` and `amend` change them, and `bound` ties a widget to one parameter. A parameter
that the URL lacks has its default. A value that cannot be read is replaced by the default, and `complaints` returns a
message about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.parts.app import keys

T = TypeVar("T")
Parse = Callable[[str], Any]
Show = Callable[[Any], str]

# the values of keys.LECTURE
PICTURE, NOTES = "on", "notes"


def get(name: str) -> str | None:
    """The value of `name` in the URL, or the value that a run in the URL implies."""
    implied: dict[str, str] = st.session_state.get(keys.IMPLIED, {})
    return st.query_params.get(name, implied.get(name))


def imply(values: dict[str, str]) -> None:
    """Set the values that a training run in the URL implies, for this run of the page."""
    st.session_state[keys.IMPLIED] = values


def put(**changes: str | None) -> None:
    """Change parameters of the URL; None drops one."""
    # Parameters that depend on a changed one are dropped (keys.depends).
    _set(changed(**changes))


def changed(**changes: str | None) -> dict[str, str]:
    """The parameters that `put` would set, for a link."""
    before = st.query_params.to_dict()
    new = [name for name, value in changes.items() if before.get(name) != value]
    kept = {name: value for name, value in before.items() if not any(keys.depends(name, on) for on in new)}
    return {name: value for name, value in {**kept, **changes}.items() if value is not None}


def amend(**changes: str | None) -> None:
    """Change parameters of the URL without dropping those that depend on them."""
    after = {**st.query_params.to_dict(), **changes}
    _set({name: value for name, value in after.items() if value is not None})


def only(**names: str) -> dict[str, str]:
    """These parameters and the workspace, for a link."""
    workspace = st.query_params.get(keys.WORKSPACE)
    return names if workspace is None else {keys.WORKSPACE: workspace, **names}


def send() -> None:
    """Write all parameters to the URL again, for a change that the browser does not know."""
    st.query_params.from_dict(st.query_params.to_dict())


def _set(address: dict[str, str]) -> None:
    # each change is an entry in the browser's history
    if address != st.query_params.to_dict():
        st.query_params.from_dict(address)


def complain(message: str) -> None:
    """Show a message about the URL above the page."""
    st.session_state.setdefault(keys.COMPLAINTS, []).append(message)


def complaints() -> list[str]:
    """The messages about the current URL; a page that runs again shows them again."""
    new: list[str] = st.session_state.pop(keys.COMPLAINTS, [])
    before, where = st.session_state.get(keys.COMPLAINED, ([], None))
    here = st.query_params.to_dict()
    messages = list(dict.fromkeys([*before, *new])) if where == here else new
    st.session_state[keys.COMPLAINED] = (messages, here)
    return messages


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def read(name: str, parse: Callable[[str], T], default: T, label: Show = _text) -> T:
    """The value of `name`; the default, with a message, if the text cannot be parsed (ValueError)."""
    # label: of a value, in the message.
    text = get(name)
    if text is None:
        return default
    try:
        return parse(text)
    except ValueError as error:
        instead = "It is ignored." if default is None else f"Showing {label(default)} instead."
        complain(
            f"Invalid URL parameter {name} = {text[:60]!r}: {str(error).removeprefix(f'{name}: ')}. {instead}"
        )
        if name in st.query_params:
            amend(**{name: None})
        return default


def bound(name: str, parse: Parse, default: Any, show: Show = str, label: Show = _text) -> dict[str, Any]:
    """Keyword arguments with which a widget shows the value of the URL parameter `name` and changes it."""
    # label: as in `read`.
    key = keys.widget(name)
    value = read(name, parse, default, label)
    # The session still has the value of another page's widget with this name, which this widget must not show.
    arriving = st.session_state.get(keys.PAGE_DONE) != st.session_state.get(keys.PAGE_SHOWN)
    if arriving or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return {"key": key, "on_change": _write, "args": (name, show)}


def one_of(choices: Sequence[T], show: Show = str) -> Callable[[str], T]:
    """A parser of the text of one of `choices`."""

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
    """The lecture mode, "on" (only the main figure) or "notes" (the whole page); None if it is off."""
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


def _write(name: str, show: Show) -> None:
    value = st.session_state[keys.widget(name)]
    put(**{name: None if value is None else show(value)})
