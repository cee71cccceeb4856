"""The generated sets are those of the programs of data/, with the promised images and labels."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import examples
import numpy as np
import pytest
from drawing.hidden_objects.scene import make_scene
from drawing.painting import CANVAS, STEPS
from PIL import Image, ImageDraw

from ranking.datasets import Thumbnails, load_image_set
from ranking.datasets.splits import evenly
from ranking.storage.examples import FOLDER, folder_of

PROGRAMS = {program.name: program for program in examples.SETS}
SETS = {name: load_image_set(folder_of(name)) for name in PROGRAMS}


# ------------------------------------------------------------------------------------------- what ships


def test_sets_are_known_by_their_keys():
    assert {images.folder for images in SETS.values()} == set((FOLDER / "sets").iterdir())


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_generate_the_bundled_image_sets(name):
    """Some images of each set, among them the last."""
    program, images = PROGRAMS[name], SETS[name]
    assert len(images.image_names) == len(program)
    for number in (0, 1, len(program) // 2, len(program) - 1):
        image, rows = program.generated(number), np.flatnonzero(images.image_of == number)
        assert images.image_names[number] == image.name
        assert images.image_test[number] == evenly(image.number, program.test_share, image.start)
        shown = [tuple(np.array(images.classes)[row]) for row in images.labels[rows]]
        assert shown == [box.classes for box in image.boxes]
        whole = (0, 0, 320, 240)
        assert [tuple(box) for box in images.boxes[rows]] == [box.box or whole for box in image.boxes]
        apart = np.asarray(images.open_image(number), float) - np.asarray(image.painted(), float)
        assert np.abs(apart).mean() < 8, "run python data/examples.py"


def test_thumbnails_show_what_their_image_does():
    for images in SETS.values():
        thumbnails = Thumbnails(images.folder)
        for row in range(0, len(images), 97):
            picture = images.open_image(int(images.image_of[row]))
            for stored, true in (
                (thumbnails.image(int(images.image_of[row])), picture),
                (thumbnails.crop(row), picture.crop(tuple(images.boxes[row].tolist()))),
            ):
                with Image.open(io.BytesIO(stored)) as small:
                    apart = np.asarray(true.resize(small.size), float) - np.asarray(
                        small.convert("RGB"), float
                    )
                assert np.abs(apart).mean() < 8


def test_what_ships_is_small():
    files = [file for file in FOLDER.parent.rglob("*") if file.is_file()]
    assert len(files) >= 50
    assert sum(file.stat().st_size for file in files) < 50e6


def test_other_seeds_generate_other_images():
    for program in PROGRAMS.values():
        images = [replace(program, seed=seed).generated(0) for seed in (7, 7, 8)]
        assert images[0] == images[1]
        assert images[0].polygons != images[2].polygons


# ------------------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_share_of_the_images_is_for_the_test(name):
    tested, count = SETS[name].image_test.sum(), len(SETS[name].image_names)
    assert tested == pytest.approx(count * PROGRAMS[name].test_share, abs=12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_generated_image_is_empty_uniform_or_a_duplicate(name):
    pictures = [SETS[name].open_image(number) for number in range(20)]
    small = [np.asarray(picture.resize((16, 12)), float) for picture in pictures]
    assert min(pixels.std() for pixels in small) > 8
    for number, pixels in enumerate(small):
        assert all(np.abs(pixels - before).mean() > 3 for before in small[:number]), number


# ------------------------------------------------------------------------------------------- action figures

TEN = {
    "jumping", "phoning", "playing instrument", "reading", "riding bike",
    "riding horse", "running", "taking photo", "using computer", "walking",
}  # fmt: skip
FIGURES = SETS["Action figures"]
ACTIONS = np.array(FIGURES.classes)[FIGURES.labels.argmax(axis=1)]
PEOPLE = [ACTIONS[FIGURES.image_of == image].tolist() for image in range(len(FIGURES.image_names))]


def test_every_number_of_people_and_every_action_occurs():
    assert {len(of_scene) for of_scene in PEOPLE} == {1, 2, 3, 4, 5, 6}
    assert (FIGURES.labels.sum(axis=1) == 1).all()
    counts = Counter(ACTIONS.tolist())
    assert set(counts) == TEN
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_people_share_their_action_as_often_as_they_should():
    """Two do the same with probability share^2 + (1 - share^2) / 10, of a share of .75."""
    pairs = [pair for of_scene in PEOPLE for pair in zip(of_scene[::2], of_scene[1::2], strict=False)]
    expected = 0.75**2 + (1 - 0.75**2) / 10
    alike = sum(left == right for left, right in pairs) / len(pairs)
    assert alike == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / len(pairs)))


def test_both_sides_have_every_class():
    for test in (True, False):
        assert set(ACTIONS[FIGURES.test == test]) == TEN


def test_boxes_lie_inside_their_image():
    left, top, right, bottom = FIGURES.boxes.T
    assert (left >= 0).all()
    assert (left <= right - 8).all()
    assert (right <= 320).all()
    assert (top >= 0).all()
    assert (top <= bottom - 8).all()
    assert (bottom <= 240).all()


# ------------------------------------------------------------------------------------------- label scenes

SCENES = SETS["Label scenes"]
SHOWN = [set(np.array(SCENES.classes)[row].tolist()) for row in SCENES.labels]


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
    """An attracting concept is neither always nor never present."""
    # But at least half as often again as elsewhere.
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

CARS = SETS["Timeline cars"]
YEARS = CARS.numbers_of("year").astype(int)


def test_each_eighty_models_take_every_year_once():
    years = YEARS[::2].tolist()
    for block in range(2):
        assert sorted(years[80 * block : 80 * block + 80]) == list(range(1920, 2000))
    assert years[:80] != years[80:160]


def test_the_two_photographs_of_a_model_are_a_group_on_one_side():
    assert (CARS.groups[::2] == CARS.groups[1::2]).all()
    assert len(set(CARS.groups.tolist())) == len(CARS) / 2
    assert (CARS.test[::2] == CARS.test[1::2]).all()
    assert (YEARS[::2] == YEARS[1::2]).all()


def test_old_prints_have_no_colour_and_new_ones_are_clean():
    program = PROGRAMS["Timeline cars"]
    steps = [step for number in range(40) for step in program.generated(number).steps]
    kinds = [step[2] for step in steps if step[0] == "print"]
    old, new = (pick(kinds, key=lambda kind: kind["grain"]) for pick in (max, min))
    plain = Image.new("RGB", (320, 240), (40, 90, 200))
    brown = np.asarray(STEPS["print"](plain, 0, old), float)[20:-20, 20:-20]
    assert (brown.mean(axis=(0, 1))[:-1] > brown.mean(axis=(0, 1))[1:]).all(), "more red than green than blue"
    assert brown.std(axis=(0, 1)).min() > 5, "grain"
    clean = np.asarray(STEPS["print"](plain, 0, new), float)
    assert clean.mean(axis=(0, 1)) == pytest.approx([40, 90, 200], abs=1)
    assert clean.std(axis=(0, 1)).max() < 2


# ------------------------------------------------------------------------------------------- hidden objects

OBJECTS = SETS["Hidden objects"]


def test_a_scene_shows_two_to_four_different_objects_and_every_class_is_in_a_quarter_to_half_of_them():
    images = np.arange(len(OBJECTS.image_names))
    shown = np.array([OBJECTS.labels[OBJECTS.image_of == image].sum(axis=0) for image in images])
    assert shown.max() == 1
    assert set(shown.sum(axis=1).tolist()) == {2, 3, 4}
    for test in (True, False):
        shares = shown[OBJECTS.image_test == test].mean(axis=0)
        assert shares.min() > 0.25
        assert shares.max() < 0.5


def test_a_box_bounds_the_pixels_of_its_object_most_of_which_are_visible():
    """Objects are painted in a colour of their own, together and alone."""
    for number in range(0, 60, 7):
        scene = make_scene(PROGRAMS["Hidden objects"].seed, number)
        numbers = range(len(scene.classes))
        together = painted_owners(scene.sketch.shapes, numbers)
        for owner, box in enumerate(scene.boxes):
            rows, columns = np.nonzero(painted_owners(scene.sketch.shapes, [owner]) == owner + 1)
            edges = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]) / 2
            assert np.abs(edges - box).max() <= 1, (number, scene.classes[owner])
            assert (together == owner + 1).sum() > 0.5 * len(rows), (number, scene.classes[owner])


def painted_owners(shapes, owners):
    """The large drawing (480, 640) of some objects: 1 + the object's number in each pixel, 0 elsewhere."""
    canvas = Image.new("L", CANVAS)
    draw = ImageDraw.Draw(canvas)
    for shape in shapes:
        if shape.owner in owners:
            draw.polygon([(int(x), int(y)) for x, y in shape.points], 1 + shape.owner)
    return np.asarray(canvas)
