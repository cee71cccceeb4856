"""A JPEG without metadata, from the bytes of another: the same pixels, which are not encoded again.

Kept are the tables, the frame and the compressed pixels, and of JFIF and Adobe segments what says how colours are
stored. Comments, EXIF, colour profiles, previews and bytes after the image are not copied.
"""

from __future__ import annotations

import re

START, END = b"\xff\xd8", b"\xff\xd9"
# the second byte of the markers; frames are baseline, extended and progressive, which all browsers show
FRAMES, SCAN = (0xC0, 0xC1, 0xC2), 0xDA
# of Huffman codes, quantisation, and the restart interval
TABLES = (0xC4, 0xDB, 0xDD)
JFIF, ADOBE, COMMENT, APPLICATION = 0xE0, 0xEE, 0xFE, range(0xE0, 0xF0)
# without units and preview
PLAIN_JFIF = b"\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
# the last byte, which follows, names the transform of the colours
PLAIN_ADOBE = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"
# ends compressed pixels: a marker, except for an escaped byte, a filling byte and the markers of restarts
AFTER_PIXELS = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")


def without_metadata(data: bytes) -> bytes | None:
    """Return the grey or three-colour JPEG that `data` begins with, without metadata; None if it is not so plain that
    this is certainly possible."""
    if not data.startswith(START):
        return None
    kept, start, has_pixels = [START], len(START), False
    while data[start : start + 2] != END:
        # 0 beyond the end
        marker = int.from_bytes(data[start : start + 2], "big") - 0xFF00
        content = start + 4
        end = start + 2 + int.from_bytes(data[start + 2 : content], "big")
        if not content <= end <= len(data):
            return None
        if marker in TABLES or (marker in FRAMES and _is_plain(data[content:end])):
            kept.append(data[start:end])
        elif marker == SCAN:
            after = AFTER_PIXELS.search(data, end)
            if after is None:
                return None
            end, has_pixels = after.start(), True
            kept.append(data[start:end])
        elif marker == JFIF and end - content >= 14 and data.startswith(b"JFIF\0", content):
            kept.append(PLAIN_JFIF)
        elif marker == ADOBE and end - content >= 12 and data.startswith(b"Adobe", content):
            kept.append(PLAIN_ADOBE + data[content + 11 : content + 12])
        elif marker != COMMENT and marker not in APPLICATION:
            return None
        start = end
    return b"".join([*kept, END]) if has_pixels else None


def _is_plain(frame: bytes) -> bool:
    """Return whether a frame has 8 bits per channel, and one or three channels."""
    return frame[:1] == b"\x08" and frame[5:6] in (b"\x01", b"\x03")
