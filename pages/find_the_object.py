"""Find the object: where a method locates the objects of a class, round by round, from image labels alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts.app import cache, controls, frame, keys
from pages.parts.app.colours import RELEVANT_GLYPH
from pages.parts.charts import plots
from pages.parts.components import tiles
from pages.parts.components.play_bar import Lane, play_bar
from pages.parts.objects import object_models, object_starts
from pages.parts.objects.object_lesson_words import area
from pages.parts.training import certificate, playback, recordings, run_actions, sets
from ranking.core import ImageSet, Ints
from ranking.explain.localisation import MAX_DETECTIONS, Localisation
from ranking.explain.playback import Frame
from ranking.metrics.detection import correct_detections, detection_average_precision, detection_curve
from ranking.storage.run import Run
from ranking.storage.sets import ImageSetRow

# detections
SHOWN = 12
SPLITS = {"test": "Test images", "train": "Training images"}


def steps() -> None:
    view, settings = st.container(), st.container(key="settings-objects")
    details, form = st.container(), st.container()
    left, right = settings.columns(2, gap="medium")
    with left:
        row = object_models.choose_set()
        reach = st.empty()
        query = object_models.choose_class(row)
    # replaced below by what a run measured
    reach.caption(before_training(row, query))
    with view:
        run_actions.show_deleted(task=object_models.PICKER.task)
    with form, st.expander("A new training", icon=":material/model_training:"):
        object_models.train_another(row, query)
    with view:
        with right:
            run = object_models.choose_training(row, query)
            split = choose_split(cache.image_set(row.key))
        reach.caption(within_reach(run))
        object_models.PICKER.show_new(object_models.listed(row, query))
        with frame.picture("objects"):
            if not playback.show_images(run, split):
                st.caption("The rounds of this run were not recorded.")
    with details, frame.errors_in_place():
        certificate.show_outcome(run)
        images, located = cache.image_set(row.key), recordings.localisation(run)
        objects = recordings.objects(row.key, query)
        if len(located.starts) > 1:
            st.markdown("### Starts side by side")
            object_starts.show(images, located, objects, split, images.image_relevance(query))
        show_detections(images, located, objects)
    with details:
        object_models.PICKER.show_run(run)
    with form:
        run_actions.show_trash(task=object_models.PICKER.task)


def choose_split(images: ImageSet) -> str:
    """The split whose images are shown."""
    there = cache.splits(images)
    if len(there) == 1:
        return there[0]
    return controls.segments("Images", keys.SPLIT, {split: SPLITS[split] for split in there}, "test")


def before_training(row: ImageSetRow, query: str) -> str:
    """How large the objects are, and whether the set is a poor choice; "" where the objects are not known."""
    images, objects = cache.image_set(row.key), recordings.objects(row.key, query)
    if objects is None:
        return ""
    whole = images.image_sizes.prod(axis=1)
    shares = [area(box) / whole[image] for image, boxes in enumerate(objects) for box in boxes]
    poor = ""
    if row.source == sets.FIGURES:
        poor = (
            " **Action figures are a poor choice**: over all classes, nearly half of them overlap with no candidate "
            "window by half or more, and those cannot be found."
        )
    return f"The median object of this class covers {np.median(shares):.1%} of its image.{poor}"


def within_reach(run: Run) -> str:
    """How many of the objects a window can find; "" where the objects are not known."""
    metrics = {**run.result.get("train", {}), **run.result.get("test", {})} if run.result else {}
    share = metrics.get("window recall")
    if share is None:
        return ""
    part = "test" if "window recall" in (run.result.get("test") or {}) else "training"
    others = "" if share == 1 else " The others cannot be found."
    return (
        f"Of the objects in {part} images, {100 * share:.3g}% have a candidate window that overlaps them by half or "
        f"more (intersection over union).{others}"
    )


def show_detections(images: ImageSet, located: Localisation, objects: Sequence[Ints] | None) -> None:
    """The highest-ranked detections after suppression, with precision and recall where objects are known."""
    st.markdown("### Detections")
    searched = next(iter(recordings.image_parts(images).values()))
    part = "test" if images.image_test.any() else "training"
    count = min(SHOWN, int(np.isin(located.detected, searched).sum()))
    if not count:
        return
    correct: dict[int, bool] = {}
    left, right = st.columns([2, 1], gap="medium")
    if objects is not None:
        correct = correct_among(located, objects, count)
        real = [objects[int(image)] for image in searched]
        if any(map(len, real)):
            detections = located.by_image(searched)
            precision, recall = detection_curve(detections, real)
            with right:
                plots.precision_recall(precision, recall, count, keys.widget("detections curve"))
                average = detection_average_precision(detections, real)
                st.caption(
                    f"Detection AP {average:.3f}: the area below the curve if each precision is raised to the highest "
                    "at the same or a higher recall. A detection is correct if it overlaps an object by half or more "
                    "(intersection over union) and no higher-ranked detection overlaps the same object."
                )
    shown = {number: int(located.detected[number]) for number in range(count)}
    top = Frame(1, 1, 0.0, -np.inf, np.arange(count), {}, boxes=located.detections[:count])
    with left:
        play_bar(
            [Lane(f"Highest {count} of {len(located.detected):,}", [top], curves=())],
            tiles.whole_tiles(images, shown, correct),
            name="detections",
            token="detections",
            label="Highest-ranked detections",
            boxes=tiles.boxes_of(images, shown, objects),
        )
        most = f"; the first {MAX_DETECTIONS:,}" if len(located.detected) == MAX_DETECTIONS else ""
        marked = f" {RELEVANT_GLYPH}: the detection is correct." if correct else ""
        st.caption(
            f"Windows of all {part} images that remain after non-maximum suppression, highest score first{most}."
            f"{marked}"
        )


def correct_among(located: Localisation, objects: Sequence[Ints], count: int) -> dict[int, bool]:
    """Whether each of the first `count` detections is correct."""
    correct: dict[int, bool] = {}
    for image in np.unique(located.detected[:count]):
        numbers = np.flatnonzero(located.detected == image)
        right = correct_detections(
            located.detections[numbers], located.confidences[numbers], objects[int(image)]
        )
        correct |= {int(number): bool(is_right) for number, is_right in zip(numbers, right, strict=True)}
    return correct


frame.show_page("find_the_object", "Only images are labelled; where is the object?", steps)
