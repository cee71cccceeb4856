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

# What a choice makes meaningless; address.put drops it.
DEPENDENTS = {
    IMPORT: (EXAMPLE,),
    SET: (SHEET, IMAGE, QUERY, RUN, PAGE, SAMPLE),
    SHEET: (IMAGE,),
    RUN: (PAGE, SAMPLE),
    SPLIT: (PAGE, SAMPLE),
    PAGE: (SAMPLE,),
}


def setting(owner: str, name: str) -> str:
    """Address name of a setting of one plug-in: no two plug-ins' settings can collide."""
    return f"{owner}.{name}"


# The session: what one browser tab remembers.
REMEMBERED = "remembered address"
COMPLAINTS = "complaints about the address"
BOOTED = "pages are registered"
EVENTS = "events read so far"  # (run id, byte offset, events)
GRID_TOLD = "selection that a grid was told"


def widget(name: str) -> str:
    """Session key of the widget that edits `name` of the address."""
    return f"widget {name}"
