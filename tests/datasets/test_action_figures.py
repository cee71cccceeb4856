"""The generated scenes: what they promise of their people, boxes, seeds and shares, and what their pixels show."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from generated import check_lively, check_settings, first_images
from PIL import Image, ImageDraw

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


@pytest.fixture(scope="module")
def sixty():
    return [make_scene(5, index, 0.75) for index in range(60)]


# ------------------------------------------------------------------------------------- seeds and settings


def test_images_depend_on_the_seed_alone_and_are_jpegs_with_names():
    images = check_settings(
        "Action figures",
        good=[{"images": 50}, {"images": 100_000}, {"share": 1.0}, {"test_share": 0.1}],
        bad=[
            {"images": 49},
            {"images": 100_001},
            {"images": 60.0},
            {"share": 1.01},
            {"test_share": 0.0},
            {"seed": -1},
        ],
    )
    assert [image.name for image in images] == ["scene-00000", "scene-00001"]
    assert [len(image.boxes) for image in first_images("Action figures", 12, seed=7)] != [
        len(image.boxes) for image in first_images("Action figures", 12, seed=8)
    ]


def test_the_share_changes_who_does_what_and_leaves_place_and_light():
    for index in range(6):
        some, all_ = make_scene(0, index, 0.5), make_scene(0, index, 1.0)
        assert some.light == all_.light
        assert len(some.actions) == len(all_.actions)
        assert set(all_.actions) == {scene_action(0, index)}


# --------------------------------------------------------------------------------------- who does what


def test_ten_scenes_in_a_row_are_about_ten_actions():
    assert set(NAMES) == set(ACTIONS) == TEN
    for block in range(5):
        assert {scene_action(3, 10 * block + place) for place in range(10)} == TEN


def test_people_share_their_action_as_often_as_they_should():
    """Each does the scene's action with probability share + (1 - share) / 10, independently."""
    for share in (0.0, 0.4, 1.0):
        alike = scene_alike = pairs = people = 0
        for index in range(2000):
            actions = actions_of(11, index, share)
            assert 1 <= len(actions) <= 6
            people += len(actions)
            scene_alike += actions.count(scene_action(11, index))
            pairs += len(actions) // 2
            alike += sum(left == right for left, right in zip(actions[::2], actions[1::2], strict=False))
        each = share + (1 - share) / 10
        assert scene_alike / people == pytest.approx(each, abs=4 * np.sqrt(each * (1 - each) / people)), share
        both = share**2 + (1 - share**2) / 10
        assert alike / pairs == pytest.approx(both, abs=4 * np.sqrt(both * (1 - both) / pairs)), share


def test_every_number_of_people_and_every_action_occurs():
    actions = [actions_of(0, index, 0.75) for index in range(300)]
    assert {len(of_scene) for of_scene in actions} == {1, 2, 3, 4, 5, 6}
    counts = Counter(action for of_scene in actions for action in of_scene)
    assert set(counts) == TEN
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_both_sides_have_every_class_and_each_action_its_share():
    for seed in range(5):
        sides = {True: set(), False: set()}
        for index in range(50):
            sides[is_test(seed, index, 0.5)] |= set(actions_of(seed, index, 0.75))
        assert sides == {True: TEN, False: TEN}, seed
    for share in (0.1, 0.25, 0.5, 0.9):
        tested = Counter(scene_action(0, index) for index in range(1200) if is_test(0, index, share))
        about = Counter(scene_action(0, index) for index in range(1200))
        assert set(about.values()) == {120}
        assert all(abs(tested[action] - 120 * share) <= 1 for action in TEN), share


# ------------------------------------------------------------------------------------------------ boxes


def masks_of(scene):
    """Where each person would be seen if nothing stood in front, in the small picture, painted separately."""
    for number in range(len(scene.actions)):
        large = Image.new("L", (640, 480))
        draw = ImageDraw.Draw(large)
        for shape in scene.sketch.shapes:
            if shape.owner == number:
                draw.polygon(shape.points, 255)
        yield large.reduce(2)


def test_boxes_lie_inside_and_hold_their_person_closely(sixty):
    """A box ends at the feet, at the edge of the picture, or where something hides the rest."""
    ends = Counter()
    for scene in sixty:
        for number, (box, mask) in enumerate(zip(scene.boxes, masks_of(scene), strict=True)):
            left, top, right, bottom = box
            assert 0 <= left < right <= 320
            assert 0 <= top < bottom <= 240
            wide, tall = right - left, bottom - top
            body = mask.point(lambda level: 255 * (level > 100))
            whole = body.crop((0, 0, 320, bottom)).getbbox()
            # A cover ends somewhere in the margin, so what is certainly seen ends above it.
            sure = body.crop((0, 0, 320, bottom - int(scenes.LOOSE * tall) - 2)).getbbox()
            assert left <= sure[0]
            assert top <= sure[1]
            assert right >= sure[2]
            assert whole[0] - left <= scenes.LOOSE * wide + 3
            assert whole[1] - top <= scenes.LOOSE * tall + 3
            assert right - whole[2] <= scenes.LOOSE * wide + 3
            assert min(wide, tall) >= 8
            kind = "edge" if bottom == 240 else "feet" if bottom >= mask.getbbox()[3] - 1 else "hidden"
            ends[kind] += 1
            assert kind != "hidden" or rest_is_hidden(scene, number, mask, bottom)
    assert set(ends) == {"edge", "feet", "hidden"}
    assert min(ends.values()) > 5, ends


def rest_is_hidden(scene, number, mask, bottom):
    """Whether hardly anything of the person below the box can be seen in the picture."""
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


def test_every_action_has_several_places_and_every_place_several_actions():
    assert set(CHANCES) == TEN
    assert all(len(places) >= 4 for places in CHANCES.values())
    for place in PLACES:
        assert sum(place in places for places in CHANCES.values()) >= 2


def test_every_place_can_be_drawn_in_every_light():
    for place in PLACES:
        for light in LIGHTS:
            sketch = Sketch()
            ground = PLACES[place](sketch, Random(1), light)
            assert sketch.shapes, (place, light)
            assert ground.horizon < ground.far < ground.near, (place, light)
            assert 20 < ground.size(ground.far) < ground.size(ground.near), (place, light)


def test_hands_and_feet_are_where_bones_allow():
    for action in ACTIONS:
        for seed in range(60):
            pose = ACTIONS[action](Random(seed)).pose
            for side in (0, 1):
                arm = np.hypot(*np.subtract(pose.hands[side], pose.shoulder(side)))
                leg = np.hypot(*np.subtract(pose.ankles[side], pose.hip_joint(side)))
                assert arm <= UPPER_ARM + FOREARM + 1e-9, (action, seed)
                assert leg <= THIGH + SHIN + 1e-9, (action, seed)
                assert pose.ankles[side][1] <= 0.01, (action, seed, "no foot is in the ground")
            assert pose.head[1] < pose.chest[1] < pose.hip[1], (action, seed)


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


def test_colours_are_colours(sixty):
    """Air in front of things, light and shade mix colours; none of them leaves what a channel can hold."""
    for scene in sixty:
        for shape in scene.sketch.shapes:
            assert 3 <= len(shape.colour) <= 4
            assert 0 <= min(shape.colour) <= max(shape.colour) <= 255


def test_pictures_are_lively(sixty):
    check_lively([paint(scene) for scene in sixty[:20]], 10)


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
