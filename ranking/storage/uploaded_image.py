"""An uploaded image whose labels are ranked: a worker checks it as imports are checked, and computes its features.

The image is not kept; answers about it have its checksum as the name of the image.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ranking.core import Features, ImageSet, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import Named
from ranking.datasets import build_image_set, load_image_set
from ranking.datasets.build import check
from ranking.features import load_features
from ranking.features.onnx_model import OnnxModel
from ranking.files import Limits
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import OwnImageSettings
from ranking.storage.store import Store

POLL_SECONDS = 0.05
# the folder of the set of one image
SET = "set"


def name_of(data: bytes) -> str:
    """Return the name of an image, a checksum of its file.

    >>> name_of(b"")
    'own-e3b0c44298fc1c14'
    """
    return f"own-{hashlib.sha256(data).hexdigest()[:16]}"


@dataclass(frozen=True)
class OneImage(Source):
    """A source of one image. Imports need a class, so it has a class that is never shown."""

    name: ClassVar[str] = "one image"

    file: Path

    def title(self) -> str:
        return "This file"

    def __len__(self) -> int:
        return 1

    def records(self) -> Iterator[SourceImage]:
        yield SourceImage("own image", self.file, (SourceBox(None, ("?",)),), test=True)


@contextmanager
def described(store: Store, data: bytes, parts: Named) -> Iterator[tuple[ImageSet, Features]]:
    """Yield the image in `data` as a set, and its (1, d) features, until the end of the context.
    ValueError, with the reason, for a file that cannot be used."""
    settings = OwnImageSettings(parts).to_json()
    run = jobs.start(store, "import", settings, lambda run: run.uploaded_file.write_bytes(data))
    while run.state not in ENDED:
        time.sleep(POLL_SECONDS)
        run = jobs.poll(store, run.id)
    if run.state != "finished":
        raise ValueError(run.reason)
    try:
        images = load_image_set(run.folder / SET)
        yield images, load_features(images, parts, run.folder)
    finally:
        store.runs.clear(run)


def describe(store: Store, run: Run, settings: OwnImageSettings) -> None:
    """Do the work of `described` in this process, in the folder of a run."""
    source = OneImage(run.uploaded_file)
    outcome = check(next(source.records()), Limits.from_environment())
    if outcome.image is None:
        wrong = outcome.problems[0]
        raise InputError("this file", wrong.expected, wrong.came)
    images, _ = build_image_set(source, run.folder / SET)
    for name, values in settings.features:
        if name == OnnxModel.name:
            store.features.place_model(str(values.get("model")), run.folder)
    load_features(images, settings.features, run.folder)
