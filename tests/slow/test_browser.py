"""Walks through the laboratory in a real browser, on a real server with real workers."""

from __future__ import annotations

import re
import zipfile
from urllib.parse import urlsplit

import pytest
from browsing import Page, choose, settle
from walking import shown

from ranking.datasets import load_image_set
from ranking.storage.examples import folder_of


def test_training_runs_are_chosen_by_key_deleted_restored_and_downloaded(visit, tmp_path):
    folder = folder_of("Action figures")
    key = load_image_set(folder).key
    for query in ("running", "walking"):
        address = f"/train?set={key}&features=HOG,Colour&query={query}&method=NDCG-SVM"
        page = shown(visit(address), ".st-key-train button")
        page.locator(".st-key-train button").click()
        page.get_by_role("heading", name=f"NDCG-SVM on “{query}”", exact=True).wait_for()
        page.get_by_text("Converged.").wait_for()
    newest = page.url
    page.get_by_role("button", name="Reuse these settings").wait_for()
    grid = page.get_by_test_id("stDataFrame")
    grid.scroll_into_view_if_needed()
    # into the first row
    page.mouse.click(grid.bounding_box()["x"] + 200, grid.bounding_box()["y"] + 50)
    focused(page, row=2)
    page.keyboard.press("ArrowDown")
    focused(page, row=3)
    page.keyboard.press("Shift+Space")
    page.get_by_text("2 training runs").wait_for()
    page.wait_for_url(lambda url: url != newest)
    page.get_by_role("heading", name="NDCG-SVM on “running”", exact=True).wait_for()
    settle(page)

    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("Deleted 2 training runs.").first.wait_for()
    page.get_by_text("NDCG-SVM on “running” was deleted").wait_for()
    page.locator(".st-key-undo-just-deleted button").click()
    page.get_by_text("Converged.").wait_for()

    page.goto(newest)
    page.get_by_text("Converged.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "training.zip")
    with zipfile.ZipFile(tmp_path / "training.zip") as archive:
        assert {"run.json", "model.npz", "scores.npy", "ranking.csv"} <= set(archive.namelist())


def focused(page: Page, row: int) -> None:
    """Wait until the table's focus is in that row, counted from its heading."""
    page.wait_for_function(
        "row => document.activeElement.closest('tr')?.getAttribute('aria-rowindex') == row", arg=row
    )


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["projector", "phone"])
def test_the_button_for_the_next_step_never_moves_and_no_formula_is_cut(visit, size):
    page, boxes = visit("/lesson"), []
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for step in (1, 2):
        page.goto(re.sub(r"\?.*|$", f"?step={step}", page.url, count=1))
        button = page.locator(".st-key-next-step button")
        button.wait_for()
        formulas = 0 if step == 1 else 4
        if formulas:
            page.locator(".stMain .katex").nth(formulas - 1).wait_for()
        settle(page)
        boxes.append(button.bounding_box())
        wider = """() => [...document.querySelectorAll(".stMain .katex")].filter((formula) =>
            formula.getBoundingClientRect().right > formula.closest(".stMarkdown").getBoundingClientRect().right + 1
            || formula.getBoundingClientRect().right > innerWidth).length"""
        assert page.evaluate(wider) == 0
        assert page.locator(".stMain .katex").count() == formulas
    if size[1] == 720:
        assert boxes[0] == boxes[1]


def test_back_undoes_one_step_at_a_time(visit):
    page = shown(visit("/image_sets"))
    choose(page, "set", "Digits — ")
    page.get_by_role("heading", name="Image 0000").wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    page.locator(".st-key-train button").wait_for()
    choose(page, "query", "5 — ")
    page.wait_for_url(re.compile("query=5"))
    page.go_back()
    page.wait_for_function("document.querySelector('.st-key-widget-query input').value.startsWith('0 — ')")
    page.go_back()
    page.locator(".tile").first.wait_for()
    assert urlsplit(page.url).path == "/image_sets"
