"""From the path of images to queries for training, without a data folder: for scripts and notebooks."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ranking.core import ImageSet, Problem, Query, Reading
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, Named
from ranking.core.text import readable
from ranking.datasets import import_image_set, load_image_set, load_reading
from ranking.datasets.copies import stored_copies
from ranking.datasets.readings import READING
from ranking.features import default_names, load_features
from ranking.features.graph.image_graph import default_graph, image_graph
from ranking.files.typed_path import typed_path
from ranking.formats.import_preview import preview_import, reader_of, undecided

SPLITS = ("train", "test", "all")


@dataclass(frozen=True, eq=False)
class OpenImageSet:
    """An image set and the folder that contains it and its features.

    reading: how the files were read, and what was left out; None for a generated image set.
    """

    images: ImageSet
    folder: Path
    reading: Reading | None = None
    # deleted together with this object
    _temporary: tempfile.TemporaryDirectory[str] | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The report rows of the import."""
        return () if self.reading is None else self.reading.problems

    @property
    def classes(self) -> tuple[str, ...]:
        return self.images.classes

    def query(
        self, name: str, split: str = "train", features: Sequence[str] | None = None, graph: str | None = None
    ) -> Query:
        """Return the samples of a split with their relevance for a class, features and similarity graph."""
        # name: one of `classes`. split: "train", "test" or "all". features: names of
        # `ranking.features.feature_names`, by default the app's default features. graph: which samples are
        # neighbours, one of `ranking.features.graph.image_graph.GRAPHS`, by default that of `default_graph`;
        # methods without a similarity graph ignore it.
        if split not in SPLITS:
            raise InputError("split", f"one of {', '.join(SPLITS)}", readable(split))
        relevance = self.images.relevance(name)
        rows = (self.images.test == (split == "test")) | (split == "all")
        parts: Named = tuple((feature, {}) for feature in features or default_names(self.images))
        of_all = load_features(self.images, parts, self.folder / "features")
        neighbours = image_graph(self.images, graph or default_graph(self.images), parts, of_all, rows)
        return Query(of_all[rows], relevance[rows], neighbours, self.images.ids[rows])


def open_image_set(
    path: str | Path,
    source: str | None = None,
    folder: str | Path | None = None,
    settings: GivenSettings | None = None,
) -> OpenImageSet:
    """Open the images at `path` with their labels: a folder, an archive, or an image set that was imported before.

    source: the format, by default the one that recognises the files best. folder: for the image set and its features,
    by default a temporary folder. settings: of the format, such as an alternative of a decision of the `reading`.
    ValueError if it cannot be read, or can be read in several ways.
    """
    given, temporary = typed_path(str(path), "a folder or archive of images"), None
    if folder is None:
        temporary = tempfile.TemporaryDirectory(prefix="ranking-")
        folder = temporary.name
    if (given / "manifest.json").is_file():
        reading = load_reading(given) if (given / READING).exists() else None
        return OpenImageSet(load_image_set(given), Path(folder), reading, temporary)
    preview = preview_import(str(given), source, settings or {})
    if preview.source is None or preview.content is None:
        raise InputError(readable(str(path), 300), "images with their labels", remedy=preview.refused)
    if preview.open_decisions:
        raise undecided(preview, "settings")
    reader = reader_of(preview.source, preview.source_settings, str(given))
    images, reading = import_image_set(reader, Path(folder) / "set")
    if (copies := stored_copies(images.folder)) is not None:
        reading = replace(reading, problems=(*reading.problems, copies.report_row(images)))
    return OpenImageSet(images, Path(folder), reading, temporary)
