"""What is stored of an image that a person brings: its pixels, upright, and nothing else."""

from __future__ import annotations

import hashlib
import importlib.util
import io
from dataclasses import replace

import numpy as np
import pytest
from archives import in_memory
from image_sets import Records
from import_folders import build, lay
from PIL import Image, ImageOps, PngImagePlugin
from refusals import refusal

from ranking.core import SourceBox, SourceImage
from ranking.datasets import decoding, make_source
from ranking.datasets.build import build_image_set, check
from ranking.datasets.decoding import FORMATS, decode
from ranking.datasets.jpeg import without_metadata
from ranking.datasets.pixels import FIRST, ON_WHITE
from ranking.datasets.webp import is_lossless
from ranking.files import FolderTree, Limits
from ranking.files.files import IMAGE_SUFFIXES
from ranking.formats.source_preview import preview_source

SECRET = b"N 52 22.5 Phone of Ms Secret"
SIDES = 24, 16
BOX = SourceBox((0, 0, 8, 16), ("cat",))


def picture(size=SIDES):
    """Black to white from left to right, and more red from top to bottom: every turn is another image."""
    across, down = np.meshgrid(np.linspace(0, 1, size[0]), np.linspace(0, 1, size[1]))
    return Image.fromarray(
        np.stack([200 * across + 50 * down, 200 * across, 200 * across], 2).astype(np.uint8)
    )


def encoded(kind="JPEG", orientation=None, size=SIDES, **options):
    """Bytes of `picture` with a secret in every place that its format has for one."""
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    if orientation is not None:
        exif[decoding.ORIENTATION] = orientation
    source = {"exif": exif, "icc_profile": SECRET, **options}
    if kind == "JPEG":
        source |= {"comment": SECRET, "quality": 98}
    if kind == "PNG":
        source["pnginfo"] = PngImagePlugin.PngInfo()
        source["pnginfo"].add_text("Comment", SECRET.decode())
    if kind == "WEBP":
        source["xmp"] = SECRET
    return in_memory(lambda stream: picture(size).save(stream, kind, **source)) + SECRET


def source_image(tmp_path, data, *boxes, **details):
    """The image of a folder, as a source tells it."""
    tree = FolderTree(lay(tmp_path / "x", {"a.jpg": data}))
    return SourceImage("a", tree.file("a.jpg"), boxes or (BOX,), **details)


KINDS = [
    ("JPEG", {}, ".jpg"),
    ("PNG", {}, ".webp"),
    ("WEBP", {"lossless": True}, ".webp"),
    ("WEBP", {"quality": 95}, ".jpg"),
    ("JPEG", {"progressive": True, "subsampling": 2, "restart_marker_rows": 1}, ".jpg"),
    ("JPEG", {"keep_rgb": True}, ".jpg"),
]


@pytest.mark.parametrize(("kind", "options", "extension"), KINDS)
def test_only_pixels_are_stored_and_lossless_images_stay_lossless(tmp_path, kind, options, extension):
    data = encoded(kind, **options)
    assert data.count(SECRET) >= 3
    source = source_image(tmp_path, data)
    stored = decode(source, Limits())
    assert stored.extension == extension
    assert SECRET not in stored.data
    reopened = Image.open(io.BytesIO(stored.data))
    assert not dict(reopened.getexif())
    assert not {"icc_profile", "comment", "xmp", "exif"} & set(reopened.info)
    assert reopened.size == SIDES
    difference = np.abs(np.asarray(reopened.convert("RGB"), int) - np.asarray(stored.picture, int)).max()
    assert difference <= 12
    assert (difference == 0) == (kind == "JPEG" or extension == ".webp"), "only a lossy WebP is encoded again"
    image = check(source).image
    assert all(SECRET not in small for small in (*image.crops, image.thumbnail))


def test_an_image_too_long_for_webp_is_stored_as_png(tmp_path):
    size = decoding.LONGEST_WEBP + 1, 2
    stored = decode(source_image(tmp_path, encoded("PNG", size=size)), Limits())
    assert (stored.extension, Image.open(io.BytesIO(stored.data)).size) == (".png", size)
    assert SECRET not in stored.data


@pytest.mark.parametrize(("kind", "extension"), [("PNG", ".png"), ("WEBP", ".webp")])
def test_bytes_that_a_source_made_are_kept(kind, extension):
    data = encoded(kind)
    stored = decode(SourceImage("a", data, (BOX,)), Limits())
    assert (stored.data, stored.extension) == (data, extension)


def test_a_whole_image_is_turned(tmp_path):
    for orientation in range(1, 9):
        data = encoded("PNG", orientation)
        stored = decode(source_image(tmp_path, data, SourceBox(None, ("cat",))), Limits())
        turned = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        assert np.array_equal(np.asarray(stored.picture), np.asarray(turned.convert("RGB"))), orientation


LYING = SIDES[::-1]


@pytest.mark.parametrize(
    ("orientation", "claimed", "upright", "size"),
    [
        (6, None, None, SIDES),
        (6, None, True, LYING),
        (6, SIDES, None, SIDES),
        (6, SIDES, True, LYING),
        (6, LYING, None, LYING),
        (99, None, True, SIDES),
    ],
)
def test_boxes_say_whether_an_image_is_turned(tmp_path, orientation, claimed, upright, size):
    source = source_image(tmp_path, encoded("JPEG", orientation), size=claimed, upright=upright)
    assert decode(source, Limits()).picture.size == size


@pytest.mark.parametrize(
    ("orientation", "claimed", "upright"),
    [(6, (99, 99), None), (6, (99, 99), True), (1, LYING, True), (6, LYING, False)],
)
def test_an_image_of_another_size_than_claimed_is_refused(tmp_path, orientation, claimed, upright):
    source = source_image(tmp_path, encoded("JPEG", orientation), size=claimed, upright=upright)
    expected, came = refusal(decode, source, Limits())
    assert "{} x {}".format(*claimed) in expected
    assert came in ("24 x 16", "16 x 24")


def test_the_source_decides_whether_an_image_is_turned_by_180_degrees(tmp_path):
    for upright in (False, True):
        image = source_image(tmp_path, encoded("PNG", 3), size=SIDES, upright=upright)
        assert (decode(image, Limits()).picture.getpixel((0, 0))[1] > 100) == upright


def test_broken_exif_turns_nothing(tmp_path):
    data = encoded("JPEG", 6)
    place = data.index(b"Exif\0\0") + 6
    for broken in (b"II*\0\xff\xff\xff\xff", b"????????", b"MM\0*\0\0\0\x04"):
        source = source_image(tmp_path, data[:place] + broken + data[place + 8 :], upright=True)
        assert decode(source, Limits()).picture.size == SIDES


def test_the_hash_depends_on_the_original_bytes_and_the_orientation(tmp_path, monkeypatch):
    def hash_of(data, **details):
        return decode(source_image(tmp_path, data, **details), Limits()).hash

    data = encoded("JPEG", 3)
    first = hash_of(data)
    assert hash_of(data, upright=True) != first
    assert hash_of(encoded("JPEG", 1)) != first
    assert decode(SourceImage("a", data, (BOX,)), Limits()).hash != first
    # as another release of the encoder would have it
    monkeypatch.setattr(decoding, "QUALITY", 50)
    assert hash_of(data) == first


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [*zip(FORMATS, (".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".avif", ".jp2", ".ppm"), strict=True)],
)
def test_each_format_is_read(tmp_path, kind, suffix):
    assert suffix in IMAGE_SUFFIXES
    data = in_memory(lambda stream: picture().save(stream, kind))
    stored = decode(source_image(tmp_path, data), Limits())
    assert np.abs(np.asarray(stored.picture, int) - np.asarray(picture(), int)).max() < 32
    assert not stored.changes
    again = np.asarray(Image.open(io.BytesIO(stored.data)).convert("RGB"), int)
    assert np.abs(again - np.asarray(stored.picture, int)).max() <= 12 * (stored.extension == ".jpg")
    # bytes that a source made are stored in a form that browsers show
    generated = decode(SourceImage("a", data, (BOX,)), Limits())
    assert generated.extension == decoding.KEPT.get(kind, stored.extension)


def test_heic_is_read_by_an_extra_or_says_which(tmp_path):
    data = b"\0\0\0\x18ftypheic" + bytes(100)
    _, came = refusal(decode, source_image(tmp_path, data), Limits())
    if importlib.util.find_spec("pillow_heif") is None:
        assert "pip install pillow-heif" in came


GREY = picture().convert("L")
HALF = Image.fromarray(np.repeat([[0, 255]], 12, axis=1).repeat(16, axis=0).astype(np.uint8))


def see_through(mode, **options):
    """Black pixels whose left half is transparent."""
    clear = Image.merge("LA", [Image.new("L", SIDES), HALF])
    return in_memory(lambda stream: clear.convert(mode).save(stream, **options))


def test_transparent_pixels_are_laid_on_white_and_only_then_the_hash_changes(tmp_path):
    palette = Image.fromarray(np.asarray(HALF) // 255, "P")
    palette.putpalette([9, 9, 9, 0, 0, 0])
    forms = [
        see_through("LA", format="PNG"),
        see_through("RGBA", format="PNG"),
        see_through("RGBA", format="TIFF"),
    ]
    forms += [see_through("RGBA", format="WEBP", lossless=True)]
    forms += [
        in_memory(lambda stream, kind=kind: palette.save(stream, kind, transparency=0))
        for kind in ("PNG", "GIF")
    ]
    for data in forms:
        stored = decode(source_image(tmp_path, data), Limits())
        assert np.array_equal(np.asarray(stored.picture)[..., 0], 255 - np.asarray(HALF))
        assert stored.changes == (ON_WHITE,)
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(stored.data)).convert("RGB")), stored.picture)
    opaque = in_memory(lambda stream: picture().convert("RGBA").save(stream, "PNG"))
    stored = decode(source_image(tmp_path, opaque), Limits())
    assert (stored.changes, np.array_equal(stored.picture, picture())) == ((), True)
    as_before = hashlib.sha256(b"encoded anew, form 1, as stored: " + opaque).hexdigest()
    assert stored.hash == as_before, "a plain image keeps its hash, and its set the key"


@pytest.mark.parametrize(
    ("levels", "kind", "expected"),
    [
        (np.uint16([0, 257, 32_896, 65_535]), "PNG", [0, 1, 128, 255]),
        (np.uint16([0, 16, 2_000, 4_000]), "TIFF", [0, 1, 125, 249]),
        (np.uint16([0, 16, 200, 255]), "PNG", [0, 16, 200, 255]),
        (np.float32([0, 0.2, 0.5, 1]), "TIFF", [0, 51, 128, 255]),
        (np.float32([-100, 0, 155, 155]), "TIFF", [0, 100, 255, 255]),
        (np.int32([-(2**30), 0, 0, 2**30]), "TIFF", [0, 128, 128, 255]),
    ],
)
def test_more_than_8_bits_are_scaled_and_stay_in_order(tmp_path, levels, kind, expected):
    data = in_memory(lambda stream: Image.fromarray(levels.reshape(2, 2)).save(stream, kind))
    stored = decode(source_image(tmp_path, data), Limits())
    assert np.asarray(stored.picture)[..., 1].ravel().tolist() == expected
    [change] = stored.changes
    assert "0 to 255" in change.done
    # Pillow reads no whole numbers with a sign of that form
    if kind == "TIFF" and levels.dtype != np.int32:
        negative = in_memory(
            lambda stream: Image.fromarray(levels.reshape(2, 2)).save(stream, kind, tiffinfo={262: 0})
        )
        turned = decode(source_image(tmp_path, negative), Limits()).picture
        assert np.allclose(np.asarray(turned)[..., 1].ravel(), 255 - np.array(expected), atol=1)


def test_inks_become_colours(tmp_path):
    for kind in ("JPEG", "TIFF"):
        data = in_memory(
            lambda stream, kind=kind: Image.new("RGB", SIDES, "red").convert("CMYK").save(stream, kind)
        )
        stored = decode(source_image(tmp_path, data), Limits())
        assert np.abs(np.asarray(stored.picture, int) - [255, 0, 0]).max() < 4
        assert Image.open(io.BytesIO(stored.data)).mode == "RGB", "browsers show it alike"


def test_the_first_of_several_frames_is_used(tmp_path):
    for kind in ("GIF", "TIFF", "PNG", "AVIF"):
        data = in_memory(
            lambda stream, kind=kind: GREY.save(
                stream, kind, save_all=True, append_images=[Image.new("L", SIDES)]
            )
        )
        stored = decode(source_image(tmp_path, data), Limits())
        assert np.abs(np.asarray(stored.picture, int) - np.asarray(GREY.convert("RGB"), int)).max() < 32
        assert stored.changes == (FIRST,)
    phone = in_memory(lambda stream: picture().save(stream, "MPO", save_all=True, append_images=[picture()]))
    assert decode(source_image(tmp_path, phone), Limits()).changes == ()


def test_changes_are_one_row_for_each_kind(tmp_path):
    clear = see_through("RGBA", format="PNG")
    files = {
        f"{kind}/{number}.png": clear if number else None for kind in ("cat", "dog") for number in range(3)
    }
    _, problems = build("Class folders", lay(tmp_path / "pictures", files))
    [row] = [row for row in problems if row.done == ON_WHITE.done]
    assert row.file == "4 images"
    assert "cat/1" in row.came
    source = make_source("Class folders", folder=str(tmp_path / "pictures"))
    assert any(row.done == ON_WHITE.done for row in preview_source(source).reading.problems)


def test_turns_of_images_with_boxes_and_no_stated_size_are_a_row(tmp_path):
    files = {f"{number}.jpg": encoded("JPEG", 6 if number < 2 else 1) for number in range(3)}
    labels = {f"{number}.txt": "0 .5 .5 1 1" for number in range(3)}
    _, problems = build("YOLO", lay(tmp_path / "pictures", files | labels))
    [row] = [row for row in problems if row.done == decoding.ON_TURNED.done]
    assert (row.file, row.came) == ("2 images", "a turn by EXIF data in 0, 1")
    stated, whole = {"size": SIDES}, {"boxes": ()}
    for details, changes in (({}, (decoding.ON_STORED,)), (stated, ()), (whole, ())):
        record = replace(source_image(tmp_path, encoded("JPEG", 6)), **details)
        assert decode(record, Limits()).changes == changes, details


def drawn(tmp_path, kind, orientation, claimed=SIDES, name="a"):
    """An image whose box is the brightest quarter of the picture as its annotation counts."""
    data = encoded(kind, orientation)
    return replace(source_image(tmp_path, data, size=claimed), name=name, data=LateBytes(data))


class Shown(Records):
    """Records that can be previewed."""

    name = "Records"

    def decisions(self):
        return []


class LateBytes:
    """Bytes that a source did not generate."""

    shown = "a"

    def __init__(self, data):
        self.data = data

    def read(self, limit, what="", by=""):
        return self.data


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_stated_sizes_of_other_images_tell_how_boxes_of_half_turns_were_drawn(tmp_path, kind):
    upside_down = drawn(tmp_path, kind, 3, name="b")
    turned, stored = drawn(tmp_path, kind, 6, LYING), drawn(tmp_path, kind, 6)
    for number, (others, is_turned) in enumerate(
        [([turned], True), ([stored], False), ([turned, replace(stored, name="c")], False), ([], False)]
    ):
        records = [upside_down, *others]
        images, problems = build_image_set(Records(records), tmp_path / f"{kind}{number}")
        [row] = [row for row in problems if row.came.startswith(decoding.TURN)]
        assert row.came == "a turn by EXIF data in b"
        assert row.done == (decoding.ON_TURNED if is_turned else decoding.ON_STORED).done
        place = images.image_names.tolist().index("b")
        assert (images.open_image(place).getpixel((1, 1))[1] > 100) == is_turned
        shown = preview_source(Shown(records))
        assert [problem for problem in shown.reading.problems if problem.came == row.came] == [row]
        assert len(shown.crops) == len(records)


def test_a_jpeg_keeps_its_compressed_pixels_or_is_encoded_again(tmp_path):
    """Of damaged files too, what is stored shows the same as what was decoded."""
    random = np.random.default_rng(0)
    kept = 0
    for options in ({}, {"progressive": True}, {"restart_marker_blocks": 2}):
        good = encoded("JPEG", **options)
        assert len(without_metadata(good)) < len(good)
        for number in range(100):
            data = bytearray(good)
            for place in random.integers(len(data), size=number % 4):
                data[place] = random.integers(256)
            plain = without_metadata(bytes(data))
            try:
                shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            except OSError:
                continue
            if plain is not None:
                assert np.array_equal(Image.open(io.BytesIO(plain)).convert("RGB"), shown)
                assert SECRET not in plain
                kept += 1
    assert kept > 100
    for data in (b"", b"\xff\xd8", good[:400], encoded("PNG"), b"\xff\xd8\xff\xd9"):
        assert without_metadata(data) is None


def test_webp_without_loss():
    for options, lossless in (({"lossless": True}, True), ({"quality": 50}, False), ({}, False)):
        for more in ({}, {"exif": b"Exif\0\0MM"}):
            written = {**options, **more}
            data = in_memory(lambda stream, written=written: picture().save(stream, "WEBP", **written))
            assert is_lossless(data) == lossless
            assert not any(is_lossless(data[:end]) for end in range(16))


def test_mutated_images_are_decoded_or_refused(tmp_path):
    random = np.random.default_rng(0)
    usable = 0
    for kind in ("JPEG", "PNG", "WEBP"):
        good = encoded(kind, 6)
        for _ in range(30):
            data = bytearray(good)
            for place in random.integers(len(data), size=random.integers(1, 6)):
                data[place] = random.integers(256)
            outcome = check(source_image(tmp_path, bytes(data), upright=True))
            assert outcome.image is not None or outcome.problems
            usable += outcome.image is not None
            if outcome.image is not None:
                Image.open(io.BytesIO(outcome.image.stored.data)).load()
    assert 15 < usable < 90


@pytest.mark.parametrize(("keep_rgb", "ids"), [(True, b"\1\2\3"), (False, b"RGB")])
def test_what_says_how_colours_are_stored_is_kept(keep_rgb, ids):
    """The numbers of the channels suggest the other form, so that only the Adobe or JFIF segment tells."""
    data = in_memory(lambda stream: picture().save(stream, "JPEG", keep_rgb=keep_rgb, quality=95))
    frame, scan = data.index(b"\xff\xc0"), data.index(b"\xff\xda")
    changed = bytearray(data)
    for number, channel in enumerate(ids):
        changed[frame + 10 + 3 * number] = changed[scan + 5 + 2 * number] = channel
    shown = np.asarray(Image.open(io.BytesIO(changed)).convert("RGB"), int)
    assert np.abs(shown - np.asarray(picture(), int)).max() < 32
    plain = without_metadata(bytes(changed))
    assert np.array_equal(Image.open(io.BytesIO(plain)).convert("RGB"), shown)
