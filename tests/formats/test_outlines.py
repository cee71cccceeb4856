"""Bounding boxes of masks: against the mask itself, for both forms of its runs."""

from __future__ import annotations

import numpy as np

from ranking.formats.outlines import box_of_outline


def runs_of(mask):
    """The lengths of runs of 0 and 1 down the columns of a mask, beginning with 0."""
    pixels = mask.T.ravel().tolist()
    runs, current = [0], 0
    for pixel in pixels:
        if pixel != current:
            runs.append(0)
            current = pixel
        runs[-1] += 1
    return runs


def compressed(runs):
    """The text of these runs, as in rleToString of pycocotools."""
    text = ""
    for place, run in enumerate(runs):
        number, more = run - (runs[place - 2] if place > 2 else 0), True
        while more:
            bits, number = number & 31, number >> 5
            more = number != -1 if bits & 16 else number != 0
            text += chr(bits + (32 if more else 0) + 48)
    return text


def test_the_box_of_a_mask_encloses_its_pixels():
    checked = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        height, width = random.integers(1, 60, 2)
        mask = (random.random((height, width)) < random.choice([0.01, 0.3, 0.9])).astype(int)
        rows, columns = np.nonzero(mask)
        runs, size = runs_of(mask), [int(height), int(width)]
        box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) if len(rows) else None
        for counts in (runs, compressed(runs)):
            assert box_of_outline({"size": size, "counts": counts}) == box, f"seed {seed}"
        checked += box is not None
    assert checked > 100


def test_masks_that_cannot_be_read_have_no_box():
    for counts in ([5, -2, 3], [1, 99], ["1"], "é", "\x7f", "o" * 99, 7, None, [1e400]):
        for size in ([4, 5], [4], "45", [0, 0], None):
            assert box_of_outline({"size": size, "counts": counts}) is None
