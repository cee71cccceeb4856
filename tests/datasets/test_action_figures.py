"""The drawn scenes: what they promise of their people, boxes, seeds and shares, and how they look to a computer."""

from __future__ import annotations

import io
from collections import Counter
from random import Random

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageDraw

from ranking.datasets import load_image_set, make_source, ready_made_folder
from ranking.datasets.action_figures import scene as scenes
from ranking.datasets.action_figures.actions import ACTIONS
from ranking.datasets.action_figures.light import LIGHTS
from ranking.datasets.action_figures.paint import paint
from ranking.datasets.action_figures.places import CHANCES, PLACES
from ranking.datasets.action_figures.scene import NAMES, actions_of, make_scene, scene_action
from ranking.datasets.action_figures.skeleton import FOREARM, SHIN, THIGH, UPPER_ARM, reach
from ranking.datasets.action_figures.sketch import Sketch
from ranking.datasets.action_figures.source import is_test

TEN = {
    "jumping", "phoning", "playing instrument", "reading", "riding bike",
    "riding horse", "running", "taking photo", "using computer", "walking",
}  # fmt: skip


def told(count=50, **settings):
    """The first images of a source."""
    records = make_source("Action figures", **settings).records()
    return [next(records) for _ in range(count)]


def pixels(record):
    return np.asarray(Image.open(io.BytesIO(record.data)), np.int16)


# ------------------------------------------------------------------------------------- seeds and settings


def test_an_image_does_not_depend_on_how_many_there_are():
    assert told(4, images=50) == told(4, images=100_000)


def test_equal_seeds_draw_equal_images_and_others_others():
    assert told(4, seed=7) == told(4, seed=7)
    assert [len(image.boxes) for image in told(12, seed=7)] != [
        len(image.boxes) for image in told(12, seed=8)
    ]
    assert (pixels(told(1, seed=7)[0]) != pixels(told(1, seed=8)[0])).any()


def test_the_share_changes_who_does_what_and_leaves_place_and_light():
    for index in range(30):
        some, all_ = make_scene(0, index, 0.5), make_scene(0, index, 1.0)
        assert some.light == all_.light
        assert len(some.actions) == len(all_.actions)
        assert set(all_.actions) == {scene_action(0, index)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"images": 49}, "images.*got 49"),
        ({"images": 100_001}, "images.*got 100,?001"),
        ({"images": 60.0}, "images.*got 60.0"),
        ({"share": 1.01}, "share.*got 1.01"),
        ({"test_share": 0.0}, "test_share.*got 0.0"),
        ({"seed": -1}, "seed.*got -1"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        make_source("Action figures", **settings)


def test_names_and_sizes():
    for number, image in enumerate(told(3)):
        assert image.name == f"scene-{number:05d}"
        assert image.size == (320, 240)
        picture = Image.open(io.BytesIO(image.data))
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 240), "RGB")


# --------------------------------------------------------------------------------------- who does what


def test_ten_scenes_in_a_row_are_about_ten_actions():
    assert set(NAMES) == set(ACTIONS) == TEN
    for block in range(5):
        assert {scene_action(3, 10 * block + place) for place in range(10)} == TEN


@pytest.mark.parametrize("share", [0.0, 0.4, 0.75, 1.0])
def test_people_share_their_action_as_often_as_they_should(share):
    """Each does the scene's action with probability share + (1 - share) / 10, independently."""
    alike = scene_alike = pairs = people = 0
    for index in range(4000):
        actions = actions_of(11, index, share)
        assert 1 <= len(actions) <= 6
        people += len(actions)
        scene_alike += actions.count(scene_action(11, index))
        pairs += len(actions) // 2
        alike += sum(one == two for one, two in zip(actions[::2], actions[1::2], strict=False))
    expected = share + (1 - share) / 10
    assert scene_alike / people == pytest.approx(
        expected, abs=4 * np.sqrt(expected * (1 - expected) / people)
    )
    both = share**2 + (1 - share**2) / 10
    assert alike / pairs == pytest.approx(both, abs=4 * np.sqrt(both * (1 - both) / pairs))


def test_every_number_of_people_and_every_action_occurs():
    drawn = [actions_of(0, index, 0.75) for index in range(300)]
    assert {len(actions) for actions in drawn} == {1, 2, 3, 4, 5, 6}
    counts = Counter(action for actions in drawn for action in actions)
    assert set(counts) == TEN
    assert max(counts.values()) < 1.5 * min(counts.values())


@pytest.mark.parametrize("seed", range(5))
def test_fifty_images_have_every_class_on_both_sides(seed):
    sides = {True: set(), False: set()}
    for index in range(50):
        sides[is_test(seed, index, 0.5)] |= set(actions_of(seed, index, 0.75))
    assert sides == {True: TEN, False: TEN}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_of_each_scene_action_the_share_is_tested(share):
    tested, about = Counter(), Counter()
    for index in range(1200):
        about[scene_action(0, index)] += 1
        tested[scene_action(0, index)] += is_test(0, index, share)
    assert set(about.values()) == {120}
    for number in tested.values():
        assert abs(number - 120 * share) <= 1


# ------------------------------------------------------------------------------------------------ boxes


@pytest.fixture(scope="module")
def drawn():
    return [make_scene(5, index, 0.75) for index in range(60)]


def masks_of(scene):
    """Where each person would be seen if nothing stood in front, in the small picture, painted for itself."""
    for number in range(len(scene.actions)):
        large = Image.new("L", (640, 480))
        draw = ImageDraw.Draw(large)
        for shape in scene.sketch.shapes:
            if shape.owner == number:
                draw.polygon(shape.points, 255)
        yield large.reduce(2)


def test_boxes_lie_inside_and_hold_their_person_closely(drawn):
    for scene in drawn:
        for (left, top, right, bottom), mask in zip(scene.boxes, masks_of(scene), strict=True):
            assert 0 <= left < right <= 320
            assert 0 <= top < bottom <= 240
            wide, tall = right - left, bottom - top
            body = mask.point(lambda level: 255 * (level > 100))
            whole = body.crop((0, 0, 320, bottom)).getbbox()
            # A cover ends somewhere in the margin, so what is certainly seen ends above it.
            sure = body.crop((0, 0, 320, bottom - int(scenes.LOOSE * tall) - 2)).getbbox()
            assert whole is not None
            assert sure is not None
            assert left <= sure[0]
            assert top <= sure[1]
            assert right >= sure[2]
            assert whole[0] - left <= scenes.LOOSE * wide + 3
            assert whole[1] - top <= scenes.LOOSE * tall + 3
            assert right - whole[2] <= scenes.LOOSE * wide + 3
            assert min(wide, tall) >= 8


def test_a_box_ends_at_the_feet_at_the_edge_or_where_something_hides_the_rest(drawn):
    ends = Counter()
    for scene in drawn:
        for (_, _, _, bottom), mask in zip(scene.boxes, masks_of(scene), strict=True):
            lowest = mask.getbbox()[3]
            kind = "edge" if bottom == 240 else "feet" if bottom >= lowest - 1 else "hidden"
            ends[kind] += 1
            if kind == "hidden":
                assert rest_is_hidden(scene, mask, bottom)
    assert min(ends.values()) > 5, ends
    assert set(ends) == {"edge", "feet", "hidden"}


def rest_is_hidden(scene, mask, bottom):
    """Whether hardly anything of the person below the box can be seen in the picture."""
    number = next(
        number
        for number, one in enumerate(masks_of(scene))
        if ImageChops.difference(one, mask).getbbox() is None
    )
    large = Image.new("L", (640, 480))
    draw = ImageDraw.Draw(large)
    for shape in scene.sketch.shapes:
        if len(shape.colour) == 3:
            draw.polygon(shape.points, 255 if shape.owner == number else 0)
    seen = np.asarray(large.reduce(2)) > 100
    whole = np.asarray(mask) > 100
    low = bottom + 4
    return seen[low:].sum() <= 0.12 * whole[low:].sum() + 12


# ------------------------------------------------------------------------------------------- the drawing


def test_every_action_is_set_in_several_places_and_every_place_has_several_actions():
    assert set(CHANCES) == TEN
    assert all(len(places) >= 4 for places in CHANCES.values())
    for place in PLACES:
        assert sum(place in places for places in CHANCES.values()) >= 2


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("light", LIGHTS, ids=lambda light: light.name)
def test_every_place_can_be_drawn_in_every_light(place, light):
    sketch = Sketch()
    ground = PLACES[place](sketch, Random(1), light)
    assert sketch.shapes
    assert ground.horizon < ground.far < ground.near
    assert 20 < ground.size(ground.far) < ground.size(ground.near)


@pytest.mark.parametrize("action", ACTIONS)
def test_hands_and_feet_are_where_bones_allow(action):
    for seed in range(60):
        pose = ACTIONS[action](Random(seed)).pose
        for side in (0, 1):
            arm = np.hypot(*np.subtract(pose.hands[side], pose.shoulder(side)))
            leg = np.hypot(*np.subtract(pose.ankles[side], pose.hip_joint(side)))
            assert arm <= UPPER_ARM + FOREARM + 1e-9
            assert leg <= THIGH + SHIN + 1e-9
            assert pose.ankles[side][1] <= 0.01, "no foot is in the ground"
        assert pose.head[1] < pose.chest[1] < pose.hip[1]


def test_bones_keep_their_lengths():
    random = np.random.default_rng(0)
    for _ in range(300):
        target, bend = random.normal(size=2), random.choice([-1, 1])
        joint, end = reach((0.0, 0.0), tuple(target), 1.0, 0.7, bend)
        assert np.hypot(*joint) == pytest.approx(1.0)
        assert np.hypot(*np.subtract(end, joint)) == pytest.approx(0.7)
        if 0.4 < np.hypot(*target) < 1.6:
            assert end == pytest.approx(tuple(target))
        assert bend * (target[0] * joint[1] - target[1] * joint[0]) >= -1e-9


def test_colours_are_colours():
    """Air in front of things, light and shade mix colours; none of them leaves what a channel can hold."""
    for index in range(60):
        for shape in make_scene(10, index, 0.75).sketch.shapes:
            assert 3 <= len(shape.colour) <= 4
            assert 0 <= min(shape.colour) <= max(shape.colour) <= 255


def test_pictures_are_lively():
    """No picture is empty or one colour, and none is another one."""
    small = [np.asarray(paint(make_scene(0, index, 0.75)).resize((16, 12)), float) for index in range(20)]
    assert min(one.std() for one in small) > 10
    for number, one in enumerate(small):
        assert all(np.abs(one - other).mean() > 3 for other in small[:number])


# ----------------------------------------------------------------------------------- the ready-made set


def test_the_ready_made_set_is_small_and_the_beginning_of_the_bundled_one():
    folder = ready_made_folder()
    assert folder is not None
    ready = load_image_set(folder)
    assert ready.title == "Action figures (180 scenes)"
    assert len(ready.image_names) == 180
    assert set(ready.classes) == TEN
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 4e6
    bundled = make_source("Action figures")
    for index in range(0, 180, 40):
        scene = make_scene(bundled.seed, index, bundled.share)
        rows = np.flatnonzero(ready.image_of == index)
        assert [tuple(box) for box in ready.boxes[rows].tolist()] == list(scene.boxes), (
            "the drawing has changed: run python data/action_figures.py"
        )
        assert [ready.classes[row.argmax()] for row in ready.labels[rows]] == list(scene.actions)
        stored = np.asarray(ready.open_image(index), float)
        assert np.abs(stored - np.asarray(paint(scene), float)).mean() < 6
