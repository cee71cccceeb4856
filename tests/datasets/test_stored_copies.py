"""Near copies in an import: one switch moves them to one side of the split and into one group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from test_copies import painted

from ranking.core import SourceBox, SourceImage
from ranking.datasets import build_image_set, load_image_set
from ranking.datasets.copies import are_together, group_copies, stored_copies
from ranking.datasets.copies.stored import FILE
from ranking.datasets.label_sets import label_set
from ranking.datasets.splits import blocks_of, joined, moved_whole, on_one_side
from ranking.experiments.cross_validation.splits import splits_of
from ranking.features.graph.image_graph import graph_edges


@dataclass(frozen=True)
class Album:
    """Images by the seeds of `painted`, whether each tests, and the group of each."""

    name: ClassVar[str] = "album"
    bundled: ClassVar[bool] = False

    seeds: list[int]
    test: list[bool]
    groups: list[str | None] = field(default_factory=list)
    features: tuple[float, ...] | None = None

    def title(self) -> str:
        return "Album"

    def __len__(self) -> int:
        return len(self.seeds)

    def records(self):
        groups = self.groups or [None] * len(self.seeds)
        for place, (seed, test, group) in enumerate(zip(self.seeds, self.test, groups, strict=True)):
            boxes = tuple(SourceBox((5, 5, 50, 50), (name,), group) for name in ("cat", "dog"))
            data = png(seed if place == self.seeds.index(seed) else -seed)
            yield SourceImage(f"{place:02}", data, boxes, test, features=self.features)


def png(seed: int) -> bytes:
    """The painted picture of a seed, mirrored for a negative one."""
    import io

    from PIL import ImageOps

    stream = io.BytesIO()
    picture = painted(abs(seed), (120, 90))
    (ImageOps.mirror(picture) if seed < 0 else picture).save(stream, "PNG")
    return stream.getvalue()


# the last two are copies of the first two
SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2]
TEST = [False] * 2 + [False, True] * 5 + [True, True]


def built(folder, **changes):
    return build_image_set(Album(**{"seeds": SEEDS, "test": TEST, **changes}), folder)[0]


def test_an_import_keeps_copies_on_one_side(tmp_path):
    images = built(tmp_path / "set")
    copies = stored_copies(images.folder)
    assert copies is not None
    assert copies.pairs.tolist() == [[0, 12], [1, 13]]
    assert (len(copies.across), copies.test_images, copies.test.tolist()) == (2, 2, TEST)
    first, second = images.image_test[copies.pairs].T
    assert (first == second).all()
    assert images.image_test.sum() in (6, 7), "about as many test as before"
    assert images.image_groups.tolist() == [*range(12), 0, 1]
    done = copies.report_row(images)
    assert "2 pairs, 2 across" in done.came
    assert load_image_set(images.folder).key == images.key


def test_grouping_of_copies_can_be_switched_off_and_on_again(tmp_path):
    images = built(tmp_path / "set")
    apart = group_copies(images.folder, False)
    assert (apart.image_test.tolist(), are_together(apart)) == (TEST, False)
    assert apart.image_groups.tolist() == list(range(14))
    assert "kept as the source has them" in stored_copies(apart.folder).report_row(apart).done
    again = group_copies(images.folder, True)
    assert (again.key, are_together(again)) == (images.key, True)
    assert apart.key != images.key


def test_a_set_without_copies_is_unchanged(tmp_path):
    images = built(tmp_path / "set", seeds=list(range(1, 15)))
    assert stored_copies(images.folder) is None
    with np.load(images.folder / "columns.npz") as columns:
        assert "image_groups" not in columns.files, "so that sets of before keep their keys"
    assert images.image_groups.tolist() == list(range(14))
    assert group_copies(images.folder, True).key == images.key


def test_sets_with_supplied_groups_are_unchanged_until_copies_are_grouped(tmp_path):
    groups = ["a", "b", *("c" + str(place) for place in range(10)), "d", "a"]
    images = built(tmp_path / "set", groups=groups)
    assert (images.image_test.tolist(), are_together(images)) == (TEST, False)
    on = group_copies(images.folder, True)
    pairs = stored_copies(on.folder).pairs
    assert (on.image_test[pairs[:, 0]] == on.image_test[pairs[:, 1]]).all()
    assert (on.groups == images.groups).all(), "what is neighbours by groups stays"


def test_groups_that_are_on_one_side_stay_there(tmp_path):
    groups = [str(place) for place in range(14)]
    groups[2] = groups[1]
    on = group_copies(built(tmp_path / "set", groups=groups).folder, True)
    assert on.image_test[1] == on.image_test[2]


def test_groups_that_were_on_both_sides_join_no_copies(tmp_path):
    alone, shared = [str(place) for place in range(14)], [str(place) for place in range(14)]
    here, there = TEST.index(True), TEST.index(False, 2)
    shared[there] = shared[here]
    apart = group_copies(built(tmp_path / "alone", groups=alone).folder, True)
    on = group_copies(built(tmp_path / "shared", groups=shared).folder, True)
    assert TEST[here] != TEST[there]
    assert on.image_test.tolist() == apart.image_test.tolist()


def test_cards_have_no_copies(tmp_path):
    images = built(tmp_path / "set", features=(1.0, 2.0))
    assert stored_copies(images.folder) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
def test_an_unreadable_file_of_copies_counts_as_no_copies(tmp_path, content):
    images = built(tmp_path / "set")
    (images.folder / FILE).write_bytes(content)
    assert stored_copies(images.folder) is None
    assert group_copies(images.folder, False).key == images.key


def test_folds_and_labels_follow_and_the_graph_does_not(tmp_path):
    images = built(tmp_path / "set", test=[False] * 14)
    blocks = blocks_of(images, np.arange(len(images)))
    assert len(np.unique(blocks)) == 12
    for seed in range(5):
        fold_of = splits_of(images, 4, seed).fold_of
        of_image = fold_of[::2]
        assert (of_image[[0, 1]] == of_image[[12, 13]]).all(), f"seed {seed}"
    labels = label_set(images, np.zeros((len(images), 3), np.float32))
    assert labels.groups[[12, 13]].tolist() == labels.groups[[0, 1]].tolist()
    assert labels.part([12, 0]).groups.tolist() == [0, 0]
    for graph in ("same image", "same group"):
        edges = graph_edges(images, graph, np.zeros((len(images), 3)), np.arange(len(images)))
        assert (images.image_of[edges[:, 0]] == images.image_of[edges[:, 1]]).all(), (
            "copies are no neighbours"
        )
        assert len(edges) == 14


# ------------------------------------------------------------------------------------- to one side


@pytest.mark.parametrize("seed", range(5))
def test_no_unit_is_on_both_sides_and_few_images_move(seed):
    random = np.random.default_rng(seed)
    test = random.random(300) < 0.4
    for pairs in (3, 60, 250):
        units = joined(300, random.integers(300, size=(pairs, 2)))
        after = on_one_side(test, units)
        for unit in np.unique(units):
            assert len(set(after[units == unit].tolist())) == 1
        alone = ~np.isin(units, np.unique(units[1:][units[1:] == units[:-1]]))
        pure = np.array([len(set(test[units == unit].tolist())) == 1 for unit in units])
        assert (after[pure] == test[pure]).all(), "what is on one side stays"
        assert abs(int(after.sum()) - int(test.sum())) <= max(np.bincount(units)) + 12, (pairs, alone.sum())


def test_few_test_images_with_copies_go_to_training():
    test = np.arange(40) >= 20
    units = np.arange(40)
    units[[0, 1]] = units[[20, 21]]
    assert np.flatnonzero(on_one_side(test, units) != test).tolist() == [20, 21], "a tenth of the test images"


def test_frames_of_scenes_are_split_again_so_that_both_sides_stay():
    test = np.arange(100) % 5 < 2
    after = on_one_side(test, np.arange(100) // 10)
    assert after.sum() == 40
    assert len(set(zip(np.arange(100) // 10, after.tolist(), strict=True))) == 10


def test_the_largest_units_are_assigned_first():
    units = np.repeat(np.arange(5), [1, 2, 3, 6, 8])
    test = np.isin(np.arange(20), [0, 1, 3, 4, 6, 7, 8, 12, 13, 14])
    # no unit is on one side alone
    units[0] = 1
    units[[1, 2]] = 0
    assert on_one_side(test, units).sum() == 10


@pytest.mark.parametrize("tested", [False, True])
def test_no_side_is_left_empty_where_there_are_two_units(tested):
    units = np.repeat(np.arange(4), [1, 1, 1, 12])
    test = np.where(np.arange(15) < 13, tested, not tested)
    after = on_one_side(test, units)
    assert 0 < after.sum() < 15
    assert len(set(after[units == 3].tolist())) == 1
    assert on_one_side(np.arange(4) > 0, np.zeros(4, int)).tolist() == [True] * 4, "one unit has no choice"


def test_groups_of_a_named_split_are_moved_with_a_row_of_the_report():
    tested, [row] = moved_whole([True, False, False, True], [["a"], ["a"], [], []])
    assert tested in ([False, False, False, True], [True, True, False, True])
    assert "1 group on both sides: a" in row.came
    assert moved_whole([True, False], [["a"], ["b"]]) == ([True, False], [])
    kept, [row] = moved_whole([True, False], [["a"], ["a"]])
    assert (kept, row.done) == ([True, False], "kept as stated")
