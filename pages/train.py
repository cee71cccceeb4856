"""Train: choose what to learn from and how, start, watch the bounds meet, come back later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, controls, forms, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import (
    certificate,
    feature_choice,
    graph_choice,
    inference_scores,
    jobs_panel,
    label_corrections,
    playback,
    projections,
    run_actions,
    run_table,
    runs,
    sets,
    training_runs,
)
from ranking import method_class, method_names
from ranking.core import Method
from ranking.core.run_settings import TrainSettings
from ranking.features import feature_class, feature_names
from ranking.workspace.run import ENDED, SAMPLES, Run
from ranking.workspace.store import ImageSetRow

FIRST_METHOD = "AP-SVM"  # where it is there


def steps() -> None:
    run = runs.chosen() or show_newest()
    with st.container(key="train-layout"):  # frame.css places them; on a phone they follow one another
        task, view, details = st.container(), st.container(), st.container(key="settings-train")
    with task:
        row = sets.choose()
        sets.need_classes(row)
        query, method = choose_task(row)
        corrections = label_corrections.choose(cache.image_set(row.key), query)
    with details:
        settings = replace(choose_details(row, query, method), corrections=corrections)
    changes = [] if run is None else runs.differences(runs.settings_given(run), settings)
    with task:
        start(settings, run, changes)
    with view:
        if run is None:
            invite(settings)
        elif run.deleted:
            run_actions.offer_undo(run, elsewhere=run.id in st.session_state.get(keys.JUST_DELETED, []))
        elif run.state in ENDED:
            show_ended(run, obvious=not changes)
        else:
            show_live(run)
    run_table.show(row)


def show_newest() -> Run | None:
    """The newest training run with scores, on the image set of the address where that names one, which the address
    names from now on; None where there is none, where the address tells what to train, or a person is here already."""
    named = any(address.get(name) is not None for name in (keys.RUN, keys.QUERY, keys.METHOD, keys.FEATURES))
    if named or st.session_state.get(keys.PAGE_DONE) == st.session_state[keys.PAGE_SHOWN]:
        return None
    row = address.get(keys.SET)
    run = next((run for run in runs.with_scores() if row in (None, run.settings["set"])), None)
    if run is None:
        return None
    address.put(**{keys.RUN: run.id})
    return runs.chosen()


def choose_task(row: ImageSetRow) -> tuple[str, str]:
    """The class to rank first, and the method."""
    images = cache.image_set(row.key)
    counts = zip(images.classes, images.labels.sum(axis=0), strict=True)
    shown = {name: f"{name} — {count:,} of {len(images):,} samples" for name, count in counts}
    query = controls.select(
        "Query", keys.QUERY, shown, sets.first_of(row.classes), help="The class to rank first."
    )
    names = method_names(ranks="samples")
    return query, controls.select("Method", keys.METHOD, names, preferred(FIRST_METHOD, names))


def choose_details(row: ImageSetRow, query: str, method: str) -> TrainSettings:
    """What the method minimises, its settings, and what it sees of an image."""
    images, chosen_class = cache.image_set(row.key), method_class(method)
    summary = st.container()  # above the settings on which it depends
    values = forms.settings_form("method", [(method, chosen_class)], f"More settings of {method}")[method]
    graph = graph_choice.choose(images, method)
    with st.expander("Features"):
        features = feature_choice.choose(images)
        projection = projections.choose()
        of_crops = [(name, feature_class(name)) for name in features if name in feature_names(images)]
        described = forms.settings_form("feature", of_crops, "More settings of the features")
    with summary:
        describe(chosen_class, values)
    chosen = tuple((name, described.get(name, given)) for name, given in feature_choice.named(features))
    return TrainSettings(row.key, chosen, query, method, values, graph=graph, projection=projection)


def preferred(name: str, among: Sequence[str]) -> str:
    """`name` where there is one, else the first."""
    return name if name in among else among[0]


def describe(method: type[Method], settings: Mapping[str, Any]) -> None:
    """What a method minimises with these settings, where its class says so; on request more about it, and when it
    stops."""
    convex, summary = method.is_convex(settings), escaped(method.summary)
    if not convex:
        summary += f"\n\n{certificate.LOCAL}"
    if (tolerance := settings.get("tolerance")) is not None:
        summary += f"\n\nIt {certificate.stops(tolerance, convex)} (see *More settings*)."
    if objective := method.objective_of(settings):
        st.markdown(f"${objective}$", help=summary)
    elif summary:
        st.caption(summary)


def start(settings: TrainSettings, run: Run | None, changes: Sequence[str]) -> None:
    """The button that starts a run, which is then shown. `changes`: how it differs from `run`.

    What is said of it stands below, so that the button stays where it is.
    """
    if started := training_runs.offer_start(settings, "train", width="stretch"):
        address.put(**{keys.RUN: started.id, keys.LIKE: run.id if run and changes else None})
        st.rerun()
    if run is not None and changes:
        st.info(
            f"Like **{escaped(runs.short_name(run))}** but **{escaped('; '.join(changes))}**: "
            "press **Train** to see what that does.",
            icon=":material/compare_arrows:",
        )


def is_convex(settings: TrainSettings) -> bool:
    """Whether the objective is, by the method and its settings."""
    return bool(method_class(settings.method).is_convex(settings.method_settings))


def invite(settings: TrainSettings) -> None:
    convex = is_convex(settings)
    heading = "#### Press **Train** and watch two bounds meet"
    caption = (
        "The *primal* is the objective at the weights found so far; the *dual* proves how low any "
        "weights could bring it. Training ends when the gap between them is below the tolerance."
    )
    if not convex:
        heading = "#### Press **Train** and watch the objective go down in steps"
        caption = (
            "Each round minimises a convex problem that lies above the *objective* and touches it at the current "
            "weights; the *dual* proves how low that problem can be brought, not the objective. Training ends "
            "where a round can gain less than the tolerance."
        )
    with st.container(border=True):
        st.markdown(heading)
        st.caption(caption)
        st.latex(certificate.formula(convex))


def show_live(run: Run) -> None:
    st.markdown(f"#### Training {escaped(runs.short_name(run))}")
    show_changes(run)

    def live(seen: list[jobs_panel.Event]) -> None:
        show_course(run, seen)

    jobs_panel.watch(run, live)


def show_changes(run: Run) -> None:
    """Where a run was started as another with something changed: what, and what came of it."""
    before = address.read(keys.LIKE, home.store().run, None)
    if before is None or before.task != SAMPLES:
        return
    changes = runs.differences(runs.settings_given(before), runs.settings_given(run))
    text = f"Like **{escaped(runs.short_name(before))}** but **{escaped('; '.join(changes) or 'nothing changed')}**."
    if run.has_scores and before.has_scores:
        text += f" T{runs.measured(before)[1:]} → {runs.measured(run).removeprefix('test AP ')}."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text, width="content")
        link = address.changed(**{keys.RUN: before.id})
        st.page_link("pages/train.py", label="Show that one", query_params=link, width="content")


def show_ended(run: Run, obvious: bool) -> None:
    """A training that has ended: `obvious`, whether the next step is to look at its ranking."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {escaped(runs.short_name(run))}", width="content")
        if run.has_scores:
            frame.next_step("Show the ranking", "ranked_images", obvious=obvious, run=run.id)
            if runs.uses_graph(run):
                frame.next_step("What neighbours did", "neighbours", obvious=False, run=run.id)
            if (parameters := inference_scores.address_of(run)) is not None:
                frame.next_step("Most violated ranking", "most_violated", obvious=False, **parameters)
    show_changes(run)
    if run.imported:
        certificate.show_origin(run)
    jobs_panel.explain_end(run)
    show_course(run, jobs_panel.events_of(run))
    if run.has_scores and runs.has_numbers(run):
        certificate.show(run)
        certificate.show_projection(run)
    elif run.has_scores:
        st.warning(
            "What this training says it measured is not in numbers that can be shown: delete it in the table below.",
            icon=":material/warning:",
        )
    if run.state == "failed":
        st.caption("Change a setting, or press **Train** to try the same again.")


def show_course(run: Run, seen: list[jobs_panel.Event]) -> None:
    """A training from iteration to iteration: played back where it has a recording, and its bounds."""
    played = False
    with frame.in_place():
        played = playback.show(run)
    with st.container() if played else frame.picture("bounds"):
        training_runs.draw(run, seen)


frame.show_page("train", "Train a method to rank one class above all others.", steps)
