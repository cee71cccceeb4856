"""Mutations that turn a good file into a broken one: of bytes as in fuzzers, and of text, ZIP files and PNG.

Each mutation takes a random generator and bytes, and returns bytes; the same generator gives the same file.
"""

from __future__ import annotations

import random
import re
import struct
import zlib
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes], bytes]

# bytes of a mutated file, so that repeated copies stay small
LONGEST = 2**20
NUMBERS = (0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 65536)
NUMBERS += (2**24 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
WORDS = re.compile(rb"[\w.+-]+")
LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10 if level else b"ha") for level in range(10)
)
TOKENS = (
    *(str(number).encode() for number in (-1, *NUMBERS, 10**30, -(10**30))),
    *(b"1e308", b"1e999", b"-1e999", b"NaN", b"nan", b"Infinity", b"-inf", b"0x10", b"1_0", b"1e-400", b".", b"-"),
    *(b"9" * 5000, b"null", b"true", b"[]", b"{}", b"[[[[[[[[[[", b"]" * 9, b'{"a":' * 200, b"[" * 100_000),
    *(b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\udfff", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"\r", b"\n", b"\r\n", b"\t", b",", b";", b",,,,", b"\n\n\n", b" " * 3000, b"a" * 70_000, b"\x85"),
    *(b"../../../../etc/passwd", b"/etc/passwd", b"/dev/zero", b"C:\\con", b"\\\\host\\share", b"file:///etc/passwd"),
    *(b"http://127.0.0.1:9/x.jpg", b"data:image/png;base64,AAAA", b"~root/x", b"$HOME", b"%2e%2e%2f", b"a" * 4096),
    *(b"<script>ran=1</script>", b"<img src=x onerror=ran=1>", b'" onload="ran=1', b"javascript:ran=1", b"=1+1", b"@x"),
    *("\u202egpj.a".encode(), "e\u0301".encode(), "\ufeff".encode(), "\U0001f3c5".encode(), "ǆ".encode(), b"\xc0\x80"),
    b"<!DOCTYPE a [" + LAUGHS + b"]>&l9;",
    *(b'<!DOCTYPE a SYSTEM "file:///etc/passwd">', b'<!ENTITY x SYSTEM "file:///etc/passwd">', b"&x;", b"<![CDATA["),
    *(b"<a>" * 2000, b"<", b">", b"</a>", b"&#0;", b"&#x110000;", b"&amp;", b"]]>", b"<!--"),
    b"<?xml version='1.0' encoding='utf-7'?>",
    *(b"names: *a", b"names: &a [*a, *a]", b"!!python/object/apply:os.system ['id']", b"? x", b"<<: *a", b"- - - -"),
    *(b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08", b"PAR1", b"\x93NUMPY"),
    *(b"\xff\xd8", b"\xff\xd9", b"\xff\xda", b"\xff\xc0", b"\xff\xc2", b"\xff\xe1", b"\xff\xe2MPF\0", b"Exif\0\0"),
    *(b"IHDR", b"IDAT", b"IEND", b"PLTE", b"tRNS", b"iCCP", b"zTXt", b"acTL", b"fcTL", b"RIFF", b"VP8X", b"VP8L"),
)  # fmt: skip


def mutated(draw: random.Random, data: bytes, files: Sequence[bytes], also: Sequence[Mutation] = ()) -> bytes:
    """Return `data` after one to four mutations; `files` are for splicing, `also` are further mutations."""
    chosen: tuple[Mutation, ...] = (*ANYWHERE, lambda draw, data: splice(draw, data, draw.choice(files)))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 4))):
        mutation = draw.choice(also) if also and draw.random() < 0.5 else draw.choice(chosen)
        data = mutation(draw, data)[:LONGEST]
    return data


# ---------------------------------------------------------------------------------------------------------
# Any bytes
# ---------------------------------------------------------------------------------------------------------


def flip_bits(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8, 64)) if data else 0):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def set_bytes(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 2, 8, 32)) if data else 0):
        changed[draw.randrange(len(data))] = draw.choice((0, 255, 127, 128, draw.randrange(256)))
    return bytes(changed)


def truncate(draw: random.Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def delete_block(draw: random.Random, data: bytes) -> bytes:
    start, end = _block(draw, data)
    return data[:start] + data[end:]


def copy_block(draw: random.Random, data: bytes) -> bytes:
    start, end = _block(draw, data)
    target = draw.randrange(len(data) + 1)
    return data[:target] + data[start:end] * draw.choice((1, 1, 2, 50)) + data[target:]


def splice(draw: random.Random, data: bytes, second: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)] + second[draw.randrange(len(second) + 1) :]


def set_length(draw: random.Random, data: bytes) -> bytes:
    """Change a number of 2, 4 or 8 bytes anywhere, which is how formats store lengths and offsets."""
    form = draw.choice("HIQ")
    size = struct.calcsize(f"<{form}")
    if len(data) < size:
        return data
    start = draw.randrange(len(data) - size + 1)
    return data[:start] + _number(draw, form) + data[start + size :]


def insert_token(draw: random.Random, data: bytes) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + draw.choice(TOKENS) + data[start:]


def overwrite_token(draw: random.Random, data: bytes) -> bytes:
    token, start = draw.choice(TOKENS), draw.randrange(len(data) + 1)
    return data[:start] + token + data[start + len(token) :]


ANYWHERE: tuple[Mutation, ...] = (
    flip_bits,
    set_bytes,
    truncate,
    delete_block,
    copy_block,
    set_length,
    insert_token,
    overwrite_token,
)


def _block(draw: random.Random, data: bytes) -> tuple[int, int]:
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((1, 4, 16, 64, 512, 4096)))


def _number(draw: random.Random, form: str) -> bytes:
    most = 256 ** struct.calcsize(f"<{form}")
    return struct.pack(
        draw.choice("<>") + form, draw.choice((draw.choice(NUMBERS), draw.randrange(most))) % most
    )


# ---------------------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------------------


def replace_word(draw: random.Random, data: bytes) -> bytes:
    """Replace a number or name of JSON, XML, CSV or YAML, so that the rest can still be parsed."""
    words = list(WORDS.finditer(data))
    if not words:
        return insert_token(draw, data)
    word = draw.choice(words)
    replacement = draw.choice((draw.choice(TOKENS), draw.choice(words)[0]))
    return data[: word.start()] + replacement + data[word.end() :]


def move_line(draw: random.Random, data: bytes) -> bytes:
    """Remove, repeat or move a line."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines.pop(draw.randrange(len(lines)))
    for _ in range(draw.choice((0, 1, 2))):
        lines.insert(draw.randrange(len(lines) + 1), line)
    return b"".join(lines)


TEXT: tuple[Mutation, ...] = (replace_word, replace_word, replace_word, move_line)


# ---------------------------------------------------------------------------------------------------------
# ZIP files, PNG and JPEG, whose fields and checksums are known
# ---------------------------------------------------------------------------------------------------------

# Offsets of the fields of an entry after its signature, in the central directory, before its content, and of the end.
ZIP_FIELDS = {
    b"PK\x01\x02": "4H 6H 8H 10H 12H 14H 16I 20I 24I 28H 30H 32H 34H 36H 38I 42I",
    b"PK\x03\x04": "4H 6H 8H 10H 12H 14I 18I 22I 26H 28H",
    b"PK\x05\x06": "4H 6H 8H 10H 12I 16I 20H",
}


def set_zip_field(draw: random.Random, data: bytes) -> bytes:
    """Replace a flag, size, offset, checksum, or length of a name."""
    mark = draw.choice(tuple(ZIP_FIELDS))
    starts = [match.start() for match in re.finditer(re.escape(mark), data)]
    if not starts:
        return set_length(draw, data)
    field = draw.choice(ZIP_FIELDS[mark].split())
    start, size = draw.choice(starts) + int(field[:-1]), struct.calcsize(f"<{field[-1]}")
    return data[:start] + _number(draw, field[-1]) + data[start + size :]


def one_place(draw: random.Random, data: bytes) -> bytes:
    """Give two entries of a ZIP file the same offset, or nearly, as ZIP bombs do."""
    starts = [match.start() for match in re.finditer(b"PK\x01\x02", data)]
    if len(starts) < 2:
        return set_length(draw, data)
    first, second = draw.sample(starts, 2)
    start = (int.from_bytes(data[first + 42 : first + 46], "little") + draw.choice((0, 0, 1, 30))) % 2**32
    return data[: second + 42] + start.to_bytes(4, "little") + data[second + 46 :]


ZIP: tuple[Mutation, ...] = (set_zip_field, set_zip_field, one_place)


def set_png_field(draw: random.Random, data: bytes) -> bytes:
    """Change bytes of a chunk, or its name, and correct its checksum, so that a decoder reads it."""
    chunks = _chunks(data)
    if not chunks:
        return flip_bits(draw, data)
    start, size = draw.choice(chunks)
    body = bytearray(data[start + 4 : start + 8 + size])
    for _ in range(draw.choice((1, 1, 4))):
        body[draw.randrange(len(body))] = draw.choice((0, 1, 2, 3, 255, draw.randrange(256)))
    checksum = zlib.crc32(bytes(body)).to_bytes(4, "big")
    return data[: start + 4] + bytes(body) + checksum + data[start + 12 + size :]


def set_jpeg_field(draw: random.Random, data: bytes) -> bytes:
    """Change a byte of a segment before the pixels: sizes, tables, sampling, EXIF."""
    end = data.find(b"\xff\xda") + 14
    if end < 20:
        return flip_bits(draw, data)
    position = draw.randrange(2, min(end, len(data)))
    return (
        data[:position]
        + bytes([draw.choice((0, 1, 2, 4, 17, 255, draw.randrange(256)))])
        + data[position + 1 :]
    )


def _chunks(data: bytes) -> list[tuple[int, int]]:
    """Return where each chunk of a PNG begins, and the length that it declares."""
    chunks, start = [], 8
    while start + 12 <= len(data):
        size = int.from_bytes(data[start : start + 4], "big")
        if start + 12 + size > len(data):
            break
        chunks.append((start, size))
        start += 12 + size
    return chunks


PNG: tuple[Mutation, ...] = (set_png_field,)
JPEG: tuple[Mutation, ...] = (set_jpeg_field,)
