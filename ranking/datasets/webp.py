"""The size that a WebP file claims, read from its first bytes.

Pillow allocates memory for the whole image when it opens a WebP, before its size can be checked; so the size is read
here first (RFC 9649, sections 2.5 to 2.7).
"""

from __future__ import annotations

# bytes that contain the size in all three forms
HEAD = 30


def webp_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels; None if `data` is no WebP file, or does not contain the size.

    >>> webp_size(b"RIFF....WEBPVP8X" + bytes(8) + b"\\x3f\\x01\\x00\\xef\\x00\\x00")
    (320, 240)
    """
    if len(data) < HEAD or data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    form = data[12:16]
    if form == b"VP8X":
        return _number(data, 24, 3) + 1, _number(data, 27, 3) + 1
    if form == b"VP8L" and data[20] == 0x2F:
        bits = _number(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return _number(data, 26, 2) & 0x3FFF, _number(data, 28, 2) & 0x3FFF
    return None


def is_animated(data: bytes) -> bool:
    """Return whether `data` is an animated WebP, for which Pillow allocates several canvases."""
    return data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X" and len(data) >= HEAD and bool(data[20] & 0b10)


def is_lossless(data: bytes) -> bool:
    """Return whether `data` is a WebP whose pixels are stored without loss."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return False
    start = 12
    # chunk after chunk, each of an even number of bytes
    while start + 8 <= len(data):
        kind = data[start : start + 4]
        if kind in (b"VP8L", b"VP8 "):
            return kind == b"VP8L"
        start += 8 + _number(data, start + 4, 4) + _number(data, start + 4, 4) % 2
    return False


def _number(data: bytes, start: int, length: int) -> int:
    return int.from_bytes(data[start : start + length], "little")
