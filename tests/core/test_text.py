"""Text of strangers, made fit to show."""

from __future__ import annotations

import random
import unicodedata

from ranking.core.spreadsheets import guarded
from ranking.core.text import on_one_line, readable, unique_name
from ranking.files.files import image_name

HANGUL = "\u1100\u1161\u11a8"
LETTERS = ["a", "e\u0301", "é", "\u0323\u0301", HANGUL, " ", "\n", "\u2003", "\x00", "\ud800", "中", "x" * 7]


def shown_whole(text: str, limit: int) -> str:
    """`readable` as it is defined: all of the text is composed before it is cut."""
    one_line = " ".join(unicodedata.normalize("NFC", text).split())
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in one_line)
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def test_shortened_texts_equal_the_beginning_of_the_whole_text_as_shown():
    for seed in range(200):
        draw = random.Random(seed)
        text = "".join(draw.choices(LETTERS, k=draw.randint(0, 300)))
        limit = draw.choice([4, 20, 80, 255])
        assert readable(text, limit) == shown_whole(text, limit), seed
        for most in (limit, 10_000):
            assert on_one_line(text, most) == " ".join(text.split())[:most], seed


def test_names_that_differ_beyond_any_path_differ():
    long = "a" * 10_000
    assert len({image_name(long + end) for end in ("b", "c", "\udcff", "\udcfe")}) == 4
    assert image_name("e\u0301" * 300) == image_name("é" * 300)


def test_names_that_begin_alike_become_unique_and_short_ones_stay():
    draw = random.Random(0)
    texts = ["".join(draw.choices(LETTERS, k=draw.randrange(120))) for _ in range(300)]
    for text in texts:
        name = unique_name(text)
        assert name == readable(name) == unique_name(name)
        assert len(name) <= 80
        if len(readable(text, 1000)) <= 80:
            assert name == readable(text)
    long = ["x" * 80 + end for end in ("", "y", "z", " y", "yy", "\ud800", "\ud801")]
    assert len({unique_name(text) for text in long}) == len(long)
    assert unique_name("x " * 50) == unique_name("x\n " * 50), "blanks are no part of a name"


def test_no_table_cell_is_a_formula_and_every_text_survives():
    for start in ("=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "'x", "＝1+1", "＋x", "－x", "＠x"):
        assert guarded(start) == f"'{start}"
    unseen = " \u00a0\ufeff\u200b\u2060\v\f\0\x85\u2028\u3000"
    for text in ("=1", "＝1", "﹦1", "⁺1", "﹢1", "﹣1", "−1", "﹫x"):
        for start in (text, *(f"{letter}{text}" for letter in unseen), unseen + text):
            assert guarded(start) == f"'{start}", ascii(start)
    for text in ("x=1", "", " ", "\u200b", " x", "\ufeffx-y", "½", "\ud800", "é", "中"):
        assert guarded(text) == text
