"""Below the curve of a training run: its problem in CVXPY, from the code to the outcome."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from shown import button_keys, numbers_in, plain_texts, press
from training_runs import worked

from pages.parts.training import jobs_panel
from pages.parts.training.certificate import percent
from ranking.commands import worker
from ranking.experiments.cvxpy_study import MAX_SAMPLES
from ranking.explain import programs
from ranking.explain.cvxpy_comparison import Solved, seconds_for
from ranking.methods import method_class
from ranking.storage.run_settings import CvxpySettings

OPEN, SOLVE = "widget the same problem in CVXPY", "widget solve in CVXPY"


def code_of(app):
    return [code.value for code in app.code if code.language == "python"]


@pytest.mark.parametrize(
    ("name", "program"), [("finished", programs.planes_primal), ("neighbours", programs.hob_svm)]
)
def test_the_code_is_what_runs_and_the_outcome_is_of_both(laboratory, started, open_page, name, program):
    run = laboratory.store.runs.get(getattr(laboratory, name))
    app = open_page("train", run=run.id)
    assert code_of(app) == []
    app.session_state[OPEN] = True
    app.run()
    [code] = code_of(app)
    images = laboratory.store.sets.get(run.settings["set"])
    relevant = images.relevance(run.settings["query"])[~images.test] > 0
    method = method_class(run.settings["method"]).load(run.model_file)
    assert code.startswith(inspect.getsource(program))
    about = next(line for line in code.splitlines() if line.startswith("# "))
    call = code.splitlines()[-1]
    assert numbers_in(about) == [len(relevant), np.count_nonzero(relevant), method.columns]
    assert f"C={method.cost([relevant]):.6g}" in call

    press(app, SOLVE)
    [compared] = started
    assert (compared.kind, compared.task) == ("study", CvxpySettings.task)
    assert SOLVE not in button_keys(app), "one at a time"
    compared = worked(laboratory.store, compared, worker.study)
    app.run()
    small, large = (Solved(**each) for each in compared.result["solved"])
    assert large.samples == MAX_SAMPLES
    shown = plain_texts(app)
    for value in (f"{large.primal:.6g}", f"{large.optimum:.6g}", percent(large.apart)):
        assert value in shown
    assert percent(abs(large.primal - large.optimum) / large.primal) in shown
    extrapolated = f"For all {len(relevant):,} training samples" in shown
    assert extrapolated == (program is programs.hob_svm), "of the others the planes are given"
    if extrapolated:
        assert jobs_panel.in_minutes(seconds_for(len(relevant), small, large)) in shown
    assert large.dual * (1 - 1e-9) <= large.optimum <= large.primal * (1 + 1e-9)


def test_a_failed_comparison_says_why_and_can_be_repeated(laboratory, started, open_page):
    app = open_page("train", run=laboratory.finished)
    app.session_state[OPEN] = True
    app.run()
    press(app, SOLVE)
    laboratory.store.runs.end(started[0].id, "failed", "no *luck*")
    app.run()
    assert "no *luck*" in plain_texts(app)
    press(app, SOLVE)
    assert len(started) == 2
