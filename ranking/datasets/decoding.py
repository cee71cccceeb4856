"""Decode the untrusted bytes of an image to pixels, and encode what is stored.

- Bytes and pixels are limited before anything is decoded; only JPEG, PNG and WebP are decoded.
- Imported images are encoded again: as JPEG of quality 95, or as lossless WebP if the file was lossless (PNG if a side
  is too long for WebP). Metadata never reaches the data folder: position, camera, comments, previews, bytes after the
  last pixel. A colour profile is dropped with the metadata and not applied. Images that a source generates are kept
  byte for byte.
- The hash of an image covers the original bytes and the form in which they are stored, not the output of an encoder,
  so that a new release of the encoder does not change the key of an image set.
- An EXIF orientation is applied to an image without boxes. With boxes, the size in the annotation decides: it is the
  size of the stored image or of the rotated image. If it does not decide (no size is given, the image is square or
  rotated by half a turn), `SourceImage.upright` decides, by what most annotation tools of the format display. PASCAL
  VOC and COCO count stored pixels (as LabelImg and pycocotools do); the relative coordinates of YOLO refer to the
  rotated image (as Ultralytics and browsers show it). A box of the whole image is always rotated. EXIF data that
  cannot be read are ignored.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from ranking.core import LateFile, SourceImage
from ranking.datasets.webp import is_animated, is_lossless, webp_size
from ranking.files import Limits, Unusable
from ranking.files.limits import megabytes, variable

EXTENSIONS = {"JPEG": ".jpg", "MPO": ".jpg", "PNG": ".png", "WEBP": ".webp"}
IMAGE_FILE = "an image file"
QUALITY = 95
# pixels of a side
LONGEST_WEBP = 16_383
# part of the hash, because the stored bytes differ from the original ones
ANEW = "encoded anew, form 1"
# the EXIF tag
ORIENTATION = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# the orientations that swap width and height
LYING = (5, 6, 7, 8)


class Decoded(NamedTuple):
    """An RGB image without metadata, and the bytes to store; sha256 (hex) identifies both."""

    picture: Image.Image
    data: bytes
    extension: str
    hash: str


def decode(record: SourceImage, limits: Limits) -> Decoded:
    """Return the image of `record`; Unusable if it is no image, or exceeds the limits."""
    data = _read(record.data, limits.image_bytes)
    picture, extension, orientation = _decode(data, limits.pixels)
    if isinstance(record.data, bytes):
        return Decoded(picture, data, extension, hashlib.sha256(data).hexdigest())
    turn = TURNS.get(orientation) if _is_already_upright(record, picture.size, orientation) else None
    picture = picture if turn is None else picture.transpose(turn)
    lossless = extension == ".png" or is_lossless(data)
    encoded, extension = _encode(picture, lossless)
    form = f"{ANEW}, {'as stored' if turn is None else turn.name}: ".encode()
    return Decoded(picture, encoded, extension, hashlib.sha256(form + data).hexdigest())


def _read(data: Path | bytes | LateFile, most: int) -> bytes:
    if not isinstance(data, bytes | Path):
        return data.read(most, IMAGE_FILE, "image_bytes")
    expected = f"{IMAGE_FILE} of at most {megabytes(most, 'image_bytes')}"
    if isinstance(data, Path):
        try:
            # so that pipes and devices are never opened
            if not data.is_file():
                raise Unusable(expected, "no such file" if not data.exists() else "not a regular file")
            with data.open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise Unusable(expected, error.strerror or "cannot be read") from error
    if len(data) > most:
        raise Unusable(expected, "a larger file")
    return data


def _decode(data: bytes, most: int) -> tuple[Image.Image, str, int]:
    """Return the image as RGB, the file extension of its real format, and its orientation."""
    # The format does not follow from its name.
    expected = "an intact JPEG, PNG or WebP image"
    _check_pixels(webp_size(data) or (0, 0), most)
    if is_animated(data):
        raise Unusable("a still (not animated) image", "an animated WebP")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP")) as picture:
            _check_pixels(picture.size, most)
            # Pillow would turn all levels above 255 into white
            if picture.mode.startswith(("I", "F")):
                raise Unusable("8 bits per channel", f"more bits (Pillow's mode {picture.mode})")
            plain = picture.convert("RGB")
            # encoders copy comments, profiles and more from it
            plain.info = {}
            return plain, EXTENSIONS[picture.format or ""], _orientation(picture)
    except (Unusable, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise Unusable(expected, "another kind of file" if data else "an empty file") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise Unusable(_few_pixels(most), str(error).partition(",")[0]) from error
    except Exception as error:
        # Pillow's decoders raise many kinds on broken bytes; all become rows
        raise Unusable(expected, f"{type(error).__name__}: {error}") from error


def _check_pixels(size: tuple[int, int], most: int) -> None:
    width, height = size
    if width * height > most:
        raise Unusable(_few_pixels(most), f"{width} x {height} pixels")


def _few_pixels(most: int) -> str:
    return f"an image of at most {most:,} pixels ({variable('pixels')})"


def _orientation(picture: Image.Image) -> int:
    """Return the EXIF orientation, 1 to 8; 1 if there is none, or it cannot be read."""
    try:
        orientation = picture.getexif().get(ORIENTATION, 1)
    except Exception:
        # untrusted EXIF may make its reader fail in any way; the pixels are usable even so
        return 1
    return orientation if isinstance(orientation, int) and orientation in TURNS else 1


def _is_already_upright(record: SourceImage, size: tuple[int, int], orientation: int) -> bool:
    """Return whether the boxes of `record` refer to the image rotated by `orientation`."""
    # Otherwise they refer to the stored pixels.
    if all(box.box is None for box in record.boxes):
        return True
    if orientation in LYING and size[0] != size[1] and record.size in (size, size[::-1]):
        return record.size != size
    return record.upright


def _encode(picture: Image.Image, lossless: bool) -> tuple[bytes, str]:
    """Return the bytes to store, and their file extension."""
    stream = io.BytesIO()
    if not lossless:
        picture.save(stream, "JPEG", quality=QUALITY, subsampling=0)
        return stream.getvalue(), ".jpg"
    if max(picture.size) > LONGEST_WEBP:
        picture.save(stream, "PNG")
        return stream.getvalue(), ".png"
    picture.save(stream, "WEBP", lossless=True, quality=0, method=0)
    return stream.getvalue(), ".webp"
