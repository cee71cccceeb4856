"""Which image set a page is about: the choice, and the bundled set at the first start."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, cache, jobs_panel, keys, runs
from pages.parts.frame import escaped
from ranking import jobs
from ranking.datasets import bundled_names
from ranking.run_settings import ImportSettings
from ranking.store import ENDED, ImageSetRow, Run


def choose(label: str = "Image set") -> ImageSetRow:
    """A box to choose one of the image sets; at first that of the training in the address, else the newest."""
    await_bundled()
    known = {row.key: row for row in cache.store().image_sets()}
    if runs.chosen() is not None:
        address.amend(**{keys.SET: None})  # a training stands for its set
    bound = address.bound(keys.SET, lambda text: _key_of(text, known), next(iter(known)))
    key = st.selectbox(label, list(known), format_func=lambda key: title(known[key]), **bound)
    if address.get(keys.SET) is None:
        address.amend(**{keys.SET: key})  # also where it is only the newest: the link shall show it tomorrow
    return known[key]


def _key_of(text: str, known: dict[str, ImageSetRow]) -> str:
    """The key that `text` of the address is; ValueError that names the sets as a person knows them."""
    if text not in known:
        listed = ", ".join(row.title for row in list(known.values())[:12])
        raise ValueError(f"there is no such image set; there are {listed}")
    return text


def title(row: ImageSetRow) -> str:
    return f"{row.title} — {row.images:,} images, {row.samples:,} samples"


def await_bundled() -> None:
    """At the first start, wait on the page for the bundled set: an import job makes it, kept without asking."""
    store = cache.store()
    bundled = bundled_names()[0]
    if any(row.source == bundled for row in store.image_sets()):
        return
    run = _bundled_import(bundled)
    run = jobs.poll(store, run.id)
    if run.state == "finished":
        store.keep(run.id)
        return
    if run.state not in ENDED:
        st.markdown(f"#### Preparing {escaped(bundled)}, the bundled image set")
        st.caption("This happens once. It is cut into samples and thumbnails, then you can train on it.")
        jobs_panel.watch(run)
        st.stop()
    if store.image_sets():
        return  # there is something else to work with
    jobs_panel.explain_end(run)
    if st.button("Prepare it again", type="primary"):
        _bundled_import(bundled, again=True)
        st.rerun()
    st.stop()


def _bundled_import(source: str, again: bool = False) -> Run:
    """The newest import of the bundled set that can still become one, or a new one."""
    for run in cache.store().runs("import"):
        if run.settings["source"] == source and run.result.get("decision") != "discarded":
            if again and run.state in ENDED:
                break
            return run
    return jobs.start_once(cache.store(), "import", ImportSettings(source).to_json())
