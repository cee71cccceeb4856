"""From the bytes of an image that nobody trusts to pixels, and to what is stored of them.

- Bytes and pixels are capped before anything is decoded; only JPEG, PNG and WebP are decoded.
- Images that a person brings are encoded anew: JPEG of quality 95, or WebP without loss where nothing had been lost
  before (PNG where a side is too long for WebP). So what else a file holds never reaches the home: position, camera,
  comments, previews, what hides behind the last pixel. A colour profile is dropped with the rest and not applied.
  Images that a source drew itself are kept byte for byte.
- The hash of an image is of the bytes that came and of how they are stored, not of what an encoder makes of them: its
  next release does not make another set of the same photographs.
- An EXIF orientation is applied where nothing was drawn on stored pixels. Where boxes were drawn, the size that the
  annotation claims decides: it is that of the stored or of the turned picture. Where it says neither (none is
  claimed, the picture is square or turned by half), the source does, by what most tools of its format show to whoever
  draws: `SourceImage.upright`. PASCAL VOC and COCO count pixels as they are stored (LabelImg and pycocotools do);
  YOLO's shares are of the picture as it is shown (Ultralytics turns it, browsers do). A whole image is always turned.
  EXIF that cannot be read turns nothing.
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
LONGEST_WEBP = 16_383  # pixels of a side
ANEW = "encoded anew, form 1"  # what is stored is another thing than what came, and the hash says so
ORIENTATION = 0x0112  # the tag of EXIF
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
LYING = (5, 6, 7, 8)  # those that make another of width and height


class Decoded(NamedTuple):
    """A picture in RGB without metadata, and the bytes to store of it; sha256 (hex) names both."""

    picture: Image.Image
    data: bytes
    extension: str
    hash: str


def decode(record: SourceImage, limits: Limits) -> Decoded:
    """The image of `record`; Unusable where it is not one, or exceeds the limits."""
    data = _read(record.data, limits.image_bytes)
    picture, extension, orientation = _decode(data, limits.pixels)
    if isinstance(record.data, bytes):
        return Decoded(picture, data, extension, hashlib.sha256(data).hexdigest())
    turn = TURNS.get(orientation) if _is_drawn_upright(record, picture.size, orientation) else None
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
            if not data.is_file():  # also keeps pipes and devices from being opened
                raise Unusable(expected, "no such file" if not data.exists() else "not a regular file")
            with data.open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise Unusable(expected, error.strerror or "cannot be read") from error
    if len(data) > most:
        raise Unusable(expected, "a larger file")
    return data


def _decode(data: bytes, most: int) -> tuple[Image.Image, str, int]:
    """The picture as RGB, the file extension of its true format, whatever its name says, and its orientation."""
    expected = "an intact JPEG, PNG or WebP image"
    _check_pixels(webp_size(data) or (0, 0), most)
    if is_animated(data):
        raise Unusable("a picture that stands still", "an animated WebP")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP")) as picture:
            _check_pixels(picture.size, most)
            if picture.mode.startswith(("I", "F")):  # Pillow would cut all levels above 255 to white
                raise Unusable("8 bits a channel", f"more of them (Pillow's mode {picture.mode})")
            plain = picture.convert("RGB")
            plain.info = {}  # from which encoders copy comments, profiles and more
            return plain, EXTENSIONS[picture.format or ""], _orientation(picture)
    except (Unusable, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise Unusable(expected, "another kind of file" if data else "an empty file") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise Unusable(_few_pixels(most), str(error).partition(",")[0]) from error
    except Exception as error:  # Pillow's decoders raise many kinds on broken bytes; all become rows
        raise Unusable(expected, f"{type(error).__name__}: {error}") from error


def _check_pixels(size: tuple[int, int], most: int) -> None:
    width, height = size
    if width * height > most:
        raise Unusable(_few_pixels(most), f"{width} x {height} pixels")


def _few_pixels(most: int) -> str:
    return f"an image of at most {most:,} pixels ({variable('pixels')})"


def _orientation(picture: Image.Image) -> int:
    """1 to 8 as EXIF has it; 1 where it does not say, or not in a way that can be read."""
    try:
        orientation = picture.getexif().get(ORIENTATION, 1)
    except (
        Exception
    ):  # a stranger's EXIF may fail its reader in any way, and the pixels are good all the same
        return 1
    return orientation if isinstance(orientation, int) and orientation in TURNS else 1


def _is_drawn_upright(record: SourceImage, size: tuple[int, int], orientation: int) -> bool:
    """Whether the boxes of `record` are on the picture as `orientation` turns it, not as it is stored."""
    if all(box.box is None for box in record.boxes):
        return True
    if orientation in LYING and size[0] != size[1] and record.size in (size, size[::-1]):
        return record.size != size
    return record.upright


def _encode(picture: Image.Image, lossless: bool) -> tuple[bytes, str]:
    """The bytes to store, and the extension that fits them."""
    stream = io.BytesIO()
    if not lossless:
        picture.save(stream, "JPEG", quality=QUALITY, subsampling=0)
        return stream.getvalue(), ".jpg"
    if max(picture.size) > LONGEST_WEBP:
        picture.save(stream, "PNG")
        return stream.getvalue(), ".png"
    picture.save(stream, "WEBP", lossless=True, quality=0, method=0)
    return stream.getvalue(), ".webp"
