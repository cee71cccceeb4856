"""What every registered source keeps to, the ones of tomorrow included."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from archives import zip_of
from example_files import FILES, FOLDERS
from import_folders import BOXES, CLASSES, IS_SECOND, IS_TEST, build, read
from PIL import Image
from refusals import refused
from sklearn.datasets import load_digits

from ranking.core import Problem, Source, SourceImage
from ranking.core.settings import settings_of
from ranking.datasets import (
    SOURCES,
    Thumbnails,
    build_image_set,
    make_source,
    source_class,
    source_names,
)
from ranking.files import open_tree
from ranking.formats.source_preview import preview_source
from ranking.formats.tree_source import TreeSource, detect, tree_sources
from ranking.storage import workspaces
from ranking.storage.importing import steps_of
from ranking.storage.run_settings import ImportSettings
from ranking.storage.store import Store


@pytest.fixture(params=source_names(), scope="module")
def make(request, tmp_path_factory):
    place, name = tmp_path_factory.mktemp("files"), request.param
    names = {item.name for item in settings_of(source_class(name))}
    given = {}
    if "file" in names:
        given["file"] = str(FILES[name](place))
    elif "folder" in names:
        given["folder"] = str(FOLDERS[name](place / name))
    return lambda **settings: make_source(name, **given, **settings)


@pytest.fixture(scope="module")
def records(make):
    return list(make().records())


@pytest.fixture(scope="module")
def built(make, tmp_path_factory):
    """The image set, its problems and the progress that was reported."""
    progress = []
    folder = tmp_path_factory.mktemp("built")
    return *build_image_set(make(), folder, lambda *counts: progress.append(counts)), progress


def test_a_new_source_is_offered(monkeypatch):
    monkeypatch.setitem(SOURCES._classes, "New", type("New", (Source,), {"order": -1}))
    assert source_names()[0] == "New"


def test_a_source_reads_no_files_of_the_server_for_a_visitor(tmp_path, monkeypatch):
    @dataclass
    # it declares nothing
    class New(Source):
        image_file: str = ""

    monkeypatch.setitem(SOURCES._classes, "New", New)
    visitor = Store(tmp_path / "workspaces" / workspaces.create(tmp_path))
    read = set()
    for name in source_names():
        texts = [
            item.name for item in settings_of(source_class(name)) if item.kind is str and not item.choices
        ]
        given = {text: str(tmp_path) for text in texts}
        run = visitor.runs.create("import", ImportSettings(name, given).to_json())
        steps = steps_of(visitor, run, lambda *_: None)
        if source_class(name).path_setting:
            with refused("import"):
                next(steps)
            read.add(name)
        else:
            assert texts == [], f"{name} says that it reads no file, but has a setting that could be a path"
    assert set(source_names()) - read == {"Digits"}
    assert len(read) >= 9


def test_records_are_those_of_the_source_and_depend_on_its_settings(make, records):
    source = make()
    assert source.title().strip()
    assert source.path_setting in {"", *(item.name for item in settings_of(type(source)))}
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
    """Settings that change the set."""
    special = {
        "Corel5k": {"least": 25},
        "Public figures": {"least": 11},
    }
    if isinstance(source, TreeSource):
        return {"split": "random", "test_share": 0.75}
    return special.get(source.name, {"test_share": 0.9})


@pytest.mark.parametrize("name", tree_sources())
def test_every_format_reads_the_same_boxes_labels_and_parts(name, tmp_path):
    folder = FOLDERS[name](tmp_path / "x")
    if all(box.box is None for item in read(name, folder)[0].values() for box in item.boxes):
        pytest.skip("it labels whole images")
    images, _ = build(name, folder)
    assert images.classes == CLASSES
    assert images.boxes.tolist() == BOXES
    assert images.relevance(CLASSES[1]).tolist() == IS_SECOND
    assert images.test.tolist() == IS_TEST
    seen = preview_source(make_source(name, folder=str(folder)))
    assert (seen.train, seen.test) == (2, 1)
    assert any(part in str(seen.reading.decisions) for part in ("test", "val"))
    upright = {item.upright for item in read(name, folder)[0].values()}
    assert upright == {True if name == "YOLO" else None}, "only its tools always draw on upright images"


@pytest.mark.parametrize("name", tree_sources())
def test_two_classes_whose_long_names_begin_alike_stay_two(name, tmp_path):
    long = [f"{'Animalia Chordata Mammalia ' * 4} {end}" for end in ("Felis catus", "Felis silvestris")]
    images, _ = build(name, FOLDERS[name](tmp_path / "x", long))
    assert len(images.classes) == 2
    assert images.labels.sum(axis=0).min() >= 1
    assert images.labels.sum(axis=1).tolist() == [1] * len(images)
    assert all(len(label) <= 80 for label in images.classes)


@pytest.mark.parametrize("make", tree_sources(), indirect=True)
def test_a_tree_is_recognised_before_other_formats_and_is_the_same_as_a_zip_file(make, built, tmp_path):
    source = make()
    (name, best), *weaker = detect(open_tree(source.folder)).items()
    assert name == source.name, "see `Recognised` for how sure a source should be"
    assert all(0 < recognised.sure < best.sure <= 1 for _, recognised in weaker)
    assert best.why.strip(". ")
    assert len(make_source(source.name, folder=source.folder, **best.settings)) == len(source)
    folder = Path(source.folder)
    packed = zip_of(folder, tmp_path / f"{folder.name}.zip", f"export/{folder.name}")
    zipped, problems = build_image_set(make_source(source.name, folder=str(packed)), tmp_path / "packed")
    assert (zipped.key, problems) == (built[0].key, built[1])


def test_columns_fit_each_other(built):
    images = built[0]
    n, m = len(images), len(images.image_names)
    assert images.image_of.min() == 0
    assert images.image_of.max() == m - 1
    assert len(set(images.ids.tolist())) == n
    assert images.test.any()
    assert not images.test.all()
    assert not np.isinf(images.numbers).any()
    assert images.classes or images.criteria
    sizes = images.image_sizes[images.image_of]
    assert (images.boxes[:, :2] >= 0).all()
    assert (images.boxes[:, :2] < images.boxes[:, 2:]).all()
    assert (images.boxes[:, 2:] <= sizes).all()
    for sample in range(0, n, 97):
        assert images.ids[sample].startswith(f"{images.image_names[images.image_of[sample]]}#")
        assert images.open_image(images.image_of[sample]).size == tuple(sizes[sample])


def test_progress_rises_to_the_total(make, built):
    progress, total = built[2], len(make())
    assert {of for _, of in progress} == {total}
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    assert progress[-1] == (total, total)


def test_the_test_images_of_digits_are_sampled_by_class_and_seed():
    records = {seed: list(make_source("Digits", test_share=0.25, seed=seed).records()) for seed in (1, 2)}
    assert [image.test for image in records[1]] != [image.test for image in records[2]]
    for digit in map(str, range(10)):
        tested = [image.test for image in records[1] if image.boxes[0].classes == (digit,)]
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
