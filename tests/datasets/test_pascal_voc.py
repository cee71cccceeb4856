"""Folders of PASCAL VOC, well made and badly made, written here with small photographs."""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from brought import check_rows, lay, photograph, read
from refusals import refused
from voc_tree import VocTree, person, two_images, voc_object
from zipped import zip_of

from ranking.datasets import build_image_set, make_source, voc_folder
from ranking.datasets.detection import detect
from ranking.intake import open_tree
from ranking.intake.files import LEADS_OUT, image_name

DENIED = os.strerror(errno.EACCES)


@pytest.fixture
def empty_voc(tmp_path):
    return VocTree(tmp_path / "voc")


@pytest.fixture
def voc(tmp_path):
    return two_images(tmp_path / "voc")


# ---------------------------------------------------------------------------------------------------------
# A good folder
# ---------------------------------------------------------------------------------------------------------


def test_detection(voc):
    voc.xml("._a", b"\0\5\26\7")  # as file managers leave behind
    (voc.root / "Annotations" / "notes.txt").write_text("not an annotation")
    image_set, problems = voc.build()
    assert problems == []
    assert image_set.title == "voc"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["a#1", "b#1", "b#2"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [0, 0, 20, 15], [20, 15, 40, 30]]
    assert image_set.relevance("cat").tolist() == [1, 0, 1]
    assert image_set.test.tolist() == [False, True, True]
    assert image_set.groups.tolist() == [0, 1, 1]


def test_formats_of_images(empty_voc):
    for name, suffix in zip("abcde", (".JPG", ".jpeg", ".png", ".PNG", ".webp"), strict=True):
        empty_voc.image(name, suffix=suffix)
        empty_voc.annotation(name, voc_object())
    assert empty_voc.build()[0].image_names.tolist() == list("abcde")


def test_names_with_spaces_accents_and_labels_in_lists(empty_voc):
    for name in ("hat 1", "e\u0301te\u0301", "c"):  # decomposed, as some file systems store it
        empty_voc.add(name)
    empty_voc.list("trainval", "\ufeffhat 1", "c  -1")
    empty_voc.list("test", "été  1")
    images, problems = read("PASCAL VOC", empty_voc.root)
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {"c": False, "hat 1": False, "été": True}


# ---------------------------------------------------------------------------------------------------------
# Which folder, which year
# ---------------------------------------------------------------------------------------------------------


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
        ("", "VOC2012", "VOC2012"),
        ("..", "2007", "VOC2007"),
        ("VOC2007", "", "VOC2007"),
        ("VOC2007", "2007", "VOC2007"),
    ],
)
def test_years(devkit, inside, year, chosen):
    folder = (devkit / inside).resolve()
    assert make_source("PASCAL VOC", folder=str(folder), year=year).title() == f"photos {chosen}"
    images, problems = read("PASCAL VOC", folder, year=year)
    assert list(images) == [f"of {chosen}"]
    unused = "VOC2012" if chosen == "VOC2007" else "VOC2007"
    check_rows(problems, *([] if inside == "VOC2007" else [("1 folder", unused)]))


def test_a_year_that_is_not_there(devkit):
    for inside, year, there in (("", "2010", "2007, 2012"), ("VOC2007", "2012", "VOC2007")):
        with refused("year", year) as caught:
            make_source("PASCAL VOC", folder=str(devkit / inside), year=year).title()
        assert there in caught.value.expected


def test_a_folder_of_something_else_names_what_is_missing_and_not_what_is_there(tmp_path):
    (tmp_path / ".bashrc").touch()
    (tmp_path / "private").mkdir()
    (tmp_path / "Annotations").mkdir()
    with refused(str(tmp_path)) as caught:
        make_source("PASCAL VOC", folder=str(tmp_path)).title()
    assert "JPEGImages" in caught.value.came
    assert "Annotations" not in caught.value.came
    assert "bashrc" not in str(caught.value)
    assert "private" not in str(caught.value)


def test_a_folder_without_annotations(empty_voc):
    with refused(str(empty_voc.root / "Annotations")):
        len(empty_voc.source())


def test_one_of_several_folders_without_years(voc, tmp_path):
    for top in ("a", "b"):
        shutil.copytree(voc.root, tmp_path / "both" / top)
    with refused(str(tmp_path / "both")) as caught:
        make_source("PASCAL VOC", folder=str(tmp_path / "both")).title()
    assert "a, b" in caught.value.came


# ---------------------------------------------------------------------------------------------------------
# The split
# ---------------------------------------------------------------------------------------------------------


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
    ("lists", "settings", "train", "test"),
    [
        ({"trainval": "ab", "test": "cd"}, {}, "ab", "cd"),
        ({"train": "a", "val": "b", "trainval": "ab"}, {}, "a", "b"),
        ({"train": "a", "val": "b", "trainval": "ab", "test": "c"}, {}, "ab", "c"),
        ({"train": "a", "val": "b", "test": "c"}, {}, "a", "c"),
        ({"one": "ab", "two": "c"}, {"train_list": "two", "test_list": "one"}, "c", "ab"),
        ({"train": "a", "val": "b", "test": "c"}, {"test_list": "val"}, "a", "b"),
        ({"Train": "ab", "Test": "c", "Validation": "d"}, {}, "ab", "c"),  # as CVAT calls them
        ({"Train": "abc", "Validation": "d"}, {}, "abc", "d"),
        ({"Train": "bc", "val": "d", "Validation": "a"}, {}, "bc", "a"),
        ({"train": "a", "val": "b", "trainval": "ab", "test": "xyz"}, {}, "a", "b"),  # none is annotated
    ],
)
def test_lists(four, lists, settings, train, test):
    for name, images in lists.items():
        four.list(name, *images)
    *split, problems = split_of(four, **settings)
    assert split == [train, test]
    assert {row.file for row in problems} <= {"1 annotation", "2 annotations"}, "of no list"


def test_an_unknown_list_says_which_there_are(four):
    four.list("train", "a")
    four.list("val", "b")
    with refused("image list", "'tset'") as caught:
        list(four.source(test_list="tset").records())
    assert "train, val" in caught.value.expected


def test_without_a_test_list_images_are_drawn_by_seed(four):
    train, test, problems = split_of(four, test_share=0.5, seed=1)
    assert sorted(train + test) == list("abcd")
    assert len(train) == len(test) == 2
    check_rows(problems, ("ImageSets", ""))
    assert all(part in problems[0].done for part in ("50%", "4", "seed 1"))
    assert split_of(four, test_share=0.5, seed=1)[:2] == (train, test)
    assert len({split_of(four, test_share=0.5, seed=seed)[0] for seed in range(8)}) > 1
    four.list("train", *"abc")
    train, test, problems = split_of(four, test_share=0.34)
    assert (sorted(train + test), len(test)) == (list("abc"), 1)
    check_rows(problems, ("ImageSets", "train"), ("1 annotation", "d"))
    assert "34% of 3" in problems[0].done


def test_only_a_test_list_leaves_the_rest_to_training(four):
    four.list("test", "d")
    *split, problems = split_of(four)
    assert split == ["abc", "d"]
    check_rows(problems, ("ImageSets", "test"))


def test_an_image_in_both_lists_is_for_the_test(four):
    four.list("trainval", *"abc")
    four.list("test", *"cd")
    *split, problems = split_of(four)
    assert split == ["ab", "cd"]
    check_rows(problems, ("ImageSets", "1 image in both: c"))


# ---------------------------------------------------------------------------------------------------------
# Files that are missing, doubled or elsewhere: one row each, the rest is kept
# ---------------------------------------------------------------------------------------------------------


def problems_of(voc):
    """The problems, after checking that both good images came, and nothing else."""
    images, problems = read("PASCAL VOC", voc.root)
    assert {name: len(image.boxes) for name, image in images.items()} == {"a": 1, "b": 2}
    return problems


def test_images_and_annotations_without_each_other(voc):
    voc.annotation("c", voc_object())
    voc.image("d")
    voc.list("trainval", "a", "c", "d", "../../../etc/passwd")
    voc.add("e")
    voc.image("f")
    check_rows(
        problems_of(voc),
        ("../../../etc/passwd.xml", "Annotations"),
        ("c.xml", "none"),
        ("d.xml", "Annotations"),
        ("1 annotation", "e"),
        ("1 image", "f"),
    )


def test_what_the_builder_finds_is_told_by_the_names_of_files(voc):
    voc.image("broken image").write_bytes(b"\xff\xd8\xff\xe0 and then nothing")
    voc.annotation("broken image", voc_object())
    voc.image("broken xml")
    voc.xml("broken xml", "<annotation><object>")
    voc.image("c")
    voc.annotation("c", voc_object(), size=(80, 60))
    voc.add("d", *(voc_object(box=box) for box in ((0, 1, 41, 30), (41, 1, 50, 9), (40, 30, 40, 30))))
    for name in "ef":
        voc.image(name)
        voc.annotation(name)
    voc.list("trainval", "a", "broken image", "broken xml", *"cdef")
    image_set, problems = voc.build()
    assert image_set.ids.tolist() == ["a#1", "b#1", "b#2", "d#1", "d#3"]
    assert image_set.boxes.tolist()[-2:] == [[0, 0, 40, 30], [39, 29, 40, 30]]
    check_rows(
        problems,
        ("broken image.jpg",),
        ("broken xml.xml",),
        ("c.jpg", "40 x 30"),
        ("d.jpg", "box 1: -1, 0, 41, 30"),
        ("d.jpg", "box 2: 40, 0, 50, 9"),
        ("2 images", "e, f"),
    )
    assert "80 x 60" in problems[2].expected


def test_doubled_names(voc):
    voc.image("a", suffix=".png")
    voc.image("a", suffix=".jpeg")
    (voc.root / "Annotations" / "b.XML").write_bytes(b"<never read")
    problems = problems_of(voc)
    check_rows(problems, ("b.XML", "b.XML"), ("a.jpeg", "a.jpeg"), ("a.png", "a.png"))
    assert [row.done.partition(" ")[0] for row in problems] == ["b.xml", "a.jpg", "a.jpg"]


@pytest.mark.parametrize(("difficult", "kept"), [("leave out", [2]), ("keep", [1, 2])])
def test_difficult(voc, difficult, kept):
    voc.add("c", voc_object(extra="<difficult>1</difficult>"), voc_object())
    voc.list("trainval", "a", "c")
    images, problems = read("PASCAL VOC", voc.root, difficult=difficult)
    assert [box.number for box in images["c"].boxes] == kept
    check_rows(problems, ("1 object", "difficult"))


# ---------------------------------------------------------------------------------------------------------
# Nothing is read outside of the folder
# ---------------------------------------------------------------------------------------------------------


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
    check_rows(problems, ("c.xml", LEADS_OUT), ("d.jpg", LEADS_OUT), ("e.xml",))


@pytest.mark.parametrize("directory", ["Annotations", "JPEGImages", "ImageSets/Main"])
def test_directories_that_are_links_out(voc, secret, directory):
    (secret / "ImageSets" / "Main").mkdir(parents=True)
    path = voc.root / directory
    path.rename(path.with_name("moved"))
    path.symlink_to(secret / directory)
    with refused(directory):
        voc.build()


def test_a_year_that_is_a_link_out(tmp_path, secret):
    (tmp_path / "VOCdevkit").mkdir()
    (tmp_path / "VOCdevkit" / "VOC2012").symlink_to(secret)
    with refused("VOC2012"):
        make_source("PASCAL VOC", folder=str(tmp_path / "VOCdevkit")).title()


def test_a_bad_list_is_a_row_unless_it_is_needed(voc):
    path = voc.root / "ImageSets" / "Main" / "val.txt"
    path.symlink_to("nothing")
    check_rows(problems_of(voc), ("val.txt", LEADS_OUT))
    path.with_name("test.txt").unlink()  # without which val is the customary one
    for test_list in ("val", ""):
        with refused("val.txt", LEADS_OUT):
            len(voc.source(test_list=test_list))


def test_a_bad_action_list_is_a_row_unless_it_is_needed(people):
    for name in ("riding_val", "riding_other"):
        (people.root / "ImageSets" / "Action" / f"{name}.txt").symlink_to("nothing")
    with refused("riding_val.txt", LEADS_OUT):
        len(people.source())
    (people.root / "ImageSets" / "Action" / "riding_val.txt").unlink()
    images, problems = read("PASCAL VOC", people.root)
    assert len(images) == 2
    check_rows(problems, ("riding_other.txt", LEADS_OUT))


def test_a_list_that_is_too_long(voc, monkeypatch):
    monkeypatch.setattr(voc_folder, "MAX_LIST_BYTES", 2**20)
    voc.list("trainval", "a" * 2**20)
    with refused("trainval.txt") as caught:
        voc.build()
    assert "1 MB" in caught.value.expected


def deny(monkeypatch, method, *names):
    """Have the system refuse `method` of paths of these names, as modes do to who is not root."""
    really = getattr(Path, method)

    def denied(path, *arguments, **options):
        if path.name in names:
            raise PermissionError(errno.EACCES, DENIED, str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, method, denied)


@pytest.mark.parametrize("method", ["stat", "open"])
def test_files_that_may_not_be_read_are_rows(voc, monkeypatch, method):
    for name in "cd":
        voc.add(name)
    voc.list("trainval", *"acd")
    voc.list("val", "a")
    deny(monkeypatch, method, "c.xml", "d.jpg", "val.txt")
    image_set, problems = voc.build()
    assert image_set.ids.tolist() == ["a#1", "b#1", "b#2"]
    check_rows(problems, ("val.txt", DENIED), ("c.xml", DENIED), ("d.jpg", DENIED))


@pytest.mark.parametrize(
    ("method", "directory", "subject"),
    [
        ("iterdir", "Annotations", "Annotations"),
        ("iterdir", "JPEGImages", "JPEGImages"),
        ("stat", "Main", "ImageSets/Main"),
        ("iterdir", "Main", "ImageSets/Main"),
    ],
)
def test_a_directory_that_cannot_be_read(voc, monkeypatch, method, directory, subject):
    deny(monkeypatch, method, directory)
    with refused(subject, DENIED):
        voc.build()


def test_names_that_cannot_be_decoded_are_not_taken_for_each_other(voc):
    for folder, suffix, codes in (
        ("JPEGImages", b".jpg", b"\xfe\xff"),
        ("Annotations", b".xml", b"\xfd\xff"),
    ):
        for code in codes:
            name = os.fsencode(voc.root / folder) + b"/" + bytes([code]) + suffix
            os.rename(voc.image("x") if suffix == b".jpg" else voc.annotation("x", voc_object()), name)
    with open(voc.root / "ImageSets" / "Main" / "trainval.txt", "ab") as file:
        file.write(b"\xfd\n\xff\n")
    image_set, problems = voc.build()
    assert image_set.image_names.tolist() == ["a", "b", "\ufffd00dcff"]
    assert "\ufffd00dcfd" in problems[0].expected
    assert "\ufffd00dcfe" in problems[1].came
    assert len(problems) == 2


def test_no_two_names_become_one():
    names = ["\udcff", "\udcfe", "\ufffd", "\0", "\ufffd00dcff", "\0" * 300, "\0" * 301, "n" * 300, "n" * 301]
    made = [image_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(name.isprintable() and len(name) <= 255 for name in made)


# ---------------------------------------------------------------------------------------------------------
# Actions
# ---------------------------------------------------------------------------------------------------------


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


def test_actions(people):
    image_set, problems = people.build()
    assert problems == []
    assert image_set.title == "voc actions"
    assert image_set.classes == ("phoning", "riding")
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1"]
    assert image_set.labels.tolist() == [[False, True], [True, True], [False, False]]
    assert image_set.test.tolist() == [False, False, True]
    assert image_set.groups.tolist() == [0, 0, 1]


def test_form(people):
    people.list("train", "p")
    people.list("val", "q")
    assert people.build()[0].classes == ("horse", "person")
    assert people.build(form="action")[0].classes == ("phoning", "riding")


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


def test_what_is_wrong_with_actions(people):
    people.add("r", voc_object("person"), person(riding=1))
    people.list("val", "q 1", "r 1", "r 2", "r 7", "nonsense", task="Action")
    people.list("riding_val", "q 1 1", "r 2 1", task="Action")
    image_set, problems = people.build()
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1", "r#2"]
    assert image_set.relevance("riding").tolist() == [1, 1, 0, 1]
    check_rows(
        problems,
        ("val.txt", "nonsense"),
        ("q.xml", "object 1", "riding"),
        ("r.xml", "object 1"),
        ("r.xml", "object 7 of 2"),
    )


def test_actions_without_lists(people):
    for path in (people.root / "ImageSets" / "Action").iterdir():
        path.unlink()
    image_set, problems = people.build(form="action", test_share=0.5)
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1", "q#2"]
    check_rows(problems, ("ImageSets",))


# ---------------------------------------------------------------------------------------------------------
# ZIP files, folders around it, and what tools export
# ---------------------------------------------------------------------------------------------------------


def test_an_unusable_entry_of_a_zip_file_is_a_row(voc, tmp_path):
    voc.add("c")
    voc.list("trainval", "a", "c")
    path = zip_of(voc.root, tmp_path / "voc.zip")
    data = path.read_bytes()
    place = data.index(b"JPEGImages/c.jpg") + 60
    path.write_bytes(data[:place] + b"damaged!" + data[place + 8 :])
    image_set, problems = build_image_set(make_source("PASCAL VOC", folder=str(path)), tmp_path / "set")
    check_rows(problems, ("c.jpg",))
    assert image_set.image_names.tolist() == ["a", "b"]


def test_an_export_of_fiftyone(voc):
    voc.annotation("a", voc_object(box=(0, 0, 20, 15)))
    (voc.root / "Annotations").rename(voc.root / "labels")
    (voc.root / "JPEGImages").rename(voc.root / "data")
    shutil.rmtree(voc.root / "ImageSets")
    why = detect(open_tree(voc.root))[0].recognised.why
    assert "labels" in why
    assert "data" in why
    images, problems = read("PASCAL VOC", voc.root)
    assert problems == []
    assert [box.box for image in images.values() for box in image.boxes] == [
        (0, 0, 20, 15),
        (1, 1, 20, 15),
        (21, 16, 40, 30),
    ]
    (voc.root / "data" / "b.jpg").unlink()
    problems = read("PASCAL VOC", voc.root)[1]
    check_rows(problems, ("b.xml",))
    assert "data" in problems[0].expected
    shutil.rmtree(voc.root / "labels")
    assert detect(open_tree(voc.root)) == []


def xml_of(*objects, owner=""):
    return (
        f"<annotation>{owner}<size><width>40</width><height>30</height></size>{''.join(objects)}</annotation>"
    )


def test_an_export_of_label_studio(tmp_path):
    """Its converter writes x and x + width, in pixels from 0."""
    text = xml_of(voc_object(box=(0, 0, 20, 15)), owner="<owner><name>Label Studio</name></owner>")
    files = {f"Annotations/{name}.xml": text for name in "ab"} | {f"images/{name}.jpg": None for name in "ab"}
    folder = lay(tmp_path / "x", files)
    assert detect(open_tree(folder))[0].source == "PASCAL VOC"
    images, _ = read("PASCAL VOC", folder)
    assert [image.boxes[0].box for image in images.values()] == [(0, 0, 20, 15)] * 2


@pytest.mark.parametrize(
    ("labelmap", "left"),
    [("# label:color_rgb:parts:actions\ncat:1,2,3::\n", 1), ("my own notes", 0), (None, 0)],
)
def test_an_export_of_cvat_counts_pixels_from_0(tmp_path, labelmap, left):
    """It writes x and x + width, and tells its labels beside the folders."""
    files = {f"Annotations/{name}.xml": xml_of(voc_object(box=(1, 1, 20, 15))) for name in "ab"}
    files |= {f"JPEGImages/{name}.jpg": None for name in "ab"}
    folder = lay(tmp_path / "x" / "in", files | ({} if labelmap is None else {"labelmap.txt": labelmap}))
    images, _ = read("PASCAL VOC", folder.parent)
    assert [image.boxes[0].box for image in images.values()] == [(left, left, 20, 15)] * 2


def test_folders_inside_those_of_annotations_and_images(tmp_path):
    """CVAT keeps the folders that its images were in."""
    files = {f"Annotations/{name}.xml": xml_of(voc_object()) for name in ("x/a", "y/a", "b")}
    files |= {f"JPEGImages/{name}.jpg": None for name in ("x/a", "y/a", "b")}
    files |= {"ImageSets/Main/Train.txt": "x/a\nb\n", "ImageSets/Main/Test.txt": "y/a\n"}
    folder = lay(tmp_path / "x", files)
    assert detect(open_tree(folder))[0].source == "PASCAL VOC"
    images, problems = read("PASCAL VOC", folder)
    assert problems == []
    assert {name: image.test for name, image in images.items()} == {"b": False, "x/a": False, "y/a": True}


@pytest.mark.parametrize("annotations", ["Annotations", "annotations", "labels", "xml", "xmls"])
def test_other_names_of_folders(tmp_path, annotations):
    names = [f"{annotations}/{name}.xml" for name in "ab"]
    files = dict.fromkeys(names, xml_of(voc_object())) | {
        f"images/{name}.png": photograph(kind="PNG") for name in "ab"
    }
    folder = lay(tmp_path / "x", files)
    assert list(read("PASCAL VOC", folder)[0]) == ["a", "b"]
    for name in names:
        (folder / name).write_text("<annotations/>")
    assert detect(open_tree(folder)) == []


def test_annotations_beside_their_images(tmp_path):
    """LabelImg leaves them so."""
    files = {"a.jpg": None, "b.jpg": None, "c.jpg": None} | {
        f"{name}.xml": xml_of(voc_object()) for name in "abd"
    }
    folder = lay(tmp_path / "mine", files)
    (detected,) = detect(open_tree(zip_of(folder, tmp_path / "x.zip", "top")))
    assert all(part in detected.recognised.why for part in ("3 XML files", "3 images", "top"))
    images, problems = read("PASCAL VOC", folder)
    assert list(images) == ["a", "b"]
    check_rows(problems, ("d.xml",), ("1 image", "c"))


@pytest.mark.parametrize(
    ("parts", "test"),
    [(("train", "valid", "test"), "test"), (("train", "val"), "val"), (("train", "test"), "test")],
)
@pytest.mark.parametrize(
    ("annotations", "images"), [("", ""), ("annotations/", "images/"), ("Annotations/", "JPEGImages/")]
)
def test_parts_in_folders_of_their_own(tmp_path, parts, test, annotations, images):
    """Roboflow exports annotations beside their images so; names may come again."""
    files = {f"{part}/{images}{name}.jpg": None for part in parts for name in "ab"}
    files |= {f"{part}/{annotations}{name}.xml": xml_of(voc_object(part)) for part in parts for name in "ab"}
    folder = lay(tmp_path / "x", {**files, "README.roboflow.txt": "hard hats"})
    (detected,) = detect(open_tree(zip_of(folder, tmp_path / "x.zip", "top")))
    assert detected.source == "PASCAL VOC"
    count = 2 * len(parts)
    assert all(f"{count} {what}" in detected.recognised.why for what in ("XML files", "images"))
    read_images, problems = read("PASCAL VOC", folder)
    assert problems == []
    assert sorted(read_images) == sorted(f"{part}/{name}" for part in parts for name in "ab")
    for name, image in read_images.items():
        part = name.partition("/")[0]
        assert (image.test, image.boxes[0].classes) == (part == test, (part,))


def test_parts_of_which_each_is_laid_out_in_its_own_way(tmp_path):
    files = {"train/images/a.jpg": None, "train/annotations/a.xml": xml_of(voc_object("cat"))}
    folder = lay(tmp_path / "x", {**files, "test/a.jpg": None, "test/a.xml": xml_of(voc_object("dog"))})
    images, problems = read("PASCAL VOC", folder)
    assert problems == []
    assert {name: (image.test, image.boxes[0].classes) for name, image in images.items()} == {
        "test/a": (True, ("dog",)),
        "train/a": (False, ("cat",)),
    }


@pytest.mark.parametrize(
    ("inside", "title", "count", "classes", "test_images"),
    [
        ("helmets/VOCdevkit", "helmets VOC2007", 549, {"head": 1031, "helmet": 1346}, 220),
        ("bccd", "bccd", 364, {"Platelets": 361, "RBC": 4155, "WBC": 372}, 72),
    ],
)
def test_annotations_of_real_photographs(real_data, inside, title, count, classes, test_images):
    """Without decoding them; test_real_folders.py imports a few."""
    assert make_source("PASCAL VOC", folder=str(real_data / inside)).title() == title
    images, problems = read("PASCAL VOC", real_data / inside)
    assert problems == []
    assert (len(images), sum(image.test for image in images.values())) == (count, test_images)
    assert (
        Counter(name for image in images.values() for box in image.boxes for name in box.classes) == classes
    )
