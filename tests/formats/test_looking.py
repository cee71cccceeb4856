"""What is told and shown of what a person brought, before anything is stored."""

from __future__ import annotations

import io
import json

import pytest
from archives import zip_of
from brought import box, coco, lay
from PIL import Image
from refusals import refused

from ranking.datasets import make_source
from ranking.files import Upload
from ranking.formats import looking, preview, tally
from ranking.formats.looking import Look, look_at, unknown
from ranking.formats.preview import preview as preview_of


def classes(root, *broken, **counts):
    """A folder for each class with so many images, of which some are broken."""
    names = [f"{name}/{number}.jpg" for name, count in counts.items() for number in range(count)]
    return lay(root, {**dict.fromkeys(names), **dict.fromkeys(broken, b"no image")})


def shown(folder, **settings):
    return preview_of(make_source("Class folders", folder=str(folder)), **settings)


@pytest.fixture
def zoo(tmp_path):
    return classes(tmp_path / "zoo", "cat/1.jpg", cat=4, dog=4)


def test_what_is_brought_is_recognised_with_a_reason_and_previewed(zoo, monkeypatch):
    steps = []
    look = look_at(str(zoo), None, {"seed": 3}, steps.append)
    assert (look.source, look.files, look.refused, look.problems) == ("Class folders", 8, "", 2)
    assert "cat, dog" in look.detected[0].recognised.why
    assert sorted(crop.classes for crop in look.seen.crops) == [("cat",)] * 3 + [("dog",)] * 4
    assert [row.file for row in look.seen.problems] == ["parts", "cat/1.jpg"]
    assert len(steps) == 2
    assert "Class folders" in steps[1]
    assert Look.from_json(json.loads(json.dumps(look.to_json()))) == look
    assert look.source_settings["seed"] == 3
    monkeypatch.setattr(looking, "MOST_PROBLEMS", 1)
    look = look_at(str(zoo), None, {})
    assert (len(look.seen.problems), look.problems) == (1, 2)


def test_another_format_can_be_chosen_and_says_why_it_does_not_fit(zoo):
    look = look_at(str(zoo), "PASCAL VOC", {})
    assert (look.source, look.seen) == ("PASCAL VOC", None)
    assert "Annotations" in look.refused
    with refused("format", "'Digits'"):
        look_at(str(zoo), "Digits", {})


def test_what_nobody_knows_is_counted_and_no_error(tmp_path):
    for number, names in enumerate((["letter.txt"], ["1.jpg", "2.jpg"])):
        look = look_at(str(lay(tmp_path / f"{number}", dict.fromkeys(names))), None, {})
        assert (look.source, look.detected, look.seen) == (None, [], None)
        assert look.refused == unknown(names)
        assert Look.from_json(json.loads(json.dumps(look.to_json()))) == look
    assert len({unknown(names) for names in ([], ["1.png"], ["1.txt"])}) == 3


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("image;label\n0.png;Bär\n".encode("cp1252"), "byte 19"),
        (b"image,label\n" * 9, "RANKING_INTAKE_TABLE_BYTES"),
        (b'name\t" x="y\tz\n', "line 1"),
        (b"label,label\ncat,dog\n", "label, label"),
    ],
)
def test_why_a_table_says_nothing_is_told(tmp_path, monkeypatch, table, part):
    monkeypatch.setenv("RANKING_INTAKE_TABLE_BYTES", "100")
    refusal = look_at(str(lay(tmp_path, {"0.png": None, "t.csv": table})), None, {}).refused
    assert part in refusal.removeprefix(unknown(["0.png", "t.csv"])).partition("t.csv: ")[2]
    assert refusal.isprintable(), "also where a parser quotes a sign that it did not expect"


def test_names_that_are_refused_are_told_where_nothing_else_is_left(zoo, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_NAME_LENGTH", "5")
    refusal = look_at(str(zip_of(zoo, tmp_path / "zoo.zip")), None, {}).refused
    assert all(part in refusal for part in ("8 names", "RANKING_INTAKE_NAME_LENGTH", "cat/1.jpg"))


def test_an_upload_is_called_as_the_person_calls_it(zoo, tmp_path):
    place = zip_of(zoo, tmp_path / "brought.zip")
    upload = Upload(place, "../../My zoo.zip")
    assert make_source("Class folders", folder=upload).title() == "My zoo"
    assert make_source("Class folders", folder=str(place)).title() == "brought"


# ------------------------------------------------------------ A few crops, and what all labels come to


def test_classes_take_turns(tmp_path):
    names = [f"{number}.jpg" for number in range(1, 5)]
    boxes = [box(image, category, [0, 0, 9, 9]) for image in range(1, 5) for category in (1, 2)]
    folder = lay(tmp_path / "x", {"a.json": coco(names, boxes), **dict.fromkeys(names)})
    crops = preview_of(make_source("COCO", folder=str(folder))).crops
    assert [crop.image for crop in crops] == ["1", "2", "3", "4"]
    assert [crop.classes for crop in crops] == [("cat",), ("dog",), ("cat",), ("dog",)]
    assert Image.open(io.BytesIO(crops[0].webp)).format == "WEBP"


def test_labels_are_counted_and_no_more_images_decoded_than_are_shown(tmp_path, monkeypatch):
    folder = classes(tmp_path / "x", "bee/4.jpg", ant=2, bee=5)
    before = sorted(tmp_path.rglob("*"))
    seen = shown(folder, crops=3)
    assert (len(seen.crops), [row.file for row in seen.problems]) == (3, ["parts"])
    assert list(seen.tally.classes.items()) == [("bee", 5), ("ant", 2)]
    assert (seen.tally.train + seen.tally.test, seen.tally.others, seen.tally.whole) == (7, 0, True)
    assert all(part in seen.tally.split_from for part in ("40%", "seed 0"))
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written"
    monkeypatch.setattr(tally, "MOST_CLASSES", 1)
    seen = shown(folder)
    assert (seen.tally.classes, seen.tally.others) == ({"bee": 5}, 1)


def test_counting_ends_in_time_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "COUNT_SECONDS", -1.0)
    seen = shown(classes(tmp_path / "x", cat=9), crops=2)
    assert (seen.tally.classes, seen.tally.whole) == ({"cat": 2}, False)


def test_it_gives_up_on_a_folder_of_broken_images(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "MOST_IMAGES", 3)
    seen = shown(classes(tmp_path / "x", *(f"cat/{number}.jpg" for number in range(9))))
    assert (seen.crops, seen.images) == ([], 9)
    assert len([row for row in seen.problems if row.file.endswith(".jpg")]) == 3


# --------------------------------------------------------- Formats of annotation tools that are not read

TASKS = [{"id": 1, "data": {"image": "1.jpg"}, "annotations": [{"result": []}]}]
REGIONS = 'image,id,label,annotator,annotation_id,lead_time\n1.jpg,1,"[{""x"": 0}]",1,7,1.5\n'
DRAWN = '<?xml version="1.0"?>\n<annotations><image name="1.jpg"/></annotations>'


@pytest.mark.parametrize(
    ("name", "content", "tool"),
    [("a.json", TASKS, "Label Studio"), ("a.csv", REGIONS, "Label Studio"), ("a.xml", DRAWN, "CVAT")],
)
def test_own_formats_of_tools_are_answered_with_what_these_export(tmp_path, name, content, tool):
    """Beside images of which nothing is known, and beside images that another format knows."""
    unrecognised = look_at(str(lay(tmp_path / "x", {name: content, "1.jpg": None})), None, {})
    assert unrecognised.source is None
    assert f"{tool}'s own format. Label Studio and CVAT export COCO, YOLO and VOC" in unrecognised.refused
    beside = look_at(
        str(lay(tmp_path / "y", {name: content, "cat/1.jpg": None, "dog/2.jpg": None})), None, {}
    )
    assert beside.source == "Class folders"
    row = beside.seen.problems[0]
    assert (row.file, row.done) == (name, "left out")
    assert f"{tool}'s own format" in row.came


@pytest.mark.parametrize("source", ["CVAT", "Label Studio"])
def test_a_look_by_a_format_that_is_gone_opens_and_says_so(zoo, source):
    look = look_at(str(zoo), None, {})
    earlier = look.to_json() | {"source": source}
    earlier["detected"] = [[source, earlier["detected"][0][1]], *earlier["detected"]]
    opened = Look.from_json(json.loads(json.dumps(earlier)))
    assert (opened.source, opened.seen, opened.files) == (None, None, 8)
    assert [detected.source for detected in opened.detected] == ["Class folders"]
    assert f"{source} is not read any more. Label Studio and CVAT export" in opened.refused
    other = Look.from_json(json.loads(json.dumps(earlier | {"source": "Class folders"})))
    assert [detected.source for detected in other.detected] == ["Class folders"]
