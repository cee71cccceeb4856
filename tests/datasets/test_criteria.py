"""Numbers of samples: what the builder keeps of them, and that a set without them is as it always was."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from brought import check_rows
from test_build import Records, image

from ranking.datasets import build_image_set, folder, load_image_set, ready_made_folder
from ranking.types import SourceBox

ONE_PIXEL = bytes.fromhex(  # a whole PNG, so that no encoder's version enters
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00010101"
    "00b138f6140000000049454e44ae426082"
)


def dated(name, classes=(), **numbers):
    return image(name, SourceBox((0, 0, 9, 9), classes, numbers=numbers))


def built(tmp_path, *items):
    return build_image_set(Records(list(items)), tmp_path / "set")


def test_numbers_are_kept_with_their_criteria(tmp_path):
    images, problems = built(
        tmp_path, dated("a", year=1920, price=3.5), dated("b", year=math.nan), dated("c", speed=-0.0)
    )
    check_rows(problems, ("told",))
    assert images.criteria == ("year", "price", "speed")
    assert images.classes == ()
    assert images.labels.shape == (3, 0)
    unknown = math.nan
    expected = np.array(
        [[1920, 3.5, unknown], [unknown, unknown, unknown], [unknown, unknown, 0]], np.float32
    )
    assert images.numbers.tobytes() == expected.tobytes()
    assert images.numbers_of("price").tolist()[:1] == [3.5]
    again = load_image_set(images.folder)
    assert (again.key, again.criteria) == (images.key, images.criteria)
    assert again.numbers.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="age") as caught:
        images.numbers_of("age")
    assert "year, price, speed" in str(caught.value)
    with pytest.raises(ValueError, match="cat"):
        images.relevance("cat")


def test_each_number_and_criterion_changes_the_key(tmp_path):
    told = [
        [dated("a", year=1920), dated("b", year=1921)],
        [dated("a", year=1920), dated("b", year=1922)],
        [dated("a", year=1920), dated("b", year=math.nan)],
        [dated("a", age=1920), dated("b", age=1921)],
        [dated("a", year=1920, age=math.nan), dated("b", year=1921)],
    ]
    keys = [build_image_set(Records(items), tmp_path / str(place))[0].key for place, items in enumerate(told)]
    assert len(set(keys)) == len(told)


def test_what_is_not_known_is_told_in_one_way(tmp_path):
    """Floats have many NaN; nothing said, NaN and another NaN are one set."""
    other = np.array([0x7FF8000000000123], np.uint64).view(np.float64)[0]
    keys = {
        build_image_set(Records([dated("a", year=1), dated("b", **told)]), tmp_path / str(place))[0].key
        for place, told in enumerate(({}, {"year": math.nan}, {"year": -math.nan}, {"year": other}))
    }
    assert len(keys) == 1


def test_a_set_without_criteria_is_as_it_was_before_there_were_any(tmp_path):
    """The key of these two images as the release before criteria gave it."""
    cat = SourceBox(None, ("cat",))
    plain, _ = built(
        tmp_path, image("train", cat, data=ONE_PIXEL), image("test", cat, data=ONE_PIXEL, test=True)
    )
    assert plain.key == "bb809dcb51722296c3421b9fb8381ddb541c76b7a34856f859b49f47138bcd3b"
    assert plain.criteria == ()
    assert plain.numbers.shape == (2, 0)
    assert plain.numbers.dtype == np.float32
    with np.load(plain.folder / "columns.npz") as stored:
        assert not {"criteria", "numbers"} & set(stored.files)
    with pytest.raises(ValueError, match="year"):
        plain.numbers_of("year")


def test_the_ready_made_set_loads_under_its_key():
    ready_made = ready_made_folder()
    if ready_made is None:
        pytest.skip("no data/action_figures beside this package")
    assert load_image_set(ready_made).key[:12] == "db4f92213781"


def test_a_number_that_no_float_holds_leaves_its_box_out(tmp_path):
    numbers = [math.inf, -math.inf, 1e300]
    boxes = (SourceBox((0, 0, 5, 5), ("dog",), numbers={"year": number}) for number in numbers)
    images, problems = built(
        tmp_path, image("a", SourceBox((0, 0, 9, 9), ("cat",)), *boxes), dated("b", year=3e38)
    )
    assert images.ids.tolist() == ["a#1", "b#1"]
    check_rows(problems, *(("a", f"year {number:g}") for number in numbers), ("told",))


def test_too_many_criteria(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "MAX_CRITERIA", 2)
    with pytest.raises(ValueError, match="'b'"):
        built(tmp_path, dated("a", one=1), dated("b", two=2, three=3))


def test_numbers_must_be_of_the_samples(tmp_path):
    images, _ = built(tmp_path, dated("a", year=1))
    columns = {item.name: getattr(images, item.name) for item in fields(images) if item.init}
    with pytest.raises(ValueError, match=r"\(1, 1\)"):
        type(images)(**columns | {"criteria": ("year", "age")})
