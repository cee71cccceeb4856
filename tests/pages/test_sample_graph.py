"""The page Sample graph: components of connected samples as they are, in order, on pages, and as a file."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from test_max_marginals_page import score_again
from test_ranked_images import components

from pages.parts import cache
from pages.parts.graph_picture import (
    CAPTION,
    MOST_NODES,
    PAGE_COMPONENTS,
    PAGE_NODES,
    Node,
    Tie,
    as_svg,
    circle,
    drawing,
    pages_of,
)


@pytest.fixture
def found(laboratory):
    return cache.neighbourhood(laboratory.store.run(laboratory.neighbours))


def graph_of(app):
    [graph] = components(app, "ranking_sample_graph")
    return graph


def ids_of(graph):
    return [node["id"] for drawing in graph["drawings"] for node in drawing["nodes"]]


def size_of(found, row):
    return int(found.components.sizes[found.component_of[row]])


def numbers_of(laboratory, found, graph):
    """The number of the component of each drawing."""
    images = laboratory.store.image_set(laboratory.figures)
    row = {str(id): number for number, id in enumerate(images.ids)}
    return [int(found.component_of[row[one["nodes"][0]["id"]]]) for one in graph["drawings"]]


@pytest.mark.parametrize("split", ["test", "train"])
def test_components_are_whole_and_pairs_are_as_learnt(laboratory, open_page, found, split):
    app = open_page("sample_graph", run=laboratory.neighbours, split=split, order="size")
    assert not app.exception
    assert not app.error
    images = laboratory.store.image_set(laboratory.figures)
    row = {str(id): number for number, id in enumerate(images.ids)}
    drawings = graph_of(app)["drawings"]
    assert len(drawings) == PAGE_COMPONENTS
    largest = np.abs(found.penalty[images.test[found.components.edges[:, 0]] == (split == "test")]).max()
    pairs = {frozenset(map(int, edge)): number for number, edge in enumerate(found.components.edges)}
    for one in drawings:
        rows = [row[node["id"]] for node in one["nodes"]]
        assert (images.test[rows] == (split == "test")).all()
        assert sorted(rows) == found.members(int(found.component_of[rows[0]])).tolist()
        assert found.rank[rows].tolist() == sorted(found.rank[rows]), "clockwise by rank"
        assert len(one["ties"]) == len(rows) * (len(rows) - 1) // 2, "all samples of an image are pairs"
        for tie in one["ties"]:
            number = pairs[frozenset((rows[tie["first"]], rows[tie["second"]]))]
            assert tie["cut"] == found.cut[number]
            assert tie["width"] == pytest.approx(1.5 + 6.5 * -found.penalty[number] / largest)
    assert [len(one["nodes"]) for one in drawings] == sorted(
        (len(one["nodes"]) for one in drawings), reverse=True
    )
    assert any(tie["cut"] for one in drawings for tie in one["ties"])


def test_colours_tell_label_map_or_whether_it_is_right(laboratory, open_page, found):
    images = laboratory.store.image_set(laboratory.figures)
    row = {str(id): number for number, id in enumerate(images.ids)}
    told = {
        "label": lambda one: "✓" if found.relevant[one] else "✗",
        "map": lambda one: "1" if found.marginals.map[one] else "0",
        "correct": lambda one: "=" if found.marginals.map[one] == found.relevant[one] else "≠",
    }
    for colour, glyph in told.items():
        app = open_page("sample_graph", run=laboratory.neighbours, colour=colour)
        nodes = [node for one in graph_of(app)["drawings"] for node in one["nodes"]]
        assert [node["glyph"] for node in nodes] == [glyph(row[node["id"]]) for node in nodes]
        assert len({node["glyph"] for node in nodes}) == 2
        assert len({(node["glyph"], node["colour"], node["dashed"]) for node in nodes}) == 2
    app.segmented_control(key="widget colour").set_value("map").run()
    assert app.query_params["colour"] == "map"


def test_components_come_in_the_order_that_was_chosen(laboratory, open_page, found):
    for order, sign in (("helped", -1), ("hurt", 1)):
        app = open_page("sample_graph", run=laboratory.neighbours, order=order)
        helped = sign * found.component_helped[numbers_of(laboratory, found, graph_of(app))]
        assert helped.tolist() == sorted(helped)
        assert helped[0] < 0, "the training must show something"
        [first, *_] = graph_of(app)["drawings"]
        assert first["note"] == f"{'helped' if sign < 0 else 'hurt'}: {sign * helped[0]:+,} pairs"


@pytest.mark.parametrize(("size", "fits"), [("2", {2}), ("3-5", {3, 4, 5}), ("1", {1})])
def test_only_components_of_the_chosen_size_are_shown(laboratory, open_page, found, size, fits):
    images = laboratory.store.image_set(laboratory.figures)
    app = open_page("sample_graph", run=laboratory.neighbours, size=size)
    assert {len(one["nodes"]) for one in graph_of(app)["drawings"]} == fits
    sizes = np.bincount(np.bincount(images.image_of[images.test]))
    counted = sum(int(sizes[each]) for each in fits)
    label = next(one for one in app.selectbox(key="widget size").options if one.endswith(f"· {counted}"))
    assert label
    app = open_page("sample_graph", run=laboratory.neighbours, size="25+")
    assert not app.exception
    assert not components(app, "ranking_sample_graph")
    assert "no component of this size" in app.info[0].value


def test_pages_hold_every_component_once_and_follow_the_selected_sample(laboratory, open_page, found):
    images = laboratory.store.image_set(laboratory.figures)
    app = open_page("sample_graph", run=laboratory.neighbours)
    pages = [ids_of(graph_of(app))]
    app.get("pagination")[0].set_value(2).run()
    assert app.query_params["components"] == "2"
    while True:
        pages.append(ids_of(graph_of(app)))
        number = len(pages) + 1
        app = open_page("sample_graph", run=laboratory.neighbours, components=str(number))
        if app.warning:
            break
    seen = [id for page in pages for id in page]
    sizes = found.components.sizes[found.component_of]
    assert sorted(seen) == sorted(images.ids[images.test & (sizes > 1)].tolist())
    app = open_page("sample_graph", run=laboratory.neighbours, sample=pages[2][0])
    assert ids_of(graph_of(app)) == pages[2]
    assert graph_of(app)["told"][1] == pages[2][0]
    assert any("its neighbours" in text.value for text in app.markdown)


def test_a_large_component_is_shown_around_the_selected_sample(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    laboratory.store.update_run(run.id, settings={**run.settings, "graph": "nearest"})
    with pytest.raises(cache.Gone, match="are not those of the method that it left"):
        cache.neighbourhood(laboratory.store.run(run.id))
    images = score_again(laboratory)
    found = cache.neighbourhood(laboratory.store.run(run.id))
    row = (
        int(found.members(0)[images.test[found.members(0)]][-1]) if images.test[found.members(0)].any() else 0
    )
    assert images.test[row]
    app = open_page("sample_graph", run=run.id, sample=str(images.ids[row]))
    assert not app.exception
    assert not app.error
    [large] = [
        one for one in graph_of(app)["drawings"] if str(images.ids[row]) in {n["id"] for n in one["nodes"]}
    ]
    assert len(large["nodes"]) == MOST_NODES
    assert f", {MOST_NODES} shown" in large["title"]
    around = {str(images.ids[one]) for one in found.around(row, MOST_NODES)}
    assert {node["id"] for node in large["nodes"]} == around


@pytest.mark.parametrize("count", range(1, MOST_NODES + 1))
def test_nodes_and_their_captions_do_not_touch(count):
    width, height, side, middles = circle(count)
    assert len(middles) == count
    low, high = middles.min(axis=0) - side / 2, middles.max(axis=0) + side / 2
    assert (low >= 0).all()
    assert high[0] <= width
    assert high[1] + CAPTION <= height
    for i in range(count):
        for j in range(i):
            across, down = np.abs(middles[i] - middles[j])
            assert across >= side + 1 or down >= side + CAPTION - 1


def test_pages_are_full_but_not_too_full():
    generator = np.random.default_rng(0)
    for sizes in (generator.integers(1, 40, 5000), np.array([9000, 9000, 1]), np.zeros(0, int)):
        pages = pages_of(sizes)
        assert [place for page in pages for place in page] == list(range(len(sizes)))
        drawn = [int(np.minimum(sizes[page], MOST_NODES).sum()) for page in pages]
        assert all(
            count <= PAGE_NODES and len(page) <= PAGE_COMPONENTS
            for count, page in zip(drawn, pages, strict=True)
        )
        for page, following, count in zip(pages, pages[1:], drawn, strict=False):
            more = min(int(sizes[following[0]]), MOST_NODES)
            assert len(page) == PAGE_COMPONENTS or count + more > PAGE_NODES


HOSTILE = "<script>alert(1)</script> & \"'"


def test_the_file_is_svg_whatever_the_names():
    nodes = [Node(f"{n}", 'x" onload="y', HOSTILE, f"{n} ▲ 3", "✓", "#004F7C", n == 2) for n in range(3)]
    ties = [Tie(0, 1, 2.0, False), Tie(1, 2, 8.0, True)]
    written = as_svg(HOSTILE, [drawing(HOSTILE, "note", nodes, ties)] * 7)
    root = ElementTree.fromstring(written)
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert "script" not in names
    assert names.count("image") == 21
    assert [element.text for element in root.iter() if element.text == HOSTILE]
    lines = [element for element in root.iter() if element.tag.endswith("path")]
    assert [line.get("stroke-width") for line in lines[:2]] == ["2.00", "8.00"]
    assert [line.get("stroke-dasharray") is not None for line in lines[:2]] == [False, True]
    assert not any(name == "onload" for element in root.iter() for name in element.attrib)
    _, _, right, bottom = map(float, root.get("viewBox").split())
    assert right > 1000
    assert bottom > 2 * drawing("", "", nodes, ties).height, "in two rows"
