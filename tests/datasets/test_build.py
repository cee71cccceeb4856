"""What the builder does with sources that cannot be trusted, and what it writes."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import struct
import zlib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from archives import in_memory
from image_sets import Records
from import_folders import check_rows
from PIL import Image
from refusals import refused

from ranking.core import Problem, SourceBox, SourceImage
from ranking.datasets import Thumbnails, build, build_image_set, folder, load_image_set, problem_rows
from ranking.datasets.webp import webp_size

WHOLE = SourceBox((0, 0, 40, 30), ("cat",))


def encoded(size=(40, 30), file_format="PNG", mode="RGB", color=0, **options):
    return in_memory(lambda stream: Image.new(mode, size, color).save(stream, file_format, **options))


def image(name, *boxes, data=None, **details):
    return SourceImage(name, encoded() if data is None else data, boxes or (WHOLE,), **details)


GOOD = [image("train"), image("test", test=True)]


def build_with(tmp_path, *items):
    """The set built from two good images and `items`, and the report."""
    return build_image_set(Records([*GOOD, *items]), tmp_path / "set")


def huge_png(width, height):
    """A PNG of a few bytes whose header claims width x height."""
    data = encoded()
    header = b"IHDR" + struct.pack(">II", width, height) + data[24:29]
    return data[:12] + header + struct.pack(">I", zlib.crc32(header)) + data[33:]


def huge_webp(width, height):
    """A WebP of a few bytes whose header claims width x height."""
    claim = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunk = b"VP8X" + struct.pack("<I", len(claim)) + claim
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def test_the_size_of_a_webp_is_read_before_it_is_opened():
    assert webp_size(encoded()) is None
    for size in ((1, 1), (320, 240), (16383, 3)):
        for options in ({"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0"}):
            data = encoded(size, "WEBP", **options)
            assert webp_size(data) == size
            assert webp_size(data[:29]) is webp_size(data.replace(b"WEBPVP8", b"WEBPXXX")) is None


def tiff_of_bands(bands):
    """An intact TIFF of one pixel with `bands` bands of 16 bits, as satellites and Python packages write it."""
    tags = [(256, 1), (257, 1), (259, 1), (262, 1), (277, bands), (278, 1), (279, 2 * bands), (339, 1)]
    end = 8 + 2 + 12 * (len(tags) + 2) + 4
    rows = [(tag, 3, 1, value) for tag, value in tags]
    rows += [(258, 3, bands, end), (273, 4, 1, end + 2 * bands)]
    body = b"".join(struct.pack("<HHII", *row) for row in sorted(rows))
    levels = struct.pack(f"<{bands}H", *[16] * bands)
    return struct.pack("<4sIH", b"II*\0", 8, len(rows)) + body + bytes(4) + levels + bytes(2 * bands)


UNUSABLE = {
    "empty": (b"", "empty"),
    "of another kind": (b"GIF89a or so", ""),
    "PDF": (encoded(file_format="PDF"), "a PDF document"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
    "web page": (b"\n<!DOCTYPE html><html>", "a web page"),
    "zeros": (bytes(99), "zeros only"),
    "archive": (b"PK\3\4" + bytes(99), "another kind of file"),
    "TIFF of bands": (tiff_of_bands(13), "a TIFF file of 13 bands of 16 bits: save it as RGB of 8 bits"),
    "TIFF cut": (b"II*\0\x08", "a broken TIFF file"),
    "of levels without an end": (encoded(file_format="TIFF", mode="F", color=math.inf), "infinity"),
    "JPEG cut": (encoded((400, 300), "JPEG")[:-700], "truncated"),
    "WebP cut": (encoded((400, 300), "WEBP")[:-20], "Error"),
    "WebP without content": (b"RIFF\x04\0\0\0WEBP", ""),
    "largest WebP": (huge_webp(2**24, 2**24), "16777216 x 16777216 pixels"),
    "PNG cut": (encoded()[:60], "Error"),
    "PNG of too many pixels": (huge_png(8_000, 7_000), "8000 x 7000 pixels"),
    "bomb": (huge_png(12_000, 10_000), "(120000000 pixels)"),
    "larger bomb": (huge_png(60_000, 60_000), "(3600000000 pixels)"),
    "at all.jpg": (Path("/nowhere/at all.jpg"), "no such file"),
    "zero": (Path("/dev/zero"), "not a regular file"),
}


# the builder itself must raise it
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_an_unusable_image_is_a_row_and_the_rest_is_kept(tmp_path):
    image_set, problems = build_with(
        tmp_path, *(image(name, data=data) for name, (data, _) in UNUSABLE.items())
    )
    assert image_set.image_names.tolist() == ["train", "test"]
    check_rows(problems, *((name, came) for name, (_, came) in UNUSABLE.items()))
    [row] = build.check(image("a", data=Path("x" * 300))).problems
    assert row.came == os.strerror(errno.ENAMETOOLONG)


def test_a_class_of_unusable_images_only_is_a_row(tmp_path, capfd):
    """Pillow prints no lines of its own."""
    lost = [image(f"{number}", SourceBox(None, ("forest",)), data=tiff_of_bands(13)) for number in range(2)]
    image_set, problems = build_with(tmp_path, *lost)
    assert image_set.classes == ("cat",)
    assert [(row.file, row.came) for row in problems if row.done == "class ignored"] == [
        ("1 class", "none in forest")
    ]
    assert capfd.readouterr().err == ""


BOXES = [
    ((0, 0, 40, 30), (0, 0, 40, 30), ""),
    ((0.4, 0.6, 39.6, 30.4), (0, 1, 40, 30), ""),
    # a pixel
    ((1.5, 2.5, 2.5, 3.5), (2, 3, 3, 4), ""),
    ((-0.5, 0.5, 0.5, 1.5), (0, 1, 1, 2), ""),
    ((-5, 2, 10, 99), (0, 2, 10, 30), "box 2: -5, 2, 10, 99"),
    ((40, 0, 50, 10), None, "box 2: 40, 0, 50, 10"),
    ((-1e300, -9, 0, 10), None, "box 2: -1e+300, -9, 0, 10"),
    ((-1e300, 0, 1e300, 10), (0, 0, 40, 10), "box 2: -1e+300, 0, 1e+300, 10"),
    ((10, 5, 10.2, 9), None, "box 2: 10, 5, 10.2, 9"),
    ((9, 9, 3, 12), None, "box 2: 9, 9, 3, 12"),
    ((float("nan"), 0, 3, 3), None, "box 2: nan, 0, 3, 3"),
    ((0, 0, float("inf"), 3), None, "box 2: 0, 0, inf, 3"),
]
SHARES = [
    ((0.25, 0.5, 0.5, 1), (10, 15, 20, 30), ""),
    ((-5e307, 0.25, 5e307, 0.75), (0, 8, 40, 23), "box 2: -inf, 7.5, inf, 22.5"),
]


def test_boxes_are_clipped_to_the_image_or_ignored_and_reported(tmp_path):
    cases = [(SourceBox(box, ("dog",)), kept, came) for box, kept, came in BOXES]
    cases += [(SourceBox(box, ("dog",), relative=True), kept, came) for box, kept, came in SHARES]
    small = SourceBox((1, 1, 5, 5), ("cat",))
    items = [image(f"x{number}", WHOLE, box, small) for number, (box, *_) in enumerate(cases)]
    image_set, problems = build_with(tmp_path, *items)
    boxes = dict(zip(image_set.ids.tolist(), map(tuple, image_set.boxes.tolist()), strict=True))
    for number, (box, kept, _) in enumerate(cases):
        assert boxes.get(f"x{number}#2") == kept, box
        assert (boxes[f"x{number}#1"], boxes[f"x{number}#3"]) == ((0, 0, 40, 30), (1, 1, 5, 5))
    check_rows(problems, *((f"x{number}", came) for number, (*_, came) in enumerate(cases) if came))


def test_a_name_twice_and_another_size_than_annotated_leave_the_image_out(tmp_path):
    image_set, problems = build_with(
        tmp_path, image("train", data=encoded((8, 8))), image("x", size=(30, 40))
    )
    assert image_set.image_names.tolist() == ["train", "test"]
    assert image_set.image_sizes.tolist() == [[40, 30], [40, 30]]
    check_rows(problems, ("train", "train"), ("x", "40 x 30"))
    assert "30 x 40" in problems[1].expected


def test_images_without_usable_boxes_are_counted_in_one_row(tmp_path):
    bare = [SourceImage(f"bare {number}", b"never read", ()) for number in range(5)]
    outside = image("outside", SourceBox((90, 90, 99, 99), ("cat",)))
    image_set, problems = build_with(tmp_path, *bare, outside)
    assert len(image_set.image_names) == 2
    assert problems[-1].file == "6 images"
    assert all(f"bare {number}" in problems[-1].came for number in range(3))


def test_nothing_usable_is_an_error_that_counts_the_reasons(tmp_path):
    records = Records([image("a", data=b"?"), image("b", data=b"?"), Problem("c.xml", "a box", "none", "")])
    with refused("Records") as caught:
        build_image_set(records, tmp_path / "set")
    assert "2 times" in caught.value.came
    assert "1 times: a box" in caught.value.came
    assert not (tmp_path / "set" / "manifest.json").exists()
    for number, items in enumerate(([], [image("a", SourceBox((0, 0, 9, 9), ()))])):
        with refused("Records"):
            build_image_set(Records(items), tmp_path / f"{number}")


def test_a_box_may_show_no_class_or_several_and_may_be_of_a_group(tmp_path):
    shared = SourceBox((0, 0, 9, 9), ("dog", "cat"), group="train")
    nothing = SourceBox((0, 0, 9, 9), ())
    image_set, _ = build_with(tmp_path, image("c", nothing, shared), image("d", shared, WHOLE))
    assert image_set.labels[2:4].tolist() == [[False, False], [True, True]]
    assert image_set.groups.tolist() == [0, 1, 2, 3, 3, 4], "others are of the group of their image"


@pytest.mark.parametrize(
    ("limit", "most", "subject", "came"),
    [
        ("MAX_CLASSES", 2, "image set", "more by image 'n'"),
        ("MAX_CRITERIA", 1, "image set", "more by image 'n'"),
        ("MAX_LABELS", 11, "samples times classes", "4 times 3"),
        ("MAX_LETTERS", 27, "samples times characters of the longest sample name", "4 times 7"),
    ],
)
def test_numbers_of_classes_and_criteria_are_limited(tmp_path, monkeypatch, limit, most, subject, came):
    monkeypatch.setattr(folder, limit, most)
    boxes = [SourceBox(None, (name,), numbers={name: 1}) for name in ("dog", "emu")]
    with refused(subject, came) as caught:
        build_with(tmp_path, image("n", *boxes))
    assert f"at most {most}" in caught.value.expected


def test_a_split_without_a_test_is_reported(tmp_path):
    for number, item in enumerate(GOOD):
        check_rows(build_image_set(Records([item]), tmp_path / str(number))[1], ("Records",))


def test_names_from_outside_never_reach_the_disk(tmp_path):
    names = ["../../escaped", "/etc/passwd", "a\0b", "..", "<script>"]
    image_set, _ = build_with(tmp_path, *(image(name) for name in names))
    assert image_set.image_names.tolist() == ["train", "test", *names]
    assert sorted(path.name for path in (tmp_path / "set" / "images").iterdir()) == [
        f"{number:06d}.png" for number in range(1, 8)
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"set"}


def test_of_very_many_problems_the_first_are_listed_and_the_rest_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(problem_rows, "MAX_ROWS", 4)
    outside, inverted = SourceBox((50, 50, 60, 60), ("cat",)), SourceBox((9, 9, 3, 3), ("cat",))
    _, problems = build_with(tmp_path, image("bad", WHOLE, *[outside] * 3, *[inverted] * 5, outside))
    assert [row.file for row in problems] == ["bad"] * 4 + ["4 more rows", "1 more row"]


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("keep me")
    with refused(str(tmp_path), "a folder with files"):
        build_image_set(Records(GOOD), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


# ----------------------------------------------------------------------- Keys, and reading a set again


def dated(name, **numbers):
    return image(name, SourceBox((0, 0, 9, 9), (), numbers=numbers))


def keys(tmp_path, *sets):
    return {build_image_set(Records(items), tmp_path / f"{place}")[0].key for place, items in enumerate(sets)}


def test_every_column_and_the_pixels_change_the_key(tmp_path):
    sets = [
        GOOD,
        [image("train"), image("test", test=False)],
        [image("train"), image("test", SourceBox((0, 0, 39, 30), ("cat",)), test=True)],
        [image("train"), image("test", SourceBox((0, 0, 40, 30), ("dog",)), test=True)],
        [image("train", data=encoded(file_format="JPEG")), image("test", test=True)],
        [image("trajn"), image("test", test=True)],
        [image("test", test=True), image("train")],
        [dated("a", year=1920), dated("b", year=1921)],
        [dated("a", year=1920), dated("b", year=1922)],
        [dated("a", year=1920), dated("b", year=math.nan)],
        [dated("a", age=1920), dated("b", age=1921)],
        [dated("a", year=1920, age=math.nan), dated("b", year=1921)],
    ]
    assert len(keys(tmp_path, *sets)) == len(sets)


def test_the_last_of_many_numbers_changes_the_key():
    column = np.zeros(100_000, np.int32)
    first = folder.content_key("x", ["a"], {"boxes": column})
    column[-1] = 1
    assert folder.content_key("x", ["a"], {"boxes": column}) != first
    assert folder.content_key("x", ["a"], {"boxes": column[:-1]}) != first


def test_unknown_numbers_are_stored_in_one_form(tmp_path):
    """Floats have many NaN; nothing said, NaN and another NaN are one set."""
    second_nan = np.array([0x7FF8000000000123], np.uint64).view(np.float64)[0]
    columns = ({}, {"year": math.nan}, {"year": -math.nan}, {"year": second_nan})
    assert len(keys(tmp_path, *([dated("a", year=1), dated("b", **numbers)] for numbers in columns))) == 1


def test_numbers_are_kept_with_their_criteria(tmp_path):
    items = [dated("a", year=1920, price=3.5), dated("b", year=math.nan), dated("c", speed=-0.0)]
    images, problems = build_image_set(Records(items), tmp_path / "set")
    check_rows(problems, ("Records",))
    assert images.criteria == ("year", "price", "speed")
    unknown = math.nan
    expected = np.array([[1920, 3.5, unknown], [unknown] * 3, [unknown, unknown, 0]], np.float32)
    assert images.numbers.tobytes() == expected.tobytes()
    assert images.numbers_of("price").tolist()[:1] == [3.5]
    with refused("criterion of Records", "'age'") as caught:
        images.numbers_of("age")
    assert "year, price, speed" in caught.value.expected
    with refused("class of Records", "'cat'"):
        images.relevance("cat")
    columns = {item.name: getattr(images, item.name) for item in fields(images) if item.init}
    with refused("numbers", (3, 3)):
        type(images)(**columns | {"criteria": ("year", "age")})


def test_boxes_with_a_number_beyond_the_range_of_floats_are_ignored(tmp_path):
    numbers = [math.inf, -math.inf, 1e300, 3e38]
    boxes = [SourceBox(None, ("dog",), numbers={"year": number}) for number in numbers]
    images, problems = build_with(tmp_path, image("a", *boxes))
    assert images.ids.tolist() == ["train#1", "test#1", "a#4"]
    check_rows(problems, *(("a", f"year {number:g}") for number in numbers[:-1]))


def test_loading_a_damaged_image_set_names_the_file_and_the_fault(tmp_path):
    with refused(str(tmp_path), f"a folder without {tmp_path / 'manifest.json'}"):
        load_image_set(tmp_path)
    where = build_with(tmp_path)[0].folder
    good = json.loads((where / "manifest.json").read_text())
    pickled = io.BytesIO()
    np.savez(pickled, boxes=np.array([{}], object))
    changed = [json.dumps(good | change).encode() for change in ({"format": 99}, {"title": "changed"})]
    for name, contents in {
        "manifest.json": [*changed, b"", b"[]", b"{}", b"{", b'{"format": 1}'],
        "columns.npz": [b"", b"not an archive", b"PK\x03\x04 and no more", pickled.getvalue()],
    }.items():
        before = (where / name).read_bytes()
        for content in contents:
            (where / name).write_bytes(content)
            with refused(str(where)):
                load_image_set(where)
        (where / name).write_bytes(before)
    assert load_image_set(where).title == "Records"


def test_damaged_and_missing_thumbnails_are_reported(tmp_path):
    image_set, _ = build_with(tmp_path)
    blob, thumbnails = image_set.folder / "crops.bin", Thumbnails(image_set.folder)
    first, size = thumbnails.crop(0), blob.stat().st_size
    os.truncate(blob, len(first))
    assert thumbnails.crop(0) == first
    for read, came in (
        (lambda: Thumbnails(image_set.folder), len(first)),
        (lambda: thumbnails.crop(1), "a file that ends within number 1"),
    ):
        with refused("crops.bin", came) as caught:
            read()
        assert caught.value.expected == f"{size} bytes"
    blob.unlink()
    with refused("crops.bin"):
        thumbnails.crop(0)
    (image_set.folder / "crops.npy").write_bytes(b"not an array")
    with refused("crops"):
        Thumbnails(image_set.folder)


def test_thumbnail_sizes(tmp_path):
    sizes = [
        ((8, 8), (160, 160), (160, 160)),
        ((30, 50), (90, 150), (90, 150)),
        ((100, 90), (100, 90), (100, 90)),
        ((800, 400), (160, 80), (320, 160)),
        ((2000, 2), (160, 1), (320, 1)),
    ]
    items = [image(str(size), SourceBox((0, 0, *size), ("cat",)), data=encoded(size)) for size, _, _ in sizes]
    thumbnails = Thumbnails(build_with(tmp_path, *items)[0].folder)
    for number, (_, crop, whole) in enumerate(sizes, 2):
        assert Image.open(io.BytesIO(thumbnails.crop(number))).size == crop
        assert Image.open(io.BytesIO(thumbnails.image(number))).size == whole
    with pytest.raises(IndexError, match="7"):
        thumbnails.crop(7)
    with pytest.raises(IndexError, match="-1"):
        thumbnails.image(-1)
