"""What the builder does with sources that cannot be trusted."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from brought import check_rows
from PIL import Image
from refusals import refused

from ranking.datasets import Thumbnails, build, build_image_set, folder, load_image_set, problem_rows
from ranking.datasets.webp import webp_size
from ranking.types import Problem, SourceBox, SourceImage

WHOLE = SourceBox((0, 0, 40, 30), ("cat",))


@dataclass
class Records:
    """A source of what it is given."""

    items: list
    name: str = field(default="Records", init=False)

    def title(self):
        return "told"  # test_criteria.py knows the key of a set of this title

    def __len__(self):
        return len(self.items)

    def records(self):
        return iter(self.items)


def encoded(size=(40, 30), file_format="PNG", mode="RGB", **options):
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, file_format, **options)
    return stream.getvalue()


def image(name, *boxes, data=None, **details):
    return SourceImage(name, encoded() if data is None else data, boxes or (WHOLE,), **details)


GOOD = [image("train"), image("test", test=True)]


def build_with(tmp_path, *items):
    """The set built from two good images and `items`, and the report."""
    return build_image_set(Records([*GOOD, *items]), tmp_path / "set")


def huge_png(width, height):
    """A PNG of a few bytes whose header claims width x height."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = b"IDAT" + zlib.compress(bytes(1000))
    chunks = [
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in (header, pixels, b"IEND")
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def huge_webp(width, height):
    """A WebP of a few bytes whose header claims width x height."""
    claim = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunk = b"VP8X" + struct.pack("<I", len(claim)) + claim
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def test_a_webp_says_its_size_before_it_is_opened():
    for size in ((1, 1), (320, 240), (16383, 3)):
        assert webp_size(encoded(size)) is None
        for options in ({"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0"}):
            data = encoded(size, "WEBP", **options)
            assert webp_size(data) == size
            assert webp_size(data[:29]) is None
            assert webp_size(data.replace(b"WEBPVP8", b"WEBPXXX")) is None


def test_a_webp_that_is_too_large_or_moves_is_never_opened(monkeypatch):
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "blue")]
    stream = io.BytesIO()
    frames[0].save(stream, "WEBP", save_all=True, append_images=frames[1:])
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("opened"))
    for data, came in ((huge_webp(20_000, 20_000), "20000 x 20000"), (stream.getvalue(), "WebP")):
        check_rows(build.check(image("bad", data=data)).problems, ("bad", came))


def test_a_webp_is_kept_as_it_is(tmp_path):
    data = encoded(file_format="WEBP")
    image_set, problems = build_with(tmp_path, image("new", data=data))
    assert problems == []
    assert image_set.image_files[2] == "images/000003.webp"
    assert (image_set.folder / "images/000003.webp").read_bytes() == data
    assert image_set.open_image(2).size == (40, 30)


UNUSABLE = {
    "empty": (b"", "empty"),
    "of another kind": (b"GIF89a or so", ""),
    "GIF": (encoded(file_format="GIF"), ""),
    "JPEG cut": (encoded((400, 300), "JPEG")[:-700], "truncated"),
    "WebP cut": (encoded((400, 300), "WEBP")[:-20], "Error"),
    "WebP without content": (b"RIFF\x04\0\0\0WEBP", ""),
    "WebP of too many pixels": (huge_webp(8_000, 7_000), "8000 x 7000 pixels"),
    "largest WebP": (huge_webp(2**24, 2**24), "16777216 x 16777216 pixels"),
    "PNG cut": (encoded()[:60], "Error"),
    "16 bits": (encoded(mode="I;16"), "I;16"),
    "PNG of too many pixels": (huge_png(8_000, 7_000), "8000 x 7000 pixels"),
    "bomb": (huge_png(12_000, 10_000), "(120000000 pixels)"),
    "larger bomb": (huge_png(60_000, 60_000), "(3600000000 pixels)"),
    "at all.jpg": (Path("/nowhere/at all.jpg"), ""),
    "zero": (Path("/dev/zero"), ""),
}


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")  # the builder itself must raise it
def test_an_unusable_image_is_a_row_and_the_rest_is_kept(tmp_path):
    image_set, problems = build_with(
        tmp_path, *(image(name, data=data) for name, (data, _) in UNUSABLE.items())
    )
    assert image_set.image_names.tolist() == ["train", "test"]
    check_rows(problems, *((name, came) for name, (_, came) in UNUSABLE.items()))
    for row in problems:
        limit = (
            "50,000,000 pixels"
            if "pixels" in row.came
            else "50 MB"
            if row.file in ("zero", "at all.jpg")
            else ""
        )
        assert limit in row.expected


def test_too_many_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_IMAGE_BYTES", str(2**20))
    large = tmp_path / "large.png"
    large.write_bytes(encoded() + bytes(2**20))
    _, problems = build_with(tmp_path, image("file", data=large), image("bytes", data=large.read_bytes()))
    check_rows(problems, ("large.png",), ("bytes",))
    assert all("1 MB (RANKING_INTAKE_IMAGE_BYTES)" in row.expected for row in problems)


def test_an_unreadable_file_is_a_row_and_a_pipe_is_never_opened(tmp_path, monkeypatch):
    closed, pipe = tmp_path / "closed.png", tmp_path / "pipe.jpg"
    closed.write_bytes(encoded())
    os.mkfifo(pipe)
    denied, really_open = os.strerror(errno.EACCES), Path.open

    def deny(path, *arguments, **options):
        if path == closed:
            raise PermissionError(errno.EACCES, denied)
        assert path != pipe
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", deny)  # modes of files do not stop a test that runs as root
    _, problems = build_with(tmp_path, image("closed", data=closed), image("pipe", data=pipe))
    check_rows(problems, ("closed.png", denied), ("pipe.jpg",))


BOXES = [
    ((0, 0, 40, 30), (0, 0, 40, 30), ""),
    ((0.4, 0.6, 39.6, 30.4), (0, 1, 40, 30), ""),
    ((1.5, 2.5, 2.5, 3.5), (2, 3, 3, 4), ""),  # a pixel
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


def test_boxes(tmp_path):
    around = WHOLE, SourceBox((1, 1, 5, 5), ("cat",))
    items = [
        image(f"x{number}", around[0], SourceBox(box, ("dog",)), around[1])
        for number, (box, _, _) in enumerate(BOXES)
    ]
    image_set, problems = build_with(tmp_path, *items)
    boxes = dict(zip(image_set.ids.tolist(), map(tuple, image_set.boxes.tolist()), strict=True))
    for number, (box, kept, _) in enumerate(BOXES):
        assert boxes.get(f"x{number}#2") == kept, box
        assert (boxes[f"x{number}#1"], boxes[f"x{number}#3"]) == ((0, 0, 40, 30), (1, 1, 5, 5))
    check_rows(problems, *((f"x{number}", came) for number, (_, _, came) in enumerate(BOXES) if came))


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
    with refused("told") as caught:
        build_image_set(records, tmp_path / "set")
    assert "2 times" in caught.value.came
    assert "1 times: a box" in caught.value.came
    assert not (tmp_path / "set" / "manifest.json").exists()
    with refused("told"):
        build_image_set(Records([]), tmp_path / "none")
    with refused("told"):
        build_image_set(Records([image("a", SourceBox((0, 0, 9, 9), ()))]), tmp_path / "classless")


def test_a_box_may_show_no_class_or_several(tmp_path):
    several = image("s", SourceBox((0, 0, 9, 9), ()), SourceBox((0, 0, 9, 9), ("dog", "cat")))
    image_set, _ = build_with(tmp_path, several)
    assert image_set.labels[-2:].tolist() == [[False, False], [True, True]]


def test_too_many_classes(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "MAX_CLASSES", 2)
    named = image("n", SourceBox((0, 0, 9, 9), ("dog", "emu")))
    with pytest.raises(ValueError, match="'n'"):
        build_with(tmp_path, named)


def test_a_split_without_a_test_is_reported(tmp_path):
    for number, item in enumerate(GOOD):
        check_rows(build_image_set(Records([item]), tmp_path / str(number))[1], ("told",))


def test_groups_are_images_unless_the_source_says_otherwise(tmp_path):
    shared = SourceBox((0, 0, 9, 9), ("cat",), group="train")
    image_set, _ = build_with(tmp_path, image("c", WHOLE, shared), image("d", shared, WHOLE))
    assert image_set.groups.tolist() == [0, 1, 2, 3, 3, 4]


def test_names_from_outside_never_reach_the_disk(tmp_path):
    names = ["../../escaped", "/etc/passwd", "a\0b", "..", "<script>"]
    image_set, _ = build_with(tmp_path, *(image(name) for name in names))
    assert image_set.image_names.tolist() == ["train", "test", *names]
    assert sorted(path.name for path in (tmp_path / "set" / "images").iterdir()) == [
        f"{number:06d}.png" for number in range(1, 8)
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"set"}


def test_an_image_of_more_boxes_than_are_allowed_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_BOXES", "3")
    image_set, problems = build_with(tmp_path, image("three", *[WHOLE] * 3), image("four", *[WHOLE] * 4))
    assert list(image_set.image_names) == ["train", "test", "three"]
    check_rows(problems, ("four", "4"))
    assert "3 boxes (RANKING_INTAKE_BOXES" in problems[0].expected


def test_a_set_of_more_samples_than_are_allowed_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_SAMPLES", "5")
    build_with(tmp_path, image("three", *[WHOLE] * 3))
    with refused("boxes of the image set") as caught:
        build_image_set(Records([*GOOD, image("four", *[WHOLE] * 4)]), tmp_path / "more")
    assert "RANKING_INTAKE_SAMPLES" in caught.value.remedy


@pytest.mark.parametrize(("limit", "factors"), [("MAX_LABELS", ("4", "2")), ("MAX_LETTERS", ("1", "7"))])
def test_what_every_page_would_read_of_a_set_has_limits(tmp_path, monkeypatch, limit, factors):
    monkeypatch.setattr(folder, limit, 6)
    boxes = [SourceBox((0, 0, 40, 30), (name,)) for name in ("cat", "dog")]
    with pytest.raises(ValueError, match=r"\b6\b") as caught:
        build_with(tmp_path, image("two", *boxes))
    assert all(factor in str(caught.value) for factor in factors)


def test_of_very_many_problems_the_first_are_told_and_the_rest_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(problem_rows, "MOST_ROWS", 4)
    outside, inverted = SourceBox((50, 50, 60, 60), ("cat",)), SourceBox((9, 9, 3, 3), ("cat",))
    _, problems = build_with(tmp_path, image("bad", WHOLE, *[outside] * 3, *[inverted] * 5, outside))
    assert [row.file for row in problems] == ["bad"] * 4 + ["4 more rows", "1 more row"]
    assert [row.expected for row in problems[4:]] == [problems[3].expected, problems[0].expected]


def test_an_import_that_writes_too_much_ends(tmp_path, monkeypatch):
    boxes = [SourceBox((0, 0, 40, 30), ("cat",))] * 100
    written = build_with(tmp_path / "all", image("x", *boxes))[0].folder
    crops = (written / "crops.bin").stat().st_size
    monkeypatch.setenv("RANKING_INTAKE_STORED_BYTES", str(crops))
    with refused("bytes that the import writes") as caught:
        build_with(tmp_path / "again", image("x", *boxes))
    assert "'x'" in caught.value.came
    assert "RANKING_INTAKE_STORED_BYTES" in caught.value.remedy
    build_with(tmp_path / "few", image("x", *boxes[:2]))


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        build_image_set(Records(GOOD), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_every_column_and_the_pixels_change_the_key(tmp_path):
    first, _ = build_with(tmp_path)
    changed = [
        [image("train"), image("test", test=False)],
        [image("train"), image("test", SourceBox((0, 0, 39, 30), ("cat",)), test=True)],
        [image("train"), image("test", SourceBox((0, 0, 40, 30), ("dog",)), test=True)],
        [image("train", data=encoded(file_format="JPEG")), image("test", test=True)],
        [image("trajn"), image("test", test=True)],
        [image("test", test=True), image("train")],
    ]
    keys = [build_image_set(Records(items), tmp_path / f"{i}")[0].key for i, items in enumerate(changed)]
    assert len({first.key, *keys}) == 1 + len(changed)


def test_the_last_of_many_numbers_changes_the_key():
    column = np.zeros(100_000, np.int32)
    first = folder.content_key("x", ["a"], {"boxes": column})
    column[-1] = 1
    assert folder.content_key("x", ["a"], {"boxes": column}) != first
    assert folder.content_key("x", ["a"], {"boxes": column[:-1]}) != first


def test_load_says_what_is_wrong(tmp_path):
    with pytest.raises(ValueError, match=r"manifest\.json"):
        load_image_set(tmp_path)
    image_set, _ = build_with(tmp_path)
    manifest, columns = image_set.folder / "manifest.json", image_set.folder / "columns.npz"
    good = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(good | {"format": 99}))
    with pytest.raises(ValueError, match="99"):
        load_image_set(image_set.folder)
    for text in (json.dumps(good | {"title": "changed"}), "", "[]", "{}", "{", '{"format": 1}'):
        manifest.write_text(text)
        with pytest.raises(ValueError, match=re.escape(str(image_set.folder))):
            load_image_set(image_set.folder)
    manifest.write_text(json.dumps(good))
    pickled = io.BytesIO()
    np.savez(pickled, boxes=np.array([{}], object))
    for content in (b"", b"not an archive", b"PK\x03\x04 and no more", pickled.getvalue()):
        columns.write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(image_set.folder))):
            load_image_set(image_set.folder)


def test_thumbnails_that_are_damaged_or_gone(tmp_path):
    image_set, _ = build_with(tmp_path)
    blob, thumbnails = image_set.folder / "crops.bin", Thumbnails(image_set.folder)
    first, size = thumbnails.crop(0), blob.stat().st_size
    os.truncate(blob, len(first))
    assert thumbnails.crop(0) == first
    for read in (lambda: Thumbnails(image_set.folder), lambda: thumbnails.crop(1)):
        with pytest.raises(ValueError, match=r"crops\.bin") as caught:
            read()
        assert str(size) in str(caught.value).replace(",", "")
    blob.unlink()
    with pytest.raises(ValueError, match=r"crops\.bin"):
        thumbnails.crop(0)
    (image_set.folder / "crops.npy").write_bytes(b"not an array")
    with pytest.raises(ValueError, match="crops"):
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


def test_small_crops_keep_their_pixels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (10, 8, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    build_with(tmp_path, image("x", SourceBox((0, 0, 8, 10), ("cat",)), data=stream.getvalue()))
    enlarged = np.asarray(Image.open(io.BytesIO(Thumbnails(tmp_path / "set").crop(2))).convert("RGB"))
    assert (enlarged[8::16, 8::16] == pixels).all()
