"""Pairs of either sign and P^n Potts cliques on the pages: asked for, shown, said to be approximate where they are."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import train_settings
from test_train import texts

from pages.parts import cache, certificate
from ranking import run_archive, worker
from ranking.events import Report
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


def trained(laboratory, key, query, kind, graph="nearest", **settings):
    """A HOB-SVM whose neighbours pay otherwise."""
    store = laboratory.store
    asked = train_settings(key, query, "HOB-SVM", potentials=kind.name, **settings)
    run = store.create_run("train", {**asked, "graph": graph})
    report = Report(run.folder / "events.jsonl")
    store.end_run(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    return store.run(run.id)


def said(app):
    assert not app.exception
    assert not app.error
    return texts(app) + " ".join(box.value for box in (*app.warning, *app.info))


def test_the_form_offers_it_and_begins_with_the_papers(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits, method="HOB-SVM")
    [box] = [box for box in app.selectbox if box.key == "widget method.HOB-SVM.potentials"]
    assert box.value == AttractivePairs.name
    assert box.options == [AttractivePairs.name, PairsOfEitherSign.name, PottsCliques.name]
    box.select(PottsCliques.name).run()
    app.button(key="train").click().run()
    assert not app.exception
    assert started[0].settings["method_settings"]["potentials"] == PottsCliques.name


@pytest.mark.parametrize("method", ["HOB-SVM", "HOAP-SVM"])
@pytest.mark.parametrize("kind", POTENTIALS.values())
def test_the_formula_is_the_one_that_holds(laboratory, open_page, method, kind):
    app = open_page(
        "train", set=laboratory.digits, method=method, **{f"method.{method}.potentials": kind.name}
    )
    [objective] = [text.value for text in app.markdown if text.value.startswith(r"$\tfrac12")]
    assert objective.endswith(rf",\quad {kind.constraint}$")
    assert (r"w_2 \le 0" in objective) == (kind.highest == 0.0)
    assert (r"\tfrac12, 1" in objective) == kind.bounded


def test_bounds_are_said_wherever_they_are_shown(laboratory, open_page, tmp_path):
    """One training for all, since it takes a while: by its certificate, by its labellings, and where it travels."""
    run = trained(
        laboratory, laboratory.figures, "playing instrument", PairsOfEitherSign, C=1.0, max_iterations=12
    )
    found, told = cache.neighbourhood(run), run.result["bounds"]
    assert told["samples"] > 0
    assert told == bounds_of(found.marginals)._asdict()
    text = said(open_page("train", run=run.id))
    counted = (
        f"**Approximate.** {told['large']} of {told['of']} samples stand in components too large to enumerate"
    )
    assert counted in text
    others = told["large"] - told["samples"]
    assert f"at most {told['excess']:.3g} above the best labelling known; those of the other {others}" in text
    assert "it is at least that of exact labellings" in text

    np.testing.assert_allclose(found.unary_part + found.pairwise_part, found.score, atol=1e-12)
    row = int(found.marginals.excess.argmax())
    images = laboratory.store.image_set(laboratory.figures)
    where = {"split": "test" if images.test[row] else "train", "sample": str(images.ids[row])}
    for page in PAGES:
        text = said(open_page(page, run=run.id, **where))
        assert counted in text
        assert "The labellings that are shown are the best known." in text
        assert "or, where it is above 0, gains" in text or "what the pair pays, or gains," in text

    archive = run_archive.export_run(laboratory.store, run.id)
    assert run_archive.import_run(Store(tmp_path / "else"), archive).result["bounds"] == told


def test_small_components_are_said_to_be_exact(laboratory, open_page):
    run = trained(laboratory, laboratory.shapes, "disc", PairsOfEitherSign, "same image")
    assert run.result["bounds"]["large"] == 0
    text = said(open_page("train", run=run.id))
    assert "Pairs of either sign: the max-marginals of all 48 samples are exact." in text
    assert "Approximate" not in text
    for page in PAGES:
        assert "Approximate" not in said(open_page(page, run=run.id))


def test_bounds_that_labellings_attain_are_said_to_be_exact():
    told = Bounds(large=20, samples=0, of=30, excess=0.0, score=1.0)
    assert certificate.in_words(told).endswith("all of which labellings attain here, so that they are exact.")
    assert certificate.in_words(told._replace(samples=20, excess=0.5)).endswith(
        "at most 0.5 above the best labelling known."
    )


def test_cliques_are_shown_by_the_pairs_in_them(laboratory, open_page, monkeypatch):
    run = trained(
        laboratory,
        laboratory.figures,
        "playing instrument",
        PottsCliques,
        "same image",
        C=1.0,
        tolerance=0.1,
    )
    searched = []

    def counted(n, edges):
        searched.append(n)
        return maximal_cliques(n, edges)

    monkeypatch.setattr(potentials, "maximal_cliques", counted)
    found = cache.neighbourhood(run)
    assert len(searched) == 1, "the search may take long"
    assert "bounds" not in run.result
    assert found.penalty.shape == (len(found.components.edges),)
    np.testing.assert_allclose(found.unary_part + found.pairwise_part, found.score, atol=1e-12)
    sizes = found.components.sizes[found.component_of[found.components.edges[:, 0]]]
    assert (sizes > 2).any()
    for number in np.unique(found.component_of[found.components.edges[:, 0]]):
        assert np.ptp(found.penalty[found.edges_of(int(number))]) < 1e-12, "one clique, one penalty"
    assert "the sum is over cliques" in said(open_page("max_marginals", run=run.id))
    assert "penalties of the cliques that the pair lies in" in said(open_page("sample_graph", run=run.id))
    assert "Approximate" not in said(open_page("train", run=run.id))


def test_with_the_papers_pairs_nothing_is_said(laboratory, open_page):
    assert HOBSVM().potentials == AttractivePairs.name
    run = laboratory.store.run(laboratory.neighbours)
    assert "bounds" not in run.result
    for page in ("train", *PAGES):
        text = said(open_page(page, run=run.id))
        assert "Approximate" not in text
        assert "exact." not in text
    assert r"$p\le0$: penalty of a pair whose labels differ." in said(open_page("max_marginals", run=run.id))
    assert "the learned penalty of the pair (here" in said(open_page("sample_graph", run=run.id))
