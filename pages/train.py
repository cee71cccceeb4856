"""Train: choose what to learn from and how, start, watch the bounds meet, come back later."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, cache, certificate, charts, forms, frame, jobs_panel, keys, runs, sets
from pages.parts.frame import escaped
from ranking import method_class, method_names
from ranking.features import default_names, feature_class, feature_names
from ranking.run_settings import TrainSettings
from ranking.store import ENDED, ImageSetRow, Run


def steps() -> None:
    run = runs.chosen()
    form, view = st.columns([2, 3], gap="large")
    with form:
        row = sets.choose()
        settings = choose(row)
        start(settings)
    with view:
        if run is None:
            invite()
        elif run.state in ENDED:
            show_ended(run)
        else:
            show_live(run)
    list_earlier(row)


def choose(row: ImageSetRow) -> TrainSettings:
    """What a person wants to train, and how."""
    images = cache.image_set(row.key)
    counts = {name: int(count) for name, count in zip(images.classes, images.labels.sum(axis=0), strict=True)}
    query = st.selectbox(
        "Query: which class shall be ranked first?",
        list(row.classes),
        format_func=lambda name: f"{name} — {counts[name]:,} of {len(images):,} samples",
        **address.bound(keys.QUERY, address.one_of(row.classes), row.classes[0]),
    )
    features = st.pills(
        "Features",
        feature_names(),
        selection_mode="multi",
        **address.bound(keys.FEATURES, address.some_of(feature_names()), default_names(), ",".join),
    )
    method = st.selectbox(
        "Method",
        method_names(),
        **address.bound(keys.METHOD, address.one_of(method_names()), method_names()[0]),
    )
    values = forms.settings_form("method", [(method, method_class(method))], f"More settings of {method}")
    described = forms.settings_form(
        "feature", [(name, feature_class(name)) for name in features], "More settings of the features"
    )
    chosen = tuple((name, described[name]) for name in features)
    return TrainSettings(row.key, chosen, query, method, values[method])


def start(settings: TrainSettings) -> None:
    """The button that starts a training; pressed twice it starts one."""
    ready = bool(settings.features)
    if not ready:
        st.info(
            "Choose at least one feature: it is what the method sees of an image.", icon=":material/info:"
        )
    if st.button(
        "Train",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not ready,
        width="stretch",
        key="train",
    ):
        run = jobs_panel.start_once("train", settings.to_json())
        address.put(**{keys.RUN: run.id})
        st.rerun()


def invite() -> None:
    with st.container(border=True):
        st.markdown("#### Press **Train** and watch two bounds meet")
        st.caption(
            "The *primal* is the objective at the weights found so far; the *dual* proves how low any "
            "weights could bring it. Training ends when the gap between them is below the tolerance."
        )
        st.latex(certificate.FORMULA)


def show_live(run: Run) -> None:
    st.markdown(f"#### Training {escaped(runs.short_name(run))}")
    logarithmic = log_choice()
    jobs_panel.watch(run, lambda seen: draw(run, seen, logarithmic))


def draw(run: Run, seen: list[jobs_panel.Event], logarithmic: bool) -> None:
    iterations = jobs_panel.iterations_of(seen)
    if iterations:
        charts.training_curve(iterations, certificate.tolerance_of(run), logarithmic, "training curve")
        st.caption(
            "**Notice** how the two bounds close in on the optimum: it lies in the grey band. "
            f"Training ends when ${certificate.FORMULA}$."
        )


def show_ended(run: Run) -> None:
    st.markdown(f"#### {escaped(runs.short_name(run))}")
    jobs_panel.explain_end(run)
    if runs.has_scores(run):
        certificate.show(run)
    seen = jobs_panel.events_of(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        if runs.has_scores(run):
            frame.next_step("Look at the ranked images", "ranked_images", run=run.id)
        logarithmic = bool(jobs_panel.iterations_of(seen)) and log_choice()
    draw(run, seen, logarithmic)
    if run.state == "failed":
        st.caption("Change a setting, or press **Train** to try the same again.")


def log_choice() -> bool:
    return st.toggle("Logarithmic iterations", key=keys.widget("logarithmic iterations"))


def list_earlier(row: ImageSetRow) -> None:
    earlier = cache.store().runs("train", row.key)
    if earlier:
        st.subheader("Trainings on this image set", anchor=False)
        runs.table(earlier, keys.widget("earlier trainings"))
        st.caption(
            "Choose a row to come back to it. The address of this page opens the same training anywhere."
        )


frame.show_page("train", "Learn to rank one class of images before all others.", steps)
