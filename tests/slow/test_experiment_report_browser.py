"""The report of an experiment with hostile names, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

from hostile_set import SCRIPT, experiment_settings, fill, run_here

from ranking.datasets import Thumbnails
from ranking.reports.differences import differences
from ranking.reports.figures import scripts
from ranking.reports.findings import Findings
from ranking.reports.report import report_html
from ranking.storage.store import Store


def test_a_report_in_a_browser_executes_no_injected_script_and_sends_no_request(browser, tmp_path):
    store = Store(tmp_path / "home")
    images = fill(store.home, tmp_path / "set")
    run_here(store, experiment_settings(images))
    findings = Findings.at_home(store, experiment_settings(images))
    file = tmp_path / "report.html"
    file.write_text(
        report_html(findings, differences(findings), Thumbnails(findings.images.folder), f"mine {SCRIPT}"),
        "utf-8",
    )
    page = browser.new_page(viewport={"width": 390, "height": 844})
    trouble: list[str] = []
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("console", lambda message: trouble.append(message.text))
    page.on(
        "request", lambda request: request.url.startswith(("data:", "file:")) or trouble.append(request.url)
    )
    page.goto(file.as_uri())
    assert page.evaluate("[...document.scripts].map((script) => script.textContent)") == list(scripts())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("h1").inner_text() == f"mine {SCRIPT}"
    shown_ones = page.locator("details[open] .tile svg")
    assert shown_ones.count() == 2 * 2 * 8
    assert min(box["width"] for box in [one.bounding_box() for one in shown_ones.all()]) > 40
    with page.expect_download() as download:
        page.get_by_text("Save protocol.json").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8"))["set"] == images.key
    assert trouble == []
    page.close()
