"""The play bar of the page Train in a real browser: keys, and the pictures that move."""

from __future__ import annotations

import pytest
from browsing import settle
from filled_home import train_here
from walking import narrow, of_focus, shown

from ranking.explain.playback import TOP, frames_of, read_playback
from ranking.storage.examples import folder_of
from ranking.storage.run import Run
from ranking.storage.store import Store

QUERY = "playing instrument"


@pytest.fixture(scope="module")
def runs(server) -> tuple[Store, Run, Run]:  # type: ignore[no-untyped-def]
    """SVM and AP-SVM in the home of the server."""
    store, folder = Store(server.home), folder_of("Action figures")
    key = store.sets.add(folder, "Action figures")
    svm, ap_svm = (train_here(store, key, QUERY, method, C=1000.0) for method in ("SVM", "AP-SVM"))
    return store, svm, ap_svm


def ids_of(page, lane: int) -> list[int]:  # type: ignore[no-untyped-def]
    tiles = page.locator(".play .lane").nth(lane).locator(".strip.top .tile")
    return [int(tile.get_attribute("data-id")) for tile in tiles.all()]


def test_keys_step_and_each_step_shows_what_that_iteration_ranks_first(runs, visit):
    store, svm, ap_svm = runs
    images = store.sets.get(ap_svm.settings["set"])
    relevance, recorded = images.relevance(QUERY), []
    for run in (ap_svm, svm):
        playback = read_playback(run.playback_file, len(images))
        assert playback is not None
        recorded.append(frames_of(playback, relevance, images.test, None))
    page = shown(visit(f"/train?run={ap_svm.id}"), ".play .lane .tile")
    settle(page)
    assert page.locator(".play .lane").count() == 2, "the SVM on the same features stands beside it"
    for lane, frames in enumerate(recorded):
        assert ids_of(page, lane) == frames[-1].top.tolist()
    slider = page.locator(".play .position")
    # the bar has the focus from the start
    page.keyboard.press("Home")
    assert slider.input_value() == "0"
    for step in range(1, 6):
        page.keyboard.press("ArrowRight")
        assert slider.input_value() == str(step)
        for lane, frames in enumerate(recorded):
            at = max(number for number, frame in enumerate(frames) if frame.iteration <= step)
            assert ids_of(page, lane) == frames[at].top.tolist(), step
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() == "4"
    assert len(ids_of(page, 0)) == TOP
    assert page.locator(".play .lane").nth(0).locator(".strip.moved-up .tile").count() > 0
    assert page.locator(".play .lane").nth(1).locator(".strip.moved-up").count() == 0, (
        "an SVM has no such ranking"
    )


def test_space_plays_and_pauses_and_the_focus_stays(runs, visit):
    page = shown(visit(f"/train?run={runs[2].id}"), ".play .lane .tile")
    settle(page)
    slider, button = page.locator(".play .position"), page.locator(".play .bar .button").first
    page.locator(".play").focus()
    page.keyboard.press("Space")
    assert button.get_attribute("aria-label") == "Pause"
    page.wait_for_function(
        "() => [...document.querySelectorAll('*')].some("
        "(one) => Number(one.shadowRoot?.querySelector('.play .position')?.value) === 3)"
    )
    page.keyboard.press("Space")
    assert button.get_attribute("aria-label") == "Play"
    paused = slider.input_value()
    page.wait_for_timeout(1200)
    assert slider.input_value() == paused
    assert of_focus(page, "focus.className") == "play"
    button.focus()
    page.keyboard.press("Space")
    assert button.get_attribute("aria-label") == "Pause", "once, though the button hears the key too"
    page.keyboard.press("End")
    assert button.get_attribute("aria-label") == "Play"
    assert slider.input_value() == slider.get_attribute("max")


def test_thumbnails_glide_unless_the_browser_prefers_reduced_motion(runs, visit):
    for motion in ("no-preference", "reduce"):
        page = shown(visit(f"/train?run={runs[2].id}", reduced_motion=motion), ".play .lane .tile")
        settle(page)
        moved = page.locator(".play").evaluate(
            """(root) => {
                const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
                press("Home");
                let moves = 0;
                for (let step = 0; step < 10; step += 1) {
                    press("ArrowRight");
                    for (const tile of root.querySelectorAll(".strip.top .tile")) moves += tile.getAnimations().length;
                }
                return moves;
            }"""
        )
        assert (moved > 0) == (motion == "no-preference")


def test_a_phone_has_the_lanes_below_each_other(runs, visit):
    page = visit(f"/train?run={runs[2].id}", is_mobile=True)
    narrow(page)
    shown(page, ".play .lane .tile")
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    tops = [lane.bounding_box() for lane in page.locator(".play .lane").all()]
    assert tops[0]["y"] + tops[0]["height"] <= tops[1]["y"]
