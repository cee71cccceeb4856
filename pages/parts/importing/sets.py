"""Which image set a page is about: the choice, and the bundled set at the first start."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import jobs_panel, runs
from ranking.core.run_settings import ImportSettings
from ranking.datasets import bundled_names, ready_made_folder
from ranking.jobs import jobs
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import ImageSetRow

READY_MADE = "ready-made"  # where the set came from that needs no making


def choose(label: str = "Image set") -> ImageSetRow:
    """A box to choose one of the image sets; at first that of the training in the address, else `_first`."""
    prepare()
    known = {row.key: row for row in cache.store().image_sets()}
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


def import_first(source: str, needs: str, caption: str) -> NoReturn:
    """No set fits the page: the one next step is to import that of a `source` as it comes, which is kept unasked.

    needs: what the page lacks. caption: what is imported.
    """
    settings = ImportSettings(source).to_json()
    equal = [run for run in cache.common().equal_runs("import", settings) if "decision" not in run.result]
    run = jobs.poll(cache.common(), equal[0].id) if equal else None
    if run is not None and run.state == "finished":
        cache.common().keep(run.id)
        st.rerun()
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(needs)}", text_alignment="center")
        if run is not None and run.state not in ENDED:
            jobs_panel.watch(run)
            frame.end_page()
        if run is not None:
            jobs_panel.explain_end(run)
        if frame.pressed(f"Import {source.lower()}", keys.widget(f"import {source}"), type="primary"):
            jobs.start_once(cache.common(), "import", settings)
            st.rerun()
        st.caption(caption)
    frame.end_page()


def _key_of(text: str, known: dict[str, ImageSetRow]) -> str:
    """The key that `text` of the address is; ValueError that names the sets as a person knows them."""
    if text not in known:
        listed = ", ".join(row.title for row in list(known.values())[:12])
        raise ValueError(f"there is no such image set; there are {listed}")
    return text


def title(row: ImageSetRow) -> str:
    return f"{row.title} — {row.images:,} images, {row.samples:,} samples{' · shared' if row.lent else ''}"


def prepare() -> None:
    """At the first start: the ready-made set at once, then the bundled ones, one import after the other.

    They are kept without asking. Nobody waits for them unless there is no other set to work with.
    """
    store = cache.common()
    folder = ready_made_folder()
    known = {row.source for row in store.image_sets()}
    if folder is not None and not known & {READY_MADE, bundled_names()[0]}:
        ready_made()
    for source in bundled_names():
        if source not in known and not _prepare(source):
            break
    if not store.image_sets():
        show_preparing()
        frame.end_page()


def ready_made() -> str:
    """The key of the set that needs no making, which this home has from now on; Gone where it did not come along."""
    images, _ = cache.ready_made()
    store = cache.common()
    if images.key not in {row.key for row in store.image_sets()}:
        with cache.or_gone():
            store.adopt(images.folder, READY_MADE)
    return images.key


def _prepare(source: str) -> bool:
    """Begin to make a bundled set, or keep it when it is made; whether its import has ended."""
    store = cache.common()
    run = jobs.poll(store, _bundled_import(source).id)
    if run.state == "finished":
        store.keep(run.id)
        st.toast(
            f"{escaped(run.result['title'])}, {run.result['images']:,} images, is ready to be chosen.",
            icon="🖼️",
        )
    return run.state in ENDED


def show_preparing() -> None:
    """How far the bundled sets are that are not there yet, and what became of those that failed."""
    known = {row.source for row in cache.common().image_sets()}
    for source in bundled_names():
        if source in known:
            continue
        run = _bundled_import(source)
        if run.state not in ENDED:
            st.caption(f"Preparing {escaped(source)}, a bundled image set. This happens once.")
            jobs_panel.watch(run)
            return
        jobs_panel.explain_end(run)
        if frame.pressed(f"Prepare {escaped(source)} again", keys.widget(f"prepare {source}")):
            _bundled_import(source, again=True)
            st.rerun()


def _bundled_import(source: str, again: bool = False) -> Run:
    """The newest import of a bundled set as it comes that can still become one, or a new one."""
    settings = ImportSettings(source).to_json()
    for run in cache.common().equal_runs("import", settings):
        if run.result.get("decision") != "discarded":
            if again and run.state in ENDED:
                break
            return run
    return jobs.start_once(cache.common(), "import", settings)


def _first(rows: list[ImageSetRow]) -> str:
    """The key of the set to begin with: the foremost bundled one, else the ready-made one, else the newest."""
    for source in (bundled_names()[0], READY_MADE):
        for row in rows:
            if row.source == source:
                return row.key
    return rows[0].key
