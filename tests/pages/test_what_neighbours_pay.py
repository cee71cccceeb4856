"""Pairs of either sign and P^n Potts cliques on the pages: chosen, shown, and marked as approximate."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import train_settings
from shown import numbers_in, plain, press, texts
from training_runs import finished

from pages.parts.neighbours import graph_models
from pages.parts.training import certificate
from ranking import method_class
from ranking.core import Bounds
from ranking.inference import POTENTIALS, AttractivePairs, PairsOfEitherSign, PottsCliques, bounds_of
from ranking.methods.hob_svm import HOBSVM


@pytest.fixture
def show(open_page):
    """Show a run on the page of that name."""

    def show_it(page, run, **where):
        app = open_page(page, run=run.id, **where)
        assert not app.error
        return app

    return show_it


def trained(laboratory, key, query, kind, graph, **settings):
    """A HOB-SVM whose neighbours pay otherwise."""
    run_settings = train_settings(key, query, "HOB-SVM", potentials=kind.name, unit="paper", **settings)
    return finished(laboratory.store, {**run_settings, "graph": graph})


def shown_as_approximate(app):
    return [plain(warning) for warning in app.warning if "Approximate" in warning.value]


def test_the_form_offers_all_potentials_with_attractive_pairs_as_default(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits, method="HOB-SVM")
    box = app.selectbox(key="widget method.HOB-SVM.potentials")
    assert box.value == HOBSVM().potentials == AttractivePairs.name
    assert box.options == [AttractivePairs.name, PairsOfEitherSign.name, PottsCliques.name]
    box.select(PottsCliques.name).run()
    objective = method_class("HOB-SVM").objective_of({"potentials": PottsCliques.name, "unit": "ranking"})
    assert f"${objective}$" in [element.value for element in app.markdown]
    press(app, "train")
    assert started[0].settings["method_settings"]["potentials"] == PottsCliques.name


def test_the_formula_has_the_constraint_of_its_potential():
    for method in ("HOB-SVM", "HOAP-SVM"):
        for kind in POTENTIALS.values():
            objective = method_class(method).objective_of({"potentials": kind.name, "unit": "ranking"})
            assert objective.endswith(rf",\quad {kind.constraint}")
            assert (r"w_2 \le 0" in objective) == (kind.highest == 0.0)
            assert (r"\tfrac12, 1" in objective) == kind.bounded


def test_bounds_are_shown_as_approximate_everywhere(laboratory, show):
    """One run for all, since it takes a while: by its certificate, and by its labellings."""
    graph, settings = "nearest", {"C": 1.0, "max_iterations": 12}
    run = trained(laboratory, laboratory.figures, "playing instrument", PairsOfEitherSign, graph, **settings)
    model, bounds = graph_models.neighbourhood(run), Bounds(**run.result["bounds"])
    assert bounds.samples > 0
    assert bounds == bounds_of(model.marginals)
    np.testing.assert_allclose(model.unary_part + model.pairwise_part, model.score, atol=1e-12)
    words, images = certificate.in_words(bounds), laboratory.store.sets.get(laboratory.figures)
    row = int(model.marginals.excess.argmax())
    where = {"split": "test" if images.test[row] else "train", "sample": str(images.ids[row])}
    for page, view, expected in (
        ("train", "", ""),
        ("neighbours", "labellings", PairsOfEitherSign.pays),
        ("neighbours", "graph", PairsOfEitherSign.width),
    ):
        app = show(page, run, neighbours_view=view, **where)
        [warning] = shown_as_approximate(app)
        assert words in warning
        assert expected in texts(app)

    small = trained(laboratory, laboratory.shapes, "disc", PairsOfEitherSign, "same image")
    assert small.result["bounds"]["large"] == 0
    for page in ("train", "neighbours"):
        app = show(page, small)
        assert not shown_as_approximate(app)
        exact = any(numbers_in(caption.value) == [48] for caption in app.caption)
        assert exact == (page == "train"), "all 48 are exact"


def test_attained_bounds_differ_from_others():
    attained = Bounds(large=20, samples=0, of=30, excess=0.0, score=1.0)
    assert numbers_in(certificate.in_words(attained)) == [20, 30, 20, 0]
    missed = certificate.in_words(attained._replace(samples=15, excess=0.5))
    assert numbers_in(missed) == [20, 30, 5, 0.5], "large, of all, attained of the large, excess"


def test_cliques_are_shown_by_the_pairs_in_them(laboratory, show):
    graph, settings = "same image", {"C": 1.0, "max_iterations": 3}
    run = trained(laboratory, laboratory.figures, "playing instrument", PottsCliques, graph, **settings)
    model = graph_models.neighbourhood(run)
    np.testing.assert_allclose(model.unary_part + model.pairwise_part, model.score, atol=1e-12)
    component_of = model.component_of[model.components.edges[:, 0]]
    assert (model.components.sizes[component_of] > 2).any()
    for number in np.unique(component_of):
        assert np.ptp(model.penalty[model.edges_of(int(number))]) < 1e-12, "one clique, one penalty"
    of_paper = laboratory.store.runs.get(laboratory.neighbours)
    for shown, kind in ((run, PottsCliques), (of_paper, AttractivePairs)):
        assert "bounds" not in shown.result
        for page, view, expected in (
            ("train", "", ""),
            ("neighbours", "labellings", kind.pays),
            ("neighbours", "graph", kind.width),
        ):
            app = show(page, shown, neighbours_view=view)
            assert expected in texts(app)
            assert not shown_as_approximate(app), "they are exact"
