"""What is told and shown of what a person brought, before anything is stored."""

from __future__ import annotations

import base64
import io
import json

import pytest
from archives import zip_of
from example_coco import box, coco
from example_svmlight import some_svmlight
from import_folders import lay
from PIL import Image
from refusals import refused

from ranking.datasets import make_source
from ranking.files import Upload
from ranking.formats import source_preview as previews
from ranking.formats.file_beginnings import UNPACK
from ranking.formats.import_preview import ImportPreview, preview_import, unknown
from ranking.formats.source_preview import preview_source


def classes(root, *broken, **counts):
    """A folder for each class with so many images, of which some are broken."""
    names = [f"{name}/{number}.jpg" for name, count in counts.items() for number in range(count)]
    return lay(root, {**dict.fromkeys(names), **dict.fromkeys(broken, b"no image")})


def shown(folder, **settings):
    return preview_source(make_source("Class folders", folder=str(folder)), **settings)


@pytest.fixture
def zoo(tmp_path):
    return classes(tmp_path / "zoo", "cat/1.jpg", cat=4, dog=4)


def test_uploads_are_recognised_with_a_reason_and_previewed(zoo, monkeypatch):
    steps = []
    preview = preview_import(str(zoo), None, {"seed": 3}, steps.append)
    assert (preview.source, preview.files, preview.refused) == ("Class folders", 8, "")
    assert preview.content.problem_count == 2
    assert "cat, dog" in preview.detected["Class folders"].why
    assert sorted(crop.classes for crop in preview.content.crops) == [("cat",)] * 3 + [("dog",)] * 4
    assert [row.file for row in preview.content.reading.problems] == ["test split", "cat/1.jpg"]
    assert len(steps) == 2
    assert "Class folders" in steps[1]
    assert ImportPreview.from_json(json.loads(json.dumps(preview.to_json()))) == preview
    assert preview.source_settings["seed"] == 3
    monkeypatch.setattr(previews, "MAX_PROBLEMS", 1)
    preview = preview_import(str(zoo), None, {})
    assert (len(preview.content.reading.problems), preview.content.problem_count) == (1, 2)


def test_another_format_can_be_chosen_and_the_preview_gives_the_reason_if_it_does_not_fit(zoo):
    preview = preview_import(str(zoo), "PASCAL VOC", {})
    assert (preview.source, preview.content) == ("PASCAL VOC", None)
    assert "an XML file of PASCAL VOC" in preview.refused
    with refused("format", "'Digits'"):
        preview_import(str(zoo), "Digits", {})


def test_graded_samples_are_recognised_at_a_path_and_never_in_an_upload(tmp_path):
    """The settings of their source name files: in an upload, files of the server."""
    folder = some_svmlight(tmp_path / "Fold1").parent
    (folder / "rank.test").write_bytes((folder / "rank.train").read_bytes())
    where = {"file": str(folder / "rank.train"), "test_file": str(folder / "rank.test")}
    preview = preview_import(str(folder), None, {"seed": 3})
    assert (preview.source, preview.source_settings) == ("SVMlight", {**where, "seed": 3})
    assert {tuple(crop.numbers) for crop in preview.content.crops} == {("grade",)}
    assert ImportPreview.from_json(json.loads(json.dumps(preview.to_json()))) == preview
    file = folder / "rank.train"
    assert preview_import(str(file), None, {}).source_settings == {"file": str(file)}
    with refused(str(file)):
        preview_import(Upload(file, "rank.zip"), None, {})
    with refused("format", "'SVMlight'"):
        preview_import(Upload(zip_of(folder, tmp_path / "x"), "x.zip"), "SVMlight", where)
    (folder / "1.png").touch()
    assert preview_import(str(folder), None, {}).source is None, "a folder with an image is one of images"


def test_graded_samples_of_parts_with_other_names_are_recognised_and_without_names_refused(tmp_path):
    rows = some_svmlight(tmp_path / "one").read_bytes()
    names = {"file": "trainingset.txt", "validation_file": "validationset.txt", "test_file": "testset.txt"}
    for folder, files in (("named", names.values()), ("unnamed", ("a.txt", "b.txt"))):
        lay(tmp_path / folder, dict.fromkeys(files, rows.decode()))
    preview = preview_import(str(tmp_path / "named"), None, {})
    assert preview.source_settings == {key: str(tmp_path / "named" / name) for key, name in names.items()}
    preview = preview_import(str(tmp_path / "unnamed"), None, {})
    assert preview.source is None
    assert "a.txt, b.txt: graded samples in svmlight format; choose" in preview.refused


def test_uploads_of_unknown_format_are_counted_without_an_error(tmp_path):
    for number, names in enumerate((["letter.txt"], ["1.jpg", "2.jpg"])):
        preview = preview_import(str(lay(tmp_path / f"{number}", dict.fromkeys(names))), None, {})
        assert (preview.source, preview.detected, preview.content) == (None, {}, None)
        assert preview.refused == unknown(names)
        assert ImportPreview.from_json(json.loads(json.dumps(preview.to_json()))) == preview
    assert len({unknown(names) for names in ([], ["1.png"], ["1.txt"])}) == 3


@pytest.mark.parametrize(
    ("text", "came"),
    [
        ("Car 0.00 0 1.85 31.00 10.00\nTram -1 -1 -10 3.00 2.00\n", "a name and 5 numbers in each line"),
        ("31,10,64,24,Car\n", "a name and 4 numbers in each line"),
    ],
)
def test_text_files_of_images_that_cannot_be_read_are_described(tmp_path, text, came):
    files = {f"label_2/{number}.txt": text for number in range(3)}
    images = {f"image_2/{number}.png": None for number in range(3)}
    files |= {"a/image_2/9.png": None, "a/calib/9.txt": "P0: 1 2 3"}
    refusal = preview_import(str(lay(tmp_path / "x", {**files, **images})), None, {}).refused
    assert f"label_2/0.txt: {came}, beside image_2" in refusal
    assert "to COCO, Pascal VOC or YOLO" in refusal
    assert (
        preview_import(str(lay(tmp_path / "x", {"label_2/0.txt": "a cat\n"})), None, {}).source
        == "Class folders"
    )


def test_other_text_files_are_named_with_what_is_in_them(tmp_path):
    line = {"source-ref": "s3://x/1.png", "tag": 0, "tag-metadata": {"class-name": "cat"}}
    files = {"out/output.manifest": line, "README.md": "a cat", "b.dat": b"\0\1", "c.rows": "\n1 2\n3 4\n"}
    refusal = preview_import(str(lay(tmp_path / "x", {"1.png": None, **files})), None, {}).refused
    assert refusal.startswith("the format was not recognised: 1 .png")
    came = refusal.partition("Not readable as labels: ")[2]
    keys = "source-ref, tag, tag-metadata, class-name"
    assert came.startswith(
        f"c.rows: 2 numbers in each line, out/output.manifest: JSON with the keys {keys}. Convert"
    )


@pytest.mark.parametrize(
    ("table", "part"),
    [
        (b"image,label\n" * 9, "RANKING_IMPORT_TABLE_BYTES"),
        (b'name\t" x="y\tz\n', "line 1"),
        (b"label,label\ncat,dog\n", "label, label"),
    ],
)
def test_the_reason_why_a_table_is_unusable_is_shown(tmp_path, monkeypatch, table, part):
    monkeypatch.setenv("RANKING_IMPORT_TABLE_BYTES", "100")
    refusal = preview_import(str(lay(tmp_path, {"0.png": None, "t.csv": table})), None, {}).refused
    assert part in refusal.removeprefix(unknown(["0.png", "t.csv"])).partition("t.csv: ")[2]
    assert refusal.isprintable(), "also where a parser quotes a sign that it did not expect"


def test_an_upload_has_the_name_of_the_users_file(zoo, tmp_path):
    place = zip_of(zoo, tmp_path / "upload.zip")
    upload = Upload(place, "../../My zoo.zip")
    assert make_source("Class folders", folder=upload).title() == "My zoo"
    assert make_source("Class folders", folder=str(place)).title() == "upload"


# ------------------------------------------------------------ A few crops, and what all labels come to


def test_classes_take_turns(tmp_path):
    names = [f"{number}.jpg" for number in range(1, 5)]
    boxes = [box(image, category, [0, 0, 9, 9]) for image in range(1, 5) for category in (1, 2)]
    folder = lay(tmp_path / "x", {"a.json": coco(names, boxes), **dict.fromkeys(names)})
    crops = preview_source(make_source("COCO", folder=str(folder))).crops
    assert [crop.image for crop in crops] == ["1", "2", "3", "4"]
    assert [crop.classes for crop in crops] == [("cat",), ("dog",), ("cat",), ("dog",)]
    assert Image.open(io.BytesIO(base64.b64decode(crops[0].thumbnail))).format in ("JPEG", "WEBP")


def test_labels_are_counted_and_no_more_images_decoded_than_are_shown(tmp_path, monkeypatch):
    folder = classes(tmp_path / "x", "bee/4.jpg", ant=2, bee=5)
    before = sorted(tmp_path.rglob("*"))
    seen = shown(folder, crops=3)
    assert (len(seen.crops), [row.file for row in seen.reading.problems]) == (3, ["test split"])
    assert list(seen.classes.items()) == [("bee", 5), ("ant", 2)]
    assert (seen.train + seen.test, seen.more_classes, seen.complete) == (
        7,
        0,
        True,
    )
    [split] = [row for row in seen.reading.decisions if row.about == "split"]
    assert all(part in split.evidence for part in ("40%", "seed 0"))
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written"
    monkeypatch.setattr(previews, "MAX_CLASSES", 1)
    seen = shown(folder)
    assert (seen.classes, seen.more_classes) == ({"bee": 5}, 1)


def test_counting_ends_in_time_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(previews, "COUNT_SECONDS", -1.0)
    seen = shown(classes(tmp_path / "x", cat=9), crops=2)
    assert (seen.classes, seen.complete) == ({"cat": 2}, False)


def test_a_preview_stops_after_the_maximum_of_broken_images(tmp_path, monkeypatch):
    monkeypatch.setattr(previews, "MAX_IMAGES", 3)
    seen = shown(classes(tmp_path / "x", *(f"cat/{number}.jpg" for number in range(9))))
    assert (seen.crops, seen.images) == ([], 9)
    assert len([row for row in seen.reading.problems if row.file.endswith(".jpg")]) == 3


# --------------------------------------------------------- Formats of annotation tools that are not read

TASKS = [{"id": 1, "data": {"image": "1.jpg"}, "annotations": [{"result": []}]}]
REGIONS = 'image,id,label,annotator,annotation_id,lead_time\n1.jpg,1,"[{""x"": 0}]",1,7,1.5\n'
CVAT = '<?xml version="1.0"?>\n<annotations><image name="1.jpg"/></annotations>'


@pytest.mark.parametrize(
    ("name", "content", "tool"),
    [
        ("a.json", TASKS, "Label Studio"),
        ("a.csv", REGIONS, "Label Studio"),
        ("a.xml", CVAT, "CVAT"),
        ("a.json", {"project": {"pid": "x"}}, "VIA 3"),
    ],
)
def test_native_formats_of_tools_are_refused_with_the_formats_that_they_export(tmp_path, name, content, tool):
    """Beside images of which nothing is known, and beside images that another format knows."""
    unrecognised = preview_import(str(lay(tmp_path / "x", {name: content, "1.jpg": None})), None, {})
    assert unrecognised.source is None
    assert f"the native format of {tool}. Export it again, or convert it, as COCO" in unrecognised.refused
    beside = preview_import(
        str(lay(tmp_path / "y", {name: content, "cat/1.jpg": None, "dog/2.jpg": None})), None, {}
    )
    assert beside.source == "Class folders"
    row = beside.content.reading.problems[-1]
    assert (row.file, row.done) == (name, "ignored")
    assert f"the native format of {tool}" in row.came


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("labels.mat", "MATLAB"),
        ("a.tfrecord-00000-of-00002", "TFRecord"),
        ("a.hdf5", "HDF5"),
        ("data.mdb", "LMDB"),
    ],
)
def test_containers_are_refused_by_name_with_the_step(tmp_path, name, kind):
    said = f"{kind}; {UNPACK}"
    assert said in preview_import(str(lay(tmp_path / "x", {name: b"x"})), None, {}).refused
    beside = {name: b"x", "cat/1.jpg": None, "dog/2.jpg": None}
    row = preview_import(str(lay(tmp_path / "y", beside)), None, {}).content.reading.problems[-1]
    assert (row.file, row.came) == (name, said)


def test_previews_of_an_earlier_version_or_of_a_removed_format_are_refused(zoo):
    record = preview_import(str(zoo), None, {}).to_json()
    gone = {"CVAT": record["detected"]["Class folders"], **record["detected"]}
    with refused("image-set source", "'CVAT'"):
        ImportPreview.from_json({**record, "source": "CVAT"})
    with refused("image-set source", "'CVAT'"):
        ImportPreview.from_json({**record, "detected": gone})
    earlier = {**record, "seen": record["content"], "problems": 0}
    del earlier["content"]
    with pytest.raises(KeyError, match="content"):
        ImportPreview.from_json(earlier)
