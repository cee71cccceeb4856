"""The lesson about pairs: its pairs fit every cue, its sequence only the numbers, and its chart is a study's."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from dated_home import DatedHome, fill
from filled_home import copy_home
from PIL import Image
from test_label_interactions import numbers as told_numbers

from pages.parts import cache
from pages.parts.pair_cues import APART, CUES, cues_of, explained, find_examples
from ranking.run_settings import StudySettings

pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> DatedHome:
    return fill(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("scratch"))


@pytest.fixture
def here(filled_once: DatedHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatedHome:
    home = tmp_path / "home"
    copy_home(filled_once.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return DatedHome(home, filled_once.key)


def test_examples_are_what_they_are_said_to_be() -> None:
    random = np.random.default_rng(3)
    numbers, cues = random.integers(1900, 2000, 80).astype(float), random.normal(size=(80, 2))
    found = find_examples(numbers, cues)
    assert found.pairs.shape == (3, 2)
    assert len(set(found.pairs.ravel().tolist())) == 6
    for first, second in found.pairs:
        assert numbers[first] - numbers[second] > (numbers.max() - numbers.min()) / 4
        assert (cues[first] - cues[second] > APART * cues.std(axis=0)).all()
    assert (np.diff(numbers[found.sequence]) < 0).all()
    assert max(abs(explained(found.sequence, cue) - 21 / 2) for cue in cues.T) < 2, "nor turned around"
    for few, expected in (
        ((np.arange(80.0), -np.arange(80.0)[:, None]), "3 pairs that every cue"),
        ((np.arange(80.0) % 4, cues), "expected 7 different numbers at least, got 4"),
    ):
        with pytest.raises(ValueError, match=expected):
            find_examples(*few)


def test_cues_by_hand() -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (200, 100, 100)).save(file, "WEBP", lossless=True)
    assert cues_of(file.getvalue()) == pytest.approx((127.5, 200), abs=1)


def test_a_guess_is_answered_and_the_sequence_tells(here, open_page):
    app = open_page("pairs_lesson", order_set=here.key, criterion="year")
    assert not app.exception
    assert not app.error
    app.segmented_control(key="widget guess").set_value(CUES[1]).run()
    assert not app.exception
    assert "these 3 pairs cannot tell" in app.markdown[-1].value
    app.button(key="next step").click().run()
    assert not app.exception
    assert app.query_params["pairs_step"] == "2"
    examples, cues = cache.pair_examples(here.key, "year")
    years = cache.image_set(here.key).numbers_of("year")
    assert (np.diff(years[examples.sequence]) < 0).all()
    [table] = [item.value for item in app.markdown if item.value.startswith("| If it meant")]
    for name, cue in zip(CUES, cues.T, strict=True):
        assert f"| {name} | {explained(examples.sequence, cue)} of 21 |" in table
    assert "| 21 of 21 |" in table


def test_a_set_without_such_pairs_says_so(here, open_page, monkeypatch):
    def none(*rest):
        raise ValueError("expected 3 pairs that every cue explains, got 0")

    monkeypatch.setattr("pages.parts.pair_cues.find_examples", none)
    app = open_page("pairs_lesson", order_set=here.key, criterion="brightness")
    assert not app.exception
    assert "choose another set" in app.error[0].value


def test_its_rankers_are_asked_for_once_and_shown(here, open_page, started):
    app = open_page("pairs_lesson", order_set=here.key, criterion="year", pairs_step="3")
    assert not app.exception
    [button] = [one for one in app.button if one.label == "Train them"]
    button.click().run()
    [run] = [one for one in started if one.kind == "study"]
    settings = StudySettings.from_json(run.settings)
    assert (settings.study, settings.drawing["train"]) == ("subsequence length", 10)
    assert "Cancel" in [one.label for one in app.button]
    curve = {"at": [3, 4], "measures": {"Kendall tau": {"mean": [0.25, 0.5], "error": [0.1, 0.1]}}}
    lines = [{**curve, "line": line} for line in ("one ranker alone", "MidRank, weighted votes", "RankSVM")]
    here.store.end_run(run.id, "finished", result={"curves": lines, "proven": True})
    app = open_page("pairs_lesson", order_set=here.key, criterion="year", pairs_step="3")
    assert not app.exception
    [chart] = app.get("plotly_chart")
    first = json.loads(chart.proto.spec)["data"][0]
    assert told_numbers(first["y"]) == pytest.approx([0.25, 0.5])
    assert "**Notice** The best ranker alone is that of length 4" in app.caption[-1].value
