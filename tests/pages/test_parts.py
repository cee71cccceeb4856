"""What pages are made of: addresses, forms, charts, grids, and rules that all their files keep."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.app import address, colours, file_names, forms, frame, keys, menu
from pages.parts.charts import plots
from pages.parts.components import grid
from pages.parts.components.tile import COLOURS, Tile, style
from pages.parts.training import training_charts
from ranking import method_class, method_names, metrics
from ranking.core.settings import settings_of
from ranking.datasets import source_class, source_names
from ranking.features import feature_class, feature_names

PARTS = Path(frame.__file__).parents[1]
PAGES = PARTS.parent
PLUGINS = [
    *(method_class(name) for name in method_names()),
    *(feature_class(name) for name in feature_names()),
    *(source_class(name) for name in source_names()),
]


@pytest.fixture
def plotted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that charts show."""
    figures: list[Any] = []
    for module in (plots, training_charts):
        monkeypatch.setattr(module, "show", lambda figure, *_, **__: figures.append(figure))
    return figures


def test_the_examples_run():
    with_examples = [path for path in PARTS.rglob("*.py") if ">>>" in path.read_text("utf-8")]
    assert len(with_examples) >= 15
    for path in with_examples:
        name = ".".join(path.relative_to(PAGES.parent).with_suffix("").parts)
        results = doctest.testmod(importlib.import_module(name))
        assert results.attempted, path
        assert not results.failed, path


def test_no_title_makes_a_file_name_that_a_system_refuses():
    for title in ("../../etc/passwd", "a\nb\r\0c", 'CON: <x>|?*"', "語" * 99, "  ", "-" * 50):
        name = file_names.file_name("answers", title, "0123456789", "csv")
        assert re.fullmatch(r"answers-(([^\W_]+-)*[^\W_]+-)?01234567\.csv", name)
        assert len(name) <= len("answers--01234567.csv") + file_names.LONGEST


def test_every_setting_of_every_plugin_survives_the_url():
    items = [item for plugin in PLUGINS for item in settings_of(plugin)]
    assert len(items) >= 100
    for item in items:
        for value in (item.default, *item.choices):
            assert forms.parse(item, str(value)) == value
        if item.kind in (int, float) and not item.choices:
            for beyond in ("many", "nan", "inf", "-1e300"):
                with pytest.raises(ValueError, match="expected"):
                    forms.parse(item, beyond)


def forms_of_all_plugins():
    import streamlit as st
    from test_parts import PLUGINS

    from pages.parts.app import forms

    st.session_state["made"] = [
        forms.settings_form("method", [(plugin.name, plugin)], "More")[plugin.name] for plugin in PLUGINS
    ]


def test_every_plugin_has_a_form_that_shows_its_defaults():
    app = AppTest.from_function(forms_of_all_plugins, default_timeout=120).run()
    of_each = [settings_of(plugin) for plugin in PLUGINS]
    assert app.session_state["made"] == [{item.name: item.default for item in items} for items in of_each]
    items = [item for items in of_each for item in items]
    widgets = (*app.selectbox, *app.toggle, *app.text_input, *app.number_input, *app.select_slider)
    assert sorted(widget.label for widget in widgets) == sorted(item.label for item in items)
    first = [item for item in items if not item.advanced]
    formulas = [f"${item.formula}$" for item in first if item.formula]
    assert [element.value for element in app.markdown] == formulas
    for item in items:
        helps = {widget.help for widget in widgets if widget.label == item.label}
        [help] = [help for help in helps if frame.escaped(item.help) in help]
        assert (f"${item.formula}$" in help) == bool(item.advanced and item.formula)


def test_no_label_needs_escaping():
    """Streamlit reads labels as markdown and hands them to screen readers as they are."""
    for plugin in PLUGINS:
        for item in settings_of(plugin):
            assert not re.search(r"[\\`*_\[\]<>$~]|:\w+:", f"{plugin.name}: {item.label}")


def test_parsers_read_what_is_allowed_and_refuse_the_rest():
    whole, positive = address.number(int, 1, 5), address.number(float, 0, None)
    one, some = address.one_of(("a", "b")), address.some_of(("a", "b", "c"))
    for parse, text, value in (
        (whole, "3", 3),
        (positive, "1e3", 1000.0),
        (one, "b", "b"),
        (some, "a,c", ["a", "c"]),
        (some, "", []),
    ):
        assert parse(text) == value
    for parse, text in (
        (whole, "6"),
        (whole, "3.5"),
        (positive, "-1"),
        (one, "c"),
        (some, "a,d"),
        (some, "b,b"),
    ):
        with pytest.raises(ValueError, match="expected"):
            parse(text)
    # twelve of many choices are listed
    with pytest.raises(ValueError, match="11, …"):
        address.one_of([str(number) for number in range(99)])("c")


def test_every_key_stands_for_one_thing():
    lines = re.findall(r"^([A-Z_, ]+) = (.*)$", Path(keys.__file__).read_text(), re.MULTILINE)
    names = [name for left, _ in lines for name in left.split(", ")]
    assert len(names) > 100
    assert len(names) == len(set(names))
    values = [value for name in names if isinstance(value := getattr(keys, name), str)]
    assert len(values) == len(set(values))


def test_a_run_drops_settings_of_every_plugin_and_nothing_else():
    for name, on, depends in (
        ("method.AP-SVM.C", keys.RUN, True),
        ("feature.HOG.side", keys.RUN, True),
        (keys.PAGE, keys.SPLIT, True),
        (keys.K, keys.RUN, False),
        ("method.AP-SVM.C", keys.SET, False),
    ):
        assert keys.depends(name, on) == depends, (name, on)


def test_long_lines_are_thinned_from_the_first_to_the_last_point():
    assert plots.thinned(range(5)) == [0, 1, 2, 3, 4]
    thin = plots.thinned(range(100_000))
    assert (len(thin), thin[0], thin[-1]) == (plots.MAX_POINTS, 0, 99_999)


def bounds(*pairs):
    names = ("iteration", "primal", "dual", "relative_gap")
    return [dict(zip(names, (number, *pair, 0.5), strict=True)) for number, pair in enumerate(pairs, start=1)]


def test_a_primal_that_falls_far_is_plotted_on_a_logarithmic_scale():
    for pairs, lowest in (
        ([(100.0, None), (50.0, -3.0), (1.0, 0.9)], pytest.approx(0.01)),
        # not far
        ([(19.0, 0.0), (1.0, 0.9)], None),
        # no bound
        ([(100.0, None), (1.0, None)], None),
        # nothing that a logarithm shows
        ([(100.0, -5.0), (1.0, 0.0)], None),
        ([(0.0, 0.0), (0.0, 0.0)], None),
    ):
        assert training_charts.lowest_bound(bounds(*pairs)) == lowest


def test_bounds_that_a_logarithmic_scale_cannot_show_are_left_out(plotted):
    far = bounds((100.0, None), (50.0, -3.0), (2.0, 1e-6), (1.0, 0.9))
    training_charts.training_curve(far, 1e-3, False, "far")
    assert plotted[0].layout.yaxis.type == "log"
    lines = {line.name: list(line.x) for line in plotted[0].data}
    assert lines["dual (lower bound)"] == [4]
    assert lines["primal (best so far)"] == [1, 2, 3, 4]


def test_a_grid_refuses_more_than_a_page():
    tiles = [Tile(str(number), "", "") for number in range(grid.PAGE_SIZE + 1)]
    with pytest.raises(ValueError, match="at most 200 tiles, got 201"):
        grid.image_grid(tiles, name=keys.SAMPLE, selected=None, label="")


def test_no_page_renders_html_of_its_own():
    files = list(PAGES.rglob("*.py"))
    assert len(files) >= 100
    for path in files:
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls}
        # style sheets; a ranking whose labels are escaped
        if path.name in ("menu.py", "label_ranking.py"):
            names -= {"html"}
        assert not {"html", "write"} & names, f"{path}: labels are hostile; show text, or use a component"
        assert not [word for call in calls for word in call.keywords if word.arg == "unsafe_allow_html"], path


def test_no_component_sets_markup():
    markup = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(")
    files = list(PAGES.rglob("*.js"))
    assert len(files) >= 5
    assert not [path for path in files if markup.search(path.read_text())]


def test_colours_stand_in_the_palette_alone():
    palette = {value.lower() for value in vars(colours).values() if str(value).startswith("#")}
    files = list(PAGES.rglob("*.css"))
    assert len(palette) >= 5
    assert len(files) >= 5
    for path in files:
        assert not palette & set(re.findall("#[0-9a-f]{6}", path.read_text().lower())), path


@pytest.mark.parametrize("kind", ["grid", "strip"])
def test_each_colour_that_a_style_names_is_given(kind):
    used = set(re.findall(r"var\(--(?!st-)([a-z-]+)\)", style(PARTS / "components" / kind / f"{kind}.css")))
    assert used - {"columns", "narrow"} <= set(COLOURS)
    assert {"relevant", "irrelevant-label"} <= used


@pytest.mark.parametrize(
    ("n", "share", "k"), [(60, 0.5, 10), (10_000, 0.002, 3), (10_000, 0.3, 200), (5, 0.5, 5)]
)
def test_the_area_below_the_plotted_curve_is_the_average_precision(n, share, k, plotted):
    rng = np.random.default_rng(0)
    relevance, scores = (rng.random(n) < share).astype(int), rng.normal(size=n)
    scores += relevance
    precision, recall, _ = metrics.precision_recall_curve(relevance, scores)
    plots.precision_recall(precision, recall, k, "curve")
    curve = plotted[0].data[0]
    assert len(curve.x) <= 2 * plots.MAX_POINTS + 3
    # each step is as high as where it ends
    assert curve.line.shape == "vh"
    area = np.sum(np.diff(np.asarray(curve.x)) * np.asarray(curve.y)[1:])
    assert area == pytest.approx(metrics.average_precision(relevance, scores))
    assert (recall[k - 1], precision[k - 1]) in set(zip(curve.x, curve.y, strict=True)), "k is on the line"


def test_a_page_begins_with_the_guard():
    """A first request of a server by a deep link runs the page alone."""
    # All that it does then is to show itself.
    assert len(menu.PAGES) >= 24
    for name in menu.PAGES:
        last = ast.parse((PAGES / f"{name}.py").read_text()).body[-1]
        assert isinstance(last, ast.Expr)
        assert ast.unparse(last).startswith(f"frame.show_page({name!r}, ")
