"""Folders of PASCAL VOC, well made and badly made, written here with small photographs."""

from __future__ import annotations

import os
import shutil
from collections import Counter

import pytest
from archives import zip_of
from example_pascal_voc import VocTree, person, voc_object, xml_of
from import_folders import check_rows, images_and_problems, lay, photograph, read
from refusals import refused

from ranking.core import Problem
from ranking.datasets import make_source
from ranking.files import open_tree
from ranking.files.files import LEADS_OUT, image_name
from ranking.formats.import_preview import preview_import
from ranking.formats.tree_source import detect


@pytest.fixture
def empty_voc(tmp_path):
    return VocTree(tmp_path / "voc")


@pytest.fixture
def voc(empty_voc):
    """Two good images, one for training and one for the test."""
    empty_voc.add("a")
    empty_voc.add("b", voc_object("dog"), voc_object("cat", (21, 16, 40, 30)))
    empty_voc.list("trainval", "a")
    empty_voc.list("test", "b")
    return empty_voc


def test_names_with_spaces_accents_and_labels_in_lists(empty_voc):
    # decomposed, as some file systems store it
    for name in ("hat 1", "e\u0301te\u0301", "c"):
        empty_voc.add(name)
    empty_voc.list("trainval", "\ufeffhat 1", "c  -1")
    empty_voc.list("test", "été  1")
    images, problems = read("PASCAL VOC", empty_voc.root)
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {"c": False, "hat 1": False, "été": True}


# ---------------------------------------------------------------------------- Which folder, which year


@pytest.fixture
def devkit(tmp_path):
    for year in ("VOC2007", "VOC2012"):
        VocTree(tmp_path / "photos" / "VOCdevkit" / year).add(f"of {year}")
    return tmp_path / "photos" / "VOCdevkit"


@pytest.mark.parametrize(
    ("inside", "year", "chosen"),
    [
        ("", "", "VOC2012"),
        ("", "2007", "VOC2007"),
        ("..", "VOC2007", "VOC2007"),
        ("VOC2007", "", "VOC2007"),
        ("VOC2007", "2007", "VOC2007"),
    ],
)
def test_the_newest_year_or_the_chosen_year_is_read(devkit, inside, year, chosen):
    folder = (devkit / inside).resolve()
    assert make_source("PASCAL VOC", folder=str(folder), year=year).title() == f"photos {chosen}"
    images, problems = read("PASCAL VOC", folder, year=year)
    assert list(images) == [f"of {chosen}"]
    unused = "VOC2012" if chosen == "VOC2007" else "VOC2007"
    check_rows(problems, *([] if inside == "VOC2007" else [("2 files", unused)]))


def test_a_year_or_folder_without_annotations_is_refused(devkit, tmp_path):
    (tmp_path / "other" / "Annotations").mkdir(parents=True)
    VocTree(tmp_path / "empty")
    without_images, empty = tmp_path / "other", tmp_path / "empty"
    for folder, year, subject, expected, came in (
        (devkit, "2010", "year", "2007, 2012", "2010"),
        (devkit / "VOC2007", "2012", "year", "2007", "2012"),
        (without_images, "", f"{without_images}", "an XML file", "no such file"),
        (empty, "", f"{empty}", "an XML file", "no such file"),
    ):
        with refused(subject, came) as caught:
            list(make_source("PASCAL VOC", folder=str(folder), year=year).records())
        assert expected in caught.value.expected


# ------------------------------------------------------------------------------------------- The split


@pytest.fixture
def four(empty_voc):
    for name in "abcd":
        empty_voc.add(name)
    return empty_voc


def split_of(voc, **settings):
    """The one-letter names of the images for training and of those for the test; and all problems."""
    records = list(voc.source(**settings).records())
    images = [item for item in records if hasattr(item, "test")]
    parts = ["".join(image.name for image in images if image.test == test) for test in (False, True)]
    return *parts, [item for item in records if not hasattr(item, "test")]


@pytest.mark.parametrize(
    ("lists", "train", "test", "reported"),
    [
        ({"trainval": "ab", "test": "cd"}, "ab", "cd", []),
        (
            {"train": "a", "val": "b", "trainval": "ab"},
            "a",
            "b",
            ["in no list: JPEGImages/c.jpg, JPEGImages/d.jpg"],
        ),
        (
            {"train": "a", "val": "b", "trainval": "ab", "test": "c"},
            "ab",
            "c",
            ["in no list: JPEGImages/d.jpg"],
        ),
        # as CVAT calls them
        ({"Train": "ab", "Test": "c", "Validation": "d"}, "abd", "c", []),
        ({"Train": "bc", "val": "d", "Validation": "a"}, "bc", "ad", []),
        # none is annotated
        (
            {"train": "ac", "val": "bd", "trainval": "ab", "test": "xyz"},
            "ac",
            "bd",
            ["ImageSets/Main/test.txt"],
        ),
        ({"test": "d"}, "abc", "d", []),
        ({"trainval": "abc", "test": "cd"}, "ab", "cd", ["1 image in several lists: JPEGImages/c.jpg"]),
    ],
)
def test_lists_determine_the_training_and_test_split(four, lists, train, test, reported):
    for name, images in lists.items():
        four.list(name, *images)
    *split, problems = split_of(four)
    assert split == [train, test]
    assert [row.came for row in problems] == reported


def test_lists_name_images_with_suffix_or_folder_in_any_folder(four):
    lay(
        four.root,
        {"sets/train_1.txt": "a.jpg\nJPEGImages/b.jpg 1\n", "sets/val_1.lst": "D:\\voc\\c.JPG\nd\n"},
    )
    assert split_of(four) == ("ab", "cd", [])


def test_without_a_test_list_the_seed_chooses_the_test_images(four):
    train, test, problems = split_of(four, test_share=0.5, seed=1)
    assert sorted(train + test) == list("abcd")
    assert len(train) == len(test) == 2
    assert [(row.file, row.done) for row in problems] == [
        ("test split", "50% of 4 images held out at random, seed 1")
    ]
    assert split_of(four, test_share=0.5, seed=1)[:2] == (train, test)
    assert len({split_of(four, test_share=0.5, seed=seed)[0] for seed in range(8)}) > 1
    four.list("train", *"abc")
    train, test, problems = split_of(four, test_share=0.5)
    assert (sorted(train + test), len(test)) == (list("abcd"), 2)
    check_rows(problems, ("test split", "train"))


def test_images_of_a_list_without_annotations_are_counted_apart_from_masks(four):
    four.list("trainval", *"abcd")
    four.list("test", "x", "y")
    images = ["JPEGImages/x.jpg", "JPEGImages/y.jpg", "JPEGImages/z.jpg"]
    lay(four.root, dict.fromkeys([*images, *(f"SegmentationClass/{name}.png" for name in "abcd")]))
    source = four.source()
    problems = [item for item in source.records() if isinstance(item, Problem)]
    assert [row.file for row in problems] == [
        "test split",
        "1 image",
        "4 images in folders of masks",
        "2 images of ImageSets/Main/test.txt",
    ]
    [split] = [row for row in source.decisions() if row.about == "split"]
    assert split.evidence.endswith(
        "all images that are read are train; not read: 2 images of ImageSets/Main/test.txt"
    )


# ---------------- Files that are missing, broken, doubled or elsewhere: one row each, the rest is kept


def test_unmatched_and_broken_files_and_duplicate_names_are_reported(voc):
    voc.annotation("c", voc_object())
    voc.image("d")
    voc.list("trainval", "a", "c", "d", "../../../etc/passwd", "g")
    voc.add("e")
    voc.image("f")
    voc.image("g")
    voc.annotation("g").write_text("<annotation><object>")
    (voc.root / "Annotations" / "b.XML").write_bytes(b"<never read")
    (voc.root / "Annotations" / "notes.txt").write_text("not an annotation")
    images, problems = read("PASCAL VOC", voc.root)
    assert {name: (len(image.boxes), image.size) for name, image in images.items()} == {
        "a": (1, (40, 30)),
        "b": (2, (40, 30)),
    }
    check_rows(
        problems,
        ("annotations", "2 times: Annotations/b.XML: ", "Annotations/g.xml: "),
        ("annotations", "Annotations/c.xml: Annotations/c: none"),
        ("ImageSets/Main/trainval.txt", "2 lines without such an image: c, ../../../etc/passwd"),
        ("1 image", "in no list: JPEGImages/e.jpg"),
        ("1 image", "none for JPEGImages/f.jpg"),
        ("2 images of ImageSets/Main/trainval.txt", "none for JPEGImages/d.jpg, JPEGImages/g.jpg"),
        ("files: 1 .txt", "Annotations/notes.txt"),
    )


def test_of_images_with_the_same_name_the_most_common_format_is_used(empty_voc):
    empty_voc.add("a")
    empty_voc.image("a", suffix=".png")
    empty_voc.image("a", suffix=".jpeg")
    images, problems = read("PASCAL VOC", empty_voc.root)
    assert [image.data.name for image in images.values()] == ["JPEGImages/a.jpg"]
    check_rows(problems, ("2 images", "JPEGImages/a.jpeg, JPEGImages/a.png"))


@pytest.mark.parametrize(("difficult", "kept"), [("leave out", [2]), ("keep", [1, 2])])
def test_difficult_objects_are_read_or_ignored_by_the_setting(voc, difficult, kept):
    voc.add("c", voc_object(extra="<difficult>1</difficult>"), voc_object())
    voc.list("trainval", "a", "c")
    images, problems = read("PASCAL VOC", voc.root, difficult=difficult)
    assert [box.number for box in images["c"].boxes] == kept
    check_rows(problems, ("1 box", "difficult"))


# --------------------------------------------------------------- Nothing is read outside of the folder


@pytest.fixture
def secret(tmp_path):
    """A good image and annotation that lie outside the folder."""
    outside = VocTree(tmp_path / "outside")
    outside.add("secret")
    return outside.root


def test_links_that_leave_and_pipes_are_rows(voc, secret):
    (voc.root / "Annotations" / "c.xml").symlink_to(secret / "Annotations" / "secret.xml")
    voc.image("c")
    (voc.root / "JPEGImages" / "d.jpg").symlink_to(secret / "JPEGImages" / "secret.jpg")
    voc.annotation("d", voc_object())
    os.mkfifo(voc.root / "Annotations" / "e.xml")
    voc.list("trainval", "a", *"cde")
    image_set, problems = voc.build()
    assert image_set.ids.tolist() == ["a#1", "b#1", "b#2"]
    check_rows(
        problems,
        ("annotations", f"2 times: Annotations/c.xml: {LEADS_OUT}; Annotations/e.xml: "),
        ("ImageSets/Main/trainval.txt", "1 line without such an image: e"),
        ("JPEGImages/d.jpg", LEADS_OUT),
        ("1 image of ImageSets/Main/trainval.txt", "none for JPEGImages/c.jpg"),
    )


@pytest.mark.parametrize("inside", ["", "/Annotations", "/JPEGImages", "/ImageSets", "/ImageSets/Main"])
def test_folders_that_link_out_of_the_tree_are_refused(tmp_path, secret, inside):
    voc = VocTree(tmp_path / "VOCdevkit" / "VOC2012")
    voc.add("a")
    voc.list("trainval", "a")
    path = tmp_path / "VOCdevkit" / f"VOC2012{inside}"
    path.rename(tmp_path / "moved")
    path.symlink_to(secret)
    with refused(f"VOC2012{inside}"):
        list(make_source("PASCAL VOC", folder=str(tmp_path / "VOCdevkit")).records())


def test_a_list_that_cannot_be_read_is_named(voc):
    (voc.root / "ImageSets" / "Main" / "val.txt").symlink_to("nothing")
    images, [row] = images_and_problems(voc.source())
    assert [image.name for image in images] == ["a", "b"]
    assert (row.came, row.done) == ("ImageSets/Main/val.txt", "not read")


def test_no_two_names_become_one():
    names = ["\udcff", "\udcfe", "\ufffd", "\0", "\ufffd00dcff", "\0" * 300, "\0" * 301, "n" * 300, "n" * 301]
    made = [image_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(name.isprintable() and len(name) <= 255 for name in made)


# --------------------------------------------------------------------------------------------- Actions


@pytest.fixture
def people(empty_voc):
    """Two images of people; what is no person, and who is in no list, is no sample."""
    empty_voc.add(
        "p", voc_object("horse"), person(riding=1, phoning=0), person((5, 5, 9, 9), riding=1, phoning=1)
    )
    empty_voc.add("q", person(riding=0, phoning=0), person((5, 5, 9, 9), riding=0, phoning=1))
    empty_voc.list("train", "p 2", "p 3", task="Action")
    empty_voc.list("val", "q 1", task="Action")
    return empty_voc


def test_actions_are_read_as_classes_of_people(people):
    image_set, problems = people.build()
    assert problems == []
    assert image_set.title == "voc actions"
    assert image_set.classes == ("phoning", "riding")
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1"]
    assert image_set.labels.tolist() == [[False, True], [True, True], [False, False]]
    assert image_set.test.tolist() == [False, False, True]
    people.list("train", "p")
    people.list("val", "q")
    assert people.build()[0].classes == ("horse", "person")
    assert people.build(form="action")[0].key == image_set.key
    shutil.rmtree(people.root / "ImageSets" / "Action")
    image_set, problems = people.build(form="action", test_share=0.5)
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1", "q#2"]
    assert problems == []


def test_labels_from_lists_where_the_annotation_has_none(empty_voc):
    empty_voc.add("p", voc_object("person"), voc_object("person", (5, 5, 9, 9)))
    empty_voc.add("q", voc_object("person"))
    empty_voc.list("riding_train", "p 1 1", "p  2 -1", task="Action")
    empty_voc.list("phoning_train", "p 1 -1", "p  2 0", task="Action")
    empty_voc.list("riding_val", "q 1 1", task="Action")
    image_set, problems = empty_voc.build()
    assert problems == []
    assert image_set.classes == ("riding",)
    assert image_set.labels.tolist() == [[True], [False], [True]]


def test_invalid_lines_of_action_lists_are_reported(people):
    people.add("r", voc_object("person"), person(riding=1))
    people.list("val", "q 1", "r 1", "r 2", "r 7", "nonsense", task="Action")
    people.list("riding_val", "q 1 1", "r 2 1", task="Action")
    (people.root / "ImageSets" / "Action" / "riding_other.txt").symlink_to("nothing")
    image_set, problems = people.build()
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1", "r#2"]
    assert image_set.relevance("riding").tolist() == [1, 1, 0, 1]
    check_rows(
        problems,
        ("ImageSets/Action/riding_other.txt", LEADS_OUT),
        ("ImageSets/Action/val.txt", "nonsense"),
        ("Annotations/q.xml", "object 1", "riding"),
        ("Annotations/r.xml", "2 times: object 1: no actions; object 7: no such object"),
    )


# ---------------------------------------------------------------------------------- As tools export it


def laid_out(root, annotations, images, names=("a", "b"), more="", **texts):
    """A folder of annotations and images, each in the folder of that name."""
    files = {f"{annotations}/{name}.xml".lstrip("/"): xml_of(voc_object(), more=more) for name in names}
    files |= {f"{images}/{name}.jpg".lstrip("/"): None for name in names}
    return lay(root, files | {name.replace("_", "."): text for name, text in texts.items()})


OWNER = "<owner><name>Label Studio</name></owner>"


@pytest.mark.parametrize(
    ("folders", "more", "first_pixel"),
    [
        (
            ("Annotations", "JPEGImages"),
            {"labelmap_txt": "# label:color_rgb:parts\ncat:1,2,3::\n"},
            0,
            # CVAT
        ),
        (("Annotations", "JPEGImages"), {"labelmap_txt": "my own notes"}, 1),
        # FiftyOne
        (("labels", "data"), {}, 0),
        (("Annotations", "images"), {"more": OWNER}, 0),
        (("annotations", "images"), {}, 1),
        (("labels", "images"), {}, 1),
        (("xml", "images"), {}, 1),
        (("xmls", "images"), {}, 1),
        # LabelImg
        (("", ""), {}, 1),
    ],
)
def test_exports_of_tools_are_read_with_their_first_pixel(tmp_path, folders, more, first_pixel):
    """Some write x and x + width, in pixels from 0."""
    folder = laid_out(tmp_path / "x", *folders, **more)
    [(source, recognised)] = detect(open_tree(folder)).items()
    assert source == "PASCAL VOC"
    assert all(part in recognised.why for part in (folders[0], "b.xml begin", "2 images"))
    images, problems = read("PASCAL VOC", folder)
    # a file of another tool of that name
    assert [row for row in problems if row.came != "labelmap.txt"] == []
    left = 1 - first_pixel
    assert [image.boxes[0].box for image in images.values()] == [(left, left, 20, 15)] * 2
    for file in folder.rglob("*.xml"):
        file.write_text("<annotations/>")
    assert list(detect(open_tree(folder))) == []


def test_annotations_and_images_in_nested_folders_are_read(tmp_path):
    """CVAT keeps the folders that its images were in."""
    folder = laid_out(tmp_path / "x", "Annotations", "JPEGImages", ("x/a", "y/a", "b"))
    lay(folder, {"ImageSets/Main/Train.txt": "x/a\nb\n", "ImageSets/Main/Test.txt": "y/a\n"})
    assert next(iter(detect(open_tree(folder)))) == "PASCAL VOC"
    images, problems = read("PASCAL VOC", folder)
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {"b": False, "x/a": False, "y/a": True}


@pytest.mark.parametrize(("parts", "test"), [(("train", "valid", "test"), "test"), (("train", "val"), "val")])
@pytest.mark.parametrize("folders", [("", ""), ("annotations", "images"), ("Annotations", "JPEGImages")])
def test_parts_in_separate_folders_determine_the_split(tmp_path, parts, test, folders):
    """Roboflow exports annotations beside their images so; names may come again."""
    for part in parts:
        laid_out(tmp_path / "x" / part, *folders)
    folder = lay(tmp_path / "x", {"README.roboflow.txt": "hard hats"})
    [(source, recognised)] = detect(open_tree(zip_of(folder, tmp_path / "x.zip", "top"))).items()
    assert source == "PASCAL VOC"
    count = 2 * len(parts)
    assert all(part in recognised.why for part in ("top/", f"{count - 3} more", f"{count} images"))
    images, problems = read("PASCAL VOC", folder)
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {
        f"{part}/{name}": part == test for part in parts for name in "ab"
    }


def test_parts_may_have_different_layouts(tmp_path):
    laid_out(tmp_path / "x" / "train", "annotations", "images", "a")
    laid_out(tmp_path / "x" / "test", "", "", "a")
    images, problems = read("PASCAL VOC", tmp_path / "x")
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {"test/a": True, "train/a": False}


@pytest.mark.parametrize(
    ("annotations", "images"),
    [
        ("annotations/xmls/{}.xml", "images/{}.jpg"),
        ("Annotations/DET/train/x/{}.xml", "Data/DET/train/x/{}.JPEG"),
        ("Xml/{}.xml", "Image/{}.png"),
        ("boxes of trees/{}.xml", "photographs/{}.jpg"),
        ("train_annotations/{}.xml", "train_images/{}.jpg"),
    ],
)
def test_folders_by_any_name_with_masks_beside_them(tmp_path, annotations, images):
    files = {annotations.format(name): xml_of(voc_object()) for name in "ab"}
    files |= {images.format(name): photograph(kind="PNG" if "png" in images else "JPEG") for name in "ab"}
    masks = {f"annotations/trimaps/{name}.png": photograph(kind="PNG") for name in "ab"}
    folder = lay(tmp_path / "x", files | (masks if "annotations/xmls" in annotations else {}))
    assert next(iter(detect(open_tree(folder)))) == "PASCAL VOC"
    records, problems = read("PASCAL VOC", folder)
    assert [image.data.name for image in records.values()] == [images.format(name) for name in "ab"]
    assert [row.came[:24] for row in problems] == ["none for annotations/tri"] * ("xmls" in annotations)


def test_batches_with_equal_names_and_images_named_by_content(tmp_path):
    files = {f"{batch}/Annotations/1.xml": xml_of(voc_object(batch)) for batch in ("x", "y")}
    files |= {f"{batch}/JPEGImages/1.jpg": None for batch in ("x", "y")}
    files |= {"z/Annotations/other name.xml": xml_of(voc_object("z")), "z/other.jpg": None}
    source = make_source("PASCAL VOC", folder=str(lay(tmp_path / "x", files)))
    images, problems = images_and_problems(source)
    assert {image.data.name: image.boxes[0].classes for image in images} == {
        "x/JPEGImages/1.jpg": ("x",),
        "y/JPEGImages/1.jpg": ("y",),
        "z/other.jpg": ("z",),
    }
    assert [row.file for row in problems] == ["test split"]
    assert "1 of 3" in {row.about: row.evidence for row in source.decisions()}["images of annotations"]


def test_objects_with_several_boxes_or_other_shapes(tmp_path):
    def shape(text):
        return f"<object><name>cat</name>{text}</object>"

    box = voc_object().partition("</name>")[2].partition("</object>")[0]
    polygon = "<polygon><x1>3</x1><y1>4</y1><x2>9</x2><y2>5</y2><x3>5</x3><y3>8</y3></polygon>"
    turned = "<robndbox><cx>10</cx><cy>10</cy><w>8</w><h>4</h><angle>1.5707963</angle></robndbox>"
    text = xml_of(shape(box + box.replace("20", "30")), shape(polygon), shape(turned))
    images, problems = read("PASCAL VOC", lay(tmp_path / "x", {"1.xml": text, "1.jpg": None}))
    boxes = {box.number: tuple(map(round, box.box)) for box in images["1"].boxes}
    assert boxes == {1: (0, 0, 20, 15), 2: (3, 4, 9, 8), 3: (8, 6, 12, 14), 4: (0, 0, 30, 15)}
    check_rows(problems, ("objects", "2 times: 1.xml: polygon; 1.xml: robndbox"))


def test_boxes_that_begin_at_0_are_counted_from_0(tmp_path):
    text = xml_of(voc_object("cat", (0, 0, 20, 15)), voc_object("dog", (5, 5, 20, 15)))
    folder = lay(tmp_path / "x", {"1.xml": text, "1.jpg": None})
    assert [box.box for box in read("PASCAL VOC", folder)[0]["1"].boxes] == [(0, 0, 20, 15), (5, 5, 20, 15)]
    images, _ = read("PASCAL VOC", folder, first_pixel="1")
    assert images["1"].boxes[1].box == (4, 4, 20, 15)


@pytest.mark.parametrize(
    ("inside", "title", "count", "classes", "test_images"),
    [
        ("helmets/VOCdevkit", "helmets VOC2007", 549, {"head": 1031, "helmet": 1346}, 220),
        ("bccd", "bccd", 364, {"Platelets": 361, "RBC": 4155, "WBC": 372}, 72),
    ],
)
def test_annotations_of_real_photographs(real_data, inside, title, count, classes, test_images):
    """A few are decoded."""
    preview = preview_import(str(real_data / inside), None, {})
    assert (preview.source, preview.content.problem_count) == ("PASCAL VOC", 0)
    assert preview.content.title == title
    images, problems = read("PASCAL VOC", real_data / inside)
    assert problems == []
    assert (len(images), sum(image.test for image in images.values())) == (count, test_images)
    counts = Counter(name for image in images.values() for box in image.boxes for name in box.classes)
    assert counts == classes
