"""The drawn sets: they are what the programs of data/ draw, and what they promise of their images and labels."""

from __future__ import annotations

import io
import json
from collections import Counter
from zipfile import ZipFile

import draw
import numpy as np
import pytest
from PIL import Image
from ranking.datasets.painting import STEPS
from refusals import refused

from ranking.core.run_settings import ImportSettings
from ranking.datasets import build_image_set, drawn_sets, load_image_set, make_source, ready_made_folder
from ranking.datasets.splits import evenly

PROGRAMS = {program.name: program for program in draw.SETS}
KEYS = {  # of the first 50 images, as they were when the app itself drew them
    "Action figures": "1ab27f05a35e1e4e893a8329a8b9aefbeabc8211938fc96375b18d9a4d2187f7",
    "Label scenes": "9de5afc0b499f7f4072c8bfad632b35fffbebdb12d83dc6f47a281bbdf41b5f4",
    "Timeline cars": "af775092cafecf5d6474cbccdfc63a616c90164943fad7b99396d4878bbcf90f",
}


def archive_of(name):
    return ZipFile(drawn_sets.DATA / f"{name.lower().replace(' ', '_')}.zip")


def table_of(name):
    with archive_of(name) as archive:
        return json.loads(archive.read(drawn_sets.TABLE))


TABLES = {name: table_of(name) for name in PROGRAMS}


def images_of(name, count):
    """The first images, decoded."""
    for number in range(count):
        with Image.open(io.BytesIO(make_source(name).record(number).data)) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 240), "RGB")
            yield picture.copy()


# ------------------------------------------------------------------------------------------- what ships


def numbers_of_all_steps(name):
    """The number of the first image that needs it, for each step, and of the last image of all."""
    first = {
        step[0]: row for row in reversed(range(len(TABLES[name]))) for step in TABLES[name][row]["steps"]
    }
    return {*first.values(), len(TABLES[name]) - 1}


def test_the_images_behind_the_keys_need_every_step():
    used = {step[0] for name in KEYS for row in TABLES[name][:50] for step in row["steps"]}
    assert used == STEPS.keys() | {"polygons"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_draw_what_ships(name, tmp_path):
    draw.write(PROGRAMS[name](images=3), tmp_path / "again.zip")
    with ZipFile(tmp_path / "again.zip") as again, archive_of(name) as archive:
        assert json.loads(again.read(drawn_sets.TABLE)) == TABLES[name][:3]
        for row in TABLES[name][:3]:
            assert again.read(row["name"]) == archive.read(row["name"]), row["name"]
    source, program = make_source(name), PROGRAMS[name]()
    assert (source.images, source.test_share) == (program.images, program.test_share)
    for number in numbers_of_all_steps(name):
        image, record = program.drawn(number), source.record(number)
        assert record.data == program.encode(image.painted()), number
        assert (record.name, record.boxes, record.size) == (image.name, image.boxes, (320, 240))
        assert record.test == evenly(image.number, source.test_share, image.start)


@pytest.mark.parametrize("name", PROGRAMS)
def test_sets_keep_their_keys(name, tmp_path):
    """Runs find their image set by its key, a hash of pixels, boxes, labels, ids and split."""
    images, problems = build_image_set(make_source(name, images=50), tmp_path / "set")
    assert problems == []
    assert images.key == KEYS[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_imports_of_before_they_shipped_are_of_the_same_images(name):
    """Their settings named a seed, which is still understood where it is that of what ships."""
    program = PROGRAMS[name]()
    before = ImportSettings.from_json(
        {"source": name, "source_settings": {"images": 60, **chances_of(program)}}
    )
    assert before.source_settings == {"images": 60}
    with_another = {"images": 60, "seed": program.seed + 1}
    other = ImportSettings.from_json({"source": name, "source_settings": with_another}).source_settings
    with refused(f"settings of {name}", "'seed'"):
        make_source(name, **other)


def chances_of(program):
    return {key: value for key, value in vars(program).items() if key in ("seed", "share")}


def test_what_ships_is_small():
    files = [file for file in drawn_sets.DATA.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 25e6


def test_other_seeds_draw_other_images():
    for program in PROGRAMS.values():
        images = [program(seed=seed).drawn(0) for seed in (7, 7, 8)]
        assert images[0] == images[1]
        assert images[0].polygons != images[2].polygons


def test_without_its_file_a_set_says_where_it_belongs(tmp_path, monkeypatch):
    monkeypatch.setattr(drawn_sets, "DATA", tmp_path)
    with refused("Label scenes", "no such file"):
        next(make_source("Label scenes").records())


# ------------------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_share_of_the_images_is_for_the_test(name):
    for share in (0.1, 0.4, 0.9):
        tested = sum(evenly(row["number"], share, row["start"]) for row in TABLES[name])
        assert tested == pytest.approx(len(TABLES[name]) * share, abs=12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_picture_is_empty_or_one_colour_and_none_is_another_one(name):
    small = [np.asarray(picture.resize((16, 12)), float) for picture in images_of(name, 20)]
    assert min(pixels.std() for pixels in small) > 8
    for number, pixels in enumerate(small):
        assert all(np.abs(pixels - before).mean() > 3 for before in small[:number]), number


# ------------------------------------------------------------------------------------------- action figures

TEN = {
    "jumping", "phoning", "playing instrument", "reading", "riding bike",
    "riding horse", "running", "taking photo", "using computer", "walking",
}  # fmt: skip
PEOPLE = [[box["classes"][0] for box in row["boxes"]] for row in TABLES["Action figures"]]


def test_every_number_of_people_and_every_action_occurs():
    assert {len(of_scene) for of_scene in PEOPLE} == {1, 2, 3, 4, 5, 6}
    counts = Counter(action for of_scene in PEOPLE for action in of_scene)
    assert set(counts) == TEN
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_people_share_their_action_as_often_as_they_should():
    """Two do the same with probability share^2 + (1 - share^2) / 10, of a share of .75."""
    pairs = [pair for of_scene in PEOPLE for pair in zip(of_scene[::2], of_scene[1::2], strict=False)]
    expected = 0.75**2 + (1 - 0.75**2) / 10
    alike = sum(left == right for left, right in pairs) / len(pairs)
    assert alike == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / len(pairs)))


def test_both_sides_have_every_class():
    sides = {True: set(), False: set()}
    for row, of_scene in zip(TABLES["Action figures"][:50], PEOPLE, strict=False):
        sides[evenly(row["number"], 0.5, row["start"])] |= set(of_scene)
    assert sides == {True: TEN, False: TEN}


def test_boxes_lie_inside_their_image():
    for row in TABLES["Action figures"]:
        for box in row["boxes"]:
            left, top, right, bottom = box["box"]
            assert 0 <= left <= right - 8 <= 312
            assert 0 <= top <= bottom - 8 <= 232


def test_the_ready_made_set_is_small_and_the_beginning_of_the_bundled_one():
    folder = ready_made_folder()
    assert folder is not None
    ready = load_image_set(folder)
    assert len(ready.image_names) == 180
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 4e6
    for index in range(0, 180, 40):
        record = make_source("Action figures").record(index)
        rows = np.flatnonzero(ready.image_of == index)
        shown = [
            (tuple(box), (ready.classes[row.argmax()],))
            for box, row in zip(ready.boxes[rows].tolist(), ready.labels[rows], strict=True)
        ]
        assert shown == [(box.box, box.classes) for box in record.boxes], "run python data/action_figures.py"
        with Image.open(io.BytesIO(record.data)) as picture:
            assert np.abs(np.asarray(ready.open_image(index), float) - np.asarray(picture, float)).mean() < 6


# ------------------------------------------------------------------------------------------- label scenes

SHOWN = [set(row["boxes"][0]["classes"]) for row in TABLES["Label scenes"]]


def share_of(concept, given=None):
    """How many of the scenes that show `given` show `concept`."""
    among = [shown for shown in SHOWN if given is None or given in shown]
    return sum(concept in shown for shown in among) / len(among)


def test_about_forty_concepts_about_a_dozen_per_image():
    counts = Counter(concept for shown in SHOWN for concept in shown)
    assert 40 <= len(counts) <= 48
    assert 11 < sum(counts.values()) / len(SHOWN) < 13
    assert min(counts.values()) >= 0.02 * len(SHOWN)


ALWAYS = [
    ("beach", "sand"), ("beach", "sea"), ("sea", "water"), ("lake", "water"), ("forest", "tree"), ("car", "road"),
    ("city", "building"), ("portrait", "person"), ("autumn", "tree"), ("rainbow", "day"), ("stars", "night"),
]  # fmt: skip
NEVER = [
    ("night", "sun"), ("night", "bird"), ("sunset", "moon"), ("portrait", "group"), ("city", "landscape"),
    ("beach", "lake"), ("winter", "flowers"), ("close-up", "person"), ("blur", "black and white"), ("fog", "rain"),
]  # fmt: skip
OFTEN = [("sand", "beach"), ("summer", "beach"), ("winter", "snow"), ("lake", "mountain"), ("stars", "moon")]


def test_concepts_imply_exclude_and_attract_each_other():
    """What attracts goes with the concept neither always nor never, but at least half as often again as elsewhere."""
    for given, concept in ALWAYS:
        assert share_of(concept, given) == 1, (given, concept)
        assert share_of(concept) < 0.95, concept
    for given, concept in NEVER:
        assert share_of(concept, given) == 0, (given, concept)
        assert share_of(concept) > 0, concept
    for given, concept in OFTEN:
        assert 1.5 * share_of(concept) < share_of(concept, given) < 1, (given, concept)


def test_a_day_has_one_hour_and_at_most_one_season():
    for shown in SHOWN:
        assert len(shown & {"day", "sunset", "night"}) == 1
        assert len(shown & {"spring", "summer", "autumn", "winter"}) <= 1


# ------------------------------------------------------------------------------------------- timeline cars

CARS = [row["boxes"][0] for row in TABLES["Timeline cars"]]


def test_each_eighty_models_take_every_year_once():
    years = [int(car["numbers"]["year"]) for car in CARS[::2]]
    for block in range(5):
        assert sorted(years[80 * block : 80 * block + 80]) == list(range(1920, 2000))
    assert years[:80] != years[80:160]


def test_the_two_photographs_of_a_model_are_a_group_on_one_side():
    for number, (car, row) in enumerate(zip(CARS, TABLES["Timeline cars"], strict=True)):
        assert car["group"] == f"model {number // 2}"
        assert row["number"] == number // 2
        assert car["numbers"] == CARS[number // 2 * 2]["numbers"]
    assert len({row["start"] for row in TABLES["Timeline cars"]}) == 1


def test_old_prints_have_no_colour_and_new_ones_are_clean():
    kinds = {
        int(car["numbers"]["year"]): step[2]
        for car, row in zip(CARS, TABLES["Timeline cars"], strict=True)
        for step in row["steps"]
        if step[0] == "print"
    }
    old, new = (pick(kinds.values(), key=lambda kind: kind["grain"]) for pick in (max, min))
    plain = Image.new("RGB", (320, 240), (40, 90, 200))
    brown = np.asarray(STEPS["print"](plain, 0, old), float)[20:-20, 20:-20]
    assert (brown.mean(axis=(0, 1))[:-1] > brown.mean(axis=(0, 1))[1:]).all(), "more red than green than blue"
    assert brown.std(axis=(0, 1)).min() > 5, "grain"
    clean = np.asarray(STEPS["print"](plain, 0, new), float)
    assert clean.mean(axis=(0, 1)) == pytest.approx([40, 90, 200], abs=1)
    assert clean.std(axis=(0, 1)).max() < 2
