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
  does not decide (no size is given, the image is square or rotated by half a turn), boxes are read as those of the
  images whose size decides (`Turns`), or else count stored pixels, as LabelImg and pycocotools do. A row reports it.
  The relative coordinates of YOLO refer to the rotated image (as Ultralytics and browsers show it). A box of the whole
  image is always rotated. EXIF data that cannot be read are ignored.
"""

from __future__ import annotations

import hashlib
import io
import logging
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from PIL import Image, TiffImagePlugin, UnidentifiedImageError

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
# Pillow turns TIFF files itself; this turns them back
BACK = {**TURNS, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}

TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
# the TIFF tags of the bits of each band, and of their number
BITS, BANDS = 258, 277
# the first bytes of files that are often saved under the name of an image
OTHER_KINDS = {
    b"version https://git-lfs": "a pointer of Git LFS without the image: run git lfs pull, then import again",
    b"<!doctype html": "a web page, as a failed download leaves it: download the image again",
    b"<html": "a web page, as a failed download leaves it: download the image again",
    b"%pdf": "a PDF document: export its pages as PNG",
    b"8bps": "a Photoshop document: export it as PNG",
    b"<svg": "an SVG drawing: export it as PNG",
    b"<?xml": "an XML file",
}
# of a file that is looked at for them
OTHER_HEAD = 64

# The decoders would print lines that the report has already.
logging.getLogger("PIL").addHandler(logging.NullHandler())

# of images with boxes whose annotation states no size that would tell how they were drawn
UPRIGHT, TURN = "pictures that EXIF data do not turn", "a turn by EXIF data"
ON_TURNED = Change(UPRIGHT, TURN, "boxes are taken as drawn on the turned picture")
ON_STORED = Change(UPRIGHT, TURN, "boxes are taken as drawn on the stored picture, without the turn")


class Decoded(NamedTuple):
    """An RGB image without metadata, and the bytes to store; sha256 (hex) identifies both. changes: of its pixels.
    drawn_upright: whether the boxes were drawn on the turned picture, where the stated size tells."""

    picture: Image.Image
    data: bytes
    extension: str
    hash: str
    changes: tuple[Change, ...] = ()
    drawn_upright: bool | None = None


def decode(record: SourceImage, limits: Limits) -> Decoded:
    """Return the image of `record`; Unusable if it is no image, exceeds the limits, or has another size than its
    annotation claims."""
    data = _read(record.data, limits.image_bytes)
    picture, kind, orientation, changes = _decode(data, limits.pixels)
    is_generated = isinstance(record.data, bytes)
    drawn_upright = _drawn_upright(record, picture.size, orientation)
    turns = not is_generated and _is_turned(record, drawn_upright)
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
        and drawn_upright is None
        and any(box.box for box in record.boxes)
    ):
        changes = (*changes, ON_STORED if turn is None else ON_TURNED)
    digest = hashlib.sha256(form.encode() + data).hexdigest()
    return Decoded(picture, stored, extension, digest, changes, drawn_upright)


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
            # loading a TIFF file turns it, and forgets the orientation
            orientation = _orientation(picture)
            plain, changes = to_rgb(picture)
            if picture.format == "TIFF" and orientation in BACK:
                plain = plain.transpose(BACK[orientation])
            return plain, picture.format or "", orientation, changes
    except (Unusable, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise Unusable(expected, _kind_of(data)) from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise Unusable(_few_pixels(most), str(error).partition(",")[0]) from error
    except Exception as error:
        # Pillow's decoders raise many kinds on broken bytes; all become rows
        raise Unusable(expected, f"{type(error).__name__}: {error}") from error


def _kind_of(data: bytes) -> str:
    """Return in words what a file is that Pillow cannot identify, and the step that mends it."""
    start = data[:OTHER_HEAD].lstrip().lower()
    if not data.strip(b"\0"):
        return "a file of zeros only: copy it again" if data else "an empty file"
    if not data.startswith(TIFF):
        return next(
            (kind for first, kind in OTHER_KINDS.items() if start.startswith(first)), "another kind of file"
        )
    try:
        tags = TiffImagePlugin.ImageFileDirectory_v2(data[: 16 if data[2:3] == b"+" else 8])
        stream = io.BytesIO(data)
        stream.seek(tags.next)
        tags.load(stream)
        bands, bits = tags.get(BANDS, 1), max(tags.get(BITS, (1,)))
    except Exception:
        # untrusted bytes make the parser of tags fail in many ways
        return "a broken TIFF file"
    several = f"{bands} bands of {bits} bits" if bands > 1 else f"one band of {bits} bits"
    return f"a TIFF file of {several}: save it as RGB of 8 bits"


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


def _drawn_upright(record: SourceImage, size: tuple[int, int], orientation: int) -> bool | None:
    """Return whether the boxes were drawn on the image rotated by `orientation`, where its stated size tells."""
    if orientation in LYING and size[0] != size[1] and record.size in (size, size[::-1]):
        return record.size != size
    return None


def _is_turned(record: SourceImage, drawn_upright: bool | None) -> bool:
    """Return whether the boxes of `record` refer to the rotated image, and not to the stored pixels."""
    if all(box.box is None for box in record.boxes):
        return True
    return bool(drawn_upright if record.upright is None else record.upright)


class Turns:
    """The pictures of an import that EXIF data turn: those whose stated sizes tell how boxes were drawn decide for
    the others, if they agree."""

    def __init__(self) -> None:
        self._drawn: set[bool] = set()
        self._held: list[SourceImage] = []

    def holds(self, record: SourceImage, decoded: Decoded) -> bool:
        """Return whether an image has to wait for `held`, because nothing tells yet how its boxes were drawn."""
        if (
            record.upright is None
            and decoded.drawn_upright is not None
            and any(box.box for box in record.boxes)
        ):
            self._drawn.add(decoded.drawn_upright)
        is_open = ON_STORED in decoded.changes and record.upright is None
        self._held += [record] if is_open else []
        return is_open

    def held(self) -> list[SourceImage]:
        """Return the images that waited, with what the others show."""
        return [replace(record, upright=self._drawn == {True}) for record in self._held]


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
