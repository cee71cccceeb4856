"""The source "Label scenes": drawn pictures with some forty concepts, about a dozen each (c-star, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.datasets.common_settings import number_of_images, seed_of_pictures, share_of_test
from ranking.datasets.drawn.action_figures.paint import SIZE, jpeg
from ranking.datasets.drawn.label_scenes.paint import paint
from ranking.datasets.drawn.label_scenes.places import compose
from ranking.datasets.drawn.label_scenes.story import tell_story
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import evenly


@SOURCES.register("Label scenes")
@dataclass
class LabelScenes(Source):
    """Pictures of 320 x 240 pixels, each one sample with all the concepts that it shows.

    Image `i` follows from the seed and `i` alone: the first 200 of 1,000 images are the images of a set of 200.
    """

    order: ClassVar[int] = 1

    images: int = number_of_images(1000, "pictures")
    test_share: float = share_of_test(
        0.4, "How many of the pictures are set aside to test on. The rest is there to train on."
    )
    seed: int = seed_of_pictures(3, "pictures")

    def title(self) -> str:
        return "Label scenes"

    def __len__(self) -> int:
        return self.images

    def records(self) -> Iterator[SourceImage | Problem]:
        for index in range(self.images):
            yield self.record(index)

    def record(self, index: int) -> SourceImage:
        """Image `index`, drawn now, also of those beyond the set."""
        story = tell_story(self.seed, index)
        box = SourceBox(None, tuple(sorted(story.shows)))
        test = is_test(self.seed, index, self.test_share)
        return SourceImage(f"scene-{index:05d}", jpeg(paint(compose(story))), (box,), test, SIZE)


def is_test(seed: int, index: int, share: float) -> bool:
    """Whether image `index` is set aside: of any run of images `share` are, as even as can be."""
    return evenly(index, share, Random(f"{seed}/test").random())
