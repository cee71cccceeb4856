"""The rows of the page Compare in a real browser: clicks and keys select a sample, lines follow it."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from browsing import settle
from filled_home import train_here
from walking import narrow, of_focus, shown

from ranking.storage.examples import folder_of
from ranking.storage.store import Store

QUERY = "playing instrument"


@pytest.fixture(scope="module")
def compared(server) -> str:  # type: ignore[no-untyped-def]
    """The ids of two trainings in the home of the server."""
    store, folder = Store(server.home), folder_of("Action figures")
    key = store.sets.add(folder, "Action figures")
    made = [train_here(store, key, QUERY, "SVM", C=0.01), train_here(store, key, QUERY, "AP-SVM", C=100.0)]
    return ",".join(run.id for run in made)


def test_clicks_and_keys_select_a_sample_and_lines_follow_it(compared, visit):
    page = shown(visit(f"/compare?compared={compared}&top=6"), ".rows .row .tile")
    tiles = page.locator(".rows .row .tile")
    assert page.locator(".rows .row").count() == 2
    assert page.locator(".rows .band line.strong").count() == 1, (
        "the first mistake is followed from the start"
    )

    tiles.nth(2).click()
    page.wait_for_url(re.compile(r"sample="))
    settle(page)
    chosen = tiles.nth(2).get_attribute("data-id")
    selected = page.locator('.rows .tile[aria-selected="true"]')
    assert chosen in unquote(page.url)
    assert {one.get_attribute("data-id") for one in selected.all()} == {chosen}
    assert selected.count() == 2, "in both rows, in one of them perhaps after the dots"
    # the sample under the pointer has a line too
    page.mouse.move(0, 0)
    assert page.locator(".rows .band line").count() == 1

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    focused = of_focus(page, "focus.dataset.id")
    below = page.locator(".rows .row").nth(1).locator(".tile")
    assert focused == below.nth(3).get_attribute("data-id")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: chosen not in unquote(url))
    settle(page)
    assert {one.get_attribute("data-id") for one in selected.all()} == {focused}

    page.get_by_text("All shown", exact=True).click()
    page.wait_for_url(re.compile("follow=all"))
    settle(page)
    page.wait_for_function(
        "() => [...document.querySelectorAll('*')].some("
        "(one) => one.shadowRoot?.querySelectorAll('.rows .band line').length >= 6)"
    )
    assert {one.get_attribute("data-id") for one in selected.all()} == {focused}, "no echo undoes a choice"


def test_a_phone_scrolls_the_rows_and_not_the_page(compared, visit):
    page = visit(f"/compare?compared={compared}", is_mobile=True)
    narrow(page)
    shown(page, ".rows .tile")
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator(".rows").evaluate("one => one.scrollWidth - one.clientWidth") > 100
