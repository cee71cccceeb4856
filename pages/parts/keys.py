"""Every name that the pages keep state under: in the address, in the session, of widgets."""

from __future__ import annotations

# The address: what is worth sharing.
SET = "set"  # key of the image set
IMPORT = "import"  # id of the import that is shown
IMAGE = "image"  # number of the image that is shown whole
FEATURES = "features"  # names, joined by commas
QUERY = "query"  # the class that is searched for
METHOD = "method"
RUN = "run"  # id of the training that is shown
SPLIT = "split"  # "test" or "train"
K = "k"  # of precision at k
PAGE = "page"  # of the ranked grid, from 1
SHEET = "sheet"  # page of the contact sheet, from 1
SAMPLE = "sample"  # id of the selected sample
EXAMPLE = "example"  # id of the selected sample of an import

# What a change of a name makes meaningless. A run stands for the set and the settings that it was trained with.
DEPENDENTS = {
    IMPORT: (EXAMPLE,),
    SET: (SHEET, IMAGE, QUERY, RUN, PAGE, SAMPLE),
    SHEET: (IMAGE,),
    RUN: (SET, SHEET, IMAGE, QUERY, FEATURES, METHOD, "method.", "feature.", PAGE, SAMPLE),
    SPLIT: (PAGE, SAMPLE),
    PAGE: (SAMPLE,),
}


def depends(name: str, on: str) -> bool:
    """Whether `name` of the address means nothing after a change of `on`."""
    listed = DEPENDENTS.get(on, ())
    return name in listed or any(name.startswith(prefix) for prefix in listed if prefix.endswith("."))


def setting(owner: str, plugin: str, name: str) -> str:
    """Address name of a setting; `owner` is the kind of plug-in. No two plug-ins' settings can collide."""
    return f"{owner}.{plugin}.{name}"


# The session: what one browser tab remembers.
IMPLIED = "what the training in the address implies"
COMPLAINTS = "complaints about the address"
BOOTED = "pages are registered"
EVENTS = "events read so far"  # (run id, byte offset, events)
GRID_TOLD = "selection that a grid was told"


def widget(name: str) -> str:
    """Session key of the widget that edits `name` of the address."""
    return f"widget {name}"
