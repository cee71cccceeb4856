"""Scripts as names of classes, criterion, images and runs: no page that shows them executes one.

Exported files are tested in tests/reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from browsing import Page, settle
from filled_home import train_settings
from hostile_set import CLASSES, CRITERION, SCRIPT, TITLE, experiment_settings, fill
from hostile_set import run_here as experiment
from image_sets import Drawing, pictures
from label_home import train_labels_here
from order_home import train_orders_here
from training_runs import finished as train

from ranking.core import SourceBox
from ranking.datasets import build_image_set
from ranking.storage.store import Store

TREES = """() => {
    const trees = [document];
    for (const tree of trees)
        for (const one of tree.querySelectorAll("*")) if (one.shadowRoot) trees.push(one.shadowRoot);
    %s
}"""
# Elements that only a name could have made, also in components' own trees.
ALIVE = (
    TREES
    % """
    const found = trees.flatMap((tree) => [...tree.querySelectorAll(
        'img[src="x"], [onerror], [onload], a[href^="javascript:"]')]);
    const scripts = trees.flatMap((tree) => [...tree.querySelectorAll("script")])
        .filter((one) => one.textContent.startsWith("alert("));
    return [...found, ...scripts].map((one) => one.outerHTML.slice(0, 200));"""
)
# All that is written on a page, also in components' own trees and in boxes.
WORDS = (
    TREES
    % """
    return trees.flatMap((tree) => [tree === document ? document.body.innerText : tree.textContent,
        ...[...tree.querySelectorAll("input")].map((one) => one.value)]).join(" ");"""
)
PAGES = {
    "image_sets": "set={set}",
    "train": "run={second}",
    "ranked_images": "run={second}",
    "compare": "compared={first},{second}",
    "neighbours": "run={second}",
    "neighbours?neighbours_view=graph": "run={second}",
    "experiments": "experiment={experiment}",
    "interactive_labelling": "label_run={label}",
    "label_interactions": "label_run={label}",
    "sequences": "order_run={order}",
    "sequences?order_view=own": "order_run={order}",
}


def tagged(number: int, random: np.random.Generator) -> Drawing:
    """A patch of several labels."""
    tags = tuple(f"tag {tag} {SCRIPT}" for tag in range(8) if (number + tag) % 3)
    return f"{number:02} {SCRIPT}", random.uniform(0, 255, (8, 8, 3)), (SourceBox(None, tags),)


@pytest.fixture(scope="module")
def address(server: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The key of the set in the home of the server, and the ids of runs on it."""
    folder, store = tmp_path_factory.mktemp("hostile"), Store(server.home)
    images = fill(server.home, folder / "set")
    first, second = (
        train(store, train_settings(images.key, CLASSES[0], method, C=1.0), SCRIPT)
        for method in ("AP-SVM", "HOB-SVM")
    )
    build_image_set(pictures(TITLE, 24, tagged, turn=4), folder / "tags")
    label = train_labels_here(store, store.sets.add(folder / "tags", TITLE), "C-star p@k")
    order = train_orders_here(store, images.key, "RankSVM", criterion=CRITERION)
    compared = experiment(store, experiment_settings(images, folds=2, queries=CLASSES[:1]), SCRIPT)
    named = {"first": first, "second": second, "label": label, "order": order, "experiment": compared}
    return {"set": images.key, **{name: run.id for name, run in named.items()}}


def scripts_that_ran(page: Page, heard: list[str]) -> list[str]:
    return [*heard, *page.evaluate(ALIVE)]


@pytest.mark.parametrize("where", PAGES)
def test_no_page_executes_a_script_in_a_name(address, visit, where):
    """Also below the pointer, and in what is folded."""
    heard: list[str] = []
    page = visit("/")
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.goto(f"{page.url}{where}{'&' if '?' in where else '?'}{PAGES[where].format(**address)}")
    page.locator("h1").first.wait_for()
    settle(page)
    page.evaluate(
        "() => document.querySelectorAll('details:not([open]) > summary').forEach((one) => one.click())"
    )
    # as it is written
    page.wait_for_function(f"() => ({WORDS})().includes('onerror=')")
    settle(page)
    for what in (".tile", ".js-plotly-plot", "[data-testid=stDataFrame]", "[data-testid=stMetric]"):
        for one in page.locator(what).all()[:3]:
            if one.is_visible():
                one.hover(force=True)
                page.wait_for_timeout(60)
    assert scripts_that_ran(page, heard) == []


def test_an_executed_script_is_detected(browser):
    page, heard = browser.new_page(), list[str]()
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.set_content(f"<p>{CLASSES[0]}</p>")
    page.wait_for_timeout(300)
    assert heard == ["1", "1"]
    assert scripts_that_ran(page, [])
    page.close()
