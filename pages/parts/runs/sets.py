"""Which image set a page is about, and which of its classes or criteria it opens on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import runs
from ranking.workspace import examples
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow

FIGURES = "Action figures"  # the source of the image set to begin with
NO_SETS = (
    "there is no image set here. Import images on the page Image sets, or start the app with a new data folder "
    "(RANKING_HOME): it begins with the examples, which do not come back to a folder that had them"
)
# Words of criteria and classes about what a person is rather than does: none of them is what a page opens on.
PERSONAL = re.compile(
    r"\b(male|female|man|woman|sex|gender|white|black|asian|indian|race|skin|ethnicity|young|old|age|chubby)\b",
    re.IGNORECASE,
)


def choose(label: str = "Image set") -> ImageSetRow:
    """A box to choose one of the image sets; at first that of the training in the address, else `_first`."""
    known = {row.key: row for row in home.store().image_sets()}
    if not known:
        raise home.Gone(NO_SETS if examples.set_folders() else home.NO_EXAMPLES)
    run = runs.chosen()
    if run is not None and run.settings["set"] in known:
        address.amend(**{keys.SET: None})  # a training stands for its set
    bound = address.bound(keys.SET, lambda text: _key_of(text, known), _first(list(known.values())))
    key = st.selectbox(label, list(known), format_func=lambda key: title(known[key]), **bound)
    if address.get(keys.SET) is None:
        address.amend(**{keys.SET: key})  # also where nobody chose it: the link shall show it tomorrow
    return known[key]


def choose_among(
    known: dict[str, ImageSetRow],
    name: str,
    source: str,
    run: Run | None,
    label_of: Callable[[ImageSetRow], str],
) -> ImageSetRow:
    """A box to choose one of the sets that fit a page, by the part `name` of the address; at first that of the `run`
    which the address names, else one of a `source`, else the newest. label_of: what a set is called in the box."""
    first = next((row.key for row in known.values() if row.source == source), next(iter(known)))
    if run is not None and run.settings["set"] in known:
        first = run.settings["set"]
    bound = address.bound(name, address.one_of(list(known)), first)
    return known[
        st.selectbox("Image set", list(known), format_func=lambda key: label_of(known[key]), **bound)
    ]


def _key_of(text: str, known: dict[str, ImageSetRow]) -> str:
    """The key that `text` of the address is; ValueError that names the sets as a person knows them."""
    if text not in known:
        listed = ", ".join(row.title for row in list(known.values())[:12])
        raise ValueError(f"there is no such image set; there are {listed}")
    return text


def title(row: ImageSetRow) -> str:
    return f"{row.title} — {row.images:,} images, {row.samples:,} samples{' · shared' if row.shared else ''}"


def _first(rows: list[ImageSetRow]) -> str:
    """The key of the set to begin with: the newest of FIGURES, else the newest."""
    return next((row for row in rows if row.source == FIGURES), rows[0]).key


def first_of(names: Sequence[str]) -> str:
    """The criterion or class that a page opens on: the first that is not about a person's sex, skin, age or build.

    >>> first_of(("Male", "White", "Young", "Smiling"))
    'Smiling'
    """
    return next((name for name in names if not PERSONAL.search(name)), names[0])


def need_classes(row: ImageSetRow) -> None:
    """End a page that ranks one class first, in words, where a set has no class."""
    if row.classes:
        return
    st.info(
        f"**{escaped(row.title)}** has no classes, so there is none to rank first: its samples have numbers and are "
        "there to be put in order. Choose another image set to train here, or put its samples in order.",
        icon="🔢",
    )
    frame.next_step("Put them in order", "orders", order_set=row.key)
    frame.end_page()
