"""What every registered source keeps to, the ones of tomorrow included."""

from __future__ import annotations

import io
from pathlib import Path

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
from sklearn.datasets import load_digits
from voc_tree import two_images
from zipped import zip_of

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


@pytest.fixture(params=source_names(), scope="module")
def make(request, tmp_path_factory):
    """A maker of one registered source; a source that needs input gets it here."""
    folder = tmp_path_factory.mktemp("files")
    needed = {
        "Class folders": lambda: {"folder": str(some_classes(folder / "classes"))},
        "COCO": lambda: {"folder": str(some_coco(folder / "coco"))},
        "YOLO": lambda: {"folder": str(some_yolo(folder / "yolo"))},
        "CVAT": lambda: {"folder": str(some_cvat(folder / "cvat"))},
        "Label Studio": lambda: {"folder": str(some_label_studio(folder / "label_studio"))},
        "Table of images": lambda: {"folder": str(some_table(folder / "table"))},
        "PASCAL VOC": lambda: {"folder": str(two_images(folder / "voc").root)},
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
    names = {item.name for item in settings_of(source_class(request.param))}
    needs_input = names & {"folder", "file"}
    assert request.param in needed or not needs_input, (
        f"name a small good example of {request.param} in `needed`"
    )
    given = needed.get(request.param, dict)()
    return lambda **settings: make_source(request.param, **given, **settings)


@pytest.fixture(scope="module")
def records(make):
    return list(make().records())


@pytest.fixture(scope="module")
def built(make, tmp_path_factory):
    """The image set, its problems and the progress that was reported."""
    progress = []
    folder = tmp_path_factory.mktemp("built")
    return *build_image_set(make(), folder, lambda *counts: progress.append(counts)), progress


def test_a_new_source_is_offered_and_bundled_only_if_it_says_so(monkeypatch):
    before = bundled_names()
    assert before == ["Action figures", "Digits"]
    for name, attributes in [("Silent", {}), ("Other", {"bundled": False}), ("Ours", {"bundled": True})]:
        monkeypatch.setitem(SOURCES._classes, name, type(name, (), {"order": -1, **attributes}))
        assert name in source_names()
    assert bundled_names() == ["Ours", *before]


def test_title_and_settings_are_written_for_people(make):
    source = make()
    assert source.title().strip()
    for item in settings_of(source):
        assert item.label[0].isupper()
        assert item.help.endswith(".")


def test_records(make, records):
    source = make()
    assert list(source.records()) == records
    assert list(make(**_changed(source)).records()) != records
    images = [item for item in records if isinstance(item, SourceImage)]
    assert all(isinstance(item, SourceImage | Problem) for item in records)
    assert 0 < len(images) <= len(source)
    assert len({image.name for image in images}) == len(images)
    for image in images:
        numbers = [box.number for box in image.boxes if box.number is not None]
        assert len(set(numbers)) == len(numbers)


def _changed(source):
    """Settings that change the set. PASCAL VOC draws its test only where it has no test list, others never."""
    special = {
        "PASCAL VOC": {"test_share": 0.9, "test_list": "trainval"},
        "Corel5k": {"least": 25},
        "Public figures": {"least": 11},
    }
    if isinstance(source, TreeSource):
        return {"split": "draw", "test_share": 0.75}
    return special.get(source.name, {"test_share": 0.9})


@pytest.mark.parametrize("make", tree_sources(), indirect=True)
def test_a_tree_is_recognised_before_other_formats_and_is_the_same_as_a_zip_file(make, built, tmp_path):
    source = make()
    best, *weaker = detect(open_tree(source.folder))
    assert best.source == source.name, "see `Recognised` for how sure a source should be"
    assert all(0 < detected.recognised.sure < best.recognised.sure <= 1 for detected in weaker)
    assert best.recognised.why.strip(". ")
    assert len(make_source(source.name, folder=source.folder, **best.recognised.settings)) == len(source)
    folder = Path(source.folder)
    packed = zip_of(folder, tmp_path / f"{folder.name}.zip", f"export/{folder.name}")
    zipped, problems = build_image_set(make_source(source.name, folder=str(packed)), tmp_path / "packed")
    assert (zipped.key, problems) == (built[0].key, built[1])


def test_columns_fit_each_other(built):
    images = built[0]
    n, m = len(images), len(images.image_names)
    assert images.boxes.shape == (n, 4)
    assert images.labels.shape == (n, len(images.classes))
    assert images.image_of.min() == 0
    assert images.image_of.max() == m - 1
    assert len(set(images.ids.tolist())) == n
    assert images.test.any()
    assert not images.test.all()
    assert images.numbers.shape == (n, len(images.criteria))
    assert not np.isinf(images.numbers).any()
    assert images.classes or images.criteria
    sizes = images.image_sizes[images.image_of]
    assert (images.boxes[:, :2] >= 0).all()
    assert (images.boxes[:, :2] < images.boxes[:, 2:]).all()
    assert (images.boxes[:, 2:] <= sizes).all()
    for sample in range(0, n, 97):
        assert images.ids[sample].startswith(f"{images.image_names[images.image_of[sample]]}#")
        assert images.open_image(images.image_of[sample]).size == tuple(sizes[sample])


def test_load_gives_what_build_gave(built):
    images = built[0]
    loaded = load_image_set(images.folder)
    assert (loaded.key, loaded.title, loaded.classes) == (images.key, images.title, images.classes)
    assert (loaded.boxes == images.boxes).all()
    assert (loaded.labels == images.labels).all()
    assert loaded.criteria == images.criteria
    assert loaded.numbers.tobytes() == images.numbers.tobytes()


def test_progress_rises_to_the_total(make, built):
    progress, total = built[2], len(make())
    assert {of for _, of in progress} == {total}
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    assert progress[-1] == (total, total)


def test_thumbnails(built):
    images = built[0]
    thumbnails = Thumbnails(images.folder)
    for sample in {0, len(images) // 2, len(images) - 1}:
        crop = Image.open(io.BytesIO(thumbnails.crop(sample)))
        left, top, right, bottom = images.boxes[sample].tolist()
        assert crop.format == "WEBP"
        assert max(crop.size) <= 160
        assert crop.width / crop.height == pytest.approx((right - left) / (bottom - top), rel=0.05)
        image = Image.open(io.BytesIO(thumbnails.image(images.image_of[sample])))
        assert max(image.size) <= 320
    with pytest.raises(IndexError, match=str(len(images))):
        thumbnails.crop(len(images))
    with pytest.raises(IndexError, match="-1"):
        thumbnails.image(-1)


def test_unknown_names_list_those_that_there_are():
    with pytest.raises(ValueError, match="ImageNet") as caught:
        source_class("ImageNet")
    assert "Action figures, ARFF, COCO, CVAT," in str(caught.value)
    with pytest.raises(ValueError, match="colour") as caught:
        make_source("COCO", colour="red")
    assert "seed" in str(caught.value)


def test_the_test_images_of_digits_are_drawn_by_class_and_seed():
    drawn = {seed: list(make_source("Digits", test_share=0.25, seed=seed).records()) for seed in (1, 2)}
    assert [image.test for image in drawn[1]] != [image.test for image in drawn[2]]
    for digit in map(str, range(10)):
        tested = [image.test for image in drawn[1] if image.boxes[0].classes == (digit,)]
        assert np.mean(tested) == pytest.approx(0.25, abs=0.003)


@pytest.mark.parametrize("make", ["Digits"], indirect=True)
def test_digit_pixels_survive(built):
    digits = built[0]
    assert len(digits) == 1797
    assert digits.classes == tuple("0123456789")
    assert digits.ids[42] == "0042#1"
    for row in (0, 900, 1796):
        stored = np.asarray(digits.open_image(row), float)[..., 0]
        assert (np.rint(stored * 16 / 255) == load_digits().images[row]).all()
        enlarged = np.asarray(Image.open(io.BytesIO(Thumbnails(digits.folder).crop(row))).convert("RGB"))
        assert (enlarged[10::20, 10::20, 0] == stored).all()
