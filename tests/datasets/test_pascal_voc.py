"""Folders of PASCAL VOC, well made and badly made, written here with small photographs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from brought import build, lay, photograph
from voc_tree import VocTree, person, two_images, voc_object
from zipped import zip_of

from ranking.datasets import build_image_set, make_source, voc_folder
from ranking.datasets.detection import detect
from ranking.intake import open_tree
from ranking.intake.files import image_name
from ranking.types import Problem


@pytest.fixture
def empty_voc(tmp_path):
    return VocTree(tmp_path / "voc")


@pytest.fixture
def voc(tmp_path):
    return two_images(tmp_path / "voc")


def told(problems):
    return [(row.file, row.expected, row.came, row.done) for row in problems]


# ---------------------------------------------------------------------------------------------------------
# A good folder
# ---------------------------------------------------------------------------------------------------------


def test_detection(voc):
    image_set, problems = voc.build()
    assert problems == []
    assert image_set.title == "voc"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["a#1", "b#1", "b#2"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [0, 0, 20, 15], [20, 15, 40, 30]]
    assert image_set.relevance("cat").tolist() == [1, 0, 1]
    assert image_set.test.tolist() == [False, True, True]
    assert image_set.groups.tolist() == [0, 1, 1]


def test_upper_case_and_png_images(empty_voc):
    for name, suffix in (("a", ".JPG"), ("b", ".jpeg"), ("c", ".png")):
        empty_voc.image(name, suffix=suffix.lower()).rename(empty_voc.root / "JPEGImages" / (name + suffix))
        empty_voc.annotation(name, voc_object())
    image_set, _ = empty_voc.build()
    assert image_set.image_names.tolist() == ["a", "b", "c"]


def test_names_with_spaces_accents_and_labels_in_lists(empty_voc):
    for name in ("hat 1", "e\u0301te\u0301", "c"):  # decomposed, as some file systems store it
        empty_voc.add(name)
    empty_voc.list("trainval", "\ufeffhat 1", "c  -1")
    empty_voc.list("test", "été  1")
    image_set, problems = empty_voc.build()
    assert problems == []
    assert image_set.image_names.tolist() == ["c", "hat 1", "été"]
    assert image_set.image_test.tolist() == [False, False, True]


# ---------------------------------------------------------------------------------------------------------
# Which folder, which year
# ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def devkit(tmp_path):
    for year in ("VOC2007", "VOC2012"):
        VocTree(tmp_path / "photos" / "VOCdevkit" / year).add(f"of {year}")
    return tmp_path / "photos" / "VOCdevkit"


@pytest.mark.parametrize(
    ("inside", "year", "title"),
    [
        ("", "", "photos VOC2012"),
        ("", "2007", "photos VOC2007"),
        ("", "VOC2012", "photos VOC2012"),
        ("..", "2007", "photos VOC2007"),
        ("VOC2007", "", "photos VOC2007"),
        ("VOC2007", "2007", "photos VOC2007"),
    ],
)
def test_years(devkit, inside, year, title):
    source = make_source("PASCAL VOC", folder=str((devkit / inside).resolve()), year=year)
    assert source.title() == title
    assert [item.name for item in source.records() if not isinstance(item, Problem)] == [f"of {title[7:]}"]
    other = "VOC2012" if title.endswith("2007") else "VOC2007"
    rows = [
        item
        for item in source.records()
        if isinstance(item, Problem) and item.expected == "one folder of PASCAL VOC"
    ]
    assert [(row.file, row.came.rpartition("/")[2]) for row in rows] == (
        [] if inside == "VOC2007" else [("1 folder", other)]
    )


@pytest.mark.parametrize(
    ("inside", "year", "message"),
    [
        ("", "2010", "no VOC2010 in .*; its years are 2007, 2012"),
        ("VOC2007", "2012", "no year 2012 in .*: it is itself a VOC folder; clear the year"),
        (
            "VOC2007/JPEGImages",
            "",
            r"expected a folder with Annotations and .*JPEGImages has no Annotations, no JPEGImages and no VOC2007",
        ),
        ("nowhere", "", "no folder .*nowhere; expected a folder with Annotations"),
    ],
)
def test_a_wrong_folder_says_what_is_there(devkit, inside, year, message):
    with pytest.raises(ValueError, match=message):
        make_source("PASCAL VOC", folder=str(devkit / inside), year=year).title()


def test_a_wrong_folder_says_what_is_missing_and_not_what_else_is_there(tmp_path):
    (tmp_path / ".bashrc").touch()
    (tmp_path / "private").mkdir()
    (tmp_path / "Annotations").mkdir()
    with pytest.raises(ValueError, match=r"has no JPEGImages and no VOC2007, VOC2012, \.\.\.$") as caught:
        make_source("PASCAL VOC", folder=str(tmp_path)).title()
    assert "bashrc" not in str(caught.value)
    assert "private" not in str(caught.value)


def test_a_user_who_is_not_there():
    with pytest.raises(ValueError, match=r"^no user ~nosuch has a home folder here; type the path in full"):
        make_source("PASCAL VOC", folder="~nosuch/photos").title()


@pytest.mark.parametrize("typed", ["", "  ", "a\0b"])
def test_no_folder(typed):
    with pytest.raises(ValueError, match="expected a folder with Annotations and JPEGImages"):
        len(make_source("PASCAL VOC", folder=typed))


def test_a_folder_without_annotations(empty_voc):
    with pytest.raises(ValueError, match=r"no annotation in .*Annotations; expected an XML file an image"):
        len(empty_voc.source())


def test_an_unreadable_folder(voc, monkeypatch):
    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", denied)
    with pytest.raises(ValueError, match=r"cannot be read \(Permission denied\); check its permissions"):
        voc.source().title()


# ---------------------------------------------------------------------------------------------------------
# The split
# ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def four(empty_voc):
    for name in "abcd":
        empty_voc.add(name)
    return empty_voc


def split_of(image_set):
    """The one-letter names of the images for training and of those for the test."""
    names = image_set.image_names
    return "".join(names[~image_set.image_test]), "".join(names[image_set.image_test])


@pytest.mark.parametrize(
    ("lists", "settings", "train", "test"),
    [
        ({"trainval": "ab", "test": "cd"}, {}, "ab", "cd"),
        ({"train": "a", "val": "b", "trainval": "ab"}, {}, "a", "b"),
        ({"train": "a", "val": "b", "trainval": "ab", "test": "c"}, {}, "ab", "c"),
        ({"train": "a", "val": "b", "test": "c"}, {}, "a", "c"),
        ({"one": "ab", "two": "c"}, {"train_list": "two", "test_list": "one"}, "c", "ab"),
        ({"train": "a", "val": "b", "test": "c"}, {"test_list": "val"}, "a", "b"),
    ],
)
def test_lists(four, lists, settings, train, test):
    for name, images in lists.items():
        four.list(name, *images)
    image_set, problems = four.build(**settings)
    assert split_of(image_set) == (train, test)
    left = sorted(set("abcd") - set(train + test))
    assert [row.came for row in problems] == ([f"in none of them: {', '.join(left)}"] if left else [])


@pytest.mark.parametrize(
    ("lists", "test"),
    [
        ({"Train": "ab", "Test": "c", "Validation": "d"}, "c"),
        ({"Train": "abc", "Validation": "d"}, "d"),
        ({"Train": "abc", "val": "d", "Validation": "a"}, "a"),
    ],
)
def test_lists_as_cvat_calls_them(four, lists, test):
    for name, images in lists.items():
        four.list(name, *images)
    image_set, problems = four.build()
    assert image_set.image_names[image_set.image_test].tolist() == [test]
    assert "40%" not in str(problems)


def test_a_test_list_without_annotations_is_passed_over(four):
    for name, images in {"train": "a", "val": "b", "trainval": "ab", "test": "xyz"}.items():
        four.list(name, *images)
    assert split_of(four.build()[0]) == ("a", "b")


def test_an_unknown_list_says_which_there_are(four):
    four.list("train", "a")
    four.list("val", "b")
    with pytest.raises(ValueError, match="no image list 'tset'; the lists are: train, val"):
        four.build(test_list="tset")


def test_no_lists_means_a_seeded_draw(four):
    first, problems = four.build(test_share=0.5, seed=1)
    assert told(problems) == [
        (
            "ImageSets",
            "a list of test images",
            "none (no lists)",
            "50% of 4 images drawn for the test, seed 1",
        )
    ]
    assert [len(part) for part in split_of(first)] == [2, 2]
    assert four.build(test_share=0.5, seed=1)[0].key == first.key
    assert len({four.build(test_share=0.5, seed=seed)[0].key for seed in range(8)}) > 1


def test_only_a_training_list_is_drawn_from(four):
    four.list("train", *"abc")
    image_set, problems = four.build(test_share=0.34)
    assert [len(part) for part in split_of(image_set)] == [2, 1]
    assert "d" not in image_set.image_names
    assert problems[0].came == "none (train)"
    assert problems[0].done == "34% of 3 images drawn for the test, seed 0"


def test_only_a_test_list_leaves_the_rest_to_training(four):
    four.list("test", "d")
    image_set, problems = four.build()
    assert split_of(image_set) == ("abc", "d")
    assert told(problems) == [
        ("ImageSets", "a list of training images", "none (lists: test)", "all other images train")
    ]


def test_an_image_in_both_lists_is_for_the_test(four):
    four.list("trainval", *"abc")
    four.list("test", *"cd")
    image_set, problems = four.build()
    assert split_of(image_set) == ("ab", "cd")
    assert told(problems) == [
        ("ImageSets", "no image both in trainval and test", "1 image in both: c", "kept for the test only")
    ]


# ---------------------------------------------------------------------------------------------------------
# Files that are missing, doubled or elsewhere: one row each, the rest is kept
# ---------------------------------------------------------------------------------------------------------


def report_of(voc, **settings):
    """The report, after checking that both good images came through whatever happened to others."""
    image_set, problems = voc.build(**settings)
    assert {"a#1", "b#1", "b#2"} <= set(image_set.ids.tolist())
    return told(problems)


def test_missing_image(voc):
    voc.annotation("c", voc_object())
    voc.list("trainval", "a", "c")
    expected = "an image c (.jpg, .jpeg, .png, .webp) in JPEGImages"
    assert report_of(voc) == [("c.xml", expected, "none", "annotation left out")]


@pytest.mark.parametrize("suffix", [".jpeg", ".PNG", ".webp"])
def test_photographs_of_any_kind_that_can_be_decoded(voc, suffix):
    (voc.root / "JPEGImages" / "a.jpg").unlink()
    voc.image("a", suffix=suffix)
    assert report_of(voc) == []


def test_listed_without_annotation(voc):
    voc.image("c")
    voc.list("trainval", "a", "c", "../../../etc/passwd")
    assert report_of(voc) == [
        (f"{name}.xml", "an annotation of every listed image", "none in Annotations", "image left out")
        for name in ("../../../etc/passwd", "c")
    ]


def test_in_no_list_and_without_annotation(voc):
    voc.add("c")
    voc.image("d")
    assert report_of(voc) == [
        ("1 annotation", "annotations in the chosen lists", "in none of them: c", "left out"),
        ("1 image", "an annotation for every image", "none for d", "left out"),
    ]


def test_broken_files_are_told_by_name(voc):
    voc.image("broken image").write_bytes(b"\xff\xd8\xff\xe0 and then nothing")
    voc.annotation("broken image", voc_object())
    voc.image("broken xml")
    voc.xml("broken xml", "<annotation><object>")
    voc.list("trainval", "a", "broken image", "broken xml")
    rows = report_of(voc)
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("broken image.jpg", "an intact JPEG, PNG or WebP image", "image left out"),
        ("broken xml.xml", "XML that can be read", "annotation left out"),
    ]


def test_size_mismatch(voc):
    voc.image("c")
    voc.annotation("c", voc_object(), size=(80, 60))
    voc.list("trainval", "a", "c")
    expected = "an image of the size that its annotation claims, 80 x 60"
    assert report_of(voc) == [("c.jpg", expected, "40 x 30", "image left out")]


def test_boxes_outside(voc):
    voc.add(
        "c", voc_object(box=(0, 1, 41, 30)), voc_object(box=(41, 1, 50, 9)), voc_object(box=(40, 30, 40, 30))
    )
    voc.list("trainval", "a", "c")
    image_set, problems = voc.build()
    assert image_set.ids.tolist()[-2:] == ["c#1", "c#3"]
    assert image_set.boxes.tolist()[-2:] == [[0, 0, 40, 30], [39, 29, 40, 30]]
    expected = "a box inside the image, 40 x 30"
    assert told(problems) == [
        ("c.jpg", expected, "box 1: -1, 0, 41, 30, partly outside", "box clipped to the image"),
        ("c.jpg", expected, "box 2: 40, 0, 50, 9, wholly outside", "box left out"),
    ]


def test_images_without_objects_are_counted(voc):
    for name in "cde":
        voc.image(name)
        voc.annotation(name)
    voc.list("trainval", *"acde")
    assert report_of(voc) == [("3 images", "at least one usable box", "none in c, d, e", "image left out")]


def test_doubled_names(voc):
    voc.image("a", suffix=".png")
    voc.image("a", suffix=".jpeg")
    (voc.root / "Annotations" / "b.XML").write_bytes(b"<never read")
    rows = report_of(voc)
    assert [(row[1], row[3]) for row in rows] == [
        ("one file for each name in Annotations", "b.xml is used"),
        ("one file for each name in JPEGImages", "a.jpg is used"),
        ("one file for each name in JPEGImages", "a.jpg is used"),
    ]


def test_leftovers_of_file_managers_are_no_annotations(voc):
    voc.xml("._a", b"\0\5\26\7")
    (voc.root / "Annotations" / "notes.txt").write_text("not an annotation")
    assert report_of(voc) == []


@pytest.mark.parametrize(("setting", "kept"), [("leave out", ["c#2"]), ("keep", ["c#1", "c#2"])])
def test_difficult(voc, setting, kept):
    voc.add("c", voc_object(extra="<difficult>1</difficult>"), voc_object())
    voc.list("trainval", "a", "c")
    image_set, problems = voc.build(difficult=setting)
    assert [key for key in image_set.ids.tolist() if key.startswith("c")] == kept
    done = "left out" if setting == "leave out" else "kept"
    assert told(problems) == [("1 object", "objects not marked as difficult", "difficult 1", done)]


# ---------------------------------------------------------------------------------------------------------
# Nothing is read outside of the folder
# ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path):
    """A good image and annotation that lie outside the folder."""
    outside = VocTree(tmp_path / "outside")
    outside.add("secret")
    return outside.root


def test_links_that_leave_are_refused(voc, secret):
    (voc.root / "Annotations" / "c.xml").symlink_to(secret / "Annotations" / "secret.xml")
    voc.image("c")
    voc.annotation("d", voc_object())
    (voc.root / "JPEGImages" / "d.jpg").symlink_to(secret / "JPEGImages" / "secret.jpg")
    voc.annotation("e", voc_object())
    (voc.root / "JPEGImages" / "e.jpg").symlink_to("nothing.jpg")
    voc.list("trainval", *"acde")
    expected, came = "a regular file inside the chosen folder", "a link to nothing or out of it"
    assert report_of(voc) == [
        ("c.xml", expected, came, "annotation left out"),
        ("d.jpg", expected, came, "image left out"),
        ("e.jpg", expected, came, "image left out"),
    ]


def test_links_that_stay_are_followed(voc):
    (voc.root / "JPEGImages" / "c.jpg").symlink_to("a.jpg")
    (voc.root / "Annotations" / "c.xml").symlink_to("a.xml")
    voc.list("trainval", "a", "c")
    image_set, problems = voc.build()
    assert problems == []
    assert "c#1" in image_set.ids


@pytest.mark.parametrize("directory", ["Annotations", "JPEGImages", "ImageSets/Main"])
def test_directories_that_are_links_out(voc, secret, directory):
    (secret / "ImageSets" / "Main").mkdir(parents=True)
    path = voc.root / directory
    path.rename(path.with_name("moved"))
    path.symlink_to(secret / directory)
    with pytest.raises(
        ValueError, match=f"expected {directory} inside the chosen folder, it is a link out of it"
    ):
        voc.build()


def spoil_list(voc, tmp_path, how):
    """ImageSets/Main/val.txt that cannot be read, in one of many ways; and what is told of it."""
    path = voc.root / "ImageSets" / "Main" / "val.txt"
    if how == "pipe":
        os.mkfifo(path)
        return "something else"
    target = {"link out": tmp_path / "elsewhere.txt", "link to nothing": "nothing", "long link": "x" * 300}
    path.symlink_to(target.get(how, "val.txt"))
    (tmp_path / "elsewhere.txt").write_text("a\n")
    told = {"long link": "File name too long", "link to itself": "Too many levels of symbolic links"}
    return told.get(how, "a link to nothing or out of it")


BAD_LISTS = ["pipe", "link out", "link to nothing", "long link", "link to itself"]


@pytest.mark.parametrize("how", BAD_LISTS)
def test_a_bad_list_that_is_not_needed_is_a_row(voc, tmp_path, how):
    came = spoil_list(voc, tmp_path, how)
    assert report_of(voc) == [("val.txt", "a regular file inside the chosen folder", came, "list ignored")]


@pytest.mark.parametrize("how", BAD_LISTS)
@pytest.mark.parametrize("named", [True, False])
def test_a_bad_list_that_is_needed_is_an_error(voc, tmp_path, how, named):
    came = spoil_list(voc, tmp_path, how)
    (voc.root / "ImageSets" / "Main" / "test.txt").unlink()  # without which val is the customary one
    message = (
        f"^val.txt: expected a regular file inside the chosen folder, got {came}; mend it, or name another"
    )
    with pytest.raises(ValueError, match=message):
        voc.build(test_list="val" if named else "")


def test_a_bad_action_list_is_a_row_unless_it_is_needed(people, tmp_path):
    for name in ("riding_val", "riding_other"):
        (people.root / "ImageSets" / "Action" / f"{name}.txt").symlink_to("nothing")
    with pytest.raises(ValueError, match=r"^riding_val.txt: expected a regular file"):
        people.build()
    (people.root / "ImageSets" / "Action" / "riding_val.txt").unlink()
    image_set, problems = people.build()
    assert len(image_set) == 3
    assert [(row.file, row.done) for row in problems] == [("riding_other.txt", "list ignored")]


def test_a_year_that_is_a_link_out(tmp_path, secret):
    (tmp_path / "VOCdevkit").mkdir()
    (tmp_path / "VOCdevkit" / "VOC2012").symlink_to(secret)
    with pytest.raises(ValueError, match="expected VOC2012 inside the chosen folder, it is a link out of it"):
        make_source("PASCAL VOC", folder=str(tmp_path / "VOCdevkit")).title()


def test_links_that_cannot_be_followed_are_rows(voc):
    (voc.root / "Annotations" / "c.xml").symlink_to("x" * 300)
    voc.image("c")
    voc.annotation("d", voc_object())
    (voc.root / "JPEGImages" / "d.jpg").symlink_to("x" * 300)
    voc.annotation("e", voc_object())
    (voc.root / "JPEGImages" / "e.jpg").symlink_to("e.jpg")
    voc.list("trainval", *"acde")
    expected = "a regular file inside the chosen folder"
    assert report_of(voc) == [
        ("c.xml", expected, "File name too long", "annotation left out"),
        ("d.jpg", expected, "File name too long", "image left out"),
        ("e.jpg", expected, "Too many levels of symbolic links", "image left out"),
    ]


def deny(monkeypatch, method, names, error=None):
    """Have the system refuse `method` of paths of these names, as modes do to who is not root."""
    really = getattr(Path, method)

    def denied(path, *arguments, **options):
        if path.name in names:
            raise error or PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, method, denied)


def test_files_that_may_not_be_looked_at_are_rows(voc, monkeypatch):
    for name in "cd":
        voc.add(name)
    voc.list("trainval", *"acd")
    voc.list("val", "a")
    deny(monkeypatch, "stat", ["c.xml", "d.jpg", "val.txt"])
    expected, came = "a regular file inside the chosen folder", "Permission denied"
    assert report_of(voc) == [
        ("val.txt", expected, came, "list ignored"),
        ("c.xml", expected, came, "annotation left out"),
        ("d.jpg", expected, came, "image left out"),
    ]


def test_a_list_that_cannot_be_read_is_a_row(voc, monkeypatch):
    voc.list("val", "a")
    deny(monkeypatch, "open", ["val.txt"])
    assert report_of(voc) == [("val.txt", "a file that can be read", "Permission denied", "list ignored")]


@pytest.mark.parametrize(
    ("method", "directory"),
    [("iterdir", "Annotations"), ("iterdir", "JPEGImages"), ("stat", "Main"), ("iterdir", "Main")],
)
def test_a_directory_that_cannot_be_read(voc, monkeypatch, method, directory):
    deny(monkeypatch, method, [directory])
    with pytest.raises(
        ValueError, match=rf"{directory} cannot be read \(Permission denied\); check its perm"
    ):
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
    assert [(row.expected, row.came) for row in problems] == [
        ("an image \ufffd00dcfd (.jpg, .jpeg, .png, .webp) in JPEGImages", "none"),
        ("an annotation for every image", "none for \ufffd00dcfe"),
    ]


def test_no_two_names_become_one():
    names = ["\udcff", "\udcfe", "\ufffd", "\0", "\ufffd00dcff", "\0" * 300, "\0" * 301, "n" * 300, "n" * 301]
    made = [image_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(name.isprintable() and len(name) <= 255 for name in made)


def test_pipes_are_not_opened(voc):
    os.mkfifo(voc.root / "Annotations" / "c.xml")
    voc.list("trainval", "a", "c")
    expected = "a regular file inside the chosen folder"
    assert report_of(voc) == [("c.xml", expected, "something else", "annotation left out")]


def test_a_list_that_is_too_long(voc, monkeypatch):
    monkeypatch.setattr(voc_folder, "MAX_LIST_BYTES", 2**20)
    voc.list("trainval", "a" * 2**20)
    with pytest.raises(
        ValueError, match=r"trainval.txt: expected a list of at most 1 MB, got a larger file; mend it"
    ):
        voc.build()


def test_an_annotation_that_cannot_be_read(voc, monkeypatch):
    voc.add("c")
    voc.list("trainval", "a", "c")
    deny(monkeypatch, "open", ["c.xml"], OSError(5, "Input/output error"))
    expected = "a file that can be read"
    assert report_of(voc) == [("c.xml", expected, "Input/output error", "annotation left out")]


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
    with pytest.raises(ValueError, match=r"form.*'auto', 'detection', 'action'.*'pose'"):
        people.source(form="pose")


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
    differ, followed = "object 1: riding differ", "the annotation is followed"
    assert told(problems) == [
        ("val.txt", "rows of image, object number and perhaps a label", "nonsense", "row ignored"),
        ("q.xml", "the same actions in annotation and lists", differ, followed),
        ("r.xml", "actions for every listed object", "object 1 has none", "object left out"),
        ("r.xml", "objects that the annotation has", "object 7 of 2", "row of the list ignored"),
    ]


def test_actions_without_lists(people):
    for path in (people.root / "ImageSets" / "Action").iterdir():
        path.unlink()
    image_set, problems = people.build(form="action", test_share=0.5)
    assert image_set.ids.tolist() == ["p#2", "p#3", "q#1", "q#2"]
    assert [row.done for row in problems] == ["50% of 2 images drawn for the test, seed 0"]


# ---------------------------------------------------------------------------------------------------------
# ZIP files, folders around it, and FiftyOne
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top", "title"),
    [
        ("", "voc"),
        ("voc", "voc"),
        ("export/VOCdevkit/VOC2007", "export VOC2007"),
        ("VOC2007", "voc VOC2007"),
        ("my export/all of it", "all of it"),
    ],
)
def test_a_zip_file_is_read_as_the_folder_is(voc, tmp_path, top, title):
    voc.list("val", "gone")
    packed = make_source("PASCAL VOC", folder=str(zip_of(voc.root, tmp_path / "voc.zip", top)))
    image_set, problems = build_image_set(packed, tmp_path / "packed")
    beside, reported = voc.build()
    assert problems == reported
    assert image_set.title == title
    assert image_set.ids.tolist() == beside.ids.tolist()
    if title == beside.title:
        assert image_set.key == beside.key


def test_one_of_several_folders_without_years(voc, tmp_path):
    for top in ("one", "two"):
        (tmp_path / "both").mkdir(exist_ok=True)
        shutil.copytree(voc.root, tmp_path / "both" / top)
    with pytest.raises(ValueError, match="both holds 2 folders of PASCAL VOC, one, two; bring one of them"):
        make_source("PASCAL VOC", folder=str(tmp_path / "both")).title()


def test_an_unusable_entry_of_a_zip_file_is_a_row(voc, tmp_path):
    voc.add("c")
    voc.list("trainval", "a", "c")
    path = zip_of(voc.root, tmp_path / "voc.zip")
    data = path.read_bytes()
    place = data.index(b"JPEGImages/c.jpg") + 60
    path.write_bytes(data[:place] + b"damaged!" + data[place + 8 :])
    _, problems = build_image_set(make_source("PASCAL VOC", folder=str(path)), tmp_path / "set")
    (row,) = told(problems)
    assert row[:2] == ("c.jpg", "an intact entry of the ZIP file")
    assert row[3] == "image left out"


def as_fiftyone(root):
    (root / "Annotations").rename(root / "labels")
    (root / "JPEGImages").rename(root / "data")
    shutil.rmtree(root / "ImageSets")
    return root


def test_an_export_of_fiftyone(voc):
    voc.annotation("a", voc_object(box=(0, 0, 20, 15)))
    as_fiftyone(voc.root)
    image_set, problems = voc.build(test_share=0.5)
    assert [row.file for row in problems] == ["ImageSets"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [1, 1, 20, 15], [21, 16, 40, 30]]
    (voc.root / "data" / "b.jpg").unlink()
    _, problems = voc.build(test_share=0.5)
    assert told(problems)[1][:3] == ("b.xml", "an image b (.jpg, .jpeg, .png, .webp) in data", "none")


def xml_of(*objects, owner=""):
    return (
        f"<annotation>{owner}<size><width>40</width><height>30</height></size>{''.join(objects)}</annotation>"
    )


def test_an_export_of_label_studio(tmp_path):
    """Its converter writes x and x + width, in pixels from 0."""
    one = xml_of(voc_object(box=(0, 0, 20, 15)), owner="<owner><name>Label Studio</name></owner>")
    files = {f"Annotations/{name}.xml": one for name in "ab"} | {f"images/{name}.jpg": None for name in "ab"}
    folder = lay(tmp_path / "x", files)
    assert (
        detect(open_tree(folder))[0].recognised.why == "Annotations/ holds 2 XML files and images/ 2 images"
    )
    image_set, _ = build("PASCAL VOC", folder)
    assert image_set.boxes.tolist() == [[0, 0, 20, 15]] * 2


@pytest.mark.parametrize(
    ("labelmap", "left"),
    [("# label:color_rgb:parts:actions\ncat:1,2,3::\n", 1), ("my own notes", 0), (None, 0)],
)
def test_an_export_of_cvat_counts_pixels_from_0(tmp_path, labelmap, left):
    """It writes x and x + width, and tells its labels beside the folders."""
    files = {f"Annotations/{name}.xml": xml_of(voc_object(box=(1, 1, 20, 15))) for name in "ab"}
    files |= {f"JPEGImages/{name}.jpg": None for name in "ab"}
    folder = lay(tmp_path / "x" / "in", files | ({} if labelmap is None else {"labelmap.txt": labelmap}))
    image_set, _ = build("PASCAL VOC", folder.parent)
    assert image_set.boxes.tolist() == [[left, left, 20, 15]] * 2


def test_folders_inside_those_of_annotations_and_images(tmp_path):
    """CVAT keeps the folders that its images were in."""
    files = {f"Annotations/{name}.xml": xml_of(voc_object()) for name in ("x/a", "y/a", "b")}
    files |= {f"JPEGImages/{name}.jpg": None for name in ("x/a", "y/a", "b")}
    files |= {"ImageSets/Main/Train.txt": "x/a\nb\n", "ImageSets/Main/Test.txt": "y/a\n"}
    folder = lay(tmp_path / "x", files)
    assert next(one.source for one in detect(open_tree(folder))) == "PASCAL VOC"
    image_set, problems = build("PASCAL VOC", folder)
    assert problems == []
    assert dict(zip(image_set.image_names.tolist(), image_set.image_test.tolist(), strict=True)) == {
        "b": False,
        "x/a": False,
        "y/a": True,
    }


@pytest.mark.parametrize("annotations", ["Annotations", "annotations", "labels", "xml", "xmls"])
def test_other_names_of_folders(tmp_path, annotations):
    names = [f"{annotations}/{name}.xml" for name in "ab"]
    files = dict.fromkeys(names, xml_of(voc_object())) | {
        f"images/{name}.png": photograph(kind="PNG") for name in "ab"
    }
    image_set, _ = build("PASCAL VOC", lay(tmp_path / "x", files))
    assert image_set.boxes.tolist() == [[0, 0, 20, 15]] * 2
    for name in names:
        (tmp_path / "x" / name).write_text("<annotations/>")
    assert detect(open_tree(tmp_path / "x")) == []


def test_annotations_beside_their_images(tmp_path):
    """LabelImg leaves them so."""
    files = {"a.jpg": None, "b.jpg": None, "c.jpg": None} | {
        f"{name}.xml": xml_of(voc_object()) for name in "ab"
    }
    folder = lay(tmp_path / "mine", {**files, "d.xml": xml_of(voc_object())})
    (detected,) = detect(open_tree(zip_of(folder, tmp_path / "x.zip", "top")))
    assert detected.recognised.why == "3 XML files of VOC lie beside 3 images in top"
    image_set, problems = build("PASCAL VOC", folder)
    assert (image_set.title, image_set.ids.tolist()) == ("mine", ["a#1", "b#1"])
    assert told(problems)[1:3] == [
        ("d.xml", "an image d (.jpg, .jpeg, .png, .webp) in its folder", "none", "annotation left out"),
        ("1 image", "an annotation for every image", "none for c", "left out"),
    ]


@pytest.mark.parametrize(
    ("parts", "test"),
    [(("train", "valid", "test"), "test"), (("train", "valid"), "valid"), (("train", "test"), "test")],
)
def test_parts_with_annotations_beside_their_images(tmp_path, parts, test):
    """Roboflow exports them so; names may come again."""
    files = {f"{part}/{name}.jpg": None for part in parts for name in "ab"}
    files |= {f"{part}/{name}.xml": xml_of(voc_object(part)) for part in parts for name in "ab"}
    folder = lay(tmp_path / "x", {**files, "README.roboflow.txt": "hard hats"})
    (detected,) = detect(open_tree(folder))
    assert detected.source == "PASCAL VOC"
    assert f"XML files of VOC lie beside {2 * len(parts)} images in " in detected.recognised.why
    image_set, problems = build("PASCAL VOC", folder)
    assert problems == []
    assert image_set.image_names.tolist() == sorted(f"{part}/{name}" for part in parts for name in "ab")
    assert image_set.test.tolist() == [name.startswith(test) for name in image_set.image_names]
    for sample, name in enumerate(image_set.image_names):
        assert image_set.labels[sample, image_set.classes.index(name.partition("/")[0])]


@pytest.mark.parametrize(
    ("parts", "test"),
    [(("train", "valid", "test"), "test"), (("train", "val"), "val"), (("train", "test"), "test")],
)
@pytest.mark.parametrize("inner", [("annotations/", "images/"), ("Annotations/", "JPEGImages/")])
def test_parts_with_folders_of_annotations_and_images(tmp_path, parts, test, inner):
    annotations, images = inner
    files = {f"{part}/{images}{name}.jpg": None for part in parts for name in "ab"}
    files |= {f"{part}/{annotations}{name}.xml": xml_of(voc_object(part)) for part in parts for name in "ab"}
    folder = lay(tmp_path / "x", files)
    (detected,) = detect(open_tree(zip_of(folder, tmp_path / "x.zip", "top")))
    assert detected.source == "PASCAL VOC"
    count = 2 * len(parts)
    assert detected.recognised.why.startswith(f"{count} XML files of VOC and {count} images lie in ")
    image_set, problems = build("PASCAL VOC", folder)
    assert problems == []
    assert image_set.image_names.tolist() == sorted(f"{part}/{name}" for part in parts for name in "ab")
    assert image_set.test.tolist() == [name.startswith(f"{test}/") for name in image_set.image_names]
    for sample, name in enumerate(image_set.image_names):
        assert image_set.labels[sample, image_set.classes.index(name.partition("/")[0])]


def test_parts_of_which_each_is_laid_out_in_its_own_way(tmp_path):
    files = {"train/images/a.jpg": None, "train/annotations/a.xml": xml_of(voc_object("cat"))}
    folder = lay(tmp_path / "x", {**files, "test/a.jpg": None, "test/a.xml": xml_of(voc_object("dog"))})
    image_set, problems = build("PASCAL VOC", folder)
    assert problems == []
    assert image_set.ids.tolist() == ["test/a#1", "train/a#1"]
    assert (image_set.test.tolist(), image_set.classes) == ([True, False], ("cat", "dog"))


def test_recognised(voc, tmp_path):
    tree = open_tree(zip_of(voc.root, tmp_path / "voc.zip", "export/VOC2007"))
    (detected,) = detect(tree)
    assert detected.source == "PASCAL VOC"
    assert detected.recognised.why == (
        "Annotations/ holds 2 XML files and JPEGImages/ 2 images in export/VOC2007"
    )
    assert detect(open_tree(as_fiftyone(voc.root)))[0].recognised.why == (
        "labels/ holds 2 XML files and data/ 2 images"
    )
    shutil.rmtree(voc.root / "labels")
    assert detect(open_tree(voc.root)) == []


# ---------------------------------------------------------------------------------------------------------
# Real photographs
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "title", "images", "classes", "test_images"),
    [
        ("helmets/VOCdevkit", "helmets VOC2007", 549, {"head": 1031, "helmet": 1346}, 220),
        ("bccd", "bccd", 364, {"Platelets": 361, "RBC": 4155, "WBC": 372}, 72),
    ],
)
def test_real_photographs(real_data, tmp_path, inside, title, images, classes, test_images):
    source = make_source("PASCAL VOC", folder=str(real_data / inside))
    image_set, problems = build_image_set(source, tmp_path / "set")
    assert problems == []
    assert image_set.title == title
    assert len(image_set.image_names) == images
    assert {name: int(image_set.relevance(name).sum()) for name in image_set.classes} == classes
    assert image_set.image_test.sum() == test_images
    top = inside.partition("/")[0]
    packed = zip_of(real_data / top, tmp_path / f"{top}.zip")
    again, problems = build_image_set(make_source("PASCAL VOC", folder=str(packed)), tmp_path / "packed")
    assert (again.key, problems) == (image_set.key, [])
