"""An import, from the form to the image set. A finished import is kept automatically, unless there are near copies
across its split, about which the user decides first."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import numpy as np
import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from pages.parts.importing import import_form, import_preview, near_copies, problem_table, trash, uploads
from pages.parts.runs import jobs_panel
from ranking.core import ImageSet
from ranking.datasets import Thumbnails, load_image_set
from ranking.datasets.copies import stored_copies
from ranking.storage.run import ENDED, Run

EXAMPLES = 12


def show() -> None:
    """The import in the URL and its progress; without one, the form that starts an import."""
    place = st.container()  # also if it stays empty, so that the elements below do not move
    run = address.read(keys.IMPORT, _import, None)
    with place:
        if run is None:
            trash.show_last_change()
            _list_waiting()
            import_form.offer()
            trash.show()
        elif run.state in ("failed", "cancelled"):
            import_form.offer(run, _which_try(run))
        elif run.state not in ENDED:
            _watch(run)
        else:
            with st.container(border=True):
                _show(run)


def _list_waiting() -> None:
    """A button for each pending preview, and for each pending import with near copies across its split, which shows it.
    Other finished imports are kept."""
    here = _keys_here()
    for run in home.store().runs.all("import"):
        if run.task == "features":
            continue
        if run.state == "finished" and "decision" not in run.result and run.result.get("key") not in here:
            if run.looks or has_copies_across(run):
                jobs_panel.offer_decision(run, _waiting(run), keys.IMPORT)
            else:
                with frame.errors_in_place():
                    _keep(run, None)


def _waiting(run: Run) -> str:
    """The name of a pending preview or import."""
    if run.looks:
        return f"preview of {escaped(import_preview.called(run))}"
    return f"{escaped(run.result['title'])}, {run.result['images']:,} images"


def _which_try(run: Run) -> str:
    """The number of this attempt among the imports with the same settings, and when it ended, which distinguish
    repeated failures; "" for the only attempt."""
    tries = [equal.id for equal in home.store().runs.equal("import", run.settings)]
    if len(tries) == 1:
        return ""
    ended = datetime.fromtimestamp(run.created if run.ended is None else run.ended)
    return f"try {len(tries) - tries.index(run.id)}, {ended.strftime('%d %b at %H:%M:%S')}"


def _watch(run: Run) -> None:
    """The progress of an import, at the bottom of the window, because its button may be far down the page."""
    source = import_preview.called(run) if run.looks else run.settings["source"]
    with st.bottom:
        st.markdown(f"**{'Previewing' if run.looks else 'Importing from'} {escaped(source)}**")
        jobs_panel.watch(run)


def _show(run: Run) -> None:
    """An import or a preview that has ended."""
    if run.looks and "decision" in run.result:
        st.markdown(f"**{escaped(import_preview.called(run))}** has already been imported or discarded.")
        import_form.close()
    elif run.looks:
        import_preview.show(run)
    elif run.result.get("decision") == "kept" and run.result["key"] in _keys_here():
        _show_kept(run)
    elif run.result.get("decision") != "discarded" and run.result["key"] in _keys_here():
        _show_known(run)
    elif "decision" in run.result:
        st.markdown(f"This import of **{escaped(run.result['title'])}** was {run.result['decision']}.")
        import_form.close()
    elif has_copies_across(run):
        _decide(run)
    else:
        with frame.errors_in_place():
            _keep_and_show(run, None)
        uploads.offer_discard(run, "discard import")


def _keys_here() -> set[str]:
    """The keys of the existing image sets; an import of one of them leaves nothing to decide."""
    return {row.key for row in home.store().sets.rows()}


def _show_known(run: Run) -> None:
    """An import of an image set that exists already (equal keys mean equal sets). Keeping it restores missing files."""
    with home.missing_as_error():
        key = home.store().keep(run.id)
    st.info(
        f"This image set already exists: **{escaped(run.result['title'])}**, {run.result['images']:,} images. "
        "Identical images and labels are stored once.",
        icon="🖼️",
    )
    with st.container(horizontal=True):
        if address.get(keys.SET) != key:
            st.button(
                "Show it",
                type="primary",
                key="show known set",
                on_click=lambda: address.put(**{keys.SET: key, keys.IMPORT: None}),
            )
        import_form.close()


def _import(run_id: str) -> Run:
    run = home.store().runs.get(run_id)
    if run.task not in ("images", "look"):
        raise ValueError(f"expected an import, got: {run.called}")
    return run


def has_copies_across(run: Run) -> bool:
    """Whether an import has near copies across its split."""
    copies = stored_copies(run.draft)
    return copies is not None and len(copies.across) > 0


def _decide(run: Run) -> None:
    """The imported samples, the near copies across the split, and the buttons to keep or discard the import."""
    st.markdown(f"#### Imported {escaped(run.result['title'])}: keep near copies together?")
    _show_counts(run)
    complete, together = _examples_of(run)
    with st.container(horizontal=True):
        keep = complete and frame.pressed(
            "Keep", "keep import", type="primary", icon=":material/check_circle:"
        )
        uploads.offer_discard(run, "discard import")
    if keep:
        with frame.errors_in_place():
            _keep_and_show(run, together)
    _show_problems(run)


def _keep(run: Run, copies_together: bool | None) -> str:
    """Turn an import into an image set and return its key; Gone if that fails, as with damaged files."""
    with home.missing_as_error():
        load_image_set(run.draft)
        key = home.store().keep(run.id, copies_together)
    st.toast(f"{escaped(run.result['title'])} was imported.", icon="🖼️")
    return key


def _keep_and_show(run: Run, copies_together: bool | None) -> None:
    key = _keep(run, copies_together)
    address.put(**{keys.SET: key, keys.IMPORT: run.id})
    st.rerun()


def _show_kept(run: Run) -> None:
    """An import that was kept: its counts, its problems, and the button that undoes it."""
    st.markdown(f"#### Imported {escaped(run.result['title'])}")
    _show_counts(run)
    with st.container(horizontal=True):
        import_form.close()
        trash.offer_undo(run.result["key"])
    _show_problems(run)


def _show_counts(run: Run) -> None:
    result = run.result
    with st.container(horizontal=True, gap="large"):
        st.metric("Images", f"{result['images']:,}", width="content")
        st.metric("Samples", f"{result['samples']:,}", width="content")
        st.metric("Classes", f"{len(result['classes']):,}", width="content")
        if result.get("criteria"):
            st.metric("Criteria", f"{len(result['criteria']):,}", width="content")
        st.metric("Problems", f"{result['problems']:,}", width="content")


def _examples_of(run: Run) -> tuple[bool, bool | None]:
    """Show samples of an import and its near copies. Returns whether it can be read, and whether near copies are to be
    kept on one side of the split (None without near copies)."""
    try:
        with home.missing_as_error():
            draft, thumbnails = load_image_set(run.draft), Thumbnails(run.draft)
            _show_examples(draft, thumbnails)
            together = near_copies.choose(run, draft, thumbnails)
    except home.Gone as error:
        st.error(
            f"The import cannot be read: {escaped(str(error))}. Discard it and import again.",
            icon=":material/error:",
        )
        return False, None
    return True, together


def _show_examples(draft: ImageSet, thumbnails: Thumbnails) -> None:
    rows = np.linspace(0, len(draft) - 1, min(EXAMPLES, len(draft))).round().astype(int)
    examples = tiles.sample_tiles(draft, thumbnails, [int(row) for row in rows])
    label = "Examples of the imported samples"
    grid.image_grid(
        examples, name=keys.EXAMPLE, selected=address.get(keys.EXAMPLE), label=label, kind="images"
    )
    st.caption("Samples from the whole import. **Notice** whether each sample matches the label below it.")


def _show_problems(run: Run) -> None:
    try:
        problems = [{name: str(row[name]) for name in problem_table.COLUMNS} for row in _problems(run)]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        st.warning("The report of this import cannot be read.", icon=":material/warning:")
        return
    if not problems:
        st.success("No problems found.", icon=":material/check_circle:")
        return
    problem_table.show(
        problems,
        "Problems and how each was handled. Everything else was imported.",
        f"import-{run.id}.csv",
    )


def _problems(run: Run) -> Any:
    return json.loads(run.problems_file.read_text())
