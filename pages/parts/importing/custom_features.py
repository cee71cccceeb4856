"""Custom features of an image set: the import of a file, and the list of the features that were added."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, downloads, frame, home, keys, workspaces
from pages.parts.app.frame import escaped
from pages.parts.importing import custom_previews, uploads
from pages.parts.training import export, feature_choice, jobs_panel
from ranking.core import ImageSet
from ranking.core.text import counted
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import FeaturesSettings
from ranking.storage.space import format_bytes
from ranking.storage.uploads import KeptNetwork, KeptVectors

TYPES = ["npy", "npz", "parquet", "csv", "tsv", "safetensors"]
PATH = keys.widget("own features path")


def show(images: ImageSet) -> None:
    """The import in the URL; without one, the form that starts an import."""
    run = (
        None
        if address.get(keys.OWN) == feature_choice.NEW
        else address.read(keys.OWN, lambda text: _import_of(images, text), None)
    )
    if run is None or run.state in ("failed", "cancelled"):
        _offer(images, run)
        return
    with st.container(border=True, key="own-features"):
        if run.state in ENDED:
            _show_added(images, run)
        else:
            uploads.show_live(
                run, st.container(), lambda question: custom_previews.show(images, run, question)
            )


def _import_of(images: ImageSet, run_id: str) -> Run:
    run = jobs.poll(home.store(), run_id)
    if run.task != FeaturesSettings.task or run.settings["set"] != images.key:
        raise ValueError("expected an import of features for this image set")
    return run


def _show_added(images: ImageSet, run: Run) -> None:
    st.markdown(f"#### Added {escaped(run.result['title'])}")
    with st.container(horizontal=True, vertical_alignment="center"):
        _offer_training(images, run.result["name"])
        uploads.close(keys.OWN)


# ---------------------------------------------------------------------------------------------------------
# The form
# ---------------------------------------------------------------------------------------------------------


def _offer(images: ImageSet, again: Run | None) -> None:
    """The uploader, the field for a path, the error of the failed preview `again`, and the kept features."""
    form = f"own features {images.key}"
    kept = feature_choice.uploaded(images)
    opened = address.get(keys.OWN) is not None
    label = "Upload custom features" + (f" ({len(kept):,} added)" if kept else "")
    jobs_panel.list_imports(FeaturesSettings.task, keys.OWN, images.key)
    # a model of a visitor could take all memory and time of a server
    local = not workspaces.used()
    model = ", or an `.onnx` model that computes the vectors" if local else ""
    with st.expander(label, icon=":material/upload_file:", expanded=opened):
        st.caption(
            f"One vector for each of the {counted(len(images), 'sample')}: `.npy` with one row per sample in the order "
            f"of the list, or `.npz`, `.safetensors`, Parquet or CSV with ids{model}. You first see what "
            "was read. No features are added before you agree."
        )
        file = f"samples-{images.key[:8]}.csv"
        downloads.offer("List of samples (CSV)", lambda: export.samples_csv(images), file)
        uploads.offer_drop(
            form,
            "Upload features",
            [*TYPES, "onnx"] if local else TYPES,
            lambda file: uploads.begin(FeaturesSettings(images.key, upload=uploads.name_of(file)), file),
            keys.OWN,
            feature_choice.NEW,
        )
        larger = "; for a larger file enter its path below" if uploads.paths_can_be_typed() else ""
        st.caption(f"At most {uploads.largest()}{larger}.")
        uploads.show_refused(form)
        path = "" if again is None else again.settings["place"]
        uploads.offer_path(
            "Path to a feature file",
            PATH,
            keys.OWN,
            lambda path: uploads.begin(FeaturesSettings(images.key, path.strip())),
            again,
            path,
        )
        for features in kept:
            _show_kept(images, features)


def _show_kept(images: ImageSet, features: KeptVectors | KeptNetwork) -> None:
    """Features that were added, the link that trains with them, and the button that deletes them."""
    if isinstance(features, KeptNetwork):
        what = f"a model, {counted(features.size, 'column')}, for all image sets"
    else:
        size = format_bytes(4 * features.size * len(images))
        columns, matched = (
            f"{counted(features.size, 'column')} of {features.columns:,}",
            features.matched or "when added",
        )
        what = f"{columns}, matched {matched}, {size}"
    shared = ", from the shared workspace (read-only)" if features.shared else ""
    listed = feature_choice.display_name(features.name, images.key)
    listed_as = "" if listed == features.title else f" ({escaped(listed)} in lists of training runs)"
    st.markdown(f"**{escaped(features.title)}**{listed_as}: {escaped(what)}{shared}")
    with st.container(horizontal=True, vertical_alignment="center"):
        _offer_training(images, features.name)
        if not features.shared:
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown(
                    "This cannot be undone. Training runs keep their scores, but pages that need the features again, "
                    "such as Neighbours, will ask for the file."
                )
                if frame.pressed(
                    "Delete permanently", keys.widget(f"delete {features.name}"), type="primary"
                ):
                    _delete(images, features)


def _offer_training(images: ImageSet, name: str) -> None:
    link = address.only(**{keys.SET: images.key, keys.FEATURES: name})
    st.page_link("pages/train.py", label="Train with it", query_params=link, icon=":material/model_training:")


def _delete(images: ImageSet, features: KeptVectors | KeptNetwork) -> None:
    store = home.store()
    try:
        if isinstance(features, KeptNetwork):
            store.features.delete_network(features.name)
        else:
            store.features.delete_vectors(images.key, features.name)
    except ValueError as error:
        st.error(escaped(str(error)), icon=":material/error:")
    else:
        st.rerun()
