"""The page Image sets: a sample as features describe it, and the AP by feature."""

from __future__ import annotations

import re

import numpy as np
from shown import button_keys, charts_of, plain_texts, press, turn_to
from training_runs import worked

from pages.parts.importing import feature_views
from pages.parts.importing.feature_views import SIDE, STROKES, colours_of
from ranking.commands import worker
from ranking.experiments import feature_study
from ranking.experiments.feature_study import measured_of
from ranking.features import make_feature
from ranking.storage.run_settings import FeatureStudySettings

MEASURE = "widget measure by feature"


def seen_in(app):
    """What the pictures of the features show, in words."""
    alts = re.findall(r'alt: "(.*?)"', "".join(str(image.proto) for image in app.get("image")))
    alts += [chart.proto.alt for chart in app.get("plotly_chart")]
    return [alt for alt in alts if "of a crop that shows" in alt]


def test_colours_are_stripes_with_their_shares():
    feature = make_feature("Colour", bins=8)
    vector = np.zeros(feature.size)
    vector[[5, 70]] = np.sqrt([0.25, 0.75])
    picture = colours_of(vector)
    assert picture.shape == (SIDE, SIDE, 3)
    edge = round(0.75 * SIDE)
    assert (picture[:edge] == feature.middles[70]).all()
    assert (picture[edge:] == feature.middles[5]).all()


def test_the_clicked_sample_is_shown_as_each_feature_describes_it(laboratory, open_page, started):
    images = laboratory.store.sets.get(laboratory.figures)
    first, second = (int(np.flatnonzero(images.relevance(name))[0]) for name in ("reading", "running"))
    app = open_page("image_sets", set=images.key, sample=str(images.ids[first]))
    seen = seen_in(app)
    assert len(seen) == 2 + len(STROKES)
    assert all("reading" in alt for alt in seen)
    assert "“reading”" in app.button(MEASURE).label, "the class of the sample"
    turn_to(app, set=images.key, sample=str(images.ids[second]))
    assert all("running" in alt for alt in seen_in(app))
    turn_to(app, set=images.key, sample=str(images.ids[second]), **{"sheet.class": "phoning"})
    assert "“phoning”" in app.button(MEASURE).label, "the class that was chosen"


def test_average_precision_is_measured_once_and_shown_with_its_intervals(
    laboratory, open_page, started, monkeypatch
):
    monkeypatch.setattr(feature_views, "feature_names", lambda _: ["HOG", "Colour", "GIST of the image"])
    monkeypatch.setattr(feature_study, "default_names", lambda _: ["HOG", "Colour"])
    given = {"set": laboratory.digits, "sheet.class": "3"}
    app = open_page("image_sets", **given)
    press(app, MEASURE)
    [run] = started
    settings = FeatureStudySettings.from_json(run.settings)
    assert (settings.set, settings.query) == (laboratory.digits, "3")
    assert settings.features == (("HOG", {}), ("Colour", {})), "of crops"
    assert MEASURE not in button_keys(app), "one at a time"
    run = worked(laboratory.store, run, worker.study)
    app = open_page("image_sets", **given)
    assert MEASURE not in button_keys(app)
    rows = measured_of(run.result)
    best = max(rows, key=lambda row: row.AP.value)
    assert f"“3”: the highest AP is with {best.name}" in plain_texts(app)
    [chart] = [each for each in charts_of(app) if "HOG" in each["layout"]["yaxis"].get("ticktext", ())]
    assert sorted(chart["layout"]["yaxis"]["ticktext"]) == sorted(row.name for row in rows)
    [trace] = chart["data"]
    assert trace["text"][-1].startswith(f"{best.AP.value:.3f} ")
    symbols = dict(zip(chart["layout"]["yaxis"]["ticktext"], trace["marker"]["symbol"], strict=True))
    assert symbols["HOG + Colour"] == "diamond"
    assert symbols["Colour"] == "circle", "digits have no colour, so the difference is certain"


def test_a_failed_measurement_says_why_and_can_be_repeated(laboratory, open_page, started):
    app = open_page("image_sets", set=laboratory.shapes)
    press(app, MEASURE)
    laboratory.store.runs.end(started[0].id, "failed", "no *luck*")
    app.run()
    assert "no *luck*" in plain_texts(app)
    press(app, MEASURE)
    assert len(started) == 2
