"""The way through a lesson's steps that makes a file to hand out; each lesson's own tests look at its file."""

from __future__ import annotations

from handed_out import every_step, hand_out, read

from pages.parts.app import handout_parts, handouts, keys
from pages.parts.app.noted import Walk
from pages.parts.runs import lessons

LESSON = lessons.WHY_AP


def test_the_file_has_every_step_as_it_is_set_and_a_change_drops_it(taught, open_page):
    app = open_page("lesson", step="2", place="7")
    text = every_step(app, keys.STEP, 3)
    assert ": <b>7</b>" in text
    assert "<math" in text
    assert len(app.get("download_button")) == 1
    app.slider(key=keys.widget(keys.PLACE)).set_value(3).run()
    assert not app.get("download_button"), "that file would show another place"
    text = hand_out(app)
    assert ": <b>3</b>" in text
    assert ": <b>7</b>" not in text


def test_a_walk_that_was_interrupted_ends(taught, open_page):
    app = open_page("lesson", step="1")
    for walk in (Walk(keys.STEP, {}, now=2, due=False), Walk(keys.PAIRS_STEP, {}, now=2)):
        app.session_state[keys.HANDOUT] = walk
        app.run()
        assert keys.HANDOUT not in app.session_state


def test_a_step_that_is_not_trained_says_so(orders_here, open_page):
    app = open_page("pairs_lesson", guess="something else")
    text = hand_out(app)
    found = read(text)
    assert found.count("h2") == 3
    assert found.count("img") > 10
    assert ": <b>something else</b>" in text
    assert "RankSVM" in found.text
    assert handouts.MORE in found.text


def test_nothing_is_made_of_what_nobody_asked_for(taught, open_page, monkeypatch):
    def refuse(*given, **named):
        raise AssertionError("a part was made though nobody walks")

    for module, name in ((handouts, "prose"), (handout_parts, "row"), (handout_parts, "chart")):
        monkeypatch.setattr(module, name, refuse)
    open_page("lesson", step="2")
