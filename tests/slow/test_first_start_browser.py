"""The first start, in a real browser: examples are there, and one trains what one likes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browsing import Server, metric, train
from walking import served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose home is empty."""
    with served(tmp_path_factory.mktemp("first")) as server:
        yield server


def test_from_a_new_home_to_a_ranking(visit):
    page = visit("/")
    page.get_by_role("button", name="Why optimise AP?").click()
    page.locator(".tile").first.wait_for()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("heading", name="Image scene-00000").wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    train(page, "walking — ")
    page.get_by_role("heading", name="AP-SVM on “walking”").wait_for()
    page.get_by_text("Converged.").wait_for()
    page.get_by_role("button", name="Show the ranking").click()
    ranked = page.get_by_role("listbox", name=re.compile("^Ranked")).get_by_role("option")
    ranked.first.wait_for()
    assert ranked.count() == 200
    assert metric(page, "AP") > 0.2
