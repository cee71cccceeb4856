"""Answering by key in a real browser: each key answers the question that is on the screen, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import MILLISECONDS, Page, Server, Visit, settle
from label_home import LabelHome
from walking import CONTRASTS, READABLE, narrow, served

from ranking.storage.answers import AnswerEvent, fold
from ranking.storage.store import Store


@pytest.fixture(scope="module")
def server(label_home: LabelHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("browser"), label_home.home) as server:
        yield server


# its class names the question
BUTTON = '.st-key-question [class*="st-key-widget-undo"]'


def idle(page: Page) -> None:
    """Wait until nothing runs: React binds the keys of buttons some time after it has drawn them."""
    settle(page)
    page.evaluate("new Promise((done) => requestIdleCallback(() => done()))")


def ready(page: Page) -> Page:
    page.locator(".st-key-question h3").wait_for()
    idle(page)
    page.wait_for_timeout(300)
    # an address or a baseline may have had the page run once more
    idle(page)
    return page


@pytest.fixture
def open_questions(visit: Visit, label_home: LabelHome) -> Callable[..., Page]:
    """Open the page at the questions about an image."""

    def open_it(image: str, more: str = "", **options: Any) -> Page:
        address = f"/interactive_labelling?label_run={label_home.own}&image={image.replace(' ', '+')}{more}"
        return ready(visit(address, **options))

    return open_it


def asked(page: Page) -> str:
    return str(page.locator(".st-key-question h3 strong").inner_text())


def saved(page: Page, count: int) -> None:
    """Wait until the page confirms so many answers."""
    number = f"{count} question{'' if count == 1 else 's'} answered or skipped, all saved"
    page.locator(".st-key-question").get_by_text(number, exact=True).wait_for()


def press(page: Page, keys: str) -> list[str]:
    """Press each key when the next question and its buttons are shown; return the labels that were asked about."""
    labels = []
    for key in keys:
        labels.append(asked(page))
        before = page.locator(BUTTON).get_attribute("class")
        page.keyboard.press(key)
        changed = "([button, before]) => document.querySelector(button)?.className !== before"
        page.wait_for_function(changed, arg=[BUTTON, before])
        idle(page)
    return labels


@pytest.fixture
def answers(server: Server, label_home: LabelHome) -> Callable[[str], list[AnswerEvent]]:
    """The events about an image that are on the disk."""
    return lambda image: Store(server.home).answers.events(label_home.key, image)


def test_each_key_answers_the_question_on_the_screen_and_survives_the_server(
    browser, answers, server, label_home
):
    # not by `visit`: what a browser says of a dead server is expected here
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(f"{server.url}/interactive_labelling?label_run={label_home.own}&image=board+00&baseline=same")
    labels = press(ready(page), "10s1")
    saved(page, 4)
    given = [(each.label, each.kind) for each in answers("board 00")]
    assert given == list(zip(labels, ("yes", "no", "skip", "yes"), strict=True))
    press(page, "u")
    saved(page, 3)
    assert asked(page) == labels[3]
    server.process.kill()
    server.process.wait(10)
    server.start()
    page.reload()
    saved(ready(page), 3)
    rankings = page.locator(".label-rankings section")
    assert rankings.count() == 2
    for ranking in rankings.all():
        assert labels[0] in ranking.locator("[data-answer=yes]").inner_text()
    context.close()


def test_a_doubled_and_a_held_key_answer_one_question(open_questions, answers):
    page = open_questions("board 04")
    first = asked(page)
    page.evaluate(
        """() => { for (const kind of ["keydown", "keyup", "keydown", "keyup"]) document.body.dispatchEvent(
            new KeyboardEvent(kind, { key: "1", keyCode: 49, bubbles: true, cancelable: true })) }"""
    )
    saved(page, 1)
    idle(page)
    second = asked(page)
    # a key that is held repeats
    for _ in range(20):
        page.keyboard.down("0")
        page.wait_for_timeout(30)
    page.keyboard.up("0")
    saved(page, 2)
    settle(page)
    assert [(each.label, each.kind) for each in answers("board 04")] == [(first, "yes"), (second, "no")]


def test_fast_presses_are_answers_to_questions_that_were_shown(open_questions, answers):
    """A press before the next question is shown changes nothing."""
    page = open_questions("board 20")
    page.evaluate(
        """() => { const seen = new Set(), look = () => {
            seen.add(document.querySelector(".st-key-question h3 strong")?.textContent); requestAnimationFrame(look); };
            look(); window.seen = seen; }"""
    )
    for key in "10" * 10:
        page.keyboard.press(key)
        page.wait_for_timeout(50)
    settle(page)
    page.wait_for_timeout(500)
    events = answers("board 20")
    assert len({each.label for each in events}) == len(events) >= 2, "no question is answered twice"
    assert {each.label for each in events} <= set(page.evaluate("[...window.seen]"))
    assert [each.number for each in events] == list(range(1, len(events) + 1))
    saved(page, len(events))


def test_keys_answer_after_a_switch_and_a_slider_were_used_but_not_in_a_text_field(open_questions, answers):
    page = open_questions("board 06")
    page.locator(".st-key-widget-label_set input").click()
    page.keyboard.type("10su")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+0")
    page.wait_for_timeout(500)
    assert answers("board 06") == []
    page.get_by_text("Show ground truth").click()
    page.locator(".label-rankings", has_text="precision").wait_for()
    press(ready(page), "1")
    page.get_by_role("slider").first.focus()
    press(page, "0")
    saved(page, 2)
    position = fold(answers("board 06"))
    assert list(position.answers.values()) == [True, False]


@pytest.mark.parametrize(("scheme", "image"), [("dark", "board 24"), ("light", "board 28")])
def test_all_of_it_can_be_read_and_fits_a_phone(open_questions, scheme, image):
    page = open_questions(image, "&baseline=own&truth=1", color_scheme=scheme)
    press(page, "10s")
    saved(page, 3)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [(text, round(contrast, 2)) for text, contrast in contrasts if contrast < READABLE] == []
    narrow(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    wide = "all => all.map((one) => one.getBoundingClientRect().right > innerWidth)"
    beyond = page.locator(".st-key-question button, .label-rankings li").evaluate_all(wide)
    assert len(beyond) > 20
    assert not any(beyond)
