"""Experiments: methods compared by cross-validation on one's own images, with the tables of the high-order paper."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import sets
from pages.parts.runs import jobs_panel, run_actions, run_choice, runs
from pages.parts.studies import experiment_form, experiment_view
from ranking.core.run_settings import ExperimentSettings
from ranking.jobs import jobs
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import ImageSetRow

SOURCE = "Action figures"  # what the paper's actions are among the bundled sets


def steps() -> None:
    asked = run_choice.asked(keys.EXPERIMENT, experiment, experiment_form.begun_with)
    left, right = st.columns(2, gap="medium")
    with left:
        row = choose_set(asked)
    run_actions.say_deleted("experiment")
    with right:
        run = choose_experiment(row, asked)
    if run is not None:
        address.imply(experiment_form.begun_with(run))  # of the newest too, which the address did not name
    view, task = st.container(), st.container()
    with task:
        with st.expander("A new experiment", icon=":material/science:", expanded=run is None):
            experiment_form.show(row, run)
        with st.expander("From a protocol file", icon=":material/upload_file:"):
            experiment_form.from_file(cache.store().image_sets())
        run_actions.bring_back("experiment")
    with view:
        if run is None:
            invite()
        elif run.state in ENDED:
            show_ended(run)
        else:
            show_live(run)


def experiment(run_id: str) -> Run:
    """The experiment of that id; ValueError where it is none."""
    run = run_choice.of_task(run_id, "experiment")
    ExperimentSettings.from_json(run.settings)
    return run


def choose_set(asked: Run | None) -> ImageSetRow:
    """One of the sets whose samples have classes."""
    sets.prepare()
    known = {row.key: row for row in cache.store().image_sets() if row.classes}
    if not known:
        sets.import_first(
            SOURCE, "An experiment needs images with classes", "Drawn people who do one of ten things."
        )
    return sets.choose_among(known, keys.EXPERIMENT_SET, SOURCE, asked, sets.title)


def choose_experiment(row: ImageSetRow, asked: Run | None) -> Run | None:
    """An experiment on a set: the one `asked` for, or the newest that goes on or has trainings; None where there is
    none. One that went on under another id later is not listed again."""
    listed, seen = [], set[str]()
    for run in cache.store().runs(set_key=row.key, task="experiment"):
        told = repr(sorted(run.settings.items(), key=lambda item: item[0]))
        if told not in seen or (asked is not None and run.id == asked.id):
            listed.append(run)
        seen.add(told)
    along = {keys.EXPERIMENT_SET: row.key}
    return run_choice.choose("Experiment", keys.EXPERIMENT, listed, asked, name_of, **along)


def name_of(run: Run) -> str:
    """One line that tells an experiment from others; the same while it goes on."""
    settings = ExperimentSettings.from_json(run.settings)
    features = runs.features_of(run)
    queries = f"{len(settings.queries)} queries" if settings.queries else "all queries"
    if len(settings.queries) == 1:
        queries = f"“{settings.queries[0]}”"
    star = "★ " if run.star else ""
    called = run.name or f"{', '.join(runs.contenders(run))} · {queries} · {features}"
    return f"{star}{called} · {runs.when(run)} · {run.id}"


# ---------------------------------------------------------------------------------------------------------
# One that is there
# ---------------------------------------------------------------------------------------------------------


def invite() -> None:
    st.markdown("#### Which method ranks these images best, and is that more than chance?")
    st.caption(
        "The experiment of the high-order paper (section 5) on your own images: each method is trained at each setting "
        "of a grid on all folds but one, and ranks that one. The setting with the best mean is trained once more on "
        "all training samples, and ranks the test samples, which have chosen nothing. All methods see equal folds. "
        "Press **Start the experiment** below."
    )


def show_live(run: Run) -> None:
    """Its progress cell by cell, and the tables as they fill in."""
    st.markdown(f"#### {escaped(runs.short_name(run))}")
    jobs_panel.watch(run, lambda seen: show_so_far(run))


def show_so_far(run: Run) -> None:
    experiment_view.show_progress(cache.findings(run))


def show_ended(run: Run) -> None:
    """What came of it; how to go on with one that did not finish."""
    st.markdown(f"## {escaped(runs.short_name(run))}")
    jobs_panel.explain_end(run)
    with frame.in_place():
        findings = cache.findings(run)
        if run.state != "finished":
            go_on(run, findings.done, findings.planned)
        if findings.done:
            experiment_view.show(run, findings)
    run_actions.manage(run)


def go_on(run: Run, done: int, planned: int) -> None:
    """The button that takes an experiment up where it stopped, under the same name."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if frame.pressed("Go on with it", "go on", type="primary", icon=":material/play_arrow:"):
            again = jobs.start_once(cache.store(), "study", run.settings)
            if run.name:
                cache.store().name_run(again.id, run.name)
            if run.star:
                cache.store().star_run(again.id, True)
            address.put(**{keys.EXPERIMENT: again.id})
            st.rerun()
        st.markdown(f"{done:,} of {planned:,} trainings are there and stay.", width="content")


frame.show_page("experiments", "Compare methods as the papers do, and take the tables along.", steps)
