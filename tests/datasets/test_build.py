"""What the builder does with sources that cannot be trusted."""

from __future__ import annotations

import errno
import io
import json
import os
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from refusals import refused

from ranking.datasets import Thumbnails, build, build_image_set, folder, load_image_set, problem_rows
from ranking.datasets.webp import webp_size
from ranking.types import Problem, SourceBox, SourceImage

WHOLE = SourceBox((0, 0, 40, 30), ("cat",))


@dataclass
class Told:
    """A source that tells what it was given."""

    items: list
    name: str = field(default="Told", init=False)

    def title(self):
        return "told"

    def __len__(self):
        return len(self.items)

    def records(self):
        return iter(self.items)


def encoded(size=(40, 30), file_format="PNG", mode="RGB"):
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, file_format)
    return stream.getvalue()


def image(name, *boxes, data=None, **details):
    return SourceImage(name, encoded() if data is None else data, boxes or (WHOLE,), **details)


GOOD = [image("train"), image("test", test=True)]


def build_with(tmp_path, *items):
    """The set built from two good images and `items`, and the report."""
    return build_image_set(Told([*GOOD, *items]), tmp_path / "set")


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


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0"}])
@pytest.mark.parametrize("size", [(1, 1), (320, 240), (16383, 3)])
def test_a_webp_says_its_size_before_it_is_opened(size, options):
    stream = io.BytesIO()
    Image.new("RGB", size).save(stream, "WEBP", **options)
    assert webp_size(stream.getvalue()) == size
    assert webp_size(stream.getvalue()[:29]) is None
    assert webp_size(encoded(size)) is None


def test_a_webp_is_never_opened_before_its_size_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("opened"))
    assert (
        build.check(image("bad", data=huge_webp(20_000, 20_000))).problems[0].came == "20000 x 20000 pixels"
    )


def test_an_animated_webp_is_left_out_unopened(monkeypatch):
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "blue")]
    stream = io.BytesIO()
    frames[0].save(stream, "WEBP", save_all=True, append_images=frames[1:])
    monkeypatch.setattr(build.Image, "open", None)
    problem = build.check(image("bad", data=stream.getvalue())).problems[0]
    assert (problem.expected, problem.came) == ("a picture that stands still", "an animated WebP")


def test_a_webp_is_kept_as_it_is(tmp_path):
    data = encoded(file_format="WEBP")
    image_set, problems = build_with(tmp_path, image("new", data=data))
    assert problems == []
    assert image_set.image_files[2] == "images/000003.webp"
    assert (image_set.folder / "images/000003.webp").read_bytes() == data
    assert image_set.open_image(2).size == (40, 30)


FEW_PIXELS = "an image of at most 50,000,000 pixels (RANKING_INTAKE_PIXELS)"
SMALL = "an image file of at most 50 MB (RANKING_INTAKE_IMAGE_BYTES)"


@pytest.mark.parametrize(
    ("data", "expected", "came"),
    [
        (b"", "an intact JPEG, PNG or WebP image", "an empty file"),
        (b"GIF89a or so", "an intact JPEG, PNG or WebP image", "another kind of file"),
        (encoded(file_format="GIF"), "an intact JPEG, PNG or WebP image", "another kind of file"),
        (encoded((400, 300), "JPEG")[:-700], "an intact JPEG, PNG or WebP image", "truncated"),
        (encoded((400, 300), "WEBP")[:-20], "an intact JPEG, PNG or WebP image", "Error"),
        (b"RIFF\x04\0\0\0WEBP", "an intact JPEG, PNG or WebP image", "another kind of file"),
        (huge_webp(8_000, 7_000), FEW_PIXELS, "8000 x 7000 pixels"),
        (huge_webp(2**24, 2**24), FEW_PIXELS, "16777216 x 16777216 pixels"),
        (encoded()[:60], "an intact JPEG, PNG or WebP image", "Error"),
        (encoded(mode="I;16"), "8 bits a channel", "more of them"),
        (huge_png(8_000, 7_000), FEW_PIXELS, "8000 x 7000 pixels"),
        (huge_png(12_000, 10_000), FEW_PIXELS, "(120000000 pixels)"),
        (huge_png(60_000, 60_000), FEW_PIXELS, "(3600000000 pixels)"),
        (Path("/nowhere/at all.jpg"), SMALL, "no such file"),
        (Path("/dev/zero"), SMALL, "not a regular file"),
    ],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")  # the builder itself must raise it
def test_an_unusable_image_is_a_row_and_the_rest_is_kept(tmp_path, data, expected, came):
    image_set, problems = build_with(tmp_path, image("bad", data=data))
    assert image_set.image_names.tolist() == ["train", "test"]
    (problem,) = problems
    assert problem.file == (data.name if isinstance(data, Path) else "bad")
    assert problem.expected == expected
    assert came in problem.came
    assert problem.done == "image left out"


def test_too_many_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_IMAGE_BYTES", str(2**20))
    large = tmp_path / "large.png"
    large.write_bytes(encoded() + bytes(2**20))
    for told in (image("large", data=large), image("large", data=large.read_bytes())):
        (tmp_path / "set").mkdir(exist_ok=True)
        _, problems = build_image_set(Told([*GOOD, told]), tmp_path / f"set-{type(told.data).__name__}")
        assert [(row.expected, row.came) for row in problems] == [
            ("an image file of at most 1 MB (RANKING_INTAKE_IMAGE_BYTES)", "a larger file")
        ]


def test_an_unreadable_file_is_a_row(tmp_path, monkeypatch):
    closed = tmp_path / "closed.png"
    closed.write_bytes(encoded())
    really_open = Path.open

    def deny(path, *arguments, **options):
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied")
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", deny)  # modes of files do not stop a test that runs as root
    _, problems = build_with(tmp_path, image("closed", data=closed))
    assert problems[0].came == "Permission denied"


def test_a_pipe_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    _, problems = build_with(tmp_path, image("pipe", data=tmp_path / "pipe.jpg"))
    assert problems[0].came == "not a regular file"


@pytest.mark.parametrize(
    ("box", "kept", "expected", "came"),
    [
        ((0, 0, 40, 30), (0, 0, 40, 30), None, None),
        ((0.4, 0.6, 39.6, 30.4), (0, 1, 40, 30), None, None),
        ((1.5, 2.5, 2.5, 3.5), (2, 3, 3, 4), None, None),  # a pixel
        ((-0.5, 0.5, 0.5, 1.5), (0, 1, 1, 2), None, None),
        ((-5, 2, 10, 99), (0, 2, 10, 30), "a box inside the image, 40 x 30", "partly outside"),
        ((40, 0, 50, 10), None, "a box inside the image, 40 x 30", "wholly outside"),
        ((-1e300, -9, 0, 10), None, "a box inside the image, 40 x 30", "wholly outside"),
        ((-1e300, 0, 1e300, 10), (0, 0, 40, 10), "a box inside the image, 40 x 30", "partly outside"),
        ((10, 5, 10.2, 9), None, "a box with left < right and top < bottom", "box 2: 10, 5, 10.2, 9"),
        ((9, 9, 3, 12), None, "a box with left < right and top < bottom", "box 2: 9, 9, 3, 12"),
        ((float("nan"), 0, 3, 3), None, "a box of finite numbers", "box 2: nan, 0, 3, 3"),
        ((0, 0, float("inf"), 3), None, "a box of finite numbers", "box 2: 0, 0, inf, 3"),
    ],
)
def test_boxes(tmp_path, box, kept, expected, came):
    told = image("x", WHOLE, SourceBox(box, ("dog",)), SourceBox((1, 1, 5, 5), ("cat",)))
    image_set, problems = build_with(tmp_path, told)
    mine = image_set.ids.tolist().index("x#1")
    rows = {
        str(image_set.ids[row]): tuple(image_set.boxes[row].tolist()) for row in range(mine, len(image_set))
    }
    assert rows.pop("x#2", None) == kept
    assert rows == {"x#1": (0, 0, 40, 30), "x#3": (1, 1, 5, 5)}
    if expected is None:
        assert problems == []
    else:
        (problem,) = problems
        assert problem.expected == expected
        assert came in problem.came
        assert problem.done == ("box left out" if kept is None else "box clipped to the image")


def test_a_name_twice_is_reported_and_the_first_kept(tmp_path):
    image_set, problems = build_with(tmp_path, image("train", data=encoded((8, 8))))
    assert image_set.image_sizes.tolist() == [[40, 30], [40, 30]]
    assert problems == [Problem("train", "every image name once", "train again", "image left out")]


def test_another_size_than_annotated_leaves_the_image_out(tmp_path):
    image_set, problems = build_with(tmp_path, image("other", size=(30, 40)))
    assert "other" not in image_set.image_names
    assert problems == [
        Problem(
            "other", "an image of the size that its annotation claims, 30 x 40", "40 x 30", "image left out"
        )
    ]


def test_images_without_usable_boxes_are_counted_in_one_row(tmp_path):
    bare = [SourceImage(f"bare {number}", b"never read", ()) for number in range(5)]
    outside = image("outside", SourceBox((90, 90, 99, 99), ("cat",)))
    image_set, problems = build_with(tmp_path, *bare, outside)
    assert len(image_set.image_names) == 2
    assert problems[-1] == Problem(
        "6 images",
        "at least one usable box",
        "none in bare 0, bare 1, bare 2 and 3 more",
        "image left out",
    )


def test_nothing_usable_is_an_error_that_counts_the_reasons(tmp_path):
    told = Told([image("a", data=b"?"), image("b", data=b"?"), Problem("c.xml", "a box", "none", "left out")])
    with pytest.raises(
        ValueError,
        match=r"told has no usable box.*2 times: an intact JPEG, PNG or WebP image; 1 times: a box$",
    ):
        build_image_set(told, tmp_path / "set")
    assert not (tmp_path / "set" / "manifest.json").exists()
    with pytest.raises(ValueError, match="no image came"):
        build_image_set(Told([]), tmp_path / "none")


def test_boxes_without_any_class_are_an_error(tmp_path):
    with pytest.raises(ValueError, match="has boxes but no class to ask for"):
        build_image_set(Told([image("a", SourceBox((0, 0, 9, 9), ()))]), tmp_path / "set")


def test_a_box_may_show_no_class_or_several(tmp_path):
    several = image("s", SourceBox((0, 0, 9, 9), ()), SourceBox((0, 0, 9, 9), ("dog", "cat")))
    image_set, _ = build_with(tmp_path, several)
    assert image_set.labels[-2:].tolist() == [[False, False], [True, True]]


def test_too_many_classes(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "MAX_CLASSES", 2)
    named = image("n", SourceBox((0, 0, 9, 9), ("dog", "emu")))
    with refused("image set", "more by image 'n'"):
        build_with(tmp_path, named)


def test_a_split_without_a_test_is_reported(tmp_path):
    _, problems = build_image_set(Told(GOOD[:1]), tmp_path / "set")
    assert problems[0].came == "no test image"
    _, problems = build_image_set(Told(GOOD[1:]), tmp_path / "other")
    assert problems[0].came == "no training image"


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


def test_a_file_is_encoded_anew_and_the_extension_tells_its_true_format(tmp_path):
    data = encoded(file_format="JPEG")
    misnamed = tmp_path / "photograph.png"
    misnamed.write_bytes(data)
    image_set, _ = build_with(tmp_path, image("photograph", data=misnamed))
    assert image_set.image_files[2] == "images/000003.jpg"
    stored = (image_set.folder / "images/000003.jpg").read_bytes()
    assert stored != data
    assert Image.open(io.BytesIO(stored)).format == "JPEG"


def test_an_image_of_more_boxes_than_are_allowed_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_BOXES", "3")
    image_set, problems = build_with(tmp_path, image("three", *[WHOLE] * 3), image("four", *[WHOLE] * 4))
    assert list(image_set.image_names) == ["train", "test", "three"]
    [row] = problems
    assert row.expected == "an image with at most 3 boxes (RANKING_INTAKE_BOXES says how many)"
    assert (row.came, row.done) == ("4 boxes", "image left out")


def test_a_set_of_more_samples_than_are_allowed_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_SAMPLES", "5")
    build_with(tmp_path, image("three", *[WHOLE] * 3))
    with pytest.raises(ValueError, match=r"may have 5 boxes, more came; .* or set RANKING_INTAKE_SAMPLES"):
        build_image_set(Told([*GOOD, image("four", *[WHOLE] * 4)]), tmp_path / "other")


@pytest.mark.parametrize(
    ("limit", "what", "came"),
    [
        ("MAX_LABELS", "classes", "4 times 2"),
        ("MAX_LETTERS", "letters of the longest name of one", "1 times 7"),
    ],
)
def test_what_every_page_would_read_of_a_set_has_limits(tmp_path, monkeypatch, limit, what, came):
    monkeypatch.setattr(folder, limit, 6)
    boxes = [SourceBox((0, 0, 40, 30), (name,)) for name in ("cat", "dog")]
    with refused(f"samples times {what}", came):
        build_with(tmp_path, image("two", *boxes))


def test_of_very_many_problems_the_first_are_told_and_the_rest_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(problem_rows, "MOST_ROWS", 4)
    outside, inverted = SourceBox((50, 50, 60, 60), ("cat",)), SourceBox((9, 9, 3, 3), ("cat",))
    _, problems = build_with(tmp_path, image("bad", WHOLE, *[outside] * 3, *[inverted] * 5, outside))
    assert [row.file for row in problems] == ["bad"] * 4 + ["4 more rows", "1 more row"]
    assert [(row.expected, row.came) for row in problems[4:]] == [
        ("a box with left < right and top < bottom", "the like"),
        ("a box inside the image, 40 x 30", "the like"),
    ]


def test_an_import_that_writes_too_much_ends(tmp_path, monkeypatch):
    boxes = [SourceBox((0, 0, 40, 30), ("cat",))] * 100
    written = build_with(tmp_path / "all", image("x", *boxes))[0].folder
    crops = (written / "crops.bin").stat().st_size
    monkeypatch.setenv("RANKING_INTAKE_STORED_BYTES", str(crops))
    with pytest.raises(
        ValueError, match="by image 'x'; bring fewer images or boxes, or set RANKING_INTAKE_STORED"
    ):
        build_with(tmp_path / "again", image("x", *boxes))
    build_with(tmp_path / "few", image("x", *boxes[:2]))


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("keep me")
    with refused(str(tmp_path)):
        build_image_set(Told(GOOD), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_every_column_and_the_pixels_change_the_key(tmp_path):
    first, _ = build_with(tmp_path)
    others = [
        [image("train"), image("test", test=False)],
        [image("train"), image("test", SourceBox((0, 0, 39, 30), ("cat",)), test=True)],
        [image("train"), image("test", SourceBox((0, 0, 40, 30), ("dog",)), test=True)],
        [image("train", data=encoded(file_format="JPEG")), image("test", test=True)],
        [image("trajn"), image("test", test=True)],
        [image("test", test=True), image("train")],
    ]
    keys = [build_image_set(Told(items), tmp_path / f"{i}")[0].key for i, items in enumerate(others)]
    assert len({first.key, *keys}) == 1 + len(others)


def test_the_last_of_many_numbers_changes_the_key():
    column = np.zeros(100_000, np.int32)
    first = folder.content_key("x", ["a"], {"boxes": column})
    column[-1] = 1
    assert folder.content_key("x", ["a"], {"boxes": column}) != first
    assert folder.content_key("x", ["a"], {"boxes": column[:-1]}) != first


def test_load_says_what_is_wrong(tmp_path):
    with refused(str(tmp_path)) as caught:
        load_image_set(tmp_path)
    assert "manifest.json" in caught.value.came
    image_set, _ = build_with(tmp_path)
    manifest = image_set.folder / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(told | {"title": "changed"}))
    with refused(str(image_set.folder)) as caught:
        load_image_set(image_set.folder)
    assert caught.value.expected == f"image set {told['key'][:12]}"
    manifest.write_text(json.dumps(told | {"format": 99}))
    with refused(str(image_set.folder), "99"):
        load_image_set(image_set.folder)


def test_shortened_thumbnails_are_noticed(tmp_path):
    image_set, _ = build_with(tmp_path)
    blob = image_set.folder / "crops.bin"
    blob.write_bytes(blob.read_bytes()[:-1])
    with refused("crops.bin", blob.stat().st_size):
        Thumbnails(image_set.folder)


def test_thumbnails_shortened_or_removed_after_they_were_opened(tmp_path):
    image_set, _ = build_with(tmp_path)
    blob, thumbnails = image_set.folder / "crops.bin", Thumbnails(image_set.folder)
    first, size = thumbnails.crop(0), blob.stat().st_size
    os.truncate(blob, len(first))
    assert thumbnails.crop(0) == first
    with refused("crops.bin") as caught:
        thumbnails.crop(1)
    assert caught.value.expected == f"{size:,} bytes"
    blob.unlink()
    with refused("crops.bin"):
        thumbnails.crop(0)


def test_damaged_offsets_say_what_to_do(tmp_path):
    image_set, _ = build_with(tmp_path)
    (image_set.folder / "crops.npy").write_bytes(b"not an array")
    with refused("crops"):
        Thumbnails(image_set.folder)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 and no more", None])
def test_damaged_columns_say_what_to_do(tmp_path, content):
    columns = build_with(tmp_path)[0].folder / "columns.npz"
    if content is None:
        np.savez(columns, boxes=np.array([{}], object))  # a pickle
    else:
        columns.write_bytes(content)
    with refused(str(columns.parent), "damaged files"):
        load_image_set(columns.parent)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"format": 1}'])
def test_a_damaged_manifest_says_what_to_do(tmp_path, text):
    manifest = build_with(tmp_path)[0].folder / "manifest.json"
    manifest.write_text(text)
    with refused(str(manifest.parent), "damaged files"):
        load_image_set(manifest.parent)


@pytest.mark.parametrize(
    ("size", "crop", "whole"),
    [
        ((8, 8), (160, 160), (160, 160)),
        ((30, 50), (90, 150), (90, 150)),
        ((100, 90), (100, 90), (100, 90)),
        ((800, 400), (160, 80), (320, 160)),
        ((2000, 2), (160, 1), (320, 1)),
    ],
)
def test_thumbnail_sizes(tmp_path, size, crop, whole):
    box = SourceBox((0, 0, *size), ("cat",))
    build_with(tmp_path, image("x", box, data=encoded(size)))
    thumbnails = Thumbnails(tmp_path / "set")
    assert Image.open(io.BytesIO(thumbnails.crop(2))).size == crop
    assert Image.open(io.BytesIO(thumbnails.image(2))).size == whole


def test_small_crops_keep_their_pixels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (10, 8, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    build_with(tmp_path, image("x", SourceBox((0, 0, 8, 10), ("cat",)), data=stream.getvalue()))
    enlarged = np.asarray(Image.open(io.BytesIO(Thumbnails(tmp_path / "set").crop(2))).convert("RGB"))
    assert (enlarged[8::16, 8::16] == pixels).all()
