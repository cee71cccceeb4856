"""What is stored of an image that a person brings: its pixels, upright, and nothing else."""

from __future__ import annotations

import io

import numpy as np
import pytest
from archives import in_memory
from import_folders import lay
from PIL import Image, ImageOps, PngImagePlugin

from ranking.core import SourceBox, SourceImage
from ranking.datasets import decoding
from ranking.datasets.build import check
from ranking.datasets.decoding import decode
from ranking.datasets.webp import is_lossless
from ranking.files import FolderTree, Limits

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
    assert (difference == 0) == (extension == ".webp"), "what lost nothing before loses nothing"
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
        (6, None, False, SIDES),
        (6, None, True, LYING),
        (6, SIDES, True, SIDES),
        (6, LYING, False, LYING),
        (6, (99, 99), False, SIDES),
        (1, LYING, True, SIDES),
        (99, None, True, SIDES),
    ],
)
def test_boxes_say_whether_an_image_is_turned(tmp_path, orientation, claimed, upright, size):
    source = source_image(tmp_path, encoded("JPEG", orientation), size=claimed, upright=upright)
    assert decode(source, Limits()).picture.size == size


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
