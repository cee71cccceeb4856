"""The source "Action figures": drawn scenes with the ten actions of high-order, Table 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from PIL import Image

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.core.settings import setting
from ranking.datasets.common_settings import number_of_images, seed_of_pictures, share_of_test
from ranking.datasets.drawn.action_figures.paint import SIZE, jpeg, paint
from ranking.datasets.drawn.action_figures.scene import NAMES, make_scene, scene_action
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import evenly


@SOURCES.register("Action figures")
@dataclass
class ActionFigures(Source):
    """Scenes of 320 x 240 pixels with 1 to 6 people; a box a person, its class what the person does.

    Image `i` follows from the seed, `i` and the share alone: the first 200 of 1,000 images are the images of a
    set of 200. They are painted one after the other in the caller's thread, a few milliseconds each, while the
    builder's threads make the thumbnails of those before, which needs no Python: both of two cores are busy
    then, and there is no process that a cancelled import could leave behind (benchmarks/action_figures.py).
    """

    order: ClassVar[int] = 0
    bundled: ClassVar[bool] = True

    images: int = number_of_images(1200, "scenes")
    share: float = setting(
        0.75,
        label="Chance of a shared action",
        help="How likely a person takes up what the scene is about; who does not does any of the ten actions, which "
        "may be the same. At 0.75 two people of an image do the same 61 times in 100; at 1 always, and at 0 "
        "neighbours tell nothing.",
        minimum=0.0,
        maximum=1.0,
    )
    test_share: float = share_of_test(
        0.5, "How much of the scenes of each action is set aside to test on. The rest is there to train on."
    )
    seed: int = seed_of_pictures(10, "scenes")

    encode: Callable[[Image.Image], bytes] = jpeg  # the file that an image becomes

    def title(self) -> str:
        return "Action figures"

    def __len__(self) -> int:
        return self.images

    def records(self) -> Iterator[SourceImage | Problem]:
        for index in range(self.images):
            scene = make_scene(self.seed, index, self.share)
            boxes = tuple(
                SourceBox(box, (action,)) for box, action in zip(scene.boxes, scene.actions, strict=True)
            )
            test = is_test(self.seed, index, self.test_share)
            yield SourceImage(f"scene-{index:05d}", self.encode(paint(scene)), boxes, test, SIZE)


def is_test(seed: int, index: int, share: float) -> bool:
    """Whether image `index` is set aside: of any run of scenes about one action `share` are, as even as can be.

    Like every other property of an image it does not depend on how many images there are.
    """
    return evenly(index // len(NAMES), share, Random(f"{seed}/test/{scene_action(seed, index)}").random())
