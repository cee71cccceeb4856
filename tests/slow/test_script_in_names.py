"""A ZIP file whose classes, criteria, groups, files and own name are scripts: nothing of them runs, on any page or in
any file that is taken along."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from archives import packed
from browsing import MILLISECONDS, Page, Server, settle
from filled_home import train_settings
from hostile_set import CLASSES, PICTURES, experiment_settings
from hostile_set import run_here as experiment
from label_home import train_labels_here
from order_home import train_orders_here
from training_runs import finished as train
from walking import bring, shown

from pages.parts.app import menu
from ranking.core import ImageSet
from ranking.storage.store import Store


def script(what: str) -> str:
    """What would run and tell `what`, out of an attribute and by itself; short enough to be kept whole."""
    return f"\"><img src=x onerror=alert('{what}')><script>top.ran=1</script>"


def in_a_path(what: str) -> str:
    """The same without a slash, from which on it would be another file's name."""
    return script(what).partition("<script>")[0]


RED, BLUE = f"red {script('class')}", "blue [x](javascript:alert('link')) <svg onload=alert('svg')>"
TAGS = tuple(f"tag {number} {script('tag')}" for number in range(3))
CRITERION, NAME = f"year {script('criterion')}", script("name")
TITLE = "photographs <img src=x onerror=alert('title')>"
QUERY = re.compile(r"^red \"><img")


def hostile_zip() -> bytes:
    """A table of forty patches and one broken file; every fourth is for the test, eight make a group."""
    rows = [["image", "label", "group", "split", CRITERION]]
    files: dict[str, bytes] = {f"{in_a_path('file')} broken.png": b"no image"}
    for number, patch in enumerate(PICTURES.records()):
        name, [class_name] = f"{in_a_path('file')} {number:02}.png", patch.boxes[0].classes
        labels = dict.fromkeys((RED if class_name == CLASSES[0] else BLUE, TAGS[number % 3], TAGS[0]))
        group, split = f"{script('group')} {number // 8}", "test" if patch.test else "train"
        rows.append([name, "; ".join(labels), group, split, str(1920 + number)])
        files[name] = patch.data
    table = io.StringIO()
    csv.writer(table).writerows([*rows, [f"{in_a_path('file')} broken.png", RED, "", "train", "1950"]])
    return packed({"table.csv": table.getvalue().encode(), **files})


class Nothing:
    """What a page must not do because of a name; `check` looks at it as it is now."""

    def __init__(self, page: Page) -> None:
        self.page, self.heard = page, list[str]()
        page.on("dialog", self._hear)

    def _hear(self, dialog: Any) -> None:
        self.heard.append(dialog.message)
        dialog.dismiss()

    def check(self) -> None:
        assert self.heard == [], self.page.url
        assert self.page.evaluate("() => window.ran") is None, self.page.url
        assert self.page.evaluate(ALIVE) == [], self.page.url


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
        'img[src="x"], [onerror], [onload], [onmouseover], a[href^="javascript:"]')]);
    const told = trees.flatMap((tree) => [...tree.querySelectorAll("script")])
        .filter((one) => one.textContent.startsWith("top.ran="));
    return [...found, ...told].map((one) => one.outerHTML.slice(0, 200));"""
)
# All that is written on a page, also in components' own trees and in boxes.
WORDS = (
    TREES
    % """
    return trees.flatMap((tree) => [tree === document ? document.body.innerText : tree.textContent,
        ...[...tree.querySelectorAll("input")].map((one) => one.value)]).join(" ");"""
)


@pytest.fixture(scope="module")
def page_of(browser: Any, server: Server) -> Iterator[Any]:
    """Pages of one browser tab's life each, which outlive a test."""
    contexts = []

    def open_it(path: str) -> Page:
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True))
        page = contexts[-1].new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto(server.url + path)
        return page

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def imported(page_of: Any, server: Server) -> ImageSet:
    """The set as the page imports it; what the page shows on the way is looked at."""
    page = page_of("/image_sets")
    nothing = Nothing(page)
    bring(shown(page), hostile_zip(), f"{TITLE}.zip")
    button = page.locator(".st-key-add-set button")
    button.wait_for()
    look_around(page, nothing)
    button.click()
    page.get_by_role("button", name="Undo").wait_for()
    look_around(page, nothing)
    store = Store(server.home)
    [row] = [row for row in store.sets.rows() if row.title.startswith("photographs")]
    return store.sets.get(row.key)


@pytest.fixture(scope="module")
def runs(imported: ImageSet, server: Server) -> dict[str, str]:
    """Ids of what was done with it, by kind."""
    store, key = Store(server.home), imported.key
    first = train(store, train_settings(key, red(imported), "AP-SVM", C=1.0))
    second = train(store, train_settings(key, red(imported), "HOB-SVM", C=1.0))
    store.runs.rename(first.id, NAME)
    label = train_labels_here(store, key, "Independent p@k")
    order = train_orders_here(store, key, "RankSVM", criterion=imported.criteria[0])
    grids = {"C": [1.0], "eta": [1.0]}
    compared = experiment(
        store, experiment_settings(imported, folds=2, grids=grids, queries=[red(imported)]), NAME
    )
    named = {"first": first, "second": second, "label": label, "order": order, "experiment": compared}
    return {name: run.id for name, run in named.items()}


def red(images: ImageSet) -> str:
    """The name of the class as the set has it: shortened, but no less a script."""
    [name] = [name for name in images.classes if QUERY.search(name)]
    return name


def look_around(page: Page, nothing: Nothing) -> None:
    """Wait for the page, have the pointer over its pictures, charts and tables, and its folded parts open."""
    settle(page)
    page.evaluate(
        "() => document.querySelectorAll('details:not([open]) > summary').forEach((one) => one.click())"
    )
    page.wait_for_timeout(300)
    settle(page)
    for what in (".tile", ".js-plotly-plot", "[data-testid=stDataFrame]", "[data-testid=stMetric]"):
        for one in page.locator(what).all()[:3]:
            if one.is_visible():
                one.hover(force=True)
                page.wait_for_timeout(60)
    nothing.check()


# What every page is asked to show: each takes what it knows of.
ALL = "&".join(
    (
        *("set={set}", "run={second}", "compared={first},{second}", "experiment={experiment}"),
        *(
            "experiment_set={set}",
            "label_run={label}",
            "label_set={set}",
            "order_run={order}",
            "order_set={set}",
        ),
    )
)
PAGES = {name: f"/{'' if name == next(iter(menu.PAGES)) else name}?{ALL}" for name in menu.PAGES}
PAGES["own order"] = f"{PAGES['orders']}&order_view=own"
PAGES["graph"] = f"{PAGES['neighbours']}&neighbours_view=graph"
# Pages that show a name of this set for certain: lessons, for example, have sets of their own.
NAMED = (
    *("image_sets", "train", "ranked_images", "compare", "graph", "experiments", "label_questions"),
    *("label_interactions", "orders", "own order", "neighbours"),
)


@pytest.mark.parametrize("which", PAGES)
def test_nothing_of_a_name_runs_on_a_page(imported, runs, visit, which):
    page = visit(PAGES[which].format(set=imported.key, **runs))
    nothing = Nothing(page)
    page.locator("h1").first.wait_for()
    look_around(page, nothing)
    if which in NAMED:  # as it is written
        page.wait_for_function(f"() => ({WORDS})().includes('onerror=')")
    nothing.check()


@pytest.mark.parametrize("which", ["compare", "experiments"])
def test_nothing_of_a_name_runs_in_a_file(imported, runs, visit, browser, tmp_path, which):
    """Also where a browser knows nothing of the policy that a report has at its top."""
    page = visit(PAGES[which].format(set=imported.key, **runs))
    page.get_by_test_id("stDownloadButton").first.wait_for(state="attached")
    look_around(page, Nothing(page))
    files = []
    for button in page.get_by_test_id("stDownloadButton").filter(has_text=re.compile("HTML|[Rr]eport")).all():
        with page.expect_download() as download:
            button.locator("button").click()
        name = download.value.suggested_filename
        if name.endswith(".html"):
            download.value.save_as(tmp_path / name)
            files.append(tmp_path / name)
    assert files
    for file in files:
        text = file.read_text()
        assert "onerror=" in text, "a name is in the file"
        file.with_suffix(".free.html").write_text(re.sub(r"<meta http-equiv[^>]*>", "", text))
        for one in (file, file.with_suffix(".free.html")):
            context = browser.new_context()
            opened = context.new_page()
            nothing = Nothing(opened)
            opened.goto(one.as_uri())
            opened.wait_for_timeout(200)
            nothing.check()
            context.close()


def test_it_would_be_noticed(browser):
    page = browser.new_page()
    nothing = Nothing(page)
    page.set_content(f"<p>{RED}</p>")
    page.wait_for_timeout(300)
    assert set(nothing.heard) == {"class"}
    with pytest.raises(AssertionError):
        nothing.check()
    page.close()
