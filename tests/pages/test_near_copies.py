"""Near copies on the page of an import: their number, some of them, and the switch for one side."""

from __future__ import annotations

import numpy as np
import pytest
from imports_here import go_on, import_here, question_of
from PIL import ImageOps
from shown import counts_in, errors, press, text_of
from test_copies import painted

from ranking.datasets.copies import stored_copies

# seeds of pictures; those of 0 and 1 are in both
TRAIN, TEST = range(6), (6, 7, 8, 9, 0, 1)


@pytest.fixture
def copied(laboratory, tmp_path):
    """An import of which two test images are mirrored training images, and waits for a decision."""
    for part, seeds in (("train", TRAIN), ("test", TEST)):
        for seed in seeds:
            folder = tmp_path / "album" / part / ("even" if seed % 2 == 0 else "odd")
            folder.mkdir(parents=True, exist_ok=True)
            picture = painted(seed, (120, 90))
            (ImageOps.mirror(picture) if part == "test" else picture).save(folder / f"{part}{seed}.png")
    return import_here(laboratory.store, "Class folders", "copies", folder=str(tmp_path / "album"))


def alts_of(app):
    return [image.alt for element in app.get("image") for image in element.proto.imgs]


def switch(app, run):
    return app.toggle(key=f"widget copies together {run.id}")


def test_copies_are_counted_and_shown_and_kept_on_one_side_by_default(laboratory, open_page, copied):
    app = open_page("image_sets", **{"import": copied.id})
    assert not errors(app)
    assert [2, 2, 2, 6] in counts_in(app.markdown), "pairs, across the split, test images of how many"
    assert switch(app, copied).value is True
    alts = [alt for alt in alts_of(app) if "near copies" in alt]
    assert len(alts) == 4, "both pairs"
    assert all(sum("(train)" in alt for alt in pair) == 1 for pair in (alts[:2], alts[2:]))
    copies = stored_copies(copied.draft)
    press(app, "add set")
    images = laboratory.store.sets.get(go_on(laboratory.store, copied).result["key"])
    first, second = images.image_test[copies.pairs].T
    assert (first == second).all()
    assert len(np.unique(images.image_groups)) == 10


def test_the_switch_off_keeps_the_split_of_the_source(laboratory, open_page, copied):
    app = open_page("image_sets", **{"import": copied.id})
    question_of_copies, with_copies = question_of(copied).reading, text_of(app)
    switch(app, copied).set_value(False).run()
    assert not errors(app)
    assert text_of(app) != with_copies, "it says what follows"
    press(app, "add set")
    key = go_on(laboratory.store, copied).result["key"]
    assert key != question_of_copies["key"]
    images = laboratory.store.sets.get(key)
    assert int(images.image_test.sum()) == len(TEST)
    assert images.image_groups.tolist() == list(range(12))
