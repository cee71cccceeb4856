"""One's own strip in a real browser: keys and the pointer move pictures, and the measures follow."""

from __future__ import annotations

import re

import pytest
from browsing import MILLISECONDS, settle
from order_home import OrderHome
from order_home import fill as fill_with_orders
from walking import shown

OWN = ".film .movable > .row:last-child"
FRAMES = (
    f"[...document.querySelectorAll('*')].map((one) => one.shadowRoot?.querySelector('{OWN}')).find(Boolean)"
)
ORDER = f"() => [...{FRAMES}.children].map((one) => Number(one.dataset.frame))"


@pytest.fixture(scope="module")
def filled(server, tmp_path_factory) -> OrderHome:  # type: ignore[no-untyped-def]
    return fill_with_orders(server.home, tmp_path_factory.mktemp("dated"))


def test_ones_own_strip_is_moved_by_keys_and_by_the_pointer(filled, visit):
    page = shown(visit(f"/sequences?order_run={filled.own}&order_view=own&sequence=2"), f"{OWN} .tile")
    before = page.evaluate(ORDER)
    assert sorted(before) == list(range(6))
    assert not page.locator(".film .band").count(), "the truth is hidden"
    page.locator(f"{OWN} .tile").first.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    # goes on without it
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+End")
    moved = [before[1], before[2], before[0], *before[4:], before[3]]
    assert page.evaluate(ORDER) == moved
    settle(page)
    page.get_by_text("Show the true order", exact=True).click()
    shown(page, ".film .band")
    assert page.evaluate(ORDER) == moved, "an answer of the server takes no move back"
    assert page.locator(".film .band").count() == 3
    note = page.locator(".film .movable .note")
    message = note.inner_text()
    assert re.match(r"\d+% of pairs correct", message)
    first, last = (page.locator(f"{OWN} .tile").nth(at).bounding_box() for at in (0, 5))
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + 20)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] / 2, last["y"] + 20, steps=8)
    page.mouse.up()
    turned = [*moved[1:], moved[0]]
    assert page.evaluate(ORDER) == turned
    page.wait_for_function(
        "([own, said]) => [...document.querySelectorAll('*')].some((one) => "
        "{ const note = one.shadowRoot?.querySelector(own); return note && note.textContent !== said; })",
        arg=[".film .movable .note", message],
        timeout=MILLISECONDS,
    )
    assert page.evaluate(ORDER) == turned
    assert page.locator(".film .movable .band line").count() == 6


def test_a_click_on_the_tree_shows_that_order(filled, visit):
    page = shown(visit(f"/midrank_search?order_run={filled.own}&sequence=3&trees=1"), ".film .tile")
    page.locator(".js-plotly-plot .point").first.wait_for()
    before = page.locator(".film .title").nth(1).inner_text()
    points = page.locator(".js-plotly-plot .scatterlayer .trace .point")
    assert points.count() > 5
    box = points.nth(1).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"visit=\d+"))
    settle(page)
    assert page.locator(".film .title").nth(1).inner_text() != before


def test_ones_own_strip_comes_after_the_methods_and_keeps_its_moves(filled, visit):
    page = shown(visit(f"/sequences?order_run={filled.own}&sequence=2"), ".film .tile")
    page.get_by_text("Order it yourself", exact=True).click()
    shown(page, f"{OWN} .tile")
    before = page.evaluate(ORDER)
    assert sorted(before) == list(range(6)), "the same sequence was shown without a strip of one's own"
    page.locator(f"{OWN} .tile").first.focus()
    page.keyboard.press("Shift+End")
    settle(page)
    page.get_by_text("Predicted orders", exact=True).click()
    page.locator(".film .movable").wait_for(state="detached")
    shown(page, ".film .band")
    page.locator(".film .tile").first.click()
    page.get_by_text("Order it yourself", exact=True).click()
    shown(page, f"{OWN} .tile")
    assert page.evaluate(ORDER) == [*before[1:], before[0]], "a look at the methods takes no move back"
