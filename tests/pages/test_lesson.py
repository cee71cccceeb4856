"""The first lesson, its trainings, which all visitors share, and its two methods compared in words."""

from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import pytest
from shown import all_steps, choose, components, kinds, numbers_in, page_of, press, texts

from pages.parts.app import cache
from pages.parts.charts import measures, moving_image
from pages.parts.lessons import all_actions, lesson_comparison, lesson_settings
from pages.parts.lessons.lesson_comparison import MethodResult
from pages.parts.lessons.lesson_settings import NEIGHBOURS, VIOLATED, Lesson
from pages.parts.lessons.lesson_settings import WHY_AP as LESSON
from ranking.losses.weighted_zero_one import best_threshold, weighted_zero_one
from ranking.metrics.intervals import DRAWS, Interval, interval, resample, resampled_counts
from ranking.metrics.ranked import Ranking

# nothing is trained beside
pytestmark = pytest.mark.usefixtures("started")

page = page_of("lesson")


def methods_of(runs):
    return [run.settings["method"] for run in kinds(runs, "train")]


def strips_of(app):
    return components(app, "ranking_strip")


def test_the_training_runs_of_every_lesson_are_bundled(fresh_home):
    images, _ = cache.ready_made()
    for lesson in (LESSON, VIOLATED, NEIGHBOURS):
        for method in lesson.methods:
            settings = lesson.settings_of(images.key, method).to_json()
            assert [run.state for run in fresh_home.runs.equal("train", settings)] == ["finished"], (
                "run python data/examples.py"
            )


@pytest.fixture
def own_query(fresh_home, monkeypatch):
    """Change the lesson's query to one without bundled runs; returns the data folder and the settings."""
    lesson = Lesson("reading", LESSON.methods, LESSON.features)
    monkeypatch.setattr(lesson_settings, "WHY_AP", lesson)
    images, _ = cache.ready_made()
    return fresh_home, [lesson.settings_of(images.key, method).to_json() for method in lesson.methods]


def test_missing_runs_of_a_lesson_are_trained(own_query, open_page, started):
    assert open_page("lesson").get("progress")
    open_page("lesson")
    assert methods_of(started) == list(LESSON.methods), "once"


def test_training_runs_that_did_not_finish_give_the_reason_and_can_be_started_again(
    own_query, open_page, started
):
    store, settings = own_query
    failed, cancelled = (store.runs.create("train", each) for each in settings)
    store.runs.update(failed.id, state="failed", reason="no *space*")
    store.runs.update(cancelled.id, state="cancelled")
    app = open_page("lesson")
    assert "\\*space\\*" in app.error[0].value
    assert app.warning
    assert not strips_of(app)
    press(app, "widget train the lesson again")
    assert sorted(methods_of(started)) == sorted(LESSON.methods)
    assert app.get("progress")


def pair_of(store):
    """The runs of the lesson, their standings, and both differences."""
    runs = [run_of(store, method) for method in LESSON.methods]
    images = store.sets.get(runs[0].settings["set"])
    rankings = [cache.ranking(run, "test") for run in runs]
    labelled = [
        lesson_comparison.labelling(ranked, cache.ranking(run, "train"))
        for ranked, run in zip(rankings, runs, strict=True)
    ]
    standings = [lesson_comparison.standing(*both) for both in zip(LESSON.methods, labelled, strict=True)]
    scores = np.stack([np.load(run.scores_file)[images.test] for run in runs])
    thresholds = [
        ranked.scores[0] - shifted.scores[0] for ranked, shifted in zip(rankings, labelled, strict=True)
    ]
    relevance, units = images.relevance(LESSON.query)[images.test], images.image_of[images.test]
    gain = resample(relevance, scores, units).difference("AP", 1, 0)
    return rankings, lesson_comparison.LessonComparison(
        *standings,
        gain,
        lesson_comparison.loss_difference(relevance, scores - np.array(thresholds)[:, None], units),
    )


def run_of(store, method):
    images, _ = cache.ready_made()
    [run] = store.runs.equal("train", LESSON.settings_of(images.key, method).to_json())
    return run


def test_both_rankings_are_those_on_disk_and_the_statements_of_the_lesson_hold(
    fresh_home, open_page, started
):
    app = open_page("lesson", step="9", place="<script>")
    assert not methods_of(started), "nothing is trained again"
    assert len(app.warning) == 1
    text, (rankings, pair) = texts(app), pair_of(fresh_home)
    for ranked, stands, strip in zip(rankings, (pair.first, pair.second), strips_of(app), strict=True):
        assert [item["mark"] == "relevant" for item in strip["items"]] == (ranked.relevance[:12] > 0).tolist()
        assert [bool(item["flag"]) for item in strip["items"]].index(True) == stands.first_mistake - 1
    assert lesson_comparison.compared(pair) in text
    summary = texts(open_page("lesson", step="3"))
    assert all(part in summary for part in (lesson_comparison.compared(pair), lesson_comparison.why(pair)))


def test_the_lead_of_the_lesson_is_significant(fresh_home):
    """By the bootstrap of Compare, on the lesson's query."""
    # On average over the other queries it is a lead, too.
    _, pair = pair_of(fresh_home)
    assert pair.gain.low > 0
    assert pair.better_ranking is pair.second
    stored = json.loads(all_actions.MEASURED.read_text())["lessons"]["why AP"]
    other_gains = [
        all_actions.read(by).gains[page.PAIR] for query, by in stored.items() if query != LESSON.query
    ]
    precisions = stored[LESSON.query]["AP"]
    assert precisions == pytest.approx(
        {each.method: each.average_precision for each in (pair.first, pair.second)}, abs=5e-7
    )
    assert fmean(gain.value for gain in other_gains) > 0
    assert sum(gain.low > 0 for gain in other_gains) >= sum(gain.high < 0 for gain in other_gains)


def test_the_image_moves_to_the_chosen_rank_and_the_last_step_fills_the_training_form(fresh_home, open_page):
    app = open_page("lesson", place="-1", small_k="2")
    press(app, "next step")
    assert app.query_params["step"] == "2"
    assert numbers_in(app.warning[0].value)[-3:-1] == [1, 12], "the places that are possible"
    assert app.slider(key="widget place").value == 1
    choose(app.slider, "place", 3)
    [strip] = strips_of(app)
    assert [item["left"] for item in strip["items"] if item["flag"]] == ["3"]
    terms = {item["left"]: item["right"] for item in strip["items"] if item["right"]}
    assert terms == {"3": "1/3", "7": "2/7", "9": "3/9", "11": "4/11"}
    assert [item["left"] for item in strip["items"] if item["below"]] == ["4"]
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["AP"] == f"{(1 / 3 + 2 / 7 + 3 / 9 + 4 / 11) / 4:.3f}"
    assert (shown["P@2"], shown[moving_image.CUT]) == ("0.000", "0.500")
    moved = strip["chosen"]
    choose(app.slider, "place", 12)
    assert app.query_params["place"] == "12"
    assert strips_of(app)[0]["items"][11]["id"] == moved
    all_steps(app, page.STEPS)
    choose(app.toggle, "all_steps", False)
    press(app, "next step")
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "train it yourself", "one obvious next step"
    press(app, primary.key)
    chosen = [app.selectbox(key=f"widget {name}").value for name in ("query", "method")]
    assert chosen == [LESSON.query, "AP-SVM"]
    assert app.get("button_group")[0].value == list(LESSON.features)


def test_the_caption_of_the_costs_counts_the_steps_at_which_the_error_rate_changes():
    ap, zero_one = page.costs()
    ends = [ap[0] - ap[1], ap[-2] - ap[-1]]
    assert numbers_in(page.costs_text(ap, zero_one)) == pytest.approx([*ends, 1, 11], abs=5e-4)


def test_a_method_result_has_the_weighted_loss_and_the_first_error():
    ranked = Ranking(np.arange(5), np.array([1, 0, 1, 0, 0]), np.array([2.0, 1.0, 0.0, -1.0, -2.0]))
    # one of two relevant is missed, one of three others not
    precision, loss = (
        (1 + 2 / 3) / 2,
        (1 / 2 + 1 / 3) / 2,
    )
    expected = "SVM", pytest.approx(precision), pytest.approx(loss), 2, 2, 5, 2
    assert lesson_comparison.standing("SVM", ranked) == MethodResult(*expected)


def test_only_significant_differences_are_better():
    """Which of SVM and AP-SVM has significantly more AP, and which significantly less weighted 0-1 loss."""
    more, less, unsure = Interval(0.1, 0.05, 0.2), Interval(-0.1, -0.2, -0.05), Interval(0.1, -0.05, 0.2)
    for gain, loss, ranks, labels in (
        (more, more, "AP-SVM", "SVM"),
        (less, less, "SVM", "AP-SVM"),
        (more, less, "AP-SVM", "AP-SVM"),
        (less, more, "SVM", "SVM"),
        (unsure, more, None, "SVM"),
        (more, unsure, "AP-SVM", None),
        (unsure, unsure, None, None),
    ):
        first = MethodResult("SVM", 0.3, 0.2, 30, 10, 100, 3)
        second = MethodResult("AP-SVM", 0.3 + gain.value, 0.2 + loss.value, 30, 10, 100, 3)
        pair = lesson_comparison.LessonComparison(first, second, gain, loss)
        of_ranks, of_labels = lesson_comparison.compared(pair).split(". ")
        for sentence, winner in ((of_ranks, ranks), (of_labels, labels)):
            assert sentence.lower().startswith((winner or "neither").lower()), (sentence, winner)
        assert ("+0.100 AP" in of_ranks) == (ranks is not None), "the lead of whoever leads"
        assert [end in lesson_comparison.intervals(pair) for end in map(measures.ends, (gain, loss))] == [
            True,
            True,
        ]


def test_the_difference_of_losses_is_that_of_resampled_scenes():
    """Against the definition on each resample; a resample without a relevant sample does not count."""
    random = np.random.default_rng(5)
    relevance, scores, units = random.integers(0, 2, 12), random.normal(size=(2, 12)), np.arange(12) // 3
    difference = lesson_comparison.loss_difference(relevance, scores, units)
    counts = resampled_counts(4, DRAWS, np.random.default_rng(0))
    resampled = []
    for row in counts:
        samples = np.repeat(np.arange(12), row[units])
        if 0 < relevance[samples].sum() < len(samples):
            first, second = (weighted_zero_one(relevance[samples], each[samples]) for each in scores)
            resampled.append(second - first)
    assert difference == pytest.approx(interval(difference.value, np.array(resampled)))
    assert difference.value == pytest.approx(
        weighted_zero_one(relevance, scores[1]) - weighted_zero_one(relevance, scores[0])
    )


def test_the_threshold_of_a_labelling_is_the_best_on_the_training_samples():
    generator = np.random.default_rng(3)
    for _ in range(30):
        relevance = np.append([1, 0], generator.integers(0, 2, 8))
        scores = generator.integers(-3, 4, 10).astype(float)
        lowest = min(weighted_zero_one(relevance, scores - each) for each in np.arange(-4.5, 5.0))
        loss = weighted_zero_one(relevance, scores - best_threshold(relevance, scores))
        assert loss == pytest.approx(lowest, abs=1e-12)
