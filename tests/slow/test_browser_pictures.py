"""The pages on which one looks at pictures, in a real browser: with keys alone, on a phone, in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import Page, Server, choose, settle
from filled_home import Laboratory
from walking import CONTRASTS, READABLE, narrow, of_focus, served, tab_until

from pages.parts.app.menu import PAGES, PLACES


@pytest.fixture(scope="module")
def server(filled: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that has something to show on every page."""
    with served(tmp_path_factory.mktemp("browser"), filled.home) as server:
        yield server


def ready(page: Page) -> Page:
    """The page once its last step has run."""
    # a phone folds it
    page.locator(".st-key-menu a").nth(len(PLACES) - 1).wait_for(state="attached")
    settle(page)
    return page


def sample_of(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query)["sample"][0]


def path_of(name: str) -> str:
    """Where a page stands: the first at the bare address, the others below their names."""
    return "/" if name == next(iter(PAGES)) else f"/{name}"


IS_OPTION = "focus.getAttribute('role') === 'option'"
PLACE = "focus.querySelector('.left').textContent"


def ranked_grid(page: Page) -> Any:
    return page.get_by_role("listbox", name=re.compile("^Ranked"))


@pytest.mark.parametrize("name", [next(iter(pages)) for pages in PLACES.values()])
def test_a_deep_link_may_be_the_first_request_of_a_server(visit, server, name):
    """The first page of each section."""
    # All pages begin with the guard that this is about (`test_parts.py` tests that).
    server.stop()
    server.start()
    page = ready(visit(path_of(name)))
    assert urlsplit(page.url).path == path_of(name)
    assert page.get_by_role("heading", level=1).inner_text() == PAGES[name]


def test_the_menu_of_a_phone_is_one_button(visit):
    page = ready(visit("/speed_lab"))
    button, menu = page.locator(".menu-button"), page.locator(".st-key-menu")
    train = menu.get_by_role("link", name="Train", exact=True)
    # a wide screen shows all of it
    train.wait_for()
    assert not button.is_visible()
    narrow(page)
    button.wait_for()
    assert not train.is_visible()
    assert menu.bounding_box()["height"] < 100, "the button and the tabs"
    for _ in range(2):
        button.focus()
        page.keyboard.press("Enter")
        train.wait_for()
        assert button.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Tab")
        assert of_focus(page, "focus.innerText") == "Start"
        page.keyboard.press("Escape")
        train.wait_for(state="hidden")
        assert of_focus(page, "focus.className") == "menu-button"
    button.click()
    menu.get_by_role("link", name="Inside training", exact=True).click()
    page.get_by_role("heading", level=1, name="Most violated ranking").wait_for()
    train.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false", "on another page it is closed again"


def test_several_selected_samples_stay_selected_on_other_pages(visit, filled):
    page = ready(visit(f"/ranked_images?run={filled.finished}"))
    tiles = ranked_grid(page).get_by_role("option")
    tiles.nth(3).click()
    page.get_by_text("Rank 4 ·").wait_for()
    tiles.nth(6).click(modifiers=["Shift"])
    page.get_by_text("4 samples selected").wait_for()
    tiles.nth(9).click(modifiers=["ControlOrMeta"])
    page.get_by_text("5 samples selected").wait_for()
    tiles.nth(4).click(modifiers=["ControlOrMeta"])
    page.get_by_text("4 samples selected").wait_for()
    chosen = [number for number in range(12) if tiles.nth(number).get_attribute("aria-selected") == "true"]
    assert chosen == [3, 5, 6, 9]
    sample = sample_of(ready(page))
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("heading", name=f"Image {sample.partition('#')[0]}").wait_for()
    page.get_by_text("4 samples selected").wait_for()
    page.get_by_role("listbox", name=re.compile("^Images")).get_by_role("option").nth(2).click()
    page.wait_for_function(
        "before => !decodeURIComponent(location.href).includes(before)", arg=f"sample={sample}"
    )
    second = sample_of(ready(page))
    page.get_by_role("link", name="Train", exact=True).click()
    page.get_by_role("heading", level=1, name="Train", exact=True).wait_for()
    ready(page)
    page.get_by_role("link", name="Ranking", exact=True).click()
    ranked_grid(page).locator(".tile[aria-selected=true]").wait_for()
    assert sample_of(page) == second


def test_the_grid_by_keys_alone(visit, filled):
    page = ready(visit(f"/ranked_images?run={filled.finished}"))
    grid = ranked_grid(page)
    assert grid.get_attribute("aria-multiselectable") == "true"
    tab_until(page, IS_OPTION)
    assert of_focus(page, PLACE) == "1", "Tab reaches the one tile in the tab order"
    assert of_focus(page, "getComputedStyle(focus).outlineStyle") == "solid"
    assert "relevant" in page.locator(".card:visible").inner_text()
    for key, place in (("ArrowRight", "2"), ("End", "200"), ("Home", "1"), ("ArrowLeft", "1")):
        page.keyboard.press(key)
        assert of_focus(page, PLACE) == place
    page.keyboard.press("PageDown")
    further = int(of_focus(page, PLACE))
    page.keyboard.press("ArrowUp")
    across = further - int(of_focus(page, PLACE))
    assert further > across > 1
    assert (further - 1) % across == 0, "whole rows"
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.get_by_text("4 samples selected").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Rank 4 ·").wait_for()
    page.get_by_text("4 samples selected").wait_for(state="detached")
    assert of_focus(page, PLACE) == "4"
    page.keyboard.press("Escape")
    page.wait_for_function("!location.href.includes('sample=')")
    page.get_by_role("heading", name="Rank 1 ·").wait_for()


def test_the_sample_graph_by_keys_alone(visit, filled):
    page = ready(visit(f"/neighbours?neighbours_view=graph&run={filled.neighbours}"))
    nodes = page.get_by_role("listbox", name=re.compile("^Components")).get_by_role("option")
    tab_until(page, IS_OPTION)
    ids = nodes.evaluate_all("nodes => nodes.map((node) => node.dataset.id)")
    first = nodes.evaluate_all(
        "nodes => nodes.map((node) => node === node.closest('.component').querySelector('.node'))"
    )
    starts = [number for number, is_first in enumerate(first) if is_first]
    page.keyboard.press("Home")
    for key, number in (
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("ArrowDown", starts[1]),
        ("ArrowDown", starts[2]),
        ("ArrowUp", starts[1]),
        ("End", len(ids) - 1),
    ):
        page.keyboard.press(key)
        assert of_focus(page, "focus.dataset.id") == ids[number]
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("sample="))
    assert sample_of(page) == ids[-1]
    ready(page)
    assert of_focus(page, "focus.dataset.id") == ids[-1], "the focus stays"
    rank = nodes.last.get_attribute("aria-label").partition(",")[0].removeprefix("rank ")
    page.get_by_role("heading", name=f", {rank} with neighbours").wait_for()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.wait_for_function("id => new URLSearchParams(location.search).get('sample') === id", arg=ids[0])
    ready(page)
    page.get_by_role("radio", name="Two labellings of a sample").click()
    page.get_by_role("heading", name="Max-marginals by rank").wait_for()
    ready(page)
    assert sample_of(page) == ids[0]
    page.get_by_role("radio", name="Similarity graph").click()
    ready(page)
    selected = page.locator(".graph [aria-selected=true]")
    assert selected.get_attribute("data-id") == ids[0]
    selected.press("Escape")
    page.wait_for_function("!location.href.includes('sample=')")


def test_training_by_keys_alone(visit, filled):
    page = ready(visit(f"/train?set={filled.digits}&query=5&features=Colour"))
    tab_until(page, "focus.closest('.st-key-train button') !== null")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show the ranking").wait_for()
    page.get_by_role("button", name="Show the ranking").press("Enter")
    ranked_grid(page).wait_for()


def test_a_class_on_the_contact_sheet(visit, filled):
    page = ready(visit(f"/image_sets?set={filled.digits}"))
    choose(page, "sheet-class", "7 — ")
    page.wait_for_url(re.compile("sheet.class=7"))
    page.get_by_text(re.compile("179 of 1,797 images")).wait_for()
    ready(page)
    chart = page.get_by_role("figure", name=re.compile("Samples of each class"))
    chart.get_by_text("▸ 7").wait_for()
    chart.scroll_into_view_if_needed()
    # the first class is the uppermost
    chart.locator(".bars").first.locator(".point").last.click(force=True)
    page.wait_for_url(re.compile("sheet.class=0"))
    page.get_by_text(re.compile("178 of 1,797 images")).wait_for()


@pytest.mark.parametrize("name", PAGES)
def test_every_text_stands_out_and_nothing_is_wider_than_a_phone(visit, filled, name):
    """In light and dark and on a phone, in one visit, because a page takes seconds to load."""
    # Of a slider the thumb is visible and not the input.
    page = ready(visit(f"{path_of(name)}?run={filled.finished}", color_scheme="light"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(IS_SHOWN, arg=scheme)
        # colours change by and by
        page.wait_for_timeout(300)
        ready(page)
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 8
        assert [(text, round(contrast, 2)) for text, contrast in contrasts if contrast < READABLE] == [], (
            scheme
        )
    narrow(page)
    ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    beyond = page.evaluate(
        """() => [...document.querySelectorAll("button, input:not([type=range]), a, [role=option]")]
            .filter((one) => one.checkVisibility() && one.offsetWidth > 1)
            .map((one) => [one.innerText || one.tagName, one.getBoundingClientRect()])
            .filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([text]) => text)"""
    )
    assert not beyond, "controls that a thumb cannot reach"


# Whether the page's ground is as light, or as dark, as the scheme says.
IS_SHOWN = """scheme => {
    const ground = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
    const brightest = Math.max(...ground.match(/\\d+/g).slice(0, 3).map(Number));
    return (brightest < 60) === (scheme === "dark");
}"""
