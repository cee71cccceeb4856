"""From pixels to feature vectors: one file per feature; the similarity graph; `opened`, from a path to queries.

A new feature is one new file here whose class carries ``@FEATURES.register("name")``.

>>> make_feature("Colour", bins=4).size
64
"""

from __future__ import annotations

from ranking.core import ImageSet
from ranking.features.cnn import CNN, FILE
from ranking.features.extract import cached_features, cached_vectors_file, feature_columns, load_features
from ranking.features.given import Given
from ranking.features.matrix_files import rows_of
from ranking.features.registry import FEATURES

__all__ = [
    "FEATURES",
    "cached_features",
    "cached_vectors_file",
    "default_names",
    "feature_class",
    "feature_columns",
    "feature_names",
    "load_features",
    "make_feature",
    "rows_of",
]

# CNN takes about 5 ms per sample on two processors, so that more samples would wait for minutes
MOST_BY_CNN = 20_000

feature_class = FEATURES.get
make_feature = FEATURES.make


def feature_names(image_set: ImageSet | None = None) -> list[str]:
    """Return the features that an image set offers, in the order of the form.

    Without a set, all features of images.

    A set that was imported with features offers only these, because its images are cards that name the labels. Uploaded
    features are listed by `Store.features.vectors_of` and `networks`.
    """
    if image_set is not None and image_set.image_features is not None:
        return [Given.name]
    return [name for name in FEATURES.names() if not FEATURES.get(name).supplied]


def default_names(image_set: ImageSet | None = None) -> list[str]:
    """Return those of `feature_names` whose class is marked as `default`: the initial choice of the form.

    CNN is one of them for at most MOST_BY_CNN samples, and if the package was installed with its network.
    """
    names = [name for name in feature_names(image_set) if FEATURES.get(name).default]
    is_large = image_set is not None and len(image_set) > MOST_BY_CNN
    return [name for name in names if name != CNN.name] if is_large or not FILE.is_file() else names
