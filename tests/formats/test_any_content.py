"""Good files in which something else stands in places: each is read or refused in the product's own words."""

from __future__ import annotations

import contextlib
import json
import random
import re

import pytest
from example_annotation_tools import TOOLS
from example_files import FILES, FOLDERS

from ranking.core import Problem
from ranking.datasets import make_source
from ranking.files.files import IMAGE_SUFFIXES
from ranking.formats.import_preview import preview_import

PIECE = re.compile(rb'\{[^{}]*\}|\[[^\[\]]*\]|"[^"]*"|<[^<>]*>|[\w.-]+')
REPLACEMENTS = [
    *b'null true [] {} [[1]] {"a":1} "" "x" "\\ud800" "../1.jpg" /etc/passwd 0 2 -1 0.5 NaN 1e999'.split(),
    *b"cat 1.jpg , &amp; <b> </b>".split(),
    *(b"9" * 400, b"x" * 5000, b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\n"),
]


# each tool has a form of its own
ALL_FOLDERS = FOLDERS | TOOLS


@pytest.mark.parametrize("source", [name for name in (*ALL_FOLDERS, *FILES) if name != "Class folders"])
def test_any_content_is_read_or_refused_with_a_value_error(tmp_path, source):
    """Problems can be shown and kept; other errors fail."""
    place = {**ALL_FOLDERS, **FILES}[source](tmp_path / "x")
    files = [path for path in (tmp_path / "x").rglob("*.*") if path.suffix not in IMAGE_SUFFIXES]
    assert files
    good, texts = {path: path.read_bytes() for path in files}, []
    for seed in range(60 if source in ALL_FOLDERS else 15):
        draw = random.Random(seed)
        share = draw.choice([0.02, 0.1, 0.3])

        def piece(match, draw=draw, share=share):
            return draw.choice(REPLACEMENTS) if draw.random() < share else match[0]

        for path, content in good.items():
            path.write_bytes(PIECE.sub(piece, content))
        if source in ALL_FOLDERS:
            preview = preview_import(str(place), None, {})
            texts += [json.dumps(preview.to_json()), preview.refused]
        with contextlib.suppress(ValueError):
            setting = "folder" if source in ALL_FOLDERS else "file"
            name = "Annotation tools" if source in TOOLS else source
            for item in make_source(name, **{setting: str(place)}).records():
                texts += vars(item).values() if isinstance(item, Problem) else [item.name]
    assert all(text.isprintable() for text in texts)
