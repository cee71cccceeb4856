"""Image sets: choose or import one, look at its images and boxes."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, cache, charts, frame, grid, importing, keys, sets, tiles
from pages.parts.frame import escaped
from pages.parts.picture import picture
from ranking.types import ImageSet

SHEET_SIZE = 48  # images of a contact sheet: larger than crops, so fewer


def steps() -> None:
    sets.await_bundled()
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        row = sets.choose()
    with right:
        frame.next_step("Train on this image set", "train", obvious=address.get(keys.IMPORT) is None)
    importing.show()
    images = cache.image_set(row.key)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        image = show_contact_sheet(images)
    with right:
        show_image(images, image)
        show_classes(images)


def show_contact_sheet(images: ImageSet) -> int:
    """One page of all images; the number of the chosen one: at first the first of the page."""
    count = len(images.image_names)
    pages = max(1, -(-count // SHEET_SIZE))
    sheet = address.read(keys.SHEET, address.number(int, 1, pages), 1)
    numbers = range((sheet - 1) * SHEET_SIZE, min(sheet * SHEET_SIZE, count))
    image = int(address.read(keys.IMAGE, address.number(int, 0, count - 1), numbers[0]))
    shown = tiles.image_tiles(images, numbers)
    label = f"Images of {images.title}"
    grid.image_grid(shown, name=keys.IMAGE, selected=str(image), label=label, kind="images")
    address.pager(keys.SHEET, pages)
    st.caption("All images, with their split and number of boxes. Click one to see its boxes.")
    return image


def show_image(images: ImageSet, image: int) -> None:
    """The chosen image, whole, with its boxes."""
    name = str(images.image_names[image])
    width, height = (int(side) for side in images.image_sizes[image])
    boxes = tiles.class_boxes(images, image)
    split = "test" if images.image_test[image] else "train"
    st.markdown(f"#### Image {escaped(name)}")
    picture(
        cache.whole_image(images.key, image),
        (width, height),
        boxes,
        alt=f"Image {name} with {len(boxes)} boxes: {', '.join(box.label for box in boxes[:20])}",
        key=keys.widget("whole image"),
    )
    st.caption(
        f"{width} × {height} pixels, in the {split} split. **Notice** that a sample is a box, not an image: "
        f"this image has {len(boxes)}."
    )


def show_classes(images: ImageSet) -> None:
    """Classes with their counts, and the split."""
    st.subheader("Classes and split", anchor=False)
    test_images, test = int(images.image_test.sum()), int(images.test.sum())
    charts.class_counts(images, keys.widget("class counts"))
    st.caption(
        f"{len(images.image_names) - test_images:,} images with {len(images) - test:,} samples to train on, "
        f"{test_images:,} images with {test:,} samples to test on; no image is in both. "
        "**Notice** which classes are rare: there, accuracy says little and a ranking says more."
    )


frame.show_page(
    "image_sets", "Where the samples come from: images, the boxes in them, and what they show.", steps
)
