"""What an import has read of custom features, vectors or an ONNX model, and the decision to add them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.app import forms, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import problem_table, uploads, vector_chart
from pages.parts.training import jobs_panel
from ranking.core import ImageSet
from ranking.core.text import counted, readable
from ranking.features.onnx_model import PRESETS, OnnxModel, normalisation
from ranking.features.uploads.array_files import ArrayInfo
from ranking.features.uploads.model_preview import UNKNOWN, ModelPreview
from ranking.features.uploads.vector_matrix import BY_ORDER
from ranking.features.uploads.vectors_preview import VectorsPreview
from ranking.storage.import_questions import Question
from ranking.storage.run import Run

# settings of a model that have no widget of their own in its form
CHOSEN_APART = ("model", "columns", "output", "white", "mean", "deviation")
CUSTOM = "custom numbers"


def show(images: ImageSet, run: Run, question: Question) -> None:
    """What was read from a file, of vectors or of a model."""
    kind = _show_model if question.about == "model" else _show_vectors
    kind(images, run, question, jobs_panel.file_name(run))


def _show_refusal(refused: str) -> None:
    text = escaped(refused[0].upper() + refused[1:])
    if refused == UNKNOWN:
        st.info(text, icon=":material/help:")
    else:
        st.error(text, icon=":material/error:")


def _decide(
    run: Run, question: Question, file_name: str, changes: dict[str, Any], can_be_added: bool
) -> None:
    """The name of the features, and the buttons. changes: of the settings."""
    title = ""
    if can_be_added and not changes:
        begin = file_name.rpartition(".")[0] or file_name
        title = st.text_input("Name", begin, max_chars=60, key=f"title {run.id}")
    to_add = {"title": readable(title, 60)} if can_be_added else None
    uploads.offer_end(run, question, "Add features", "add features", to_add, changes)


# ---------------------------------------------------------------------------------------------------------
# Vectors
# ---------------------------------------------------------------------------------------------------------


def _show_vectors(images: ImageSet, run: Run, question: Question, file_name: str) -> None:
    """The number of matched samples, a plot, the problems, and the decision."""
    preview = VectorsPreview.from_json(question.reading)
    st.markdown(f"#### {escaped(file_name)}: {escaped(preview.kind)}")
    changes = _choose_arrays(run, question, preview)
    if preview.refused:
        _show_refusal(preview.refused)
    else:
        with st.container(horizontal=True, gap="large"):
            st.metric("Samples", f"{preview.samples:,} of {len(images):,}", width="content")
            st.metric("Columns", f"{preview.size:,}", width="content")
            st.metric("Columns dropped", f"{preview.columns - preview.size:,}", width="content")
        st.caption(
            f"Matched {escaped(preview.matched)}. Constant columns are dropped. In training, each column is scaled by "
            "the training samples."
        )
    if preview.plot is not None:
        vector_chart.show(images, preview.plot, "the rows are in a different order from the samples")
    _decide(run, question, file_name, changes, not preview.refused)
    if preview.problems:
        caption, file = "found in the file, and how they are handled.", f"features-{run.id}.csv"
        problem_table.show(preview.problems, preview.problem_count, caption, file)
    with st.expander(f"Content of the file: {counted(len(preview.arrays), 'array')}"):
        st.dataframe([_row(info) for info in preview.arrays], hide_index=True)


def _choose_arrays(run: Run, question: Question, preview: VectorsPreview) -> dict[str, Any]:
    """The arrays of the vectors and of the ids; {} if they are those of the preview."""
    vectors = [info.name for info in preview.arrays if info.may_be_vectors]
    ids = [BY_ORDER, *(info.name for info in preview.arrays if info.may_be_ids)]
    if not preview.offers_others:
        return {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = keys.widget(f"vectors {run.id} {question.number}")
        chosen = st.selectbox("Vectors", vectors, index=vectors.index(str(preview.vectors)), key=key)
        by = st.selectbox(
            "Match samples by",
            ids,
            index=ids.index(preview.ids),
            format_func=lambda name: "the order of the samples" if name == BY_ORDER else name,
            key=keys.widget(f"ids {run.id} {question.number}"),
        )
    unchanged = (chosen, by) == (preview.vectors, preview.ids)
    return {} if unchanged else {"vectors": chosen, "ids": by}


def _row(info: ArrayInfo) -> dict[str, str]:
    shape = " × ".join(f"{length:,}" for length in info.shape)
    could = "vectors" if info.may_be_vectors else "ids" if info.may_be_ids else ""
    return {"array": info.name, "shape": shape, "type": info.dtype, "could be": could, "why not": info.why}


# ---------------------------------------------------------------------------------------------------------
# Models
# ---------------------------------------------------------------------------------------------------------


def _show_model(images: ImageSet, run: Run, question: Question, file_name: str) -> None:
    """Show a model's ports and settings, a plot of samples, and the decision."""
    preview = ModelPreview.from_json(question.reading)
    st.markdown(f"#### {escaped(file_name)}: ONNX model")
    if preview.refused:
        _show_refusal(preview.refused)
    else:
        with st.container(horizontal=True, gap="large"):
            st.metric("Columns", f"{preview.settings['columns']:,}", width="content")
            st.metric("One sample", f"{1000 * preview.seconds:.0f} ms", width="content")
            whole = jobs_panel.in_minutes(preview.seconds * len(images))
            st.metric(f"All {len(images):,}", f"about {whole}", width="content")
        st.caption(
            f"Pixel values: {_preset(preview)}. Each crop is resized to the input size without keeping its aspect "
            "ratio, and its vector is scaled to unit length."
        )
    if preview.plot is not None:
        reason = "the model needs another normalisation of pixels, or another output is the right one"
        vector_chart.show(images, preview.plot, reason)
    chosen = _settings(run, question, preview)
    changed = chosen is not None and any(preview.settings.get(name) != chosen[name] for name in chosen)
    changes = {"network": chosen} if changed else {}
    _decide(run, question, file_name, changes, not preview.refused)


def _settings(run: Run, question: Question, preview: ModelPreview) -> dict[str, Any] | None:
    """The form of the model's settings, which starts with those of the preview; None if one is invalid or open."""
    owner = f"network {run.id} {question.number}"
    outputs = list(preview.outputs)
    with st.expander("Model settings", expanded=bool(preview.refused)):
        output = st.selectbox(
            "Output",
            outputs,
            index=outputs.index(preview.settings["output"]),
            format_func=lambda name: f"{name}: {preview.outputs[name]}",
            key=keys.widget(f"output {run.id} {question.number}"),
        )
        try:
            pixels = _pixel_values(owner, preview)
        except ValueError as error:
            st.error(escaped(str(error)), icon=":material/error:")
            return None
        plugins = [(OnnxModel.name, OnnxModel)]
        values = forms.settings_form(
            owner, plugins, "More settings", shared=False, without=CHOSEN_APART, usual=preview.settings
        )
    return {**values[OnnxModel.name], **pixels, "output": output} if pixels else None


def _preset(preview: ModelPreview) -> str | None:
    """The name of a model's normalisation of pixels; None if it is not known."""
    if "mean" not in preview.settings:
        return None
    values = preview.settings.items()
    return next((name for name, preset in PRESETS.items() if preset.items() <= values), CUSTOM)


def _pixel_values(owner: str, preview: ModelPreview) -> dict[str, Any]:
    """The choice of how pixels are normalised; {} if there is none yet, ValueError for texts that are no numbers."""
    known, names = _preset(preview), [*PRESETS, CUSTOM]
    chosen = st.selectbox(
        "Pixel values",
        names,
        index=None if known is None else names.index(known),
        placeholder="Choose as in the training of the model",
        help="How pixels were normalised when the model was trained; its documentation says so.",
        key=keys.widget(f"{owner} pixels"),
    )
    if chosen is None or chosen in PRESETS:
        return PRESETS.get(chosen, {})
    help = (
        "One number, or one per channel. Numbers above 2 refer to pixels from 0 to 255, others from 0 to 1."
    )
    fields = [
        (label, str(preview.settings.get(label.lower(), number)))
        for label, number in (("Mean", "0"), ("Deviation", "1"))
    ]
    texts = [
        st.text_input(label, text, help=help, key=keys.widget(f"{owner} {label}")) for label, text in fields
    ]
    return normalisation(*texts)
