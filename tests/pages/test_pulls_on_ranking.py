"""The page Ranking: which training samples pull the selected sample up or down, and what it says without them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from filled_home import train_here
from shown import captions, components, errors, turn_to

from pages.parts.app import cache
from pages.parts.rankings import pulls as part
from ranking.explain.pulls import pulls, training_coefficients
from ranking.features import load_features


def strips(app):
    return {strip["label"]: strip for strip in components(app, "ranking_strip")}


def expected_of(laboratory, run, row):
    """The pulls of all training samples on a sample, and their rows."""
    images = cache.image_set(run.settings["set"])
    features = load_features(images, run.settings["features"], laboratory.store.features.cache)
    coefficients = training_coefficients(cache.method_of(run), features[~images.test])
    return pulls(coefficients, features[~images.test], features[row]), np.flatnonzero(~images.test)


def test_the_strongest_pulls_are_shown_with_their_shares_and_all_add_up_to_the_score(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.finished)
    images, ranked = cache.image_set(run.settings["set"]), cache.ranking(run, "test")
    app = open_page("ranked_images", run=run.id)
    assert not strips(app), "nothing is selected"
    for place in (0, 40):
        row = int(ranked.samples[place])
        turn_to(app, run=run.id, sample=str(images.ids[row]))
        assert not errors(app)
        values, rows = expected_of(laboratory, run, row)
        assert values.sum() == pytest.approx(ranked.scores[place], rel=1e-6, abs=1e-9)
        for label, sign in (("Pull it up", 1), ("Pull it down", -1)):
            items = strips(app)[label]["items"]
            strongest = np.argsort(-sign * values)[: part.SHOWN]
            assert [item["id"] for item in items] == images.ids[rows[strongest]].tolist()
            total = values[sign * values > 0].sum()
            for item, one in zip(items, values[strongest], strict=True):
                pull, share = item["right"].split(", ")
                assert float(pull) == pytest.approx(one, rel=0.06)
                assert float(share.rstrip("%")) == pytest.approx(100 * one / total, abs=0.51)
                assert item["right"] in item["alt"], "it is read out too"
                assert not item["left"], "there is no space for more"
            assert any(f"{total:+.4g}" in text.value for text in app.markdown)
        assert (
            f"All {len(rows):,} training samples add up to **{values.sum():+.4g}**, its score."
            in captions(app)
        )


def test_with_neighbours_they_add_up_to_the_unary_score(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.neighbours)
    images, ranked = cache.image_set(run.settings["set"]), cache.ranking(run, "test")
    row = int(ranked.samples[3])
    app = open_page("ranked_images", run=run.id, sample=str(images.ids[row]))
    [said] = re.findall(r"add up to \*\*(\S+)\*\*, its (.*?)\.(?= |$)", captions(app))
    values, _ = expected_of(laboratory, run, row)
    assert said == (f"{values.sum():+.4g}", "unary score, without its neighbours")
    assert len(strips(app)) == 2


def test_a_run_without_them_says_how_to_get_them_and_other_methods_nothing(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.on_shapes)
    with np.load(run.model_file) as file:
        arrays = {key: file[key] for key in file.files if key != "coefficients"}
    with open(run.model_file, "wb") as file:
        np.savez(file, **arrays)
    sample = str(cache.image_set(run.settings["set"]).ids[0])
    app = open_page("ranked_images", run=run.id)
    assert "Train again" not in captions(app)
    turn_to(app, run=run.id, sample=sample)
    assert "Train again without a warm start to see which training samples" in captions(app)
    hoap = train_here(laboratory.store, laboratory.shapes, "disc", "HOAP-SVM", C=1.0)
    turn_to(app, run=hoap.id, sample=sample)
    assert "Train again" not in captions(app)
    assert not strips(app)
    assert not errors(app)
