"""A model in ONNX that a person brought: what it takes and gives, how it shall be used, and samples as it sees them."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import bringing, own_picture
from pages.parts.runs import jobs_panel
from ranking.core import ImageSet
from ranking.core.settings import settings_of
from ranking.core.text import readable
from ranking.features.onnx_model import OnnxModel, three_numbers
from ranking.features.uploads.model_preview import ModelPreview
from ranking.workspace.run import Run

OF_THE_FILE = ("model", "columns", "output")  # of the settings: chosen otherwise, or not at all


def show(images: ImageSet, run: Run, called: str) -> None:
    """What was found of a model, its settings, the decision."""
    try:
        found = ModelPreview.from_json(json.loads(run.look_file.read_text()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        st.error("What was found cannot be read any more; bring the file again.", icon=":material/error:")
        _offer_discard(run)
        return
    st.markdown(f"#### {escaped(called)}: a model in ONNX")
    ports = [*found.inputs.items(), *found.outputs.items()]
    takes, gives = (
        ", ".join(f"{escaped(name)} {escaped(told)}" for name, told in part.items()) or "nothing"
        for part in (found.inputs, found.outputs)
    )
    if ports:
        st.caption(f"Takes {takes}. Gives {gives}.")
    if found.refused:
        st.error(escaped(found.refused[0].upper() + found.refused[1:]), icon=":material/error:")
    else:
        _show_counts(images, found)
    if found.plot is not None:
        own_picture.show(
            images, found.plot, "pixels are to be normalised in another way, or the output is another"
        )
    _decide(images, run, found, called)


def _show_counts(images: ImageSet, found: ModelPreview) -> None:
    whole = jobs_panel.in_minutes(found.seconds * len(images))
    with st.container(horizontal=True, gap="large"):
        st.metric("Columns", f"{found.settings['columns']:,}", width="content")
        st.metric("One sample", f"{1000 * found.seconds:.0f} ms", width="content")
        st.metric(f"All {len(images):,}", f"about {whole}", width="content")
    said = ", ".join(found.read) or "nothing"
    st.caption(
        f"The file itself says: {escaped(said)}; the rest is as usual, or as you say below. Each box is shrunk or "
        "grown to the size of the input, whatever its shape; its vector is scaled to length 1."
    )


def _settings(run: Run, found: ModelPreview) -> dict[str, Any] | None:
    """How the model shall be used, by the form; it begins with what was looked at. None where it cannot be."""
    before = {
        **{item.name: item.default for item in settings_of(OnnxModel)},
        **run.settings["network"],
        **found.settings,
    }
    owner = f"network {run.id}"
    outputs = list(found.outputs)
    with st.expander("How it is used", expanded=bool(found.refused)):
        output = st.selectbox(
            "Output",
            outputs,
            index=outputs.index(before["output"]) if before["output"] in outputs else 0,
            format_func=lambda name: f"{name}: {found.outputs[name]}",
            key=keys.widget(f"output {run.id}"),
        )
        for item in settings_of(OnnxModel):
            key = keys.widget(keys.setting(owner, OnnxModel.name, item.name))
            st.session_state.setdefault(key, before[item.name])
        values = forms.settings_form(
            owner, [(OnnxModel.name, OnnxModel)], "More settings", shared=False, without=OF_THE_FILE
        )[OnnxModel.name]
        for name in ("mean", "deviation"):
            try:
                three_numbers(values[name])
            except ValueError as error:
                st.error(f"**{name.capitalize()}**: {escaped(str(error))}", icon=":material/error:")
                return None
    return {**values, "output": output}


def _decide(images: ImageSet, run: Run, found: ModelPreview, called: str) -> None:
    """Keep or discard; where it shall be used in another way than was looked at, look first."""
    wanted = _settings(run, found) if found.outputs else None
    tried = {**run.settings["network"], **found.settings}
    other = wanted is not None and any(tried.get(name) != value for name, value in wanted.items())
    title = ""
    if not (other or found.refused):
        title = st.text_input(
            "Call it", called.rpartition(".")[0] or called, max_chars=60, key=f"title {run.id}"
        )
    with st.container(horizontal=True):
        if wanted is not None and other:
            if frame.pressed("Look again", "look at network", type="primary", icon=":material/search:"):
                address.put(**{keys.OWN: bringing.look_at_network_again(run, wanted).id})
                st.rerun()
        elif not found.refused and frame.pressed(
            "Keep and train with it", "keep network", type="primary", icon=":material/check_circle:"
        ):
            _keep(run, images, readable(title, 60))
        _offer_discard(run)


def _keep(run: Run, images: ImageSet, title: str) -> None:
    """Where they cannot be, as in a room that is full, the person can still discard them: the page goes on."""
    with frame.in_place():
        with cache.or_gone():
            name = cache.store().keep_network(run.id, title)
        link = address.only(**{keys.SET: images.key, keys.FEATURES: name})
        st.switch_page("pages/train.py", query_params=link)


def _offer_discard(run: Run) -> None:
    if frame.pressed("Discard", "discard features", icon=":material/delete:"):
        cache.store().discard(run.id)
        address.put(**{keys.OWN: None})
        st.rerun()
