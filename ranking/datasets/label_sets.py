"""The label set of an image set, for label ranking: one row per image, whatever its boxes."""

from __future__ import annotations

import numpy as np

from ranking.core import Features, ImageSet, LabelSet
from ranking.core.errors import InputError
from ranking.datasets.splits import blocks_of


def label_set(image_set: ImageSet, features: Features, min_images: int = 1) -> LabelSet:
    """Return the images of a set with the labels of all their samples, for a method that ranks labels."""
    # features: (n, d) of the samples, from `ranking.features.load_features`; an image with several boxes has
    # their mean. Labels that fewer than `min_images` images show are dropped.
    if features.ndim != 2 or len(features) != len(image_set):
        raise InputError("features", f"shape ({len(image_set)}, d), one row per sample", features.shape)
    if min_images < 1:
        raise InputError("min_images", "at least 1", min_images)
    if not image_set.classes:
        remedy = "rank its samples by a criterion instead, or choose another image set"
        raise InputError(f"labels of {image_set.title}", "at least one", "none", remedy)
    images = len(image_set.image_names)
    labels = np.zeros((images, len(image_set.classes)), np.bool_)
    np.logical_or.at(labels, image_set.image_of, image_set.labels)
    kept = labels.sum(axis=0) >= min_images
    if not kept.any():
        expected = f"one that at least {min_images:,} images show"
        came = f"at most {labels.sum(axis=0).max():,} images per label"
        raise InputError(f"labels of {image_set.title}", expected, came, "choose a smaller minimum")
    boxes = np.bincount(image_set.image_of, minlength=images)
    if (boxes == 1).all() and (image_set.image_of == np.arange(images)).all():
        of_images = features
    else:
        of_images = np.zeros((images, features.shape[1]), features.dtype)
        np.add.at(of_images, image_set.image_of, features)
        of_images /= boxes[:, None]
    names = tuple(name for name, stays in zip(image_set.classes, kept, strict=True) if stays)
    _, first = np.unique(image_set.image_of, return_index=True)
    groups = blocks_of(image_set, np.arange(len(image_set)))[first]
    return LabelSet(of_images, labels[:, kept], names, image_set.image_test, image_set.image_names, groups)
