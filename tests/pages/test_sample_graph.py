"""The page Sample graph: components of connected samples as they are, in order, on pages, and as a file."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from shown import address, components, texts, turn_to
from test_max_marginals_page import use_graph

from pages.parts import cache, neighbours
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


@pytest.fixture
def row_of(laboratory):
    """The rows of samples by their ids."""
    return {str(id): row for row, id in enumerate(laboratory.store.image_set(laboratory.figures).ids)}


def test_components_are_whole_and_pairs_are_as_learnt(laboratory, open_page, found, row_of):
    images = laboratory.store.image_set(laboratory.figures)
    pairs = {frozenset(map(int, edge)): number for number, edge in enumerate(found.components.edges)}
    app = open_page("sample_graph")
    for split in ("test", "train"):
        turn_to(app, run=laboratory.neighbours, split=split, order="size")
        assert not app.error
        drawings = graph_of(app)["drawings"]
        assert len(drawings) == PAGE_COMPONENTS
        largest = np.abs(found.penalty[images.test[found.components.edges[:, 0]] == (split == "test")]).max()
        for drawn in drawings:
            rows = [row_of[node["id"]] for node in drawn["nodes"]]
            assert (images.test[rows] == (split == "test")).all()
            assert sorted(rows) == found.members(int(found.component_of[rows[0]])).tolist()
            assert found.rank[rows].tolist() == sorted(found.rank[rows]), "clockwise by rank"
            assert len(drawn["ties"]) == len(rows) * (len(rows) - 1) // 2, "all samples of an image are pairs"
            for tie in drawn["ties"]:
                number = pairs[frozenset((rows[tie["first"]], rows[tie["second"]]))]
                assert tie["cut"] == found.cut[number]
                assert tie["width"] == pytest.approx(1.5 + 6.5 * -found.penalty[number] / largest)
        sizes = [len(drawn["nodes"]) for drawn in drawings]
        assert sizes == sorted(sizes, reverse=True)
        assert any(tie["cut"] for drawn in drawings for tie in drawn["ties"])


def test_colours_order_and_size_are_as_chosen(laboratory, open_page, found, row_of):
    images = laboratory.store.image_set(laboratory.figures)
    glyphs = {
        "label": lambda row: "✓" if found.relevant[row] else "✗",
        "map": lambda row: "1" if found.marginals.map[row] else "0",
        "correct": lambda row: "=" if found.marginals.map[row] == found.relevant[row] else "≠",
    }
    app = open_page("sample_graph")
    for colour, glyph in glyphs.items():
        turn_to(app, run=laboratory.neighbours, colour=colour)
        nodes = [node for drawn in graph_of(app)["drawings"] for node in drawn["nodes"]]
        assert [node["glyph"] for node in nodes] == [glyph(row_of[node["id"]]) for node in nodes]
        assert len({node["glyph"] for node in nodes}) == 2
        assert len({(node["glyph"], node["colour"], node["dashed"]) for node in nodes}) == 2
    app.segmented_control(key="widget colour").set_value("map").run()
    assert address(app)["colour"] == "map"

    for order, sign in (("helped", -1), ("hurt", 1)):
        drawings = graph_of(turn_to(app, run=laboratory.neighbours, order=order))["drawings"]
        numbers = [int(found.component_of[row_of[drawn["nodes"][0]["id"]]]) for drawn in drawings]
        helped = sign * found.component_helped[numbers]
        assert helped.tolist() == sorted(helped)
        assert helped[0] < 0, "the run must show something"
        assert f"{sign * helped[0]:+,}" in drawings[0]["note"].split()

    counts = np.bincount(np.bincount(images.image_of[images.test]))
    for size, fits in (("2", {2}), ("3-5", {3, 4, 5}), ("1", {1})):
        turn_to(app, run=laboratory.neighbours, size=size)
        assert {len(drawn["nodes"]) for drawn in graph_of(app)["drawings"]} == fits
        counted = sum(int(counts[each]) for each in fits)
        assert any(option.endswith(f"· {counted}") for option in app.selectbox(key="widget size").options)
    assert not app.info
    turn_to(app, run=laboratory.neighbours, size="25+")
    assert not components(app, "ranking_sample_graph")
    assert app.info


def test_pages_hold_every_component_once_and_follow_the_selected_sample(laboratory, open_page, found, row_of):
    images = laboratory.store.image_set(laboratory.figures)
    app = open_page("sample_graph", run=laboratory.neighbours)
    pages = [ids_of(graph_of(app))]
    app.get("pagination")[0].set_value(2).run()
    assert address(app)["components"] == "2"
    while not app.warning:
        pages.append(ids_of(graph_of(app)))
        turn_to(app, run=laboratory.neighbours, components=str(len(pages) + 1))
    sizes = found.components.sizes[found.component_of]
    assert sorted(id for page in pages for id in page) == sorted(
        images.ids[images.test & (sizes > 1)].tolist()
    )
    turn_to(app, run=laboratory.neighbours, sample=pages[2][0])
    assert ids_of(graph_of(app)) == pages[2]
    assert graph_of(app)["told"][1] == pages[2][0]
    assert neighbours.moved(found, row_of[pages[2][0]]) in texts(app)


def test_large_component_is_shown_around_the_selected_sample(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    laboratory.store.update_run(run.id, settings={**run.settings, "graph": "nearest"})
    with pytest.raises(cache.Gone):
        cache.neighbourhood(laboratory.store.run(run.id))
    images = use_graph(laboratory, "nearest")
    found = cache.neighbourhood(laboratory.store.run(run.id))
    [row, *_] = found.members(0)[images.test[found.members(0)]][::-1].tolist()
    app = open_page("sample_graph", run=run.id, sample=str(images.ids[row]))
    assert not app.exception
    assert not app.error
    shown = [{node["id"] for node in drawn["nodes"]} for drawn in graph_of(app)["drawings"]]
    [large] = [ids for ids in shown if str(images.ids[row]) in ids]
    assert large == {str(images.ids[each]) for each in found.around(row, MOST_NODES)}
    assert len(large) == MOST_NODES


def test_nodes_and_their_captions_do_not_touch():
    for count in range(1, MOST_NODES + 1):
        width, height, side, middles = circle(count)
        assert len(middles) == count
        low, high = middles.min(axis=0) - side / 2, middles.max(axis=0) + side / 2
        assert (low >= 0).all(), count
        assert high[0] <= width, count
        assert high[1] + CAPTION <= height, count
        for i in range(count):
            for j in range(i):
                across, down = np.abs(middles[i] - middles[j])
                assert across >= side + 1 or down >= side + CAPTION - 1, count


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
