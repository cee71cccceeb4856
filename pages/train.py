"""Train: choose what to learn from and how, start, watch the bounds meet, come back later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import address, cache, certificate, charts, forms, frame, jobs_panel, keys, runs, sets
from pages.parts.frame import escaped
from ranking import jobs, method_class, method_names
from ranking.features import default_names, feature_class, feature_names
from ranking.run_settings import TrainSettings
from ranking.settings import settings_of
from ranking.store import ENDED, ImageSetRow, Run

# What makes a good first picture, where it is there: a ranking method, and a class that is not too easy.
FIRST_METHOD = "AP-SVM"
FIRST_QUERY = "8"


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
            show_ended(run, settings)
        else:
            show_live(run, settings)
    list_earlier(row)


def choose(row: ImageSetRow) -> TrainSettings:
    """What a person wants to train, and how."""
    images = cache.image_set(row.key)
    counts = {name: int(count) for name, count in zip(images.classes, images.labels.sum(axis=0), strict=True)}
    query = st.selectbox(
        "Query: which class shall be ranked first?",
        list(row.classes),
        format_func=lambda name: f"{name} — {counts[name]:,} of {len(images):,} samples",
        **address.bound(keys.QUERY, address.one_of(row.classes), preferred(FIRST_QUERY, row.classes)),
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
        **address.bound(keys.METHOD, address.one_of(method_names()), preferred(FIRST_METHOD, method_names())),
    )
    describe(method_class(method))
    values = forms.settings_form("method", [(method, method_class(method))], f"More settings of {method}")
    described = forms.settings_form(
        "feature", [(name, feature_class(name)) for name in features], "More settings of the features"
    )
    chosen = tuple((name, described[name]) for name in features)
    return TrainSettings(row.key, chosen, query, method, values[method])


def preferred(name: str, among: Sequence[str]) -> str:
    """`name` where there is one, else the first."""
    return name if name in among else among[0]


def describe(method: type) -> None:
    """One sentence about a method and what it minimises, where its class says so."""
    summary, objective = getattr(method, "summary", ""), getattr(method, "objective", "")
    if summary:
        st.caption(escaped(summary))
    if objective:
        st.markdown(f"${objective}$")


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
        run = jobs.start_once(cache.store(), "train", settings.to_json())
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


def differs(run: Run, settings: TrainSettings) -> bool:
    """Whether `run` was given other settings than those; what it was not given had its default."""
    given = TrainSettings.from_json(run.settings)
    if _names(given) != _names(settings):
        return True
    theirs = {name: complete(feature_class(name), values) for name, values in given.features}
    method = complete(method_class(given.method), given.method_settings)
    return (theirs, method) != (dict(settings.features), settings.method_settings)


def _names(settings: TrainSettings) -> tuple[str, str, str, set[str]]:
    return settings.set, settings.query, settings.method, {name for name, _ in settings.features}


def complete(plugin: type, values: dict[str, Any]) -> dict[str, Any]:
    return {item.name: item.default for item in settings_of(plugin)} | values


def say_difference() -> None:
    st.info(
        "The settings at the left differ from this training's: press **Train** to see what they do.",
        icon=":material/compare_arrows:",
    )


def show_live(run: Run, settings: TrainSettings) -> None:
    if differs(run, settings):
        say_difference()
    st.markdown(f"#### Training {escaped(runs.short_name(run))}")
    logarithmic = log_choice()
    jobs_panel.watch(run, lambda seen: draw(run, seen, logarithmic))


def draw(run: Run, seen: list[jobs_panel.Event], logarithmic: bool) -> None:
    iterations = jobs_panel.iterations_of(seen)
    if iterations:
        charts.training_curve(iterations, certificate.tolerance_of(run), logarithmic, "training curve")
        floor = charts.lowest_bound(iterations)
        scale = (
            ""
            if floor is None
            else (
                "The objective has a logarithmic scale, for it has fallen far; bounds below "
                f"{floor:.3g} are too far down to be drawn. "
            )
        )
        st.caption(
            f"**Notice** how the two bounds close in on the optimum: it lies in the grey band. {scale}"
            f"Training ends when ${certificate.FORMULA}$."
        )


def show_ended(run: Run, settings: TrainSettings) -> None:
    changed = differs(run, settings)
    if changed:
        say_difference()
    st.markdown(f"#### {escaped(runs.short_name(run))}")
    jobs_panel.explain_end(run)
    if runs.has_scores(run):
        certificate.show(run)
    seen = jobs_panel.events_of(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        if runs.has_scores(run):
            frame.next_step("Look at the ranked images", "ranked_images", obvious=not changed, run=run.id)
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
