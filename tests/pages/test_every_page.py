"""Every page at the first visit, without data, with trained models, and with an invalid URL."""

from __future__ import annotations

import pytest
from test_imports import ROOT, imported

from pages.parts.app import frame, home, keys, menu
from pages.parts.app.frame import escaped
from pages.parts.studies.study_page import StudyPage
from pages.parts.training import run_steps

HOSTILE = "<script>alert(1)</script>](x) '\"; drop table run; ..\\../\x00 2e999"
SAMPLES = ("laboratory", keys.RUN, "neighbours")
OBJECTS = ("objects_here", keys.OBJECT_RUN, "several")
LABELS, ORDERS = ("labels_here", keys.LABEL_RUN, "own"), ("orders_here", keys.ORDER_RUN, "own")
# The home that has something to show, and what names it in the URL, by a folder of parts that a page imports.
SHOWN = {"labelling": LABELS, "sequences": ORDERS, "objects": OBJECTS}


def shown_on(page):
    modules = imported(ROOT / "pages" / f"{page}.py", ROOT)
    folders = [name.removeprefix("pages.parts.").partition(".")[0] for name in modules]
    return next((SHOWN[folder] for folder in folders if folder in SHOWN), SAMPLES)


def has_menu(app):
    return set(menu.PLACES) <= {link.proto.label.strip("*") for link in app.get("page_link")}


@pytest.fixture
def address_of_something(request, page):
    """The home with what this page shows, and the address that names it."""
    home, key, run = shown_on(page)
    return {key: getattr(request.getfixturevalue(home), run)}


def test_pages_and_parameters_were_found():
    assert len(menu.PAGES) >= 24
    assert len(keys.URL_PARAMETERS) >= 90
    assert set(map(shown_on, menu.PAGES)) == {SAMPLES, *SHOWN.values()}


@pytest.mark.parametrize("page", menu.PAGES)
def test_a_first_visit_shows_a_finished_example_on_every_page(
    page, fresh_home, started, open_page, monkeypatch
):
    """A page of a new home shows a finished example, and nothing that has to be started first."""
    empty = []
    for module, name in ((frame, "show_empty_state"), (run_steps, "train_first")):
        state = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, state=state, **k: (empty.append(a), state(*a, **k)))
    lay_out = StudyPage.lay_out
    monkeypatch.setattr(
        StudyPage, "lay_out", lambda *a, **k: (empty.extend([] if a[1] else ["study"]), lay_out(*a, **k))
    )
    app = open_page(page)
    assert has_menu(app)
    assert not app.error
    assert not app.warning
    assert not empty
    assert not started
    # which lists them
    if page != "lessons":
        assert app.get("plotly_chart") or len(app.get("bidi_component")) > 1, (
            "more than the style of the frame"
        )


@pytest.mark.parametrize("page", menu.PAGES)
def test_every_page_opens_without_data(page, empty_home, started, open_page):
    app = open_page(page)
    assert has_menu(app)
    assert {escaped(home.NO_EXAMPLES)} >= {error.value for error in app.error}


@pytest.mark.parametrize("page", menu.PAGES)
def test_every_page_opens_with_trained_models_without_a_message(
    page, address_of_something, started, open_page
):
    app = open_page(page, **address_of_something)
    assert has_menu(app)
    assert not app.error
    complaints, _ = app.session_state[keys.COMPLAINED]
    assert not complaints


@pytest.mark.parametrize("page", menu.PAGES)
def test_no_page_shows_markup_of_an_invalid_url(page, address_of_something, started, open_page):
    app = open_page(page, **dict.fromkeys(keys.URL_PARAMETERS - {keys.WORKSPACE}, HOSTILE))
    assert has_menu(app)
    assert "<script>" not in "".join(element.value for element in (*app.warning, *app.error))
