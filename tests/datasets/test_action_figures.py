"""The generated scenes: what they promise of their people, boxes and shares, and what their pixels show."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ranking.datasets import load_image_set, make_source, ready_made_folder
from ranking.datasets.drawn.action_figures import scene as scenes
from ranking.datasets.drawn.action_figures.actions import ACTIONS
from ranking.datasets.drawn.action_figures.light import LIGHTS
from ranking.datasets.drawn.action_figures.paint import paint
from ranking.datasets.drawn.action_figures.places import PLACES
from ranking.datasets.drawn.action_figures.scene import NAMES, actions_of, make_scene, scene_action
from ranking.datasets.drawn.action_figures.skeleton import FOREARM, SHIN, THIGH, UPPER_ARM, reach
from ranking.datasets.drawn.action_figures.sketch import Sketch
from ranking.datasets.drawn.action_figures.source import is_test

TEN = {
    "jumping", "phoning", "playing instrument", "reading", "riding bike",
    "riding horse", "running", "taking photo", "using computer", "walking",
}  # fmt: skip


def test_the_share_changes_who_does_what_and_leaves_place_and_light():
    for index in range(6):
        some, all_ = make_scene(0, index, 0.5), make_scene(0, index, 1.0)
        assert some.light == all_.light
        assert len(some.actions) == len(all_.actions)
        assert set(all_.actions) == {scene_action(0, index)}


def test_ten_scenes_in_a_row_are_about_ten_actions():
    assert set(NAMES) == set(ACTIONS) == TEN
    for block in range(5):
        assert {scene_action(3, 10 * block + place) for place in range(10)} == TEN


def test_people_share_their_action_as_often_as_they_should():
    """Each does the scene's action with probability share + (1 - share) / 10, independently."""

    def close_to(expected, count):
        return pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / count))

    for share in (0.0, 0.4, 1.0):
        alike = scene_alike = pairs = people = 0
        for index in range(2000):
            actions = actions_of(11, index, share)
            assert 1 <= len(actions) <= 6
            people += len(actions)
            scene_alike += actions.count(scene_action(11, index))
            pairs += len(actions) // 2
            alike += sum(left == right for left, right in zip(actions[::2], actions[1::2], strict=False))
        assert scene_alike / people == close_to(share + (1 - share) / 10, people), share
        assert alike / pairs == close_to(share**2 + (1 - share**2) / 10, pairs), share


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
    tested = Counter(scene_action(0, index) for index in range(1200) if is_test(0, index, 0.25))
    assert all(abs(tested[action] - 120 * 0.25) <= 1 for action in TEN), tested


# ------------------------------------------------------------------------------------------------ boxes


def painted(shapes):
    """The (shape, level) of a large picture as the small one shows them: (240, 320)."""
    large = Image.new("L", (640, 480))
    draw = ImageDraw.Draw(large)
    for shape, level in shapes:
        draw.polygon(shape.points, level)
    return large.reduce(2)


def rest_is_hidden(scene, number, whole, bottom):
    """Whether hardly anything of the person below the box can be seen in the picture."""
    opaque = [shape for shape in scene.sketch.shapes if len(shape.colour) == 3]
    seen = np.asarray(painted((shape, 255 * (shape.owner == number)) for shape in opaque)) > 100
    low = bottom + 4
    return seen[low:].sum() <= 0.12 * (np.asarray(whole) > 100)[low:].sum() + 12


def test_boxes_lie_inside_and_hold_their_person_closely():
    """A box ends at the feet, at the edge of the picture, or where something hides the rest."""
    ends = Counter()
    for scene in (make_scene(5, index, 0.75) for index in range(60)):
        for number, (left, top, right, bottom) in enumerate(scene.boxes):
            # Where the person would be seen if nothing stood in front.
            mask = painted((shape, 255) for shape in scene.sketch.shapes if shape.owner == number)
            assert 0 <= left < right <= 320
            assert 0 <= top < bottom <= 240
            wide, tall = right - left, bottom - top
            assert min(wide, tall) >= 8
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
            kind = "edge" if bottom == 240 else "feet" if bottom >= mask.getbbox()[3] - 1 else "hidden"
            ends[kind] += 1
            assert kind != "hidden" or rest_is_hidden(scene, number, mask, bottom)
    assert set(ends) == {"edge", "feet", "hidden"}
    assert min(ends.values()) > 5, ends


# ------------------------------------------------------------------------------------------- the drawing


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


# ----------------------------------------------------------------------------------- the ready-made set


def test_the_ready_made_set_is_small_and_the_beginning_of_the_bundled_one():
    folder = ready_made_folder()
    assert folder is not None
    ready = load_image_set(folder)
    assert len(ready.image_names) == 180
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
