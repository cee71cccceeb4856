"""The lesson about pairs: its pairs fit every cue, its sequence only the numbers, and its chart is a study's."""

from __future__ import annotations

import numpy as np
import pytest
from image_sets import png
from shown import all_steps, charts_of, choose, kinds, numbers_in, page_of, press, values

from pages.parts.app import cache, keys
from pages.parts.lessons import pair_cues, subsequence_worth
from pages.parts.lessons.pair_cues import APART, CUES, cues_of, explained, find_examples
from ranking.datasets.sequences import ANY, ONE_EACH
from ranking.storage.run_settings import AblationSettings

pytestmark = pytest.mark.usefixtures("started")


def test_examples_fit_every_cue_and_the_sequence_only_the_numbers():
    random = np.random.default_rng(3)
    numbers, cues = random.integers(1900, 2000, 80).astype(float), random.normal(size=(80, 2))
    examples = find_examples(numbers, cues)
    assert examples.pairs.shape == (3, 2)
    assert len(np.unique(examples.pairs)) == 6
    first, second = examples.pairs.T
    assert (numbers[first] - numbers[second] > np.ptp(numbers) / 4).all()
    assert (cues[first] - cues[second] > APART * cues.std(axis=0)).all()
    assert (np.diff(numbers[examples.sequence]) < 0).all()
    assert max(abs(explained(examples.sequence, cue) - 21 / 2) for cue in cues.T) < 2, "nor turned around"
    alike = find_examples(numbers, np.stack([numbers, numbers], axis=1))
    assert alike.usual == pytest.approx([21, 21]), "cues that are the numbers explain every sequence"
    assert (abs(examples.usual - 21 / 2) < 3).all(), "those by chance about half"
    for few, expected_and_came in (
        ((np.arange(80.0), -np.arange(80.0)[:, None]), r"^\D*3\D*0$"),
        ((np.arange(80.0) % 4, cues), r"^\D*7\D*4$"),
    ):
        with pytest.raises(ValueError, match=expected_and_came):
            find_examples(*few)


def test_cues_by_hand():
    assert cues_of(png(np.full((4, 4, 3), [200, 100, 100]))) == pytest.approx((127.5, 200), abs=1)


def test_a_guess_a_sequence_and_rankers_are_shown_step_by_step(orders_here, open_page, started):
    app = open_page("pairs_lesson", order_set=orders_here.key, criterion="year")
    assert not app.error
    before = len(app.markdown)
    choose(app.segmented_control, "guess", CUES[1])
    assert len(app.markdown) == before + 1, "the guess is answered"

    press(app, "next step")
    assert app.query_params["pairs_step"] == "2"
    examples, cues = pair_cues.pair_examples(orders_here.key, "year")
    years = cache.image_set(orders_here.key).numbers_of("year")
    assert (np.diff(years[examples.sequence]) < 0).all()
    [table] = [item.value for item in app.markdown if item.value.startswith("| ")]
    counts = [explained(examples.sequence, cue) for cue in cues.T]
    rows = table.splitlines()[2:]
    assert [numbers_in(row) for row in rows] == [[count, 21] for count in (*counts, 21)]
    assert [name in row for name, row in zip(CUES, rows, strict=False)] == [True, True]

    press(app, "next step")
    press(app, keys.widget("train the lesson's rankers"))
    [run] = kinds(started, "midrank")
    settings = AblationSettings.from_json(run.settings)
    assert (settings.study, settings.drawing["train"]) == ("subsequence length", 10)
    assert app.get("progress")
    curve = {"at": [3, 4], "measures": {"Kendall tau": {"mean": [0.25, 0.5], "error": [0.1, 0.1]}}}
    lines = [{**curve, "line": line} for line in ("one ranker alone", "MidRank, weighted votes", "RankSVM")]
    orders_here.store.runs.end(run.id, "finished", result={"curves": lines, "proven": True})
    app.run()
    [chart] = charts_of(app)
    assert values(chart["data"][0]["y"]) == pytest.approx([0.25, 0.5])
    assert any("MidRank 0.250 ± 0.100, RankSVM 0.250 ± 0.100" in item.value for item in app.markdown)

    press(app, "next step")
    measured = subsequence_worth.measured()
    assert any(subsequence_worth.summed_up(measured) in item.value for item in app.markdown)
    assert any(item.value == subsequence_worth.table(measured) for item in app.markdown)
    assert {measured.length, measured.train, measured.test} <= set(numbers_in(app.caption[-1].value))
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "widget go to sequences"
    all_steps(app, page_of("pairs_lesson").STEPS)


def test_what_subsequences_are_worth_is_significant():
    """The lesson ends with it: a gain in one kind of sequences, a loss in the other, by intervals over sequences."""
    measured = subsequence_worth.measured()
    assert measured.sampled[ONE_EACH].gain.low > 0
    assert measured.sampled[ANY].gain.high < 0
    for worth in measured.sampled.values():
        assert worth.subsequences - worth.pairs == pytest.approx(worth.gain.value, abs=2e-6)


def test_a_set_without_such_pairs_is_refused(orders_here, open_page, monkeypatch):
    def none(*_):
        raise ValueError("too few")

    monkeypatch.setattr(pair_cues, "find_examples", none)
    app = open_page("pairs_lesson", order_set=orders_here.key, criterion="brightness")
    assert app.error
