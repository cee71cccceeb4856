"""Features of a person's own: a file is dropped, looked at before it is kept, and then chosen like any other."""

from __future__ import annotations

import json
from typing import NoReturn

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from pages.parts.app import address, bounded_uploads, cache, dropped, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import bringing, own_network, own_picture, problem_table
from pages.parts.runs import export, feature_choice, jobs_panel
from ranking.core import ImageSet
from ranking.core.run_settings import FeaturesSettings
from ranking.core.text import counted, readable
from ranking.features.own.array_files import Listed
from ranking.features.own.looking import VectorsLook
from ranking.features.own.matching import BY_ORDER
from ranking.workspace.room_quotas import told_bytes
from ranking.workspace.run import ENDED, Run
from ranking.workspace.uploads import KeptNetwork, KeptVectors

KINDS = ["npy", "npz", "parquet", "onnx"]
PATH = keys.widget("own features path")


def show(images: ImageSet) -> None:
    """The look that the address names, as far as it is; where it names none, the form that starts one."""
    run = (
        None
        if address.get(keys.OWN) == feature_choice.NEW
        else address.read(keys.OWN, lambda text: _look(images, text), None)
    )
    if run is None or run.state in ("failed", "cancelled"):
        _offer(images, run)
        return
    with st.container(border=True, key="own-features"):
        called = FeaturesSettings.from_json(run.settings).file_name
        if run.state not in ENDED:
            st.markdown(f"#### Looking at {escaped(called)}")
            jobs_panel.watch(run)
        elif "decision" in run.result:
            st.markdown(f"**{escaped(called)}** was {run.result['decision']} since.")
            _close()
        elif "network" in run.result:
            own_network.show(images, run, called)
        else:
            _show_found(images, run, called)


def _look(images: ImageSet, run_id: str) -> Run:
    run = cache.store().run(run_id)
    if run.task != "features" or run.settings["set"] != images.key:
        raise ValueError("expected a look at features for this image set")
    return run


# ---------------------------------------------------------------------------------------------------------
# The form
# ---------------------------------------------------------------------------------------------------------


def _offer(images: ImageSet, again: Run | None) -> None:
    """A place to drop a file, and one to type a path; how the look `again` ended; and what is there already."""
    key = keys.widget(f"own features {images.key} {st.session_state.get(keys.OWN_UPLOADS, 0)}")
    kept = feature_choice.brought(images)
    opened = address.get(keys.OWN) is not None
    label = "Bring features of your own" + (f" ({len(kept):,} here)" if kept else "")
    _list_waiting(images)
    with st.expander(label, icon=":material/upload_file:", expanded=opened):
        st.caption(
            f"A vector for each of the {counted(len(images), 'sample')}, from a program of yours: `.npy` with a row a "
            "sample in the order of the list, `.npz` or Parquet with ids beside them; or a network, `.onnx`, that this "
            "app asks for them. You see what is in it before anything is kept."
        )
        st.download_button(
            "List of samples (CSV)",
            lambda: export.samples_csv(images),
            f"samples-{images.key[:8]}.csv",
            "text/csv",
            icon=":material/list:",
            on_click="ignore",
        )
        st.file_uploader("Drop features here", KINDS, key=key)
        where = bringing.where_paths_lead()
        larger = "; for a larger one type its path below" if where else ""
        st.caption(f"At most {bounded_uploads.largest()}{larger}.")
        _upload(images.key, st.session_state[key])
        of, refused = st.session_state.get(keys.OWN_REFUSED, (None, None))
        if refused is not None and of == images.key:
            st.error(escaped(refused), icon=":material/error:")
        if where:
            _type_path(images, again, where)
        elif again is not None:
            _close()
        if again is not None:
            jobs_panel.explain_end(again)
            st.caption(f"Nothing is left of {escaped(FeaturesSettings.from_json(again.settings).file_name)}.")
        for told in kept:
            _show_kept(images, told)


def _list_waiting(images: ImageSet) -> None:
    """A line for each look that waits for a decision; pressing it shows the look."""
    for run in cache.store().runs(set_key=images.key, task="features"):
        if run.state == "finished" and "decision" not in run.result:
            called = escaped(FeaturesSettings.from_json(run.settings).file_name)
            jobs_panel.offer_decision(run, f"{called}, which you have looked at, waits", keys.OWN)


def _upload(set_key: str, file: UploadedFile | DeletedFile | None) -> None:
    """Have a worker look at what was dropped. The widget's next key is another: this one's bytes are forgotten."""
    if file is None:
        return
    look, refused = dropped.once(file, lambda file: bringing.look_at_features(file, set_key).id)
    st.session_state[keys.OWN_REFUSED] = (set_key, refused)
    address.put(**{keys.OWN: look or feature_choice.NEW})
    st.session_state[keys.OWN_UPLOADS] = st.session_state.get(keys.OWN_UPLOADS, 0) + 1
    st.rerun()


def _type_path(images: ImageSet, again: Run | None, where: str) -> None:
    if again is not None:
        st.session_state.setdefault(PATH, again.settings["place"])
    path = st.text_input("File of features", key=PATH, placeholder="/home/…/features.npy")
    st.caption(where)
    with st.container(horizontal=True):
        if frame.pressed("Look at it", "look at features"):
            if path.strip():
                _go_to(bringing.look_at_features_path(path, images.key))
            st.error(
                "**File of features** is empty: type a path, or drop a file above.", icon=":material/error:"
            )
        if again is not None:
            _close()


def _show_kept(images: ImageSet, told: KeptVectors | KeptNetwork) -> None:
    """A line for what is here, the link that trains with it, and the button that deletes it."""
    if isinstance(told, KeptNetwork):
        what = f"a model, {counted(told.size, 'column')}, for all image sets"
    else:
        size = told_bytes(4 * told.size * len(images))
        what = (
            f"{counted(told.size, 'column')} of {told.columns:,}, matched {told.matched or 'as kept'}, {size}"
        )
    lent = ", lent by the class room" if told.lent else ""
    listed = feature_choice.called(told.name, images.key)
    listed_as = "" if listed == told.title else f" ({escaped(listed)} in lists of trainings)"
    st.markdown(f"**{escaped(told.title)}**{listed_as}: {escaped(what)}{lent}")
    with st.container(horizontal=True, vertical_alignment="center"):
        link = address.only(**{keys.SET: images.key, keys.FEATURES: told.name})
        st.page_link(
            "pages/train.py", label="Train with it", query_params=link, icon=":material/model_training:"
        )
        if not told.lent:
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown(
                    "It will be gone for good. Trainings keep their scores; what needs it again, such as neighbours, "
                    "asks for the file."
                )
                if frame.pressed("Delete for good", keys.widget(f"delete {told.name}"), type="primary"):
                    _delete(images, told)


def _delete(images: ImageSet, told: KeptVectors | KeptNetwork) -> None:
    store = cache.store()
    try:
        if isinstance(told, KeptNetwork):
            store.delete_network(told.name)
        else:
            store.delete_vectors(images.key, told.name)
    except ValueError as error:
        st.error(escaped(str(error)), icon=":material/error:")
    else:
        st.rerun()


# ---------------------------------------------------------------------------------------------------------
# What was found
# ---------------------------------------------------------------------------------------------------------


def _show_found(images: ImageSet, run: Run, called: str) -> None:
    """What fits and what does not; a picture of what fits; and the decision."""
    try:
        found = VectorsLook.from_json(json.loads(run.look_file.read_text()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        st.error("What was found cannot be read any more; bring the file again.", icon=":material/error:")
        _offer_discard(run)
        return
    st.markdown(f"#### {escaped(called)}: {escaped(found.kind)}")
    chosen = _choose_arrays(run, found)
    if found.refused:
        st.error(escaped(found.refused[0].upper() + found.refused[1:]), icon=":material/error:")
    else:
        _show_counts(images, found)
    if found.picture is not None:
        own_picture.show(images, found.picture, "their rows are in another order than the samples")
    _decide(run, found, chosen, called, images)
    _show_problems(run, found)
    _list_arrays(found)


def _choose_arrays(run: Run, found: VectorsLook) -> tuple[str, str] | None:
    """Which array holds the vectors, and which the ids; None where there is nothing to choose."""
    vectors = [one.name for one in found.listed if one.may_be_vectors]
    ids = [BY_ORDER, *(one.name for one in found.listed if one.may_be_ids)]
    if found.vectors is None or len(vectors) + len(ids) <= 2:
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        of = st.selectbox(
            "Vectors", vectors, index=vectors.index(found.vectors), key=keys.widget(f"vectors {run.id}")
        )
        by = st.selectbox(
            "Matched by",
            ids,
            index=ids.index(found.ids),
            format_func=lambda name: "the order of the samples" if name == BY_ORDER else name,
            key=keys.widget(f"ids {run.id}"),
        )
    return of, by


def _show_counts(images: ImageSet, found: VectorsLook) -> None:
    with st.container(horizontal=True, gap="large"):
        st.metric("Samples", f"{found.samples:,} of {len(images):,}", width="content")
        st.metric("Columns", f"{found.size:,}", width="content")
        st.metric("Left out", f"{found.columns - found.size:,}", width="content")
    st.caption(
        f"Matched {escaped(found.matched)}. Each row is scaled to length 1, as all features are, so that only its "
        "direction counts; columns that are the same for all samples are left out, for they tell none apart."
    )


def _decide(
    run: Run, found: VectorsLook, chosen: tuple[str, str] | None, called: str, images: ImageSet
) -> None:
    """Keep or discard; where other arrays are chosen than were looked at, look at these first."""
    other = chosen is not None and chosen != (found.vectors, found.ids)
    title = ""
    if not (other or found.refused):
        title = st.text_input(
            "Call them", called.rpartition(".")[0] or called, max_chars=60, key=f"title {run.id}"
        )
    with st.container(horizontal=True):
        if chosen is not None and other:
            if frame.pressed("Look at these", "look at arrays", type="primary", icon=":material/search:"):
                _go_to(bringing.look_at_arrays(run, *chosen))
        elif not found.refused and frame.pressed(
            "Keep and train with them", "keep features", type="primary", icon=":material/check_circle:"
        ):
            _keep(run, images, readable(title, 60))
        _offer_discard(run)


def _keep(run: Run, images: ImageSet, title: str) -> None:
    """Where they cannot be, as in a room that is full, the person can still discard them: the page goes on."""
    with frame.in_place():
        with cache.or_gone():
            name = cache.store().keep_vectors(run.id, title)
        link = address.only(**{keys.SET: images.key, keys.FEATURES: name})
        st.switch_page("pages/train.py", query_params=link)


def _show_problems(run: Run, found: VectorsLook) -> None:
    if found.problems:
        said = "what was not as expected, and what is done about it."
        problem_table.show_first(found.problems, found.count, said, f"features-{run.id}.csv")


def _list_arrays(found: VectorsLook) -> None:
    with st.expander(f"What is in the file: {counted(len(found.listed), 'array')}"):
        st.dataframe([_row(one) for one in found.listed], hide_index=True)


def _row(one: Listed) -> dict[str, str]:
    shape = " × ".join(f"{length:,}" for length in one.shape)
    could = "vectors" if one.may_be_vectors else "ids" if one.may_be_ids else ""
    return {"array": one.name, "shape": shape, "type": one.dtype, "could be": could, "why not": one.why}


def _offer_discard(run: Run) -> None:
    if frame.pressed("Discard", "discard features", icon=":material/delete:"):
        cache.store().discard(run.id)
        address.put(**{keys.OWN: None})
        st.rerun()


def _close() -> None:
    st.button("Close", on_click=lambda: address.put(**{keys.OWN: None}), key="close features")


def _go_to(run: Run) -> NoReturn:
    address.put(**{keys.OWN: run.id})
    st.rerun()
