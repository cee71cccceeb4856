"""Train: choose an image set, a query and a method, start a training run, and watch its bounds converge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, controls, forms, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.rankings import inference_scores, label_corrections
from pages.parts.training import (
    certificate,
    cvxpy_panel,
    feature_choice,
    graph_choice,
    jobs_panel,
    playback,
    projections,
    run_actions,
    run_steps,
    run_table,
    runs,
    sets,
)
from ranking import method_class, method_names
from ranking.core import Method
from ranking.features import feature_class, feature_names
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.run_settings import TrainSettings
from ranking.storage.sets import ImageSetRow

# the default, if it is registered
FIRST_METHOD = "AP-SVM"
# The symbols of an objective over rankings.
SYMBOLS = "R*: the correct ranking; R: any ranking; Ψ: its joint feature vector; Δ: its loss."


def steps() -> None:
    run = runs.chosen() or show_newest()
    # frame.css lays these out; on a phone they are stacked
    with st.container(key="train-layout"):
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
    """The newest training run with scores (on the image set in the URL, if any), written to the URL."""
    # None if there is no such run, if the URL already has training settings, or if the visitor is already on
    # the page.
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
    """Show the objective of the method, and choose its settings and features."""
    images, chosen_class = cache.image_set(row.key), method_class(method)
    # above the settings that it depends on
    summary = st.container()
    values = forms.settings_form("method", [(method, chosen_class)], f"More settings of {method}")[method]
    graph = graph_choice.choose(images, [method] if chosen_class.uses_graph else [], summary)
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
    """`name` if it is in `among`, else the first."""
    return name if name in among else among[0]


def describe(method: type[Method], settings: Mapping[str, Any]) -> None:
    """Show the objective of a method with these settings, with its summary and stopping criterion as help."""
    # Without an objective, summary and stopping criterion are shown as text.
    convex, summary = method.is_convex(settings), escaped(method.summary)
    if not convex:
        summary += f"\n\n{certificate.LOCAL}"
    if (tolerance := settings.get("tolerance")) is not None:
        summary += f"\n\nIt {certificate.stops(tolerance, convex)} (see *More settings*)."
    if (objective := method.objective_of(settings)) and r"\Psi" in objective:
        summary += f"\n\n{SYMBOLS}"
    if objective:
        st.markdown(f"${objective}$", help=summary)
    elif summary:
        st.caption(summary)


def start(settings: TrainSettings, run: Run | None, changes: Sequence[str]) -> None:
    """The button that starts a training run, which is then shown."""
    # changes: how `settings` differ from those of `run`. The note on them is below the button, so that the
    # button does not move.
    if started := run_steps.offer_start(settings, "train", width="stretch"):
        address.put(**{keys.RUN: started.id, keys.LIKE: run.id if run and changes else None})
        st.rerun()
    if run is not None and changes:
        st.info(
            f"Like **{escaped(runs.short_name(run))}**, except **{escaped('; '.join(changes))}**. "
            "Press **Train** to see the effect.",
            icon=":material/compare_arrows:",
        )


def is_convex(settings: TrainSettings) -> bool:
    """Whether the objective is convex for this method and its settings."""
    return bool(method_class(settings.method).is_convex(settings.method_settings))


def invite(settings: TrainSettings) -> None:
    convex = is_convex(settings)
    heading = "#### Press **Train** and watch the bounds converge"
    caption = (
        "The *primal* is the objective at the best weights so far. The *dual* is a proven lower bound for any "
        "weights. Training stops when the gap is below the tolerance."
    )
    if not convex:
        heading = "#### Press **Train** and watch the objective decrease in rounds"
        caption = (
            "Each round minimises a convex upper bound that touches the *objective* at the current weights. The "
            "*dual* is a lower bound on this convex problem, not on the objective. Training stops when a round can "
            "gain less than the tolerance."
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
    """If a run was started with changed settings of an earlier run: the changes, and those of test AP."""
    before = address.read(keys.LIKE, home.store().runs.get, None)
    if before is None or before.task != SAMPLES:
        return
    changes = runs.differences(runs.settings_given(before), runs.settings_given(run))
    text = f"Like **{escaped(runs.short_name(before))}**, except **{escaped('; '.join(changes) or 'no changes')}**."
    if run.has_scores and before.has_scores:
        text += f" T{runs.measured(before)[1:]} → {runs.measured(run).removeprefix('test AP ')}."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text, width="content")
        link = address.changed(**{keys.RUN: before.id})
        st.page_link("pages/train.py", label="Show that run", query_params=link, width="content")


def show_ended(run: Run, obvious: bool) -> None:
    """A training run that has ended."""
    # obvious: whether the ranking is the obvious next step.
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {escaped(runs.short_name(run))}", width="content")
        if run.has_scores:
            frame.next_step("Show the ranking", "ranked_images", obvious=obvious, run=run.id)
            if runs.uses_graph(run):
                frame.next_step("Effect of neighbours", "neighbours", obvious=False, run=run.id)
            if (parameters := inference_scores.address_of(run)) is not None:
                frame.next_step("Most violated ranking", "most_violated_ranking", obvious=False, **parameters)
    show_changes(run)
    jobs_panel.explain_end(run)
    show_course(run, jobs_panel.events_of(run))
    if run.has_model:
        cvxpy_panel.offer(run)
    if run.has_scores:
        certificate.show(run)
        certificate.show_projection(run)
    if run.state == "failed":
        st.caption("Change a setting, or press **Train** to retry with the same settings.")


def show_course(run: Run, seen: list[jobs_panel.Event]) -> None:
    """A training run by iteration: its playback, if it has a recording, and its bounds."""
    played = False
    with frame.errors_in_place():
        played = playback.show(run)
    with st.container() if played else frame.picture("bounds"):
        run_steps.draw(run, seen)


frame.show_page("train", "Train a method to rank one class above all others.", steps)
