"""Image sets: choose or import an image set, and browse its images and boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.components import grid, selection, tiles
from pages.parts.importing import (
    criteria,
    custom_features,
    feature_views,
    import_steps,
    similar_samples,
    trash,
)
from pages.parts.training import sets
from ranking.core import ImageSet, Ints

# images per page of the contact sheet: fewer than crops, because images are larger
SHEET_SIZE = 48
# selected samples that are shown
MAX_SELECTED = 12


def steps() -> None:
    home.show_damage()
    if not home.store().sets.rows():
        # now, because without an image set the page ends below
        import_steps.show()
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        row = sets.choose()
    with right:
        if row.classes:
            frame.next_step("Train on this image set", "train", obvious=address.get(keys.IMPORT) is None)
        else:
            frame.next_step("Rank its sequences", "sequences", order_set=row.key)
    import_steps.show()
    images = cache.image_set(row.key)
    custom_features.show(images)
    left, right = st.columns([3, 2], gap="medium")
    with left, frame.picture("sheet"):
        numbers = choose_images(images)
        sheet = sheet_of(images, numbers)
        with frame.errors_in_place():
            show_contact_sheet(images, numbers, sheet)
    with right, frame.errors_in_place():
        show_image(images, sheet.sample)
        selection.show_crops(images, MAX_SELECTED)
    with frame.errors_in_place():
        similar_samples.show(images, sheet.sample)
    feature_views.show(images, sheet.sample)
    if images.classes:
        show_classes(images)
    if images.criteria:
        criteria.show(images)
    trash.offer_delete(row)


def choose_images(images: ImageSet) -> Ints:
    """(m,) indices of the images on the contact sheet: those of a split, those with a class, or all."""
    wide, narrow = st.columns([3, 2], vertical_alignment="bottom")
    splits = [split for split in ("train", "test") if (images.image_test == (split == "test")).any()]
    kept = np.ones(len(images.image_names), bool)
    if images.classes:
        counts = zip(images.classes, images.labels.sum(axis=0), strict=True)
        shown = {name: f"{name} — {count:,} samples" for name, count in counts}
        with wide:
            query = controls.select("Class", keys.SHEET_CLASS, shown, placeholder="any class")
        if query is not None:
            kept = np.isin(np.arange(len(kept)), images.image_of[images.relevance(query) > 0])
    with narrow:
        split = controls.segments("Split", keys.SHEET_SPLIT, splits)
    if split is not None:
        kept &= images.image_test == (split == "test")
    return np.flatnonzero(kept)


class Sheet(NamedTuple):
    """A page of the contact sheet."""

    # From 1, of `pages`.
    page: int
    pages: int
    # The page of the selected image.
    here: int
    # Indices of the images on the page.
    shown: list[int]
    # The selected row.
    sample: int


def sheet_of(images: ImageSet, numbers: Ints) -> Sheet:
    """The page in the URL, else that of the selected sample, by default the first sample of the page."""
    chosen = selection.row(images)
    pages = max(1, -(-len(numbers) // SHEET_SIZE))
    at = [] if chosen is None else np.flatnonzero(numbers == images.image_of[chosen])
    here = int(at[0]) // SHEET_SIZE + 1 if len(at) else 1
    page = address.read(keys.SHEET, address.number(int, 1, pages), here)
    shown = [int(number) for number in numbers[(page - 1) * SHEET_SIZE : page * SHEET_SIZE]]
    if chosen is None:
        chosen = tiles.samples_of(images, shown[0])[0] if shown else 0
    return Sheet(page, pages, here, shown, chosen)


def show_contact_sheet(images: ImageSet, numbers: Ints, sheet: Sheet) -> None:
    """One page of the images with the indices `numbers`."""
    if not len(numbers):
        st.info("No image in this split shows this class. Choose another class or split.", icon="🔍")
        return
    grid.image_grid(
        tiles.image_tiles(images, sheet.shown),
        selected=str(images.ids[tiles.samples_of(images, int(images.image_of[sheet.sample]))[0]]),
        label=f"Images of {images.title}",
        kind="images",
        key="contact sheet",
    )
    controls.pages(keys.SHEET, sheet.pages, sheet.here)
    st.caption(
        f"{len(numbers):,} of {len(images.image_names):,} images, with their split and number of boxes. "
        "Click an image to see its boxes."
    )
    tiles.explain_cards(images)


def show_image(images: ImageSet, sample: int) -> None:
    """The whole image of a sample with its boxes and their crops; the sample's box has a thicker outline."""
    image, name = int(images.image_of[sample]), tiles.image_name(images, sample)
    width, height = images.image_sizes[image].tolist()
    boxes = tiles.class_boxes(images, image, sample)
    split = "test" if images.image_test[image] else "train"
    st.markdown(f"#### Image {escaped(name)}")
    with frame.errors_in_place():
        alt = f"Image {name} with {len(boxes)} boxes: {', '.join(box.label for box in boxes[:20])}"
        tiles.show_image(images, image, boxes, alt, "whole image")
    if numbers := tiles.numbers_of(images, sample):
        st.markdown(f"**{escaped(numbers)}**")
    st.caption(
        f"{width} × {height} pixels, in the {split} split. **Notice** that a sample is a bounding box, "
        f"not an image. This image has {len(boxes)}."
    )
    rows = tiles.samples_of(images, image)
    if len(rows) > 1:
        grid.image_grid(
            tiles.sample_tiles(images, cache.thumbnails(images.key), rows[: grid.PAGE_SIZE]),
            selected=str(images.ids[sample]),
            label=f"Boxes of image {name}",
            kind="row",
            several=True,
            key="boxes",
        )
        st.caption(
            "The boxes of this image; each is a sample. The selected box has a thicker outline above and stays "
            "selected on all pages."
        )


def show_classes(images: ImageSet) -> None:
    """The number of samples per class and split; a click on a bar filters the contact sheet by that class."""
    st.subheader("Classes and split", anchor=False)
    test_images, test = int(images.image_test.sum()), int(images.test.sum())
    chosen = address.get(keys.SHEET_CLASS)
    plots.class_counts(
        images,
        keys.widget(f"class counts {chosen}"),
        chosen,
        lambda name: address.put(**{keys.SHEET_CLASS: None if name == chosen else name}),
    )
    st.caption(
        f"Training split: {len(images.image_names) - test_images:,} images, {len(images) - test:,} samples. Test "
        f"split: {test_images:,} images, {test:,} samples. No image is in both. Click a bar to see the images of that "
        f"class. {plots.how_even(images)}"
    )


frame.show_page(
    "image_sets", "Choose, import and browse image sets: images, bounding boxes and classes.", steps
)
