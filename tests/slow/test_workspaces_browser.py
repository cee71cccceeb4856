"""Two visitors of one server in real browsers, each in a workspace of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import Page, Server
from walking import served, shown

from ranking.storage.store import Store
from ranking.storage.workspaces import all_workspaces


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that has workspaces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKING_WORKSPACES", "on")
        with served(tmp_path_factory.mktemp("workspaces")) as server:
            yield server


def name_in(page: Page) -> str:
    [named] = parse_qs(urlsplit(page.url).query)["workspace"]
    return named


def test_two_visitors_have_workspaces_and_links_and_bookmarks_lead_back(visit, server):
    anna, bert = visit("/"), visit("/")
    for page in (anna, bert):
        page.get_by_role("button", name="Link to your workspace").click()
        page.get_by_text(f"{server.url}/?workspace={name_in(page)}").wait_for()
        page.keyboard.press("Escape")
    assert name_in(anna) != name_in(bert)

    anna.get_by_role("link", name="Train", exact=True).click()
    # of an example, which the page opens on
    anna.wait_for_url(re.compile("run="))
    example = anna.url
    shown(anna, ".st-key-train button").locator(".st-key-train button").click()
    anna.wait_for_url(lambda url: "run=" in url and url != example)
    anna.get_by_text("Converged.").first.wait_for()
    name = name_in(anna)
    [run] = Store(Path(server.home) / "workspaces" / name).runs.all_own("train")
    assert f"run={run.id}" in anna.url

    address = urlsplit(anna.url)
    anna.reload()
    anna.get_by_text("Converged.").first.wait_for()
    stolen = visit(f"{address.path}?{address.query}".replace(name, name_in(bert)))
    stolen.get_by_text(f"'{run.id}'").first.wait_for()
    again = visit(f"/?workspace={name}")
    again.get_by_role("link", name="Train", exact=True).click()
    again.get_by_text("Training runs", exact=True).wait_for()
    assert name_in(again) == name

    assert {row.name for row in all_workspaces(Path(server.home))} == {name, name_in(bert)}
