"""The page Neighbours with the similarity graph: components in order, on pages, and as a file."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from homes import use_graph
from shown import address, choose, components, texts, turn_to

from pages.parts.app import home
from pages.parts.neighbours import graph_models
from pages.parts.neighbours.graph import drawings as picture

HOSTILE = "<script>alert(1)</script> & \"'"


@pytest.fixture
def row_of(figures):
    """The rows of samples by their ids."""
    return {str(id): row for row, id in enumerate(figures.ids)}


def drawings_on(app):
    [graph] = components(app, "ranking_sample_graph")
    return graph["drawings"]


def nodes_of(drawings):
    return [node for component in drawings for node in component["nodes"]]


def test_components_are_whole_and_pairs_are_as_learned(laboratory, open_page, neighbourhood, figures, row_of):
    pairs = {frozenset(map(int, edge)): number for number, edge in enumerate(neighbourhood.components.edges)}
    app = open_page("neighbours", neighbours_view="graph")
    for split in ("test", "train"):
        turn_to(app, neighbours_view="graph", run=laboratory.neighbours, split=split, order="size")
        assert not app.error
        drawings = drawings_on(app)
        assert len(drawings) == picture.PAGE_COMPONENTS
        of_split = figures.test[neighbourhood.components.edges[:, 0]] == (split == "test")
        largest = np.abs(neighbourhood.penalty[of_split]).max()
        for component in drawings:
            rows = [row_of[node["id"]] for node in component["nodes"]]
            assert (figures.test[rows] == (split == "test")).all()
            assert sorted(rows) == neighbourhood.members(int(neighbourhood.component_of[rows[0]])).tolist()
            assert neighbourhood.rank[rows].tolist() == sorted(neighbourhood.rank[rows]), "clockwise by rank"
            assert len(component["ties"]) == len(rows) * (len(rows) - 1) // 2, (
                "all samples of an image are pairs"
            )
            for tie in component["ties"]:
                number = pairs[frozenset((rows[tie["first"]], rows[tie["second"]]))]
                assert tie["cut"] == neighbourhood.cut[number]
                assert tie["width"] == pytest.approx(1.5 + 6.5 * -neighbourhood.penalty[number] / largest)
        sizes = [len(component["nodes"]) for component in drawings]
        assert sizes == sorted(sizes, reverse=True)
        assert any(tie["cut"] for component in drawings for tie in component["ties"])


def test_colours_order_and_size_are_as_chosen(laboratory, open_page, neighbourhood, figures, row_of):
    labels, best = neighbourhood.relevant, neighbourhood.marginals.map
    app = open_page("neighbours", neighbours_view="graph", run=laboratory.neighbours)
    for colour, glyphs in (
        ("label", np.where(labels, "✓", "✗")),
        ("map", np.where(best, "1", "0")),
        ("correct", np.where(best == labels, "=", "≠")),
    ):
        choose(app.segmented_control, "colour", colour)
        assert address(app).get("colour", "label") == colour
        nodes = nodes_of(drawings_on(app))
        assert [node["glyph"] for node in nodes] == [glyphs[row_of[node["id"]]] for node in nodes]
        assert len({(node["glyph"], node["colour"], node["dashed"]) for node in nodes}) == 2
        assert len({node["glyph"] for node in nodes}) == 2

    for order, sign in (("helped", -1), ("hurt", 1)):
        drawings = drawings_on(turn_to(app, neighbours_view="graph", run=laboratory.neighbours, order=order))
        numbers = [
            int(neighbourhood.component_of[row_of[component["nodes"][0]["id"]]]) for component in drawings
        ]
        helped = sign * neighbourhood.component_helped[numbers]
        assert helped.tolist() == sorted(helped)
        assert helped[0] < 0, "the run must show something"
        assert f"{sign * helped[0]:+,}" in drawings[0]["note"].split()

    counts = np.bincount(np.bincount(figures.image_of[figures.test]))
    for size, fits in (("2", {2}), ("3-5", {3, 4, 5}), ("1", {1})):
        turn_to(app, neighbours_view="graph", run=laboratory.neighbours, size=size)
        assert {len(component["nodes"]) for component in drawings_on(app)} == fits
        counted = sum(int(counts[each]) for each in fits)
        assert any(option.endswith(f"· {counted}") for option in app.selectbox(key="widget size").options)
    assert not app.info
    turn_to(app, neighbours_view="graph", run=laboratory.neighbours, size="25+")
    assert not components(app, "ranking_sample_graph")
    assert app.info


def test_pages_hold_every_component_and_follow_the_sample(
    laboratory, open_page, neighbourhood, figures, row_of
):
    def shown():
        return [node["id"] for node in nodes_of(drawings_on(app))]

    app = open_page("neighbours", neighbours_view="graph", run=laboratory.neighbours)
    pages, everybody = [shown()], shown()
    app.get("pagination")[0].set_value(2).run()
    assert address(app)["components"] == "2"
    while not app.warning:
        pages.append(shown())
        everybody += pages[-1]
        turn_to(app, neighbours_view="graph", run=laboratory.neighbours, components=str(len(pages) + 1))
    sizes = neighbourhood.components.sizes[neighbourhood.component_of]
    assert sorted(everybody) == sorted(figures.ids[figures.test & (sizes > 1)].tolist())
    sample = pages[2][0]
    turn_to(app, neighbours_view="graph", run=laboratory.neighbours, sample=sample)
    assert shown() == pages[2]
    assert components(app, "ranking_sample_graph")[0]["selection"][1] == sample
    assert graph_models.moved(neighbourhood, row_of[sample]) in texts(app)


def test_large_component_is_shown_around_the_selected_sample(laboratory, open_page, figures):
    store, run_id = laboratory.store, laboratory.neighbours
    store.runs.update(run_id, settings={**store.runs.get(run_id).settings, "graph": "nearest"})
    with pytest.raises(home.Gone):
        graph_models.neighbourhood(store.runs.get(run_id))
    neighbourhood = use_graph(laboratory, "nearest")
    row = int(neighbourhood.members(0)[figures.test[neighbourhood.members(0)]][-1])
    app = open_page("neighbours", neighbours_view="graph", run=run_id, sample=str(figures.ids[row]))
    assert not app.error
    shown = [{node["id"] for node in component["nodes"]} for component in drawings_on(app)]
    [large] = [ids for ids in shown if figures.ids[row] in ids]
    assert large == set(figures.ids[neighbourhood.around(row, picture.MAX_NODES)].tolist())
    assert len(large) == picture.MAX_NODES


def test_nodes_and_their_captions_do_not_touch():
    for count in range(1, picture.MAX_NODES + 1):
        width, height, side, middles = picture.circle(count)
        assert len(middles) == count
        low, high = middles.min(axis=0) - side / 2, middles.max(axis=0) + side / 2
        assert (low >= 0).all(), count
        assert (high <= [width, height - picture.CAPTION]).all(), count
        across, down = np.moveaxis(np.abs(middles[:, None] - middles[None]), 2, 0)
        apart = (across >= side + 1) | (down >= side + picture.CAPTION - 1)
        assert (apart | np.eye(count, dtype=bool)).all(), count


def test_a_page_holds_so_many_components_and_so_many_samples():
    for sizes, expected in (
        (np.full(25, 20), [picture.PAGE_NODES // 20, picture.PAGE_NODES // 20, 1]),
        (np.full(11, 9000), [picture.PAGE_NODES // picture.MAX_NODES, 1]),
        (np.full(25, 1), [picture.PAGE_COMPONENTS, 1]),
        (np.zeros(0, int), []),
    ):
        assert [len(page) for page in picture.pages_of(sizes)] == expected


def test_the_file_is_svg_whatever_the_names():
    src, colour = 'x" onload="y', "#004F7C"
    nodes = [picture.Node(f"{n}", src, HOSTILE, f"{n} ▲ 3", "✓", colour, n == 2) for n in range(3)]
    ties = [picture.Tie(0, 1, 2.0, False), picture.Tie(1, 2, 8.0, True)]
    component = picture.drawing(HOSTILE, "note", nodes, ties)
    root = ElementTree.fromstring(picture.as_svg(HOSTILE, [component] * 7))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert "script" not in names
    assert names.count("image") == 21
    assert HOSTILE in [element.text for element in root.iter()]
    assert not any(name == "onload" for element in root.iter() for name in element.attrib)
    lines = [element for element in root.iter() if element.tag.endswith("path")]
    assert [line.get("stroke-width") for line in lines[:2]] == ["2.00", "8.00"]
    assert [line.get("stroke-dasharray") is not None for line in lines[:2]] == [False, True]
    _, _, right, bottom = map(float, root.get("viewBox").split())
    assert right > 1000
    assert bottom > 2 * component.height, "in two rows"
