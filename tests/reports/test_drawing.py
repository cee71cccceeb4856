"""Charts as SVG, formulas as MathML and captions as HTML: drawn to scale, and nothing comes alive in them."""

from __future__ import annotations

import math
import re

import pytest
from refusals import refused

from ranking.reports.axes import axis_of
from ranking.reports.figures import chart_svg, figure_svg
from ranking.reports.mathematics import formula
from ranking.reports.prose import escaped, prose

SCRIPT = "<script>alert(1)</script>"
LINE = {"type": "scatter", "mode": "lines+markers", "x": [1, 2, None, 4], "y": [0.0, 1.0, 0.5, 0.5]}
SQUARE = {"xaxis": {"range": [0, 4]}, "yaxis": {"range": [0, 1]}, "height": 300}


def numbers(pattern, drawn):
    """The numbers that stand where `pattern` has an N, of each match."""
    found = re.finditer(pattern.replace("N", r"([\d.]+)"), drawn)
    return [tuple(map(float, match.groups())) for match in found]


BOX = '<rect [^>]*x="N" y="N" width="N" height="N"'


def test_a_line_is_to_scale_and_breaks_where_a_point_is_not_there():
    drawn = chart_svg({"data": [LINE], "layout": SQUARE}, "a line")
    [(x, y, next_x, next_y)] = numbers('<polyline points="N,N N,N"', drawn)
    assert next_x - x == pytest.approx((640 - 14 - 74) / 4, abs=0.2)
    assert y - next_y == pytest.approx(300 - 52 - 22, abs=0.2)
    assert drawn.count("<circle") == 3
    for count, entries in ((1, 0), (2, 2)):  # one line needs no legend
        lines = figure_svg({"data": [{**LINE, "name": "line"}] * count}, "lines")
        assert lines.count('class="entry"') == entries


def test_a_logarithmic_axis_that_is_reversed_has_its_decades():
    axis = axis_of({"type": "log", "range": [3, 0]}, [[1, 10, 1000]], 0.0, 300.0, zero=False)
    assert axis.ticks() == [(300.0, "1"), (200.0, "10"), (100.0, "100"), (0.0, "1,000")]


def test_bars_stand_on_nought_beside_each_other():
    bars = [{"type": "bar", "x": ["a", "b"], "y": [1.0, 2.0], "name": name} for name in ("one", "other")]
    drawn = chart_svg({"data": bars, "layout": {"barmode": "group"}}, "bars")
    boxes = numbers(BOX.replace("[^>]*", 'fill="#808080" '), drawn)
    assert len(boxes) == 4
    assert boxes[1][3] == pytest.approx(2 * boxes[0][3], rel=0.01)
    assert boxes[2][0] == pytest.approx(boxes[0][0] + boxes[0][2], abs=0.1), "beside"
    assert {round(y + height) for _, y, _, height in boxes} == {340 - 52}


def test_lying_bars_have_whiskers_from_end_to_end_and_a_row_for_each_name():
    error = {"array": [1.0, math.nan], "arrayminus": [3.0, math.nan]}
    bars = {"type": "bar", "orientation": "h", "x": [2.0, -4.0], "y": [0, 1], "error_x": error}
    layout = {
        "height": 700,
        "xaxis": {"range": [-5, 5]},
        "yaxis": {"range": [1.5, -0.5], "tickvals": [0, 1], "ticktext": ["a name of twenty", "b"]},
    }
    drawn = chart_svg({"data": [bars], "layout": layout}, "bars", width=480.0)
    assert 'viewBox="0 0 480 700"' in drawn, "rows keep their height"
    left, right = 9.0 * len("a name of twenty") + 8.0, 480.0 - 14.0
    [(low, high, y, _)] = numbers('<line x1="N" x2="N" y1="N" y2="N" class="whisker"', drawn)
    assert low == pytest.approx(left + (-1.0 + 5.0) / 10.0 * (right - left), abs=0.1)
    assert high == pytest.approx(left + (3.0 + 5.0) / 10.0 * (right - left), abs=0.1)
    _, tops, _, heights = zip(*numbers(BOX, drawn), strict=True)
    assert y == pytest.approx(tops[0] + heights[0] / 2, abs=0.1)
    assert min(tops) > 22.0, "all of the first bar is in the frame"
    assert tops[0] < tops[1], "the first row stands above"


def test_a_band_is_drawn_around_its_line():
    for x, y, fill in (([0, 4, 4, 0], [1, 1, 0, 0], "toself"), ([0, 4], [1, 1], "tozeroy")):
        band = {**LINE, "x": x, "y": y, "fill": fill, "fillcolor": "red"}
        drawn = chart_svg({"data": [band], "layout": SQUARE}, "a band")
        assert '<polygon points="74.0,22.0 626.0,22.0 626.0,248.0 74.0,248.0" fill="red">' in drawn


def lying(*rows: list[int], **more: object) -> list[dict[str, object]]:
    return [{"type": "bar", "orientation": "h", "x": [1.0] * len(y), "y": y, **more} for y in rows]


def test_bars_that_share_no_place_stand_in_the_middle_of_theirs():
    drawn = chart_svg({"data": lying([0, 2], [1])}, "bars")
    heights = re.findall(r'<rect fill="#808080" [^>]*height="([\d.]+)"', drawn)
    alone = chart_svg({"data": lying([0, 1, 2])}, "bars")
    assert len(heights) == 3
    assert {f'height="{height}"' in alone for height in heights} == {True}, "as wide as bars of one trace"


def test_a_lying_bar_tells_its_value_at_its_end():
    told = lying([0, 1], text=["+0.5", "+0.7"], textposition="outside")
    drawn = chart_svg({"data": told, "layout": {"xaxis": {"range": [0, 2]}}}, "bars")
    ends = numbers(r'<text x="N" y="N" text-anchor="start">\+0\.[57]<', drawn)
    assert [x for x, _ in ends] == pytest.approx([74 + (640 - 14 - 74) / 2 + 6] * 2, abs=0.1)


def test_what_leaves_the_range_of_an_axis_is_cut_off():
    drawn = chart_svg({"data": [{**LINE, "y": [0.5, 3.0, 3.0, 3.0]}], "layout": SQUARE}, "a line")
    [(_, top, _, height)] = numbers('<svg viewBox="[^"]*" x="N" y="N" width="N" height="N"', drawn)
    assert top == pytest.approx(22, abs=8)
    assert top + height == pytest.approx(300 - 52, abs=8)


def test_ticks_above_the_chart_and_texts_beside_their_place():
    layout = {
        "xaxis": {"range": [0, 1], "tickvals": [0], "ticktext": ["before"], "side": "top"},
        "annotations": [{"x": 0, "y": 1, "text": "sea", "xanchor": "right", "xshift": -8}],
    }
    drawn = chart_svg({"data": [LINE], "layout": layout}, "a line")
    [(_, above)] = numbers('x="N" y="N" text-anchor="middle">before<', drawn)
    assert above < 22
    [(beside, _)] = numbers('<text x="N" y="N" text-anchor="end">sea<', drawn)
    assert beside == 74 - 8


def test_what_is_not_drawn_is_refused_by_name():
    with refused("fill of a line", "tonexty"):
        chart_svg({"data": [{**LINE, "fill": "tonexty", "fillcolor": "#123456"}]}, "an area")
    with refused("chart", "pie on x"):
        chart_svg({"data": [{"type": "pie"}]}, "")
    for tex in (r"\heart", r"\frac1", r"\text1"):
        with refused("formula", tex):
            formula(tex)


def test_names_of_strangers_are_text_in_charts_and_captions():
    traces = [{**LINE, "name": SCRIPT.replace("<", "&lt;")}, {**LINE, "mode": "text", "text": [SCRIPT] * 4}]
    told = [{"x": 1, "y": 1, "text": SCRIPT, "bgcolor": "#000"}]
    layout = {"annotations": told, "xaxis": {"title": {"text": SCRIPT}}}
    chart = chart_svg({"data": traces, "layout": layout}, SCRIPT)
    for drawn in (chart, prose(SCRIPT), prose(escaped(SCRIPT))):
        assert "<script" not in drawn
        assert "&lt;script&gt;" in drawn
    assert prose(escaped("a | *b* $c$ `d`")) == "<p>a | *b* $c$ `d`</p>"


def test_captions_are_what_markdown_would_make_of_them():
    table = prose("### *AP*\n| | x \\| y |\n|---|---:|\n| a | **1** |\nsaid")
    assert table.startswith("<h3><i>AP</i></h3>")
    assert '<th scope="row">a</th><td class="fact"><b>1</b></td>' in table
    assert "x | y" in table
    assert table.endswith("<p>said</p>")
    assert prose("3 ** 4") == "<p>3 ** 4</p>", "one that is never closed is what it is"


def test_sums_have_their_limits_above_and_below_and_sizes_grow():
    assert formula(r"\sum_{j=1}^{n} f_j").startswith("<math><munderover><mo>∑</mo>")
    assert 'stretchy="false"' in formula("(x)")
    assert 'stretchy="false"' not in formula(r"\bigl(x\bigr)")
    assert formula(r"\text{relevant in }k") == "<math><mtext>relevant\xa0in\xa0</mtext><mi>k</mi></math>"
