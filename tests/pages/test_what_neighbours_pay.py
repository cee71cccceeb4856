"""Pairs of either sign and P^n Potts cliques on the pages: chosen, shown, and marked where they are approximate."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import run_here, train_settings
from shown import numbers_in, texts, turn_to

from pages.parts import cache, certificate
from ranking import method_class, run_archive
from ranking.inference import (
    POTENTIALS,
    AttractivePairs,
    PairsOfEitherSign,
    PottsCliques,
    bounds_of,
    potentials,
)
from ranking.inference.cliques import maximal_cliques
from ranking.methods.hob_svm import HOBSVM
from ranking.store import Store
from ranking.types import Bounds

PAGES = ("max_marginals", "sample_graph")


@pytest.fixture
def pages(open_page):
    """Show a run on the page of that name, each time in the same tab."""
    tabs = {}

    def show(page, **where):
        app = turn_to(tabs[page], **where) if page in tabs else open_page(page, **where)
        tabs[page] = app
        assert not app.exception
        assert not app.error
        return app

    return show


def trained(laboratory, key, query, kind, graph, **settings):
    """A HOB-SVM whose neighbours pay otherwise."""
    asked = train_settings(key, query, "HOB-SVM", potentials=kind.name, **settings)
    return run_here(laboratory.store, {**asked, "graph": graph})


def warned(pages, page, run):
    """The number of warnings of a page, without that of a run that did not converge."""
    return len(pages(page, run=run.id).warning) - (
        page == "train" and not run.result["certificate"]["converged"]
    )


def test_form_offers_them_and_begins_with_the_papers(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits, method="HOB-SVM")
    box = app.selectbox(key="widget method.HOB-SVM.potentials")
    assert box.value == HOBSVM().potentials == AttractivePairs.name
    assert box.options == [AttractivePairs.name, PairsOfEitherSign.name, PottsCliques.name]
    box.select(PottsCliques.name).run()
    objective = method_class("HOB-SVM").objective_of({"potentials": PottsCliques.name})
    assert f"${objective}$" in [element.value for element in app.markdown]
    app.button(key="train").click().run()
    assert not app.exception
    assert started[0].settings["method_settings"]["potentials"] == PottsCliques.name


def test_formula_is_the_one_that_holds():
    for method in ("HOB-SVM", "HOAP-SVM"):
        for kind in POTENTIALS.values():
            objective = method_class(method).objective_of({"potentials": kind.name})
            assert objective.startswith(r"\tfrac12")
            assert objective.endswith(rf",\quad {kind.constraint}")
            assert (r"w_2 \le 0" in objective) == (kind.highest == 0.0)
            assert (r"\tfrac12, 1" in objective) == kind.bounded


def test_bounds_are_shown_as_approximate_everywhere(laboratory, pages, tmp_path):
    """One run for all, since it takes a while: by its certificate, by its labellings, and where it travels."""
    settings = {"C": 1.0, "max_iterations": 12}
    run = trained(
        laboratory, laboratory.figures, "playing instrument", PairsOfEitherSign, "nearest", **settings
    )
    model, bounds = cache.neighbourhood(run), Bounds(**run.result["bounds"])
    assert bounds.samples > 0
    assert bounds == bounds_of(model.marginals)
    words = certificate.in_words(bounds)
    assert numbers_in(words)[:2] == [bounds.large, bounds.of]
    assert numbers_in(words)[-1] == bounds.large - bounds.samples
    assert f"{bounds.excess:.3g}" in words
    assert [words in warning.value for warning in pages("train", run=run.id).warning].count(True) == 1

    np.testing.assert_allclose(model.unary_part + model.pairwise_part, model.score, atol=1e-12)
    row = int(model.marginals.excess.argmax())
    images = laboratory.store.image_set(laboratory.figures)
    where = {"split": "test" if images.test[row] else "train", "sample": str(images.ids[row])}
    for page, of_pairs in zip(PAGES, (PairsOfEitherSign.pays, PairsOfEitherSign.width), strict=True):
        app = pages(page, run=run.id, **where)
        assert [words in warning.value for warning in app.warning] == [True]
        assert of_pairs in texts(app)

    archive = run_archive.export_run(laboratory.store, run.id)
    assert run_archive.import_run(Store(tmp_path / "else"), archive).result["bounds"] == bounds._asdict()

    small = trained(laboratory, laboratory.shapes, "disc", PairsOfEitherSign, "same image")
    assert small.result["bounds"]["large"] == 0
    app = pages("train", run=small.id)
    assert any(numbers_in(caption.value) == [48] for caption in app.caption), "all 48 are exact"
    for page in ("train", *PAGES):
        assert warned(pages, page, small) == 0


def test_bounds_that_labellings_attain_are_told_from_others():
    attained = Bounds(large=20, samples=0, of=30, excess=0.0, score=1.0)
    assert numbers_in(certificate.in_words(attained)) == [20, 30]
    assert "0.5" in certificate.in_words(attained._replace(samples=20, excess=0.5))


def test_cliques_are_shown_by_the_pairs_in_them(laboratory, pages, monkeypatch):
    settings = {"C": 1.0, "tolerance": 0.1}
    run = trained(
        laboratory, laboratory.figures, "playing instrument", PottsCliques, "same image", **settings
    )
    searched = []

    def counted(n, edges):
        searched.append(n)
        return maximal_cliques(n, edges)

    monkeypatch.setattr(potentials, "maximal_cliques", counted)
    model = cache.neighbourhood(run)
    assert len(searched) == 1, "the search may take long"
    assert "bounds" not in run.result
    assert model.penalty.shape == (len(model.components.edges),)
    np.testing.assert_allclose(model.unary_part + model.pairwise_part, model.score, atol=1e-12)
    sizes = model.components.sizes[model.component_of[model.components.edges[:, 0]]]
    assert (sizes > 2).any()
    for number in np.unique(model.component_of[model.components.edges[:, 0]]):
        assert np.ptp(model.penalty[model.edges_of(int(number))]) < 1e-12, "one clique, one penalty"
    of_paper = laboratory.store.run(laboratory.neighbours)
    assert "bounds" not in of_paper.result
    for shown, kind in ((run, PottsCliques), (of_paper, AttractivePairs)):
        assert kind.pays in texts(pages("max_marginals", run=shown.id))
        assert kind.width in texts(pages("sample_graph", run=shown.id))
        assert [warned(pages, page, shown) for page in ("train", *PAGES)] == [0, 0, 0], "they are exact"
