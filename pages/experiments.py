"""Experiments: methods compared by cross-validation, with the tables of the high-order paper."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.studies import experiment_form, experiment_results, experiment_view
from pages.parts.training import run_actions, runs, sets
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.sets import ImageSetRow


def steps() -> None:
    named = experiment_form.PAGE.named()
    left, right = st.columns(2, gap="medium")
    with left:
        row = choose_set(named)
    run_actions.show_deleted(experiment_form.PAGE.task)
    with right:
        run = choose_experiment(row, named)
    if run is not None:
        level = "##" if run.state in ENDED else "####"
        st.markdown(f"{level} {escaped(runs.short_name(run))}")
    experiment_form.PAGE.lay_out(
        run,
        lambda: experiment_form.show(row, run),
        invite,
        show_ended,
        lambda run: lambda seen: experiment_view.show_progress(experiment_results.findings(run)),
        lambda: experiment_form.from_file(home.store().sets.rows()),
    )


def choose_set(named: Run | None) -> ImageSetRow:
    """Choose an image set whose samples have classes."""
    known = {row.key: row for row in home.store().sets.rows() if row.classes}
    if not known:
        frame.show_empty_state("An experiment needs images with classes", "Import images", "image_sets")
    defaults = None if named is None else named.settings["set"], sets.of_source(known.values(), sets.FIGURES)
    return sets.choose_among(known, keys.EXPERIMENT_SET, defaults, sets.title)


def choose_experiment(row: ImageSetRow, named: Run | None) -> Run | None:
    """Choose an experiment on an image set; None without any."""
    # By default `named`, else the newest that is running or has training runs. An experiment that was resumed
    # under a new id is listed once.
    listed, seen = [], set[str]()
    for run in home.store().runs.all(set_key=row.key, task=experiment_form.PAGE.task):
        settings = repr(sorted(run.settings.items(), key=lambda item: item[0]))
        if settings not in seen or (named is not None and run.id == named.id):
            listed.append(run)
        seen.add(settings)
    return experiment_form.PAGE.choose(listed, named, **{keys.EXPERIMENT_SET: row.key})


# ---------------------------------------------------------------------------------------------------------
# The chosen experiment
# ---------------------------------------------------------------------------------------------------------


def invite() -> None:
    st.markdown("#### Which method ranks these images best, and is the difference significant?")
    st.caption(
        "The experiment of the high-order paper (section 5) on your own images: each method is trained at every grid "
        "point on all folds but one and ranks the held-out fold. The grid point with the best mean is retrained on "
        "all training samples and ranks the test samples, which played no part in model selection. All methods use "
        "the same folds. Press **Start the experiment** below."
    )


def show_ended(run: Run) -> None:
    """The results of an experiment that has ended, and how to resume it if it did not finish."""
    if run.state not in ENDED:
        return
    with frame.errors_in_place():
        findings = experiment_results.findings(run)
        if run.state != "finished":
            go_on(run, findings.done, findings.planned)
        if findings.done:
            experiment_view.show(run, findings)


def go_on(run: Run, done: int, planned: int) -> None:
    """The button that resumes an experiment where it stopped, under the same name."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if frame.pressed("Resume", "go on", type="primary", icon=":material/play_arrow:"):
            again = jobs.start_once(home.store(), "study", run.settings)
            if run.name:
                home.store().runs.rename(again.id, run.name)
            if run.star:
                home.store().runs.star(again.id, True)
            address.put(**{keys.EXPERIMENT: again.id})
            st.rerun()
        st.markdown(f"{done:,} of {planned:,} training runs are finished and kept.", width="content")


frame.show_page(
    "experiments", "Compare methods by cross-validation, as in the papers, and download the tables.", steps
)
