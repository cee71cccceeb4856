"""What runs recorded: their iterations, and the places that localisation runs located."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from pages.parts.app import cache
from pages.parts.app.home import of_home
from ranking.core import ImageSet, Ints
from ranking.methods import loss_of
from ranking.storage.run import Run
from ranking.storage.run_settings import OrderTrainSettings

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.localisation import Localisation
    from ranking.explain.playback import Frame

# the names of splits in measures such as “CorLoc, test”
PARTS = {"test": "test", "train": "training"}


def of_recording(build: Callable[..., Sequence[Frame]]) -> Callable[..., Sequence[Frame]]:
    """Cache the frames that a function builds from the recording of a run; () without a recording."""
    # The run is the first argument. Frames are built again when the recording changes or the run ends.

    @of_home()
    @wraps(build)
    def built(run: Run, written: int, ended: bool, *arguments: Any) -> Sequence[Frame]:
        return build(run, *arguments)

    @wraps(build)
    def get(run: Run, *arguments: Any) -> Sequence[Frame]:
        try:
            written = run.playback_file.stat().st_mtime_ns
        except FileNotFoundError:
            return ()
        shown: Sequence[Frame] = built(run, written, run.has_scores, *arguments)
        return shown

    get.clear = built.clear  # type: ignore[attr-defined]
    return get


@of_recording
def frames(run: Run) -> Sequence[Frame]:
    """The recorded iterations of a run that ranks samples."""
    from ranking.explain.playback import frames_of, read_playback

    images = cache.image_set(run.settings["set"])
    playback = read_playback(run.playback_file, len(images))
    if playback is None:
        return ()
    relevance = images.relevance(run.settings["query"], run.corrections)
    loss = loss_of(run.settings["method"], run.settings["method_settings"])
    return frames_of(playback, relevance, images.test, loss)


@of_recording
def frames_of_sequence(run: Run, number: int) -> Sequence[Frame]:
    """The recorded iterations of a sequence-ranking run for the test sequence with index `number`."""
    from ranking.experiments.order_task import (
        held_out_sequences,
        make_drawing,
        recorded_sequences,
        relevances,
    )
    from ranking.explain.playback import frames_of_sequence as framed
    from ranking.explain.playback import read_playback

    settings = OrderTrainSettings.from_json(run.settings)
    held_out = held_out_sequences(cache.image_set(settings.set), settings)
    recorded = recorded_sequences(held_out.sequences)
    if number >= len(recorded):
        return ()
    playback = read_playback(run.playback_file, len(recorded.members))
    if playback is None:
        return ()
    relevance = list(relevances(held_out._replace(sequences=recorded), make_drawing(settings.drawing)))[
        number
    ]
    part = slice(*recorded.starts[number : number + 2])
    return framed(playback, part, held_out.samples[recorded.sequence(number)], relevance)


@of_recording
def frames_of_images(run: Run, split: str) -> Sequence[Frame]:
    """The recorded rounds of a localisation run, for the images of a split."""
    from ranking.explain.playback import frames_of_images as framed
    from ranking.explain.playback import read_playback

    images, query = cache.image_set(run.settings["set"]), run.settings["query"]
    playback = read_playback(run.playback_file, len(images.image_names))
    if playback is None:
        return ()
    parts = {PARTS[split]: np.flatnonzero(images.image_test == (split == "test")), **image_parts(images)}
    located = localisation(run) if run.has_scores else None
    ends = None if located is None else dict(zip(located.starts.tolist(), located.objectives, strict=True))
    return framed(playback, images.image_relevance(query), parts, objects(images.key, query), ends)


@of_home(needs="scores")
def localisation(run: Run) -> Localisation:
    """What a localisation run located."""
    from ranking.explain.localisation import read_localisation

    return read_localisation(run.localisation_file, len(cache.image_set(run.settings["set"]).image_names))


@of_home()
def objects(key: str, query: str) -> list[Ints] | None:
    """The boxes (k, 4) of a class in each image; None where they are not known."""
    from ranking.explain.localisation import objects_of

    return objects_of(cache.image_set(key), query)


def image_parts(images: ImageSet) -> dict[str, Ints]:
    """The images of each split that has some, by the name of the split in measures."""
    parts = {name: np.flatnonzero(images.image_test == (split == "test")) for split, name in PARTS.items()}
    return {name: rows for name, rows in parts.items() if len(rows)}
