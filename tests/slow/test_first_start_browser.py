"""The first start, in a real browser: nothing is there, and the bundled sets are made while one looks around."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import MILLISECONDS, Server, choose, metric, train
from walking import served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose home is empty."""
    with served(tmp_path_factory.mktemp("first")) as server:
        yield server


def test_from_an_empty_home_to_a_ranking(visit):
    page = visit("/")
    page.get_by_role("button", name="Why optimise AP?").click()
    page.get_by_text("One query is an example, not a proof.").first.wait_for()
    page.get_by_role("link", name="Data").click()
    page.locator(".tile").first.wait_for()
    choose(page, "set", "Digits — ", milliseconds=10 * MILLISECONDS)
    page.get_by_role("heading", name="Image 0000").wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    train(page, "3 — ")
    page.get_by_role("button", name="Look at the ranked images").click()
    page.locator(".tile[data-mark=relevant]").first.wait_for()
    assert page.get_by_role("listbox", name="Ranked").get_by_role("option").count() == 200
    assert metric(page, "AP") > 0.9
