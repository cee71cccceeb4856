"""An import from its first question to the person's decision: keep the image set, or discard it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import streamlit as st

from pages.parts import address, cache, forms, frame, grid, jobs_panel, keys, tiles
from pages.parts.frame import escaped
from ranking import jobs
from ranking.datasets import Thumbnails, load_image_set, source_class, source_names
from ranking.run import ENDED, Run
from ranking.run_settings import ImportSettings
from ranking.settings import Setting, settings_of
from ranking.spreadsheets import guarded
from ranking.types import ImageSet

EXAMPLES = 12
REPORT = ("file", "expected", "came", "done")  # the columns of ranking.types.Problem


def show() -> None:
    """The import that the address names, as far as it is; where it names none, the form that starts one."""
    place = st.container()  # also where it stays empty: what stands below keeps its place
    run = address.read(keys.IMPORT, _import, None)
    with place:
        if run is None:
            _list_waiting()
            _offer()
        elif run.state in ("failed", "cancelled"):
            _offer(again=run)
        else:
            with st.container(border=True):
                _show(run)


def _list_waiting() -> None:
    """A line for each import that waits for a decision; pressing it shows the import."""
    here = _keys_here()
    for run in cache.store().runs("import"):
        if run.state == "finished" and "decision" not in run.result and run.result["key"] not in here:
            title, images = escaped(run.result["title"]), run.result["images"]
            st.button(
                f"{title}: {images:,} images wait for your decision",
                key=keys.widget(f"decide {run.id}"),
                icon=":material/rule:",
                type="tertiary",
                on_click=address.put,
                kwargs={keys.IMPORT: run.id},
            )


def _offer(again: Run | None = None) -> None:
    """The form for any source that the laboratory knows; it holds what the import `again` was asked for, and says
    beside the button that asks once more how that one ended."""
    with st.expander(
        "Import images of your own", icon=":material/create_new_folder:", expanded=again is not None
    ):
        names = source_names()
        before = {} if again is None else again.settings
        _hold(keys.widget("source"), _known(before.get("source"), names))
        source = st.selectbox("From", names, key=keys.widget("source"))
        if source == before.get("source"):
            _fill(source, before["source_settings"])
        more = f"More settings of {source}"
        values = forms.settings_form("source", [(source, source_class(source))], more, shared=False)
        empty = [item for item in settings_of(source_class(source)) if _is_missing(item, values[source])]
        with st.container(
            key="import-buttons"
        ):  # on a phone frame.css has the buttons below, to keep both in sight
            buttons, beside = st.columns([1, 4])
        with buttons, st.container(horizontal=True):
            pressed = frame.pressed("Import", "start import", type="primary")
            if again is not None:
                _close()
        with beside:
            if pressed and empty:
                _ask_for(empty[0])
            elif pressed:
                run = jobs.start_once(
                    cache.store(), "import", ImportSettings(source, values[source]).to_json()
                )
                address.put(**{keys.IMPORT: run.id})
                st.rerun()
            elif again is not None:
                jobs_panel.explain_end(again, _which_try(again))


def _which_try(run: Run) -> str:
    """The how-manieth import of equal settings it is, and when it ended: two that fail alike are told apart by it."""
    tries = [equal.id for equal in cache.store().equal_runs("import", run.settings)]
    ended = datetime.fromtimestamp(run.created if run.ended is None else run.ended)
    return f"try {len(tries) - tries.index(run.id)}, {ended.strftime('%d %b at %H:%M:%S')}"


def _known(source: str | None, names: Sequence[str]) -> str:
    return source if source in names else names[-1]


def _fill(source: str, settings: dict[str, Any]) -> None:
    """Have the form begin with `settings`, where it is not there yet."""
    for item in settings_of(source_class(source)):
        if item.name in settings:
            _hold(keys.widget(keys.setting("source", source, item.name)), settings[item.name])


def _hold(key: str, beginning: Any) -> None:
    """Have a widget show what it holds, and at first `beginning`.

    It is told in every run. What a run tells is lost where the next one interrupts it, as the end of an import
    does; a browser that was never told takes a widget's first option, or no text, and answers with that.
    """
    st.session_state[key] = st.session_state.get(key, beginning)


def _is_missing(item: Setting, values: dict[str, Any]) -> bool:
    """Whether a text that the form asks for at once is empty; those that may be empty are advanced."""
    return item.kind is str and not item.advanced and not values[item.name].strip()


def _ask_for(item: Setting) -> None:
    st.error(f"**{escaped(item.label)}** is empty. {escaped(item.help)}", icon=":material/error:")


def _show(run: Run) -> None:
    """An import that is under way, or waits for a decision."""
    if run.state not in ENDED:
        st.markdown(f"#### Importing from {escaped(run.settings['source'])}")
        jobs_panel.watch(run)
    elif run.result.get("decision") != "discarded" and run.result["key"] in _keys_here():
        _show_known(run)
    elif "decision" in run.result:
        st.markdown(f"This import of **{escaped(run.result['title'])}** was {run.result['decision']}.")
        _close()
    else:
        _decide(run)


def _keys_here() -> set[str]:
    """The keys of this home's image sets: an import of one of them leaves nothing to decide."""
    return {row.key for row in cache.store().image_sets()}


def _show_known(run: Run) -> None:
    """Nothing is left to be decided: equal keys are equal sets. Keeping it puts back files that are missing."""
    with cache.or_gone():
        key = cache.store().keep(run.id)
    st.info(
        f"You have this set already: **{escaped(run.result['title'])}**, {run.result['images']:,} images. "
        "Equal images and labels are one set.",
        icon="🖼️",
    )
    with st.container(horizontal=True):
        if address.get(keys.SET) != key:
            st.button(
                "Look at it",
                type="primary",
                key="look at known set",
                on_click=lambda: address.put(**{keys.SET: key, keys.IMPORT: None}),
            )
        _close()


def _import(run_id: str) -> Run:
    run = cache.store().run(run_id)
    if run.kind != "import":
        raise ValueError(f"expected an import, got: {run.called}")
    return run


def _close() -> None:
    st.button("Close", on_click=lambda: address.put(**{keys.IMPORT: None}), key="close import")


def _decide(run: Run) -> None:
    """What came of it, then the two buttons."""
    result = run.result
    st.markdown(f"#### Imported {escaped(result['title'])}: keep it?")
    with st.container(horizontal=True, gap="large"):
        st.metric("Images", f"{result['images']:,}", width="content")
        st.metric("Samples", f"{result['samples']:,}", width="content")
        st.metric("Classes", f"{len(result['classes']):,}", width="content")
        if result.get("criteria"):
            st.metric("Criteria", f"{len(result['criteria']):,}", width="content")
        st.metric("Problems", f"{result['problems']:,}", width="content")
    complete = _examples_of(run)
    with st.container(horizontal=True):
        if complete and frame.pressed("Keep", "keep import", type="primary", icon=":material/check_circle:"):
            with cache.or_gone():
                key = cache.store().keep(run.id)
            address.put(**{keys.SET: key, keys.IMPORT: None})
            st.rerun()
        if frame.pressed("Discard", "discard import", icon=":material/delete:"):
            cache.store().discard(run.id)
            address.put(**{keys.IMPORT: None})
            st.rerun()
    _show_problems(run)


def _examples_of(run: Run) -> bool:
    """Samples of what was imported; False, and why, where it cannot be read (any more)."""
    try:
        with cache.or_gone():
            _show_examples(load_image_set(run.draft), Thumbnails(run.draft))
    except cache.Gone as error:
        st.error(
            f"What was imported cannot be read: {escaped(str(error))}. Discard it and import again.",
            icon=":material/error:",
        )
        return False
    return True


def _show_examples(draft: ImageSet, thumbnails: Thumbnails) -> None:
    rows = np.linspace(0, len(draft) - 1, min(EXAMPLES, len(draft))).round().astype(int)
    examples = tiles.sample_tiles(draft, thumbnails, [int(row) for row in rows])
    label = "Examples of the imported samples"
    grid.image_grid(
        examples, name=keys.EXAMPLE, selected=address.get(keys.EXAMPLE), label=label, kind="images"
    )
    st.caption("Samples from the whole import. **Notice** whether each shows what is written below it.")


def _show_problems(run: Run) -> None:
    try:
        problems = [{name: str(row[name]) for name in REPORT} for row in _problems(run)]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        st.warning("The report of this import cannot be read.", icon=":material/warning:")
        return
    if not problems:
        st.success("Every file was as expected.", icon=":material/check_circle:")
        return
    st.dataframe(problems, hide_index=True, height=250)
    st.caption("What was not as expected, and what was done about it; everything else was imported.")
    st.download_button(
        "Report as CSV",
        lambda: _csv(problems),
        f"import-{run.id}.csv",
        "text/csv",
        icon=":material/table_view:",
        on_click="ignore",
    )


def _problems(run: Run) -> Any:
    return json.loads(run.problems_file.read_text())


def _csv(problems: list[dict[str, str]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, REPORT, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: guarded(text) for name, text in row.items()} for row in problems)
    return stream.getvalue()
