"""Faults in single rows, cells and names: each has a row of the report or a decision, and changes nothing else."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from import_folders import images_and_problems, lay
from refusals import refused

from ranking.commands.naming import settings_from
from ranking.datasets import make_source, source_class
from ranking.files import open_tree
from ranking.formats.class_folders import class_paths
from ranking.formats.import_preview import preview_import
from ranking.formats.svmlight import begins_graded
from ranking.formats.tree_source import detect

CLASSES = ("cat", "dog", "cow")
IMAGES = {f"{number}.jpg": None for number in range(10)}


def read(root: Path, source: str, files: dict[str, object], **settings: str) -> tuple[dict, list, dict]:
    """Return the boxes of each image, the problems, and the decisions by what they are about."""
    reader = make_source(source, folder=str(lay(root / "x", files)), **settings)
    images, problems = images_and_problems(reader)
    rows = {row.about: row for row in reader.decisions()}
    return {image.name: image.boxes for image in images}, problems, rows


def coco(names: list[tuple[int, str]], box: list[int], image: str = "0.jpg") -> str:
    categories = [{"id": number, "name": name} for number, name in names]
    annotations = [{"image_id": 1, "category_id": number, "bbox": box} for number, _ in names]
    images = [{"id": 1, "file_name": image}]
    return json.dumps({"images": images, "categories": categories, "annotations": annotations})


def test_a_number_of_two_classes_is_reported_and_not_guessed(tmp_path):
    names = [(1, "cat"), (2, "dog"), (1, "cow")]
    images, problems, _ = read(tmp_path, "COCO", {"a.json": coco(names, [1, 2, 3, 4]), "0.jpg": None})
    assert {name for box in images["0"] for name in box.classes} == {"dog"}
    assert "1 is cat and cow" in [problem.came for problem in problems]


def test_classes_of_two_files_are_those_of_each_file_and_said_to_differ(tmp_path):
    files = {"a.json": coco([(1, "cat")], [1, 2, 3, 4]), "b.json": coco([(1, "dog")], [1, 2, 3, 4])}
    images, _, rows = read(tmp_path, "COCO", {**files, "0.jpg": None})
    assert [box.classes for box in images["0"]] == [("cat",), ("dog",)]
    assert "1 is cat in a.json and dog in b.json" in rows["numbers of classes"].evidence
    assert "a box has several classes in 1 image: 0.jpg" in rows["images listed several times"].evidence


@pytest.mark.parametrize(
    ("names", "classes"), [("names: [cat, cat]", "cat"), ("names: {0: cat, 0: dog}", "class 0")]
)
def test_names_that_repeat_are_noticed(tmp_path, names, classes):
    files = {"0.jpg": None, "0.txt": "0 .5 .5 .5 .5", "data.yaml": names}
    images, problems, rows = read(tmp_path, "YOLO", files)
    assert [box.classes for box in images["0"]] == [(classes,)]
    named = [row.evidence for row in rows.values()] + [problem.came for problem in problems]
    assert any("cat is 0 and 1" in text or "0 with several values" in text for text in named)


def test_an_image_of_two_labels_in_two_rows_is_noticed(tmp_path):
    table = "image,label\n0.jpg,cat\n1.jpg,dog\n0.jpg,dog\n1.jpg,dog\n"
    images, _, rows = read(tmp_path, "Table of images", {**IMAGES, "t.csv": table})
    assert images["0"][0].classes == ("cat", "dog")
    assert rows["rows with other labels of an image"].evidence == "1 image with several: 0.jpg shows cat, dog"


@pytest.mark.parametrize("stray", ["old", "inf"])
def test_one_stray_cell_leaves_a_criterion_one(tmp_path, stray):
    cells = [*map(str, range(9)), stray] * 2
    table = "image,age\n" + "".join(f"{place % 10}.jpg,{cell}\n" for place, cell in enumerate(cells))
    images, problems, rows = read(tmp_path, "Table of images", {**IMAGES, "t.csv": table})
    assert images["3"][0].numbers == {"age": 3}
    assert not images["3"][0].classes
    assert stray in rows["Criterion columns"].evidence
    assert any(f"line 11: age: '{stray}'" in problem.came for problem in problems)


def test_few_numbers_are_a_criterion_where_nothing_else_describes_images(tmp_path):
    table = "image,year\n0.jpg,1950\n1.jpg,1960\n2.jpg,c. 1940\n"
    images, problems, _ = read(tmp_path, "Table of images", {**IMAGES, "t.csv": table})
    assert images["0"][0].numbers == {"year": 1950}
    assert any("line 4: year: 'c. 1940'" in problem.came for problem in problems)


@pytest.mark.parametrize("mark", ["", "nan", "NA", "?"])
def test_unknown_labels_are_no_class_and_counted(tmp_path, mark):
    table = "image,label\n" + "".join(f"{place}.jpg,{mark if place > 7 else 'cat'}\n" for place in range(10))
    images, problems, _ = read(tmp_path, "Table of images", {**IMAGES, "t.csv": table})
    assert {box.classes for boxes in images.values() for box in boxes} == {("cat",), ()}
    rows = [problem for problem in problems if problem.expected == "a label in each row"]
    assert len(rows) == 1
    assert rows[0].came.startswith("2 times: line 10: label: ")


def test_settings_that_are_no_decisions_or_come_twice_are_refused():
    table = [source_class("Table of images")]
    assert settings_from("--set", ["split=random"], table) == {"split": "random"}
    for texts in (["folder=/etc"], ["split=random", "split=folders"]):
        with refused("--set"):
            settings_from("--set", texts, table)


def test_a_split_that_the_files_do_not_state_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"split.*random.*folders"):
        read(
            tmp_path,
            "Table of images",
            {**IMAGES, "t.csv": "image,label\n0.jpg,a\n1.jpg,b\n"},
            split="folders",
        )


def test_a_bad_row_hides_no_yolo(tmp_path):
    files = {"0.jpg": None, "1.jpg": None, "0.txt": "cat .5 .5 1 1\n0 .5 .5 1 1", "1.txt": "0 .5 .5 1 1"}
    assert "YOLO" in detect(open_tree(lay(tmp_path / "x", files)))


def test_folders_in_folders_take_little_time():
    class Names:
        def __init__(self, names: list[str]) -> None:
            self.names = names

    for word in ("a", "train"):
        begun = time.process_time()
        class_paths(Names(["/".join([word] * 3000) + "/1.jpg", "b/1.jpg"]))
        assert time.process_time() - begun < 10, f"{word}: 1 second at the most; 30 if each path is followed"


def test_rows_about_few_images_take_little_time(tmp_path):
    rows = (f"{place % 8}.jpg,{CLASSES[place % 3]}\n" for place in range(100_000))
    place = lay(tmp_path / "x", {**IMAGES, "t.csv": "image,label\n" + "".join(rows)})
    begun = time.process_time()
    assert preview_import(str(place), None, {}).content.classes == {"cat": 8, "dog": 8, "cow": 8}
    assert time.process_time() - begun < 6


@pytest.mark.parametrize("first", ["nan qid:1 1:0.5", " qid:1 1:0.5", "1 qid: 1:0.5"])
def test_a_bad_first_row_hides_no_graded_samples(tmp_path, first):
    text = f"{first}\n2 qid:1 1:0.5\n1 qid:1 1:0.25\n"
    assert begins_graded(text.encode())
    (tmp_path / "rank.train").write_text(text)
    with pytest.raises(ValueError, match="line 1"):
        list(make_source("SVMlight", file=str(tmp_path / "rank.train")).records())


def test_underscores_are_no_digits(tmp_path):
    (tmp_path / "rank.train").write_text("1 qid:1 1:1_000\n")
    with pytest.raises(ValueError, match=r"line 1.*_"):
        list(make_source("SVMlight", file=str(tmp_path / "rank.train")).records())
