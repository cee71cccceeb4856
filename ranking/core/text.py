"""Turn untrusted text into names, table cells and lines of JSON; format numbers and counts."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# Letters that may become one when they are composed, plus some reserve. Sorting the combining marks of a letter takes
# time quadratic in their number, so no more of an untrusted text is composed than is shown.
COMPOSED = 16
# digits of a checksum
CHECKED = 8


def readable(text: str, limit: int = 80) -> str:
    """Return `text` in Unicode's composed form, printable, on one line, at most `limit` characters.

    >>> readable(" a\\n b ")
    'a b'
    """
    # Characters that cannot be printed (control characters, undecodable bytes of a file name) become U+FFFD.
    line = unicodedata.normalize("NFC", on_one_line(text, COMPOSED * limit))
    printable = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def unique_name(text: str, limit: int = 80) -> str:
    """Return `readable` text for a name that identifies something: long names stay different.

    >>> unique_name(" cat\\n")
    'cat'
    >>> unique_name("a" * 81)[-12:], unique_name("a" * 82)[-12:]
    ('aa… 8c48280d', 'aa… f5854359')
    """
    # Longer names end with eight digits of a checksum of the whole name.
    whole = readable(text, limit + 1)
    if len(whole) <= limit:
        return whole
    checksum = hashlib.sha256(" ".join(text.split()).encode(errors="surrogatepass")).hexdigest()[:CHECKED]
    return f"{readable(text, limit - CHECKED - 1)} {checksum}"


def on_one_line(text: str, limit: int) -> str:
    """Return the first `limit` characters of `text` with each run of whitespace as one space.

    >>> on_one_line(" a\\n b ", 10), on_one_line("a" * 9, 3)
    ('a b', 'aaa')
    """
    # Reads no more of the text than that needs, however long it is.
    words, length = [], 0
    for word in re.finditer(r"\S+", text):
        words.append(word[0][:limit])
        length += len(words[-1]) + 1
        if length > limit:
            break
    return " ".join(words)[:limit]


def listed(names: list[str], shown: int = 3) -> str:
    """Return the first `shown` of `names`, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def written(number: float) -> str:
    """Return a number with six digits; whole numbers of up to 15 digits, such as days, in full.

    >>> written(0.123456789), written(1957.0), written(20261122.0)
    ('0.123457', '1957', '20261122')
    """
    whole = number == round(number) and abs(number) < 1e15
    return f"{number:.0f}" if whole else f"{number:.6g}"


def counted(number: int, noun: str) -> str:
    """Return `number` and `noun`, in the plural unless the number is 1.

    >>> counted(1, "box"), counted(2, "box"), counted(3, "image"), counted(4, "query")
    ('1 box', '2 boxes', '3 images', '4 queries')
    """
    plural = noun + ("es" if noun.endswith(("x", "s")) else "s")
    if noun.endswith(("dy", "ry")):
        plural = noun[:-1] + "ies"
    return f"{number:,} {noun if number == 1 else plural}"
