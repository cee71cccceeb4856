"""The columns of a manifest as a person writes them into settings: one text a role."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, NamedTuple

from ranking.core.settings import setting
from ranking.core.text import listed
from ranking.datasets.folder import MAX_CRITERIA
from ranking.files import Unusable
from ranking.formats.manifest_columns import Columns
from ranking.formats.table_file import MOST_COLUMNS

NONE = "-"  # what a person writes for a role that no column has


class Role(NamedTuple):
    """The setting that names its columns, how that is called, and how many there may be."""

    setting: str
    label: str
    counts: Sequence[int]


ROLES = {
    "image": Role("image_column", "Column of the images", (1,)),
    "box": Role("box_columns", "Columns of the boxes", (0, 1, 4)),
    "labels": Role("label_columns", "Columns of the labels", range(MOST_COLUMNS)),
    "numbers": Role("number_columns", "Columns of grades and numbers", range(MAX_CRITERIA + 1)),
    "group": Role("group_column", "Column of the groups", (0, 1)),
    "split": Role("split_column", "Column of the split", (0, 1)),
    "size": Role("size_columns", "Columns of the image's size", (0, 2)),
}


def role_setting(role: str, help: str) -> Any:
    """The setting that names the columns of `role`; `help` says what they hold."""
    how = "Apart by commas. Empty: proposed from names and contents. -: none."
    return setting("", label=ROLES[role].label, help=f"{help} {how}", advanced=True)


def choose(told: str, header: Sequence[str], role: Role) -> tuple[str, ...] | None:
    """The columns that a person names, apart by commas; None where that is left open, () where there is none.

    >>> choose(" a, c", ["a", "b", "c"], ROLES["labels"]), choose("", ["a"], ROLES["box"])
    (('a', 'c'), None)
    """
    if not told.strip():
        return None
    names = names_in(told)
    if len(set(names)) < len(names) or not set(names) <= set(header):
        raise Unusable(f"{role.label}: different ones of {listed(list(header), 20)}", told)
    if len(names) not in role.counts:
        counts = f"up to {role.counts[-1]}" if len(role.counts) > 3 else " or ".join(map(str, role.counts))
        raise Unusable(f"{role.label}: {counts}", f"{len(names)}")
    return names


def names_in(told: str) -> tuple[str, ...]:
    """The names in the text of such a setting, whether there are such columns or not.

    >>> names_in('a, "b, c"'), names_in("-")
    (('a', 'b, c'), ())
    """
    cells = [] if told.strip() == NONE else next(csv.reader([told], skipinitialspace=True), [])
    return tuple(filter(None, map(str.strip, cells)))


def settings_of(columns: Columns) -> dict[str, str]:
    """What a person would write for these columns: name of a setting to text."""
    named = {
        "image": (columns.image,),
        "box": columns.box,
        "labels": columns.marks if columns.label is None else (columns.label,),
        "numbers": columns.numbers,
        "group": () if columns.group is None else (columns.group,),
        "split": () if columns.split is None else (columns.split,),
        "size": columns.size,
    }
    return {ROLES[role].setting: written(told) for role, told in named.items()}


def written(columns: Sequence[str]) -> str:
    """What `choose` reads as those columns.

    >>> written(("a", "b, c")), written(()), written(("-",))
    ('a, "b, c"', '-', '"-"')
    """
    return ", ".join(_quoted(name) for name in columns) or NONE


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name == NONE or set(name) & set(',"') else name
