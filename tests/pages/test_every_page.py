"""Every page once with nothing to show, once with trained models, once with an address that a stranger made up."""

from __future__ import annotations

import inspect
import re

import pytest

from pages.parts import frame, keys

ADDRESS = re.findall(
    r'= "([\w.]+)"', inspect.getsource(keys).partition("# The address")[2].partition("\n\n")[0]
)
HOSTILE = "<script>alert(1)</script>](x) '\"; drop table run; ..\\../\x00 2e999"
OF_LABELS = {"label_questions", "label_interactions", "ask_simulation", "labels_lesson"}
OF_ORDERS = {"orders", "search_tree", "lengths", "pairs_lesson"}


def has_menu(app):
    return set(frame.PAGES.values()) <= {link.proto.label for link in app.get("page_link")}


@pytest.fixture
def address_of_something(request, page):
    """The home with what this page shows, and the address that names it."""
    if page in OF_LABELS:
        labels = request.getfixturevalue("labels_here")
        return {keys.LABEL_RUN: labels.own}
    if page in OF_ORDERS:
        orders = request.getfixturevalue("orders_here")
        return {keys.ORDER_RUN: orders.own}
    laboratory = request.getfixturevalue("laboratory")
    return {keys.RUN: laboratory.neighbours}


@pytest.mark.parametrize("page", frame.PAGES)
def test_empty(page, empty_home, started, open_page):
    app = open_page(page)
    assert not app.exception
    assert has_menu(app)
    assert not app.error


@pytest.mark.parametrize("page", frame.PAGES)
def test_filled(page, address_of_something, started, open_page):
    app = open_page(page, **address_of_something)
    assert not app.exception
    assert has_menu(app)
    assert not app.error
    complaints, _ = app.session_state[keys.COMPLAINED]
    assert not complaints


@pytest.mark.parametrize("page", frame.PAGES)
def test_hostile_address(page, address_of_something, started, open_page):
    app = open_page(page, **dict.fromkeys(set(ADDRESS) - {keys.ROOM}, HOSTILE))
    assert not app.exception
    assert has_menu(app)
    assert "<script>" not in "".join(element.value for element in (*app.warning, *app.error))
