"""What every registered source keeps to, the ones of tomorrow included."""

from __future__ import annotations

import io

import numpy as np
import pytest
from brought import some_classes, some_coco, some_cvat, some_label_studio, some_table, some_yolo
from label_files import (
    some_arff,
    some_corel5k,
    some_csv,
    some_numbers_csv,
    some_pubfig,
    some_svmlight,
)
from PIL import Image
from voc_tree import two_images

from ranking.datasets import (
    SOURCES,
    Thumbnails,
    build_image_set,
    bundled_names,
    load_image_set,
    make_source,
    source_class,
    source_names,
)
from ranking.datasets.detection import detect, tree_sources
from ranking.datasets.tree_source import TreeSource
from ranking.intake import open_tree
from ranking.settings import settings_of
from ranking.types import Problem, SourceImage


@pytest.fixture(scope="module")
def voc(tmp_path_factory):
    return two_images(tmp_path_factory.mktemp("source") / "voc")


@pytest.fixture(params=source_names(), scope="module")
def make(request, voc, tmp_path_factory):
    """A maker of one registered source; a source that needs input gets it here."""
    folder = tmp_path_factory.mktemp("files")
    needed = {
        "Class folders": lambda: {"folder": str(some_classes(folder / "classes"))},
        "COCO": lambda: {"folder": str(some_coco(folder / "coco"))},
        "YOLO": lambda: {"folder": str(some_yolo(folder / "yolo"))},
        "CVAT": lambda: {"folder": str(some_cvat(folder / "cvat"))},
        "Label Studio": lambda: {"folder": str(some_label_studio(folder / "label_studio"))},
        "Table of images": lambda: {"folder": str(some_table(folder / "table"))},
        "PASCAL VOC": lambda: {"folder": str(voc.root)},
        "Action figures": lambda: {"images": 50},
        "Label scenes": lambda: {"images": 50},
        "Corel5k": lambda: {"file": str(some_corel5k(folder))},
        "ARFF": lambda: {"file": str(some_arff(folder))},
        "Multi-label CSV": lambda: {"file": str(some_csv(folder))},
        "Numbers CSV": lambda: {"file": str(some_numbers_csv(folder))},
        "Public figures": lambda: {"file": str(some_pubfig(folder))},
        "SVMlight": lambda: {"file": str(some_svmlight(folder))},
        "Timeline cars": lambda: {"images": 50},
    }
    asked = [
        item.name for item in settings_of(source_class(request.param)) if item.name in ("folder", "file")
    ]
    assert request.param in needed or not asked, f"name a small good example of {request.param} in `needed`"
    given = needed.get(request.param, dict)()
    return lambda **settings: make_source(request.param, **given, **settings)


@pytest.fixture(scope="module")
def built(make, tmp_path_factory):
    return build_image_set(make(), tmp_path_factory.mktemp("built"))[0]


def test_a_new_source_is_offered_and_bundled_only_if_it_says_so(monkeypatch):
    before = bundled_names()
    assert before == ["Action figures", "Digits"]
    for name, told in [("Silent", {}), ("Other", {"bundled": False}), ("Ours", {"bundled": True})]:
        monkeypatch.setitem(SOURCES._classes, name, type(name, (), {"order": -1, **told}))
        assert name in source_names()
    assert bundled_names() == ["Ours", *before]


def test_records_are_the_same_each_time(make):
    first, second = list(make().records()), list(make().records())
    assert first == second
    assert {type(item) for item in first} <= {SourceImage, Problem}


def test_what_a_source_of_trees_reads_is_recognised_as_its_own_before_others(make):
    source = make()
    if source.name not in tree_sources():
        pytest.skip("it reads no trees")
    first, *others = detect(open_tree(source.folder))
    assert first.source == source.name, "see `Recognised` for how sure a source should be"
    assert all(0 < one.recognised.sure < first.recognised.sure <= 1 for one in others)
    assert first.recognised.why.strip(". ")
    assert len(make_source(source.name, folder=source.folder, **first.recognised.settings)) == len(source)


def test_length_and_names(make):
    source = make()
    images = [item for item in source.records() if isinstance(item, SourceImage)]
    assert 0 < len(images) <= len(source)
    assert len({image.name for image in images}) == len(images)
    for image in images:
        numbers = [box.number for box in image.boxes if box.number is not None]
        assert len(set(numbers)) == len(numbers)


def test_title_and_settings_are_told_to_a_person(make):
    source = make()
    assert source.title().strip()
    for item in settings_of(source):
        assert item.label[0].isupper()
        assert item.help.endswith(".")


def test_unknown_setting_lists_what_is_valid(make):
    with pytest.raises(ValueError, match=r"(seed|least).*'colour'|'colour'.*(seed|least)"):
        make(colour="red")


def test_columns_fit_each_other(built):
    n, m = len(built), len(built.image_names)
    assert built.boxes.shape == (n, 4)
    assert built.labels.shape == (n, len(built.classes))
    assert built.image_of.min() == 0
    assert built.image_of.max() == m - 1
    assert len(set(built.ids.tolist())) == n
    assert built.test.any()
    assert not built.test.all()
    assert built.numbers.shape == (n, len(built.criteria))
    assert not np.isinf(built.numbers).any()
    assert built.classes or built.criteria
    sizes = built.image_sizes[built.image_of]
    assert (built.boxes[:, :2] >= 0).all()
    assert (built.boxes[:, :2] < built.boxes[:, 2:]).all()
    assert (built.boxes[:, 2:] <= sizes).all()
    for sample in range(0, n, 97):
        assert built.ids[sample].startswith(f"{built.image_names[built.image_of[sample]]}#")
        assert built.open_image(built.image_of[sample]).size == tuple(sizes[sample])


def test_the_key_is_a_hash_of_the_content(make, built, tmp_path):
    again, _ = build_image_set(make(), tmp_path / "again")
    assert again.key == built.key
    other, _ = build_image_set(make(**_changed(make)), tmp_path / "other")
    assert other.key != built.key


def _changed(make):
    """Settings that change the set. PASCAL VOC draws its test only where it has no test list, others never."""
    special = {
        "PASCAL VOC": {"test_share": 0.9, "test_list": "trainval"},
        "Corel5k": {"least": 25},
        "Public figures": {"least": 11},
    }
    if isinstance(make(), TreeSource):
        return {"split": "draw", "test_share": 0.75}
    return special.get(make().name, {"test_share": 0.9})


def test_load_gives_what_build_gave(built):
    loaded = load_image_set(built.folder)
    assert (loaded.key, loaded.title, loaded.classes) == (built.key, built.title, built.classes)
    assert (loaded.boxes == built.boxes).all()
    assert (loaded.labels == built.labels).all()
    assert loaded.criteria == built.criteria
    assert loaded.numbers.tobytes() == built.numbers.tobytes()


def test_progress_rises_to_the_total(make, tmp_path):
    seen = []
    source = make()
    build_image_set(source, tmp_path / "set", lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {len(source)}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(source), len(source))


def test_thumbnails(built):
    thumbnails = Thumbnails(built.folder)
    for sample in {0, len(built) // 2, len(built) - 1}:
        crop = Image.open(io.BytesIO(thumbnails.crop(sample)))
        left, top, right, bottom = built.boxes[sample].tolist()
        assert crop.format == "WEBP"
        assert max(crop.size) <= 160
        assert crop.width / crop.height == pytest.approx((right - left) / (bottom - top), rel=0.05)
        image = Image.open(io.BytesIO(thumbnails.image(built.image_of[sample])))
        assert max(image.size) <= 320
    with pytest.raises(IndexError, match=f"holds numbers 0 to {len(built) - 1}, got {len(built)}"):
        thumbnails.crop(len(built))
    with pytest.raises(IndexError, match="got -1"):
        thumbnails.image(-1)


def test_unknown_source_lists_the_sources():
    with pytest.raises(
        ValueError,
        match=r"Action figures, ARFF, COCO, CVAT,.*'ImageNet'|'ImageNet'.*Action figures, ARFF, COCO, CVAT,",
    ):
        source_class("ImageNet")


def test_digits_are_shared_out_by_class(tmp_path):
    digits, problems = build_image_set(make_source("Digits", test_share=0.25, seed=3), tmp_path / "set")
    assert problems == []
    assert len(digits) == len(make_source("Digits")) == 1797
    assert digits.classes == tuple("0123456789")
    for digit in digits.classes:
        assert digits.test[digits.relevance(digit) == 1].mean() == pytest.approx(0.25, abs=0.003)
    assert digits.ids[42] == "0042#1"


def test_digits_seed_draws_the_test():
    def drawn(seed):
        return [image.test for image in make_source("Digits", seed=seed).records()]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_digit_pixels_survive(tmp_path):
    from sklearn.datasets import load_digits

    digits, _ = build_image_set(make_source("Digits"), tmp_path / "set")
    for row in (0, 900, 1796):
        stored = np.asarray(digits.open_image(row), float)[..., 0]
        assert (np.rint(stored * 16 / 255) == load_digits().images[row]).all()
        enlarged = np.asarray(Image.open(io.BytesIO(Thumbnails(digits.folder).crop(row))).convert("RGB"))
        assert (enlarged[10::20, 10::20, 0] == stored).all()
