"""Decode the untrusted bytes of an image to pixels, and encode what is stored.

- Bytes and pixels are limited before anything is decoded; only the formats of FORMATS are decoded, and HEIC where the
  package pillow-heif is installed. pixels.py defines how transparency and more than 8 bits are shown.
- Imported images are stored without metadata: position, camera, comments, previews, bytes after the last pixel. A JPEG
  keeps its compressed pixels (jpeg.py). Other images are encoded again: as JPEG of quality 95, or as lossless WebP if
  the file was lossless (PNG if a side is too long for WebP). A colour profile is dropped with the metadata and not
  applied. Images that a source generates are kept byte for byte.
- The hash of an image covers the original bytes and the form in which they are stored, not the output of an encoder,
  so that a new release of the encoder does not change the key of an image set.
- An EXIF orientation is applied to an image without boxes. With boxes, `SourceImage.upright` decides, if the source
  knows. Otherwise the size in the annotation decides: it is the size of the stored image or of the rotated image. If it
  does not decide (no size is given, the image is square or rotated by half a turn), boxes count stored pixels, as
  LabelImg and pycocotools do. The relative coordinates of YOLO refer to the rotated image (as Ultralytics and browsers
  show it). A box of the whole image is always rotated. EXIF data that cannot be read are ignored.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from ranking.core import LateFile, SourceImage
from ranking.datasets.jpeg import without_metadata
from ranking.datasets.pixels import Change, to_rgb
from ranking.datasets.webp import is_animated, is_lossless, webp_size
from ranking.files import Limits, Unusable
from ranking.files.limits import megabytes, variable

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "PPM")
JPEG = ("JPEG", "MPO")
# the formats that lose no detail, besides some WebP files
LOSSLESS = ("PNG", "GIF", "BMP", "TIFF", "JPEG2000", "PPM")
# whose bytes are kept if a source generated them
KEPT = {"JPEG": ".jpg", "MPO": ".jpg", "PNG": ".png", "WEBP": ".webp"}
# at byte 4 of a HEIC file
HEIC = tuple(b"ftyp" + brand for brand in (b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"))
IMAGE_FILE = "an image file"
QUALITY = 95
# pixels of a side
LONGEST_WEBP = 16_383
# part of the hash, because the stored bytes differ from the original ones; its words are kept, and with them the keys
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

# of images with boxes whose annotation states no size that would tell how they were drawn
UPRIGHT, TURN = "pictures that EXIF data do not turn", "a turn by EXIF data"
ON_TURNED = Change(UPRIGHT, TURN, "boxes are taken as drawn on the turned picture")
ON_STORED = Change(UPRIGHT, TURN, "boxes are taken as drawn on the stored picture, without the turn")


class Decoded(NamedTuple):
    """An RGB image without metadata, and the bytes to store; sha256 (hex) identifies both. changes: of its pixels."""

    picture: Image.Image
    data: bytes
    extension: str
    hash: str
    changes: tuple[Change, ...] = ()


def decode(record: SourceImage, limits: Limits) -> Decoded:
    """Return the image of `record`; Unusable if it is no image, exceeds the limits, or has another size than its
    annotation claims."""
    data = _read(record.data, limits.image_bytes)
    picture, kind, orientation, changes = _decode(data, limits.pixels)
    is_generated = isinstance(record.data, bytes)
    turns = not is_generated and _is_already_upright(record, picture.size, orientation)
    turn, stored_size = TURNS.get(orientation) if turns else None, picture.size
    picture = picture if turn is None else picture.transpose(turn)
    # a source that knows the direction of its boxes may state the size of the stored pixels
    if record.size not in (None, picture.size, stored_size if record.upright else None):
        expected = "an image of the size that its annotation claims, {} x {}".format(*record.size)
        raise Unusable(expected, "{} x {}".format(*picture.size))
    if is_generated and kind in KEPT and not changes:
        return Decoded(picture, data, KEPT[kind], hashlib.sha256(data).hexdigest())
    plain = without_metadata(data) if kind in JPEG and turn is None and not changes else None
    lossless = kind in LOSSLESS or is_lossless(data)
    stored, extension = (plain, ".jpg") if plain is not None else _encode(picture, lossless)
    form = f"{ANEW}, {'; '.join(['as stored' if turn is None else turn.name, *(item.done for item in changes)])}: "
    # which changes no pixel and so is no part of the hash
    if (
        orientation in TURNS
        and not is_generated
        and record.size is None
        and any(box.box for box in record.boxes)
    ):
        changes = (*changes, ON_STORED if turn is None else ON_TURNED)
    return Decoded(picture, stored, extension, hashlib.sha256(form.encode() + data).hexdigest(), changes)


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


def _decode(data: bytes, most: int) -> tuple[Image.Image, str, int, tuple[Change, ...]]:
    """Return the image as RGB, its real format, whatever its name, its orientation, and what was changed."""
    expected = f"an intact image ({', '.join(FORMATS)} or HEIC)"
    _check_pixels(webp_size(data) or (0, 0), most)
    if is_animated(data):
        raise Unusable("a still (not animated) image", "an animated WebP")
    try:
        with Image.open(io.BytesIO(data), formats=_heic() if data[4:12] in HEIC else FORMATS) as picture:
            _check_pixels(picture.size, most)
            plain, changes = to_rgb(picture)
            return plain, picture.format or "", _orientation(picture), changes
    except (Unusable, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise Unusable(expected, "another kind of file" if data else "an empty file") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise Unusable(_few_pixels(most), str(error).partition(",")[0]) from error
    except Exception as error:
        # Pillow's decoders raise many kinds on broken bytes; all become rows
        raise Unusable(expected, f"{type(error).__name__}: {error}") from error


def _heic() -> tuple[str, ...]:
    """Let Pillow read HEIC; Unusable if the package for it is not installed."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError as error:
        came = "HEIC, which needs a package: run pip install pillow-heif, then import again"
        raise Unusable("an image that can be read here", came) from error
    register_heif_opener()
    return ("HEIF",)


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
    if record.upright is not None:
        return record.upright
    if orientation in LYING and size[0] != size[1] and record.size in (size, size[::-1]):
        return record.size != size
    return False


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
