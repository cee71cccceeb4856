"""Features that are dropped on the page, in a real browser, to a training of AP-SVM on them."""

from __future__ import annotations

import base64
import io

import numpy as np
from browsing import Page, Server, Visit, settle
from test_bringing_browser import DROP

from ranking.datasets import bundled_names
from ranking.store import Store


def drop(page: Page, data: bytes, name: str) -> None:
    zone = page.locator(".stFileUploader", has_text="Drop features here").get_by_test_id(
        "stFileUploaderDropzone"
    )
    zone.wait_for()
    settle(page)
    zone.evaluate(
        DROP.replace("([data, name]) =>", "(zone, [data, name]) =>").replace(
            'const zone = document.querySelector("[data-testid=stFileUploaderDropzone]");', ""
        ),
        [base64.b64encode(data).decode(), name],
    )


def test_an_array_is_dropped_looked_at_kept_and_trained_with(visit: Visit, server: Server) -> None:
    page = visit("/train")
    page.get_by_role("link", name="Bring features of your own").click()
    page.get_by_text("Drop features here").wait_for()
    store = Store(server.home)
    [figures] = [row for row in store.image_sets() if row.source == bundled_names()[0]]
    images = store.image_set(figures.key)
    rows = np.hstack([np.random.default_rng(0).normal(size=(len(images), 16)), 6.0 * images.labels])
    stream = io.BytesIO()
    np.save(stream, rows.astype(np.float32))
    drop(page, stream.getvalue(), "posture.npy")
    page.get_by_role("heading", name="posture.npy: one array of NumPy").wait_for()
    page.get_by_text("have a nearest neighbour that shows the same").wait_for()
    page.get_by_text(f"{len(images):,} of {len(images):,}", exact=True).wait_for()
    assert store.vectors_of(images.key) == []
    page.get_by_role("button", name="Keep and train with them").click()
    page.get_by_role("heading", name="Train", exact=True).wait_for()
    [told] = store.vectors_of(images.key)
    page.get_by_role("button", name=f"posture ({told.size} own)").wait_for()
    settle(page)
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Look at the ranked images").wait_for()
    [run] = store.runs("train")
    assert run.settings["features"] == [["Own vectors", {"vectors": told.name}]]
    assert run.settings["method"] == "AP-SVM"
    assert run.result["test"]["AP"] > 0.95
    assert not list(server.home.rglob("brought.zip")), "the copy has gone"
