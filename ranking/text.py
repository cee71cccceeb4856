"""Text from outside, made fit to be a name, a table's cell or a line of JSON."""

from __future__ import annotations

import unicodedata


def readable(text: str, limit: int = 80) -> str:
    """`text` in Unicode's composed form, printable on one line, at most `limit` characters.

    What cannot be printed (control characters, undecodable bytes of a file name) becomes U+FFFD.

    >>> readable(" a\\n b ")
    'a b'
    """
    one_line = " ".join(unicodedata.normalize("NFC", text).split())
    printable = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in one_line
    )
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def listed(names: list[str], shown: int = 3) -> str:
    """The first few of `names` and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def written(number: float) -> str:
    """A number in six digits, but a whole one of up to 15 digits as it is, such as a day.

    >>> written(0.123456789), written(1957.0), written(20261122.0)
    ('0.123457', '1957', '20261122')
    """
    whole = number == round(number) and abs(number) < 1e15
    return f"{number:.0f}" if whole else f"{number:.6g}"


def counted(number: int, noun: str) -> str:
    """`number` and `noun` in the right number.

    >>> counted(1, "box"), counted(2, "box"), counted(3, "image")
    ('1 box', '2 boxes', '3 images')
    """
    plural = noun + ("es" if noun.endswith(("x", "s")) else "s")
    return f"{number:,} {noun if number == 1 else plural}"
