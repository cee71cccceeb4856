"""The choice of an image set, and the default class or criterion of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import runs
from ranking.storage.sets import ImageSetRow

# the source of the default image set
FIGURES = "Action figures"
# Words of criteria and classes about what people are rather than do; a page never opens on these by default.
PERSONAL = re.compile(
    r"\b(male|female|man|woman|sex|gender|white|black|asian|indian|race|skin|ethnicity|young|old|age|chubby)\b",
    re.IGNORECASE,
)


def choose(label: str = "Image set") -> ImageSetRow:
    """The choice of an image set; by default that of the training run in the URL, else `_first`."""
    known = {row.key: row for row in home.store().sets.rows()}
    if not known:
        raise home.Gone(home.NO_EXAMPLES)
    run = runs.chosen()
    if run is not None and run.settings["set"] in known:
        # a run implies its image set
        address.amend(**{keys.SET: None})

    def shown(key: str) -> str:
        return title(known[key])

    first = of_source(known.values(), FIGURES) or next(iter(known))
    bound = address.bound(keys.SET, lambda text: _key_of(text, known), first, label=shown)
    key = st.selectbox(label, list(known), format_func=shown, **bound)
    if address.get(keys.SET) is None:
        # also by default, so that the link shows the same image set later
        address.amend(**{keys.SET: key})
    return known[key]


def choose_among(
    known: dict[str, ImageSetRow],
    name: str,
    defaults: Iterable[str | None],
    label_of: Callable[[ImageSetRow], str],
) -> ImageSetRow:
    """The choice of one of the image sets that a page can use, with the URL parameter `name`."""
    # By default the first of `defaults` that is known, else the first set. label_of: the label of a set.
    first = next((key for key in defaults if key in known), next(iter(known)))

    def shown(key: str) -> str:
        return label_of(known[key])

    bound = address.bound(name, address.one_of(list(known)), first, label=shown)
    return known[st.selectbox("Image set", list(known), format_func=shown, **bound)]


def _key_of(text: str, known: dict[str, ImageSetRow]) -> str:
    """The key in the URL; ValueError with the titles of the existing sets if it is unknown."""
    if text not in known:
        listed = ", ".join(row.title for row in list(known.values())[:12])
        raise ValueError(f"there is no such image set; there are {listed}")
    return text


def title(row: ImageSetRow) -> str:
    return f"{row.title} — {row.images:,} images, {row.samples:,} samples{runs.origin_of(row)}"


def of_source(rows: Iterable[ImageSetRow], source: str) -> str | None:
    """The key of the first set of a source; None if there is none."""
    return next((row.key for row in rows if row.source == source), None)


def first_of(names: Sequence[str]) -> str:
    """The default criterion or class: the first that is not about a person's sex, skin, age or build.

    >>> first_of(("Male", "White", "Young", "Smiling"))
    'Smiling'
    """
    return next((name for name in names if not PERSONAL.search(name)), names[0])


def need_classes(row: ImageSetRow) -> None:
    """End a page that ranks one class first if the image set has no classes."""
    if row.classes:
        return
    st.info(
        f"**{escaped(row.title)}** has no classes, so no class can be ranked first. Its samples have criteria, by "
        "which sequences can be ranked. Choose another image set, or rank its sequences.",
        icon="🔢",
    )
    frame.next_step("Rank its sequences", "sequences", order_set=row.key)
    frame.end_page()
