"""The roles of the columns of an uploaded table: a widget per role, initialised with the roles as read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts.app import forms, keys
from ranking.core.settings import settings_of
from ranking.datasets import source_class
from ranking.datasets.folder import MAX_CRITERIA
from ranking.formats.import_preview import ImportPreview
from ranking.formats.table_columns import ROLES, as_setting, names_in

NOT_THERE = "none"
# roles with one column per part
PARTS = {
    "image": ("Image",),
    "box": ("Box: x, or all four numbers", "Box: y", "Box: right edge or width", "Box: lower edge or height"),
    "group": ("Group",),
    "split": ("Split",),
    "size": ("Width of the image", "Height of the image"),
}
# roles with any number of columns
SEVERAL = {"labels": "Labels", "numbers": "Criteria"}
FORM, UNIT = "box_form", "box_unit"
ROWS = (("image", "labels", "numbers"), ("box",), (FORM, UNIT, "size"), ("group", "split"))


def choose(owner: str, preview: ImportPreview) -> dict[str, str]:
    """The settings that assign a role to each column, from widgets whose keys start with `owner`."""
    st.markdown("**Column roles**")
    before = {item.name: item.default for item in settings_of(source_class(str(preview.source)))}
    before |= preview.source_settings
    boxes = _Boxes(owner, preview.columns, before)
    settings: dict[str, str] = {}
    for row in ROWS:
        places = iter(st.columns(sum(len(PARTS.get(role, "1")) for role in row), vertical_alignment="bottom"))
        for role in row:
            if role in ROLES:
                settings[ROLES[role].setting] = boxes.of_role(role, partial(next, places))
            else:
                with next(places):
                    settings[role] = boxes.of_setting(role)
    st.caption(
        "Each column has one role; assigning it a new role removes the old one. Labels are either separated by ; or | "
        "in one cell, or given as one 0/1 column per label."
    )
    return settings


class _Boxes:
    """The widgets of a table with these `columns`."""

    # before: the settings that it was read with, name to text.
    def __init__(self, owner: str, columns: Sequence[str], before: dict[str, Any]) -> None:
        self._owner, self._columns, self._before = owner, columns, before
        self._one = [self._key(role, part) for role, parts in PARTS.items() for part in range(len(parts))]
        self._many = [self._key(role, 0) for role in SEVERAL]

    def of_role(self, role: str, place: Callable[[], Any]) -> str:
        """The value of the setting of a role; each of its widgets is shown in the next place."""
        before = self._before[ROLES[role].setting]
        began = tuple(name for name in names_in(before) if name in self._columns)
        if role in SEVERAL:
            with place():
                chosen = self._several(role, began)
        else:
            chosen = ()
            for part, label in enumerate(PARTS[role]):
                with place():
                    chosen += self._single(role, part, label, began[part : part + 1])
        return before if chosen == began else as_setting(chosen)

    def of_setting(self, name: str) -> str:
        """A setting about the form of bounding boxes."""
        item = next(item for item in settings_of(source_class("Table of images")) if item.name == name)
        key = keys.widget(f"{self._owner}{name}")
        forms.hold(key, self._before[name])
        chosen: str = st.selectbox(
            item.label, list(item.choices), format_func=item.shown, key=key, help=item.help
        )
        return chosen

    def _single(self, role: str, part: int, label: str, began: tuple[str, ...]) -> tuple[str, ...]:
        key, missing = self._key(role, part), [] if role == "image" else [""]
        forms.hold(key, next(iter(began), None if role == "image" else ""))
        chosen = st.selectbox(
            label,
            [*missing, *self._columns],
            index=None if role == "image" else 0,
            format_func=lambda name: name or NOT_THERE,
            placeholder="choose a column",
            key=key,
            on_change=self._take,
            args=(key,),
        )
        return (chosen,) if chosen else ()

    def _several(self, role: str, began: tuple[str, ...]) -> tuple[str, ...]:
        key = self._key(role, 0)
        forms.hold(key, list(began))
        chosen = st.multiselect(
            SEVERAL[role],
            self._columns,
            max_selections=MAX_CRITERIA if role == "numbers" else None,
            placeholder=NOT_THERE,
            key=key,
            on_change=self._take,
            args=(key,),
        )
        return tuple(chosen)

    def _take(self, key: str) -> None:
        """Remove the columns in the widget `key` from all other widgets."""
        held = st.session_state[key]
        taken = {held} if isinstance(held, str) else set(held or ())
        for box in self._one:
            if box != key and st.session_state[box] and st.session_state[box] in taken:
                st.session_state[box] = None if box == self._key("image", 0) else ""
        for box in self._many:
            if box != key:
                st.session_state[box] = [name for name in st.session_state[box] if name not in taken]

    def _key(self, role: str, part: int) -> str:
        return keys.widget(f"{self._owner}{role} {part}")
