"""Answering by key in a real browser: nothing that was pressed is lost, and nothing is given to another label."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import MILLISECONDS, Page, Server, Visit, settle
from label_home import NAMES, LabelHome
from walking import CONTRASTS, READABLE, narrow, served

from ranking.storage.answers import AnswerEvent, fold
from ranking.storage.store import Store


@pytest.fixture(scope="module")
def server(label_home: LabelHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("browser"), label_home.home) as server:
        yield server


# Presses keys inside the page: at an interval (milliseconds, 0: at once), or where that is null each as soon as its
# question is on the screen, however long a busy machine takes. Tells for each what was on the screen.
PRESS = """([keys, interval]) => new Promise((resolve) => {
    const root = [...document.querySelectorAll("*")].find((one) => one.shadowRoot?.querySelector(".questions"))
        .shadowRoot.querySelector(".questions");
    const seen = [];
    const press = (place) => {
        if (place === keys.length) return resolve(seen);
        const asked = root.state.painted;
        seen.push(asked.name);
        const event = { key: keys[place], bubbles: true, composed: true, cancelable: true };
        document.body.dispatchEvent(new KeyboardEvent("keydown", event));
        const next = () => press(place + 1);
        const painted = () => root.state.painted !== asked || place + 1 === keys.length;
        const wait = () => (painted() ? next() : setTimeout(wait, 10));
        interval === null ? wait() : interval ? setTimeout(next, interval) : next();
    };
    press(0);
})"""


def ready(page: Page) -> Page:
    page.locator(".ask b").wait_for()
    settle(page)
    page.wait_for_timeout(300)
    settle(page)  # an address or a rival may have had the page run once more
    return page


@pytest.fixture
def open_questions(visit: Visit, label_home: LabelHome) -> Callable[..., Page]:
    """Open the page at the questions about an image."""

    def open_it(image: str, more: str = "", **options: Any) -> Page:
        address = f"/label_questions?label_run={label_home.own}&image={image.replace(' ', '+')}{more}"
        return ready(visit(address, **options))

    return open_it


def all_on_disk(page: Page, count: int | None = None) -> None:
    fittings = "all saved" if count is None else re.compile(rf"^{count} questions? so far · all saved")
    page.locator(".kept", has_text=fittings).wait_for()


@pytest.fixture
def answers(server: Server, label_home: LabelHome) -> Callable[[str], list[AnswerEvent]]:
    """The events about an image that are on the disk."""
    return lambda image: Store(server.home).answers.events(label_home.key, image)


def test_thirty_keys_at_intervals_of_30_ms_are_thirty_events_on_disk(open_questions, answers):
    page = open_questions("board 00")
    keys = ["1", "0", "1", "s", "0", "1"] * 5
    seen: list[Any] = page.evaluate(PRESS, [keys, 30])
    all_on_disk(page)
    events = answers("board 00")
    assert [one.number for one in events] == list(range(1, 31))
    assert [one.kind for one in events] == [{"1": "yes", "0": "no", "s": "skip"}[key] for key in keys]
    assert [one.label for one in events] == seen, "each key is for the label that was on the screen"
    assert len({one.session for one in events}) == 1
    position = fold(events)
    assert len(position.answers) + len(position.skipped) == len({one.label for one in events}) > 15
    assert any(one.inside is not None for one in events)


def test_a_key_before_the_next_question_is_painted_is_for_the_one_that_is(open_questions, answers):
    page = open_questions("board 20")
    first = page.locator(".ask b").inner_text()
    seen = page.evaluate(PRESS, [["1", "0"], 0])
    all_on_disk(page)
    events = answers("board 20")
    assert [(one.label, one.kind) for one in events] == [(first, "yes"), (first, "no")]
    assert seen == [first, first]
    assert page.locator(".ask b").inner_text() != first
    page.locator(".own .row[data-answer=no]").wait_for()


def test_undo_is_unlimited_and_itself_an_event(open_questions, answers):
    page = open_questions("board 04")
    first = page.locator(".ask b").inner_text()
    page.evaluate(PRESS, [["1", "0", "1", "u", "u", "u", "u"], None])
    all_on_disk(page, 0)
    assert page.locator(".ask b").inner_text() == first
    events = answers("board 04")
    assert [one.kind for one in events] == ["yes", "no", "yes", "undo", "undo", "undo"]
    assert [one.label for one in events[3:]] == [one.label for one in events[2::-1]]
    assert not fold(events).standing


def test_a_k_that_is_full_is_reported_and_raised_by_one(open_questions):
    page = open_questions("board 01", "&label_k=2")
    why, more = page.locator(".why span"), page.locator(".more")
    assert "The model is least certain" in why.inner_text()
    assert not more.is_visible()
    page.evaluate(PRESS, [["1", "1"], None])
    all_on_disk(page, 2)
    assert why.inner_text().startswith("The top k is full: you answered yes for 2 labels")
    assert more.inner_text() == "Raise k to 3"
    more.click()
    page.wait_for_url(re.compile("label_k=3"))
    page.locator(".why span", has_text="The model is least certain").wait_for()
    assert not more.is_visible()


def test_an_answer_moves_the_ranking_and_stays_when_the_page_is_loaded_again(open_questions):
    page = open_questions("board 08", "&rival=same")
    label = page.locator(".ask b").inner_text()
    page.keyboard.press("1")
    all_on_disk(page, 1)
    pinned = page.locator(".own .row[data-answer=yes]")
    assert pinned.locator(".name").inner_text() == label
    assert pinned.locator(".sign").inner_text() == "✓"
    assert page.locator(".baseline .row[data-answer=yes] .name").inner_text() == label
    page.reload()
    ready(page)
    all_on_disk(page, 1)
    assert page.locator(".own .row[data-answer=yes] .name").inner_text() == label


def test_what_is_pressed_while_the_server_is_dead_is_on_disk_when_it_lives_again(
    browser, answers, server, label_home
):
    context = browser.new_context()  # not by `visit`: what a browser says of a dead server is expected here
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(f"{server.url}/label_questions?label_run={label_home.own}&image=board+16")
    ready(page)
    page.keyboard.press("1")
    all_on_disk(page, 1)
    server.process.kill()
    server.process.wait(10)
    seen = page.evaluate(PRESS, [["0", "1", "0"], None])
    assert page.get_by_text("saving 3").count()
    stored = page.evaluate(
        "Object.entries(localStorage).filter(([name]) => name.startsWith('ranking-answers-'))"
    )
    assert [one["label"] for one in json.loads(stored[0][1])] == seen
    server.start()
    page.reload()  # a tab that was closed, and opened again
    ready(page)
    all_on_disk(page, 4)
    events = answers("board 16")
    assert [one.label for one in events][1:] == seen
    assert [one.kind for one in events] == ["yes", "no", "yes", "no"]

    context.close()


ROOT = """[...document.querySelectorAll("*")].find((one) => one.shadowRoot?.querySelector(".questions"))
    .shadowRoot.querySelector(".questions")"""


def other_tab(image: str) -> str:
    """The session of a tab that closed; one an image, for the tests share a server."""
    return image[-2:] * 16


def left_behind(home: LabelHome, number: int, image: str, **changed: Any) -> dict[str, Any]:
    rest = NAMES[3], "yes", home.own, "closest maxima", None, None, 0, 1e9
    event = AnswerEvent(other_tab(image), number, home.key, image, *rest)
    return {**event.to_json(), **changed}


@pytest.mark.parametrize(
    ("image", "left", "message"),
    [
        ("board 32", "{{{", "cannot be read"),
        ("board 36", "null", "cannot be read"),
        ("board 09", {"time": 1e12}, "refused"),  # the clock of a computer that is far off
        ("board 10", {"of_a_later_version": 1}, "refused"),
    ],
)
def test_what_an_earlier_tab_left_and_cannot_be_used_holds_up_no_answer(
    open_questions, answers, label_home, image, left, message
):
    page = open_questions(image)
    if not isinstance(left, str):
        valid = left_behind(label_home, 2, image)  # a good one behind it
        left = json.dumps([left_behind(label_home, 1, image, **left), valid])
    page.evaluate(f"(left) => localStorage.setItem('ranking-answers-{other_tab(image)}', left)", left)
    page.reload()
    ready(page)
    page.locator(".kept", has_text=message).wait_for()
    good = len(answers(image))
    page.keyboard.press("1")
    all_on_disk(page)
    events = answers(image)
    assert [one.number for one in events] == ([2, 1] if message == "refused" else [1])
    assert good == len(events) - 1
    aside = page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('ranking-'))")
    assert aside == [f"ranking-refused-{other_tab(image)}" + ("-1" if message == "refused" else "")]


def test_answers_reach_the_disk_while_the_storage_of_the_browser_is_full(open_questions, answers):
    page = open_questions("board 03")
    page.evaluate(
        """() => { for (const size of [100_000, 1_000, 1]) try {
            for (let n = 0; ; n++) localStorage.setItem(`${size} ${n}`, "x".repeat(size)) } catch {} }"""
    )
    seen = page.evaluate(PRESS, [["1", "0", "s"], None])
    all_on_disk(page)
    assert [one.label for one in answers("board 03")] == seen


def test_of_another_tab_only_what_is_on_disk_leaves_the_storage(open_questions, answers, label_home):
    """The other tab may have kept one more since this one looked, and be closed before it could send it."""
    page = open_questions("board 05")
    tab, events = other_tab("board 05"), [left_behind(label_home, number, "board 05") for number in (1, 2)]
    page.evaluate(
        f"(events) => {{ localStorage.setItem('ranking-answers-{tab}', JSON.stringify(events));"
        f" {ROOT}.state.log.push(events[0]); }}",
        events,
    )
    page.keyboard.press("1")
    all_on_disk(page, 2)
    assert [one.number for one in answers("board 05")] == [1, 1]
    left = page.evaluate(f"JSON.parse(localStorage.getItem('ranking-answers-{tab}'))")
    assert [one["number"] for one in left or []] == [2]


def test_keys_answer_after_a_switch_and_a_slider_were_used_but_not_in_a_text_field(open_questions, answers):
    page = open_questions("board 06")
    page.locator(".st-key-widget-label_set input").click()
    page.keyboard.type("10su")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    assert answers("board 06") == []
    page.get_by_text("Show ground truth").click()
    page.locator(".own .measure", has_text="precision").wait_for()
    ready(page).keyboard.press("1")
    all_on_disk(page, 1)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("0")
    all_on_disk(page, 2)


def test_a_key_before_any_question_is_painted_answers_none_and_that_is_reported(open_questions, answers):
    page = open_questions("board 07")
    page.evaluate(f"{ROOT}.state.painted = {{ label: -1 }}")  # as a page that has just begun
    page.keyboard.press("1")
    page.locator(".kept", has_text="press it again").wait_for()
    ready(page).keyboard.press("1")
    all_on_disk(page, 1)
    assert "again" not in page.locator(".kept").inner_text()
    assert len(answers("board 07")) == 1


@pytest.mark.parametrize(("scheme", "image"), [("dark", "board 24"), ("light", "board 28")])
def test_all_of_it_can_be_read_and_fits_a_phone(open_questions, scheme, image):
    page = open_questions(image, "&rival=own&truth=1", color_scheme=scheme)
    page.evaluate(PRESS, [["1", "0", "s"], None])
    all_on_disk(page, 3)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [(text, round(contrast, 2)) for text, contrast in contrasts if contrast < READABLE] == []
    narrow(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    wide = "all => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length"
    assert page.locator(".questions button, .questions .row").evaluate_all(wide) == 0


def test_on_a_phone_the_baseline_is_chosen_before_the_rankings(open_questions):
    page = open_questions("board 02")
    switch, ranking = page.get_by_text("Against Independent, same questions"), page.locator(".rankings")
    wide = switch.bounding_box(), ranking.bounding_box()
    assert wide[0]["x"] < wide[1]["x"], "beside each other where there is room"
    narrow(page)
    assert switch.bounding_box()["y"] < page.locator(".question").bounding_box()["y"]
    assert page.locator(".question").bounding_box()["y"] < ranking.bounding_box()["y"]


@pytest.mark.parametrize(
    ("apart", "expected"), [(0.0004, "less than 0.001 apart"), (0.0, "0.000 apart"), (0.25, "0.250 apart")]
)
def test_nearly_equal_maxima_are_not_shown_as_equal(open_questions, apart, expected):
    page = open_questions("board 03")
    shown = page.locator(".questions").evaluate(
        """(root, apart) => {
            for (const next of root.state.data.tree.after) Object.assign(next, { inside: 0.5 + apart, outside: 0.5 });
            const event = { key: "s", bubbles: true, composed: true, cancelable: true };
            document.body.dispatchEvent(new KeyboardEvent("keydown", event));
            return root.querySelector(".values").textContent;
        }""",
        apart,
    )
    assert shown.endswith(f": {expected}")
