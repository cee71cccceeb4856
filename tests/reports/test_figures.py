"""Figures as data of a file that draws them, and captions as HTML: nothing comes alive in them."""

from __future__ import annotations

import json

import plotly.graph_objects as go
from html_file import checked_html

from ranking.reports.figures import chart
from ranking.reports.page import page, section
from ranking.reports.prose import escaped, inline

SCRIPT = "<script>alert(1)</script>"


def test_a_figure_is_plotted_from_data_and_no_name_in_it_is_markup():
    figure = go.Figure().add_scatter(x=[1, 2, 4], y=[0.0, 1.0, 0.5], name=f"'\"{SCRIPT}")
    file = checked_html(page("A", [section("Measures", chart(figure, SCRIPT, 300))]))
    [shown] = [one for one in file.all("div") if one.get("class") == "chart"]
    assert shown["aria-label"] == SCRIPT
    figure_data = json.loads(str(shown["data-figure"]))
    assert figure_data["data"] == [
        {"type": "scatter", "x": [1, 2, 4], "y": [0.0, 1.0, 0.5], "name": f"'\"{SCRIPT}"}
    ]
    assert figure_data["layout"]["height"] == 300


def test_untrusted_names_are_text_in_captions():
    for html in (inline(SCRIPT), inline(escaped(SCRIPT))):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
    assert inline(escaped("a | *b* $c$ `d`")) == "a | *b* $c$ `d`"
    for alive in ("[x](javascript:alert(1))", "![x](http://y)", "<http://y>", "http://y", "<b onclick=x>"):
        assert "<" not in inline(alive), alive


def test_captions_are_what_markdown_would_make_of_them():
    assert inline("**Notice** *that*") == "<strong>Notice</strong> <em>that</em>"
    assert inline("3 ** 4") == "3 ** 4", "one that is never closed is what it is"
