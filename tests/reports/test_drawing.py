"""Charts as SVG and captions as HTML: drawn to scale, and nothing comes alive in them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from refusals import refused

from ranking.reports.figures import axis_of, chart_svg, legend
from ranking.reports.prose import escaped, inline

SCRIPT = "<script>alert(1)</script>"
LOOK = {"color": "#112233", "dash": "dash", "width": 4}
MARKER = {"symbol": "circle", "size": 10, "color": "#112233"}
LINE = {
    "type": "scatter", "mode": "lines+markers", "x": [1, 2, 4], "y": [0.0, 1.0, 0.5], "name": "line", "line": LOOK,
    "marker": MARKER,
}  # fmt: skip
SQUARE: dict[str, Any] = {"xaxis": {"range": [0, 4]}, "yaxis": {"range": [0, 1]}, "height": 300}


def numbers(pattern: str, svg: str) -> list[tuple[float, ...]]:
    """The numbers that stand where `pattern` has an N, of each match."""
    matches = re.finditer(pattern.replace("N", r"([\d.]+)"), svg)
    return [tuple(map(float, match.groups())) for match in matches]


BOX = '<rect x="N" y="N" width="N" height="N"'


def test_a_line_is_to_scale():
    svg = chart_svg({"data": [LINE], "layout": SQUARE}, "a line")
    [(x, y, next_x, next_y)] = numbers('<polyline points="N,N N,N', svg)
    assert next_x - x == pytest.approx((640 - 14 - 74) / 4, abs=0.2)
    assert y - next_y == pytest.approx(300 - 52 - 22, abs=0.2)
    assert 'stroke-dasharray="9 5"' in svg
    assert svg.count("<circle") == 3
    for symbol in ("square", "diamond", "triangle-up", "x"):
        marked = chart_svg(
            {"data": [{**LINE, "marker": {**MARKER, "symbol": symbol}}], "layout": SQUARE}, "marks"
        )
        assert marked.count("<polygon") == 3, symbol


def test_a_line_in_steps_goes_up_first():
    stepped = {**LINE, "mode": "lines", "line": {**LOOK, "shape": "vh"}}
    svg = chart_svg({"data": [stepped], "layout": SQUARE}, "steps")
    [(x0, y0, x1, y1, x2, y2)] = numbers('<polyline points="N,N N,N N,N', svg)
    assert (x1, y2) == (x0, y1)
    assert x2 > x1
    assert y1 < y0


def test_a_legend_has_the_lines_that_want_an_entry():
    svg = legend({"data": [LINE, {**LINE, "showlegend": False}, {**LINE, "name": "a &lt; b"}]})
    assert svg.count('class="entry"') == 2
    assert "a &lt; b" in svg
    assert "&amp;" not in svg


def test_axes_are_as_long_as_their_values_or_their_range():
    axis = axis_of({"type": "log", "tickvals": [1, 100], "ticktext": ["1", "100"]}, [1, 1000], 0.0, 112.0)
    assert [(round(at, 6), text) for at, text in axis.ticks()] == [(6.0, "1"), (72.666667, "100")]
    axis = axis_of({}, [-1.0, 1.0], 0.0, 224.0)
    assert [text for _, text in axis.ticks()] == ["−1", "−0.5", "0", "0.5", "1"]
    assert axis.at([0.0]).tolist() == [112.0]
    assert axis_of({}, [3.0], 0.0, 1.0).at([3.0]).tolist() == [0.5], "one value stands in the middle"


def bars(**changes: Any) -> dict[str, Any]:
    error = {"array": [1.0, math.nan], "arrayminus": [3.0, math.nan]}
    marker = {"color": "#112233", "pattern": {"shape": ""}}
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [2.0, -4.0],
        "y": [0, 1],
        "error_x": error,
        "marker": marker,
    }
    return {**trace, "name": "bars", **changes}


def test_lying_bars_have_whiskers_from_end_to_end_and_a_row_for_each_name():
    layout = {
        "height": 700,
        "xaxis": {"range": [-5, 5]},
        "yaxis": {"range": [1.5, -0.5], "tickvals": [0, 1], "ticktext": ["a name of twenty", "b"]},
        "shapes": [
            {"x0": 0, "x1": 0, "yref": "y domain", "y0": 0, "y1": 1, "line": {"color": "red", "width": 2}}
        ],
    }
    svg = chart_svg({"data": [bars()], "layout": layout}, "bars", width=480.0)
    assert 'viewBox="0 0 480 700"' in svg, "rows keep their height"
    left, right = 9.0 * len("a name of twenty") + 8.0, 480.0 - 14.0
    [(low, high, y, _)] = numbers('<line x1="N" x2="N" y1="N" y2="N" class="whisker"', svg)
    assert low == pytest.approx(left + (-1.0 + 5.0) / 10.0 * (right - left), abs=0.1)
    assert high == pytest.approx(left + (3.0 + 5.0) / 10.0 * (right - left), abs=0.1)
    places, tops, widths, heights = zip(*numbers(BOX, svg), strict=True)
    [(zero, _, foot, head)] = numbers('<line x1="N" x2="N" y1="N" y2="N" stroke="red"', svg)
    assert (foot, head) == (700 - 52, 22)
    assert zero == pytest.approx((left + right) / 2, abs=0.1)
    assert places[0] == pytest.approx(zero, abs=0.1)
    assert places[1] + widths[1] == pytest.approx(zero, abs=0.1)
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.1)
    assert y == pytest.approx(tops[0] + heights[0] / 2, abs=0.1)
    assert 22.0 < tops[0] < tops[1], "all of the first bar is in the frame, above the second"
    two = chart_svg(
        {"data": [bars(), bars(marker={"color": "red", "pattern": {"shape": "/"}})], "layout": layout}, ""
    )
    halves = numbers(BOX, two)
    assert halves[2][1] == pytest.approx(halves[0][1] + halves[0][3], abs=0.1), "beside each other"
    assert two.count('fill-opacity="0.45"') == 2


def test_what_leaves_the_range_of_an_axis_is_cut_off():
    svg = chart_svg({"data": [{**LINE, "y": [0.5, 3.0, 3.0]}], "layout": SQUARE}, "a line")
    [(_, top, _, height)] = numbers('<svg viewBox="[^"]*" x="N" y="N" width="N" height="N"', svg)
    assert top == pytest.approx(22, abs=8)
    assert top + height == pytest.approx(300 - 52, abs=8)


def test_unsupported_charts_are_refused_by_name():
    for trace in ({"type": "pie"}, {"type": "bar", "x": ["a"], "y": [1.0]}):
        with refused("chart", trace["type"]):
            chart_svg({"data": [trace], "layout": {}}, "")


def test_untrusted_names_are_text_in_charts_and_captions():
    written = SCRIPT.replace("<", "&lt;")
    layout = {**SQUARE, "annotations": [{"x": 1, "y": 1, "text": written}]}
    layout["yaxis"] = {**SQUARE["yaxis"], "tickvals": [0], "ticktext": [written], "title": {"text": SCRIPT}}
    figure = {"data": [{**LINE, "name": written}], "layout": layout}
    for svg in (chart_svg(figure, SCRIPT), legend(figure), inline(SCRIPT), inline(escaped(SCRIPT))):
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg
    assert inline(escaped("a | *b* $c$ `d`")) == "a | *b* $c$ `d`"
    for alive in ("[x](javascript:alert(1))", "![x](http://y)", "<http://y>", "http://y", "<b onclick=x>"):
        assert "<" not in inline(alive), alive


def test_captions_are_what_markdown_would_make_of_them():
    assert inline("**Notice** *that*") == "<strong>Notice</strong> <em>that</em>"
    assert inline("3 ** 4") == "3 ** 4", "one that is never closed is what it is"
