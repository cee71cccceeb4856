"""The imports: image sets, uploaded vectors and ONNX models. Each reads, asks whether it was meant so, and finishes.

An import is a generator (`Steps`), which its worker runs: it yields a question for the user, is sent the answer, and
returns the result of the run.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ranking.core import ImageSet, OnStep, Source
from ranking.core.errors import InputError
from ranking.core.settings import Settings
from ranking.core.text import counted, readable
from ranking.storage.home import check_source, is_workspace
from ranking.storage.import_questions import Answer, Question, Steps
from ranking.storage.run import Run
from ranking.storage.run_settings import FeaturesSettings, ImportSettings, OwnImageSettings
from ranking.storage.space import check_space
from ranking.storage.store import Store

# Modules that read files are imported where they are used, because the first event does not wait for them.
if TYPE_CHECKING:
    from ranking.features.uploads.model_preview import ModelPreview
    from ranking.features.uploads.vectors_preview import VectorsPreview

P = TypeVar("P", "VectorsPreview", "ModelPreview")


def steps_of(store: Store, run: Run, progress: OnStep) -> Steps:
    """Return the steps of an import, by its task."""
    imports = {"images": import_images, "features": import_features, "own image": import_own_image}
    if run.task not in imports:
        raise InputError("task of an import", f"one of: {', '.join(imports)}", f"{run.task!r:.80}")
    return imports[run.task](store, run, progress)


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


def import_images(store: Store, run: Run, progress: OnStep) -> Steps:
    """Import an image set: read the files until the user agrees, build the set, ask about near copies, and add it.

    A named source that reads no folder or ZIP file is built without a question.
    """
    settings = ImportSettings.from_json(run.settings)
    progress(f"Reading {readable(settings.file_name, 300)}", 0, 1)
    from ranking.datasets import make_source, source_class
    from ranking.datasets.copies import group_copies, stored_copies
    from ranking.formats.tree_source import tree_sources

    is_tree = settings.source is None or settings.source in tree_sources()
    of_server = settings.upload is None if is_tree else source_class(str(settings.source)).path_setting
    if of_server:
        check_source(store.home, settings.file_name)
    if is_tree:
        settings, source = yield from _agreed(run, settings, progress)
    else:
        source = make_source(str(settings.source), **settings.source_settings)
    result = _build(run, settings, source, progress)
    copies = stored_copies(run.draft)
    if copies is not None and len(copies.across):
        answer = yield Question("copies", result)
        if "together" in answer.changes:
            result["key"] = group_copies(run.draft, bool(answer.changes["together"])).key
    result["known"] = result["key"] in {row.key for row in store.sets.rows()}
    store.sets.add(run.draft, source.name, move=True)
    return result


def _agreed(
    run: Run, settings: ImportSettings, progress: OnStep
) -> Generator[Question, Answer, tuple[ImportSettings, Source]]:
    """Read the files and ask, until the user agrees; return the settings then, and the source that reads the files."""
    from ranking.formats.import_preview import preview_import, reader_of

    given = dict(settings.source_settings)
    typed = str(given.pop("folder", ""))
    place = typed if settings.upload is None else _uploaded(run)
    settings = replace(settings, source_settings=given)
    while True:
        preview = preview_import(
            place, settings.source, settings.source_settings, lambda what: progress(what, 0, 1)
        )
        preview = replace(preview, refused=uploads_named(run, preview.refused))
        answer = yield Question("files", preview.to_json())
        read_as = {"source": preview.source, "source_settings": preview.source_settings}
        settings = ImportSettings.from_json({**settings.to_json(), **read_as, **answer.changes})
        if answer.add:
            return settings, reader_of(str(settings.source), settings.source_settings, place)


def _build(run: Run, settings: ImportSettings, source: Source, progress: OnStep) -> Settings:
    """Build the image set in the run's draft folder; return the result of the run."""
    from ranking.datasets import import_image_set

    image_set, reading = import_image_set(
        source,
        run.draft,
        lambda done, total: progress("Importing images", done, total),
        settings.title,
    )
    problems = reading.problems
    if problems and settings.strict:
        first = problems[0]
        came = f"{first.came} ({first.file}; {first.done})"
        raise InputError(f"{counted(len(problems), 'problem')}, the first", first.expected, came)
    counts = image_set.labels.sum(axis=0)
    return {
        "key": image_set.key,
        "title": image_set.title,
        "images": len(image_set.image_names),
        "samples": len(image_set),
        "classes": {name: int(count) for name, count in zip(image_set.classes, counts, strict=True)},
        "criteria": list(image_set.criteria),
        "problems": len(problems),
    }


# ---------------------------------------------------------------------------------------------------------
# Custom features
# ---------------------------------------------------------------------------------------------------------


def import_features(store: Store, run: Run, progress: OnStep) -> Steps:
    """Import uploaded vectors or an ONNX model for an image set, as in `ranking.features.uploads`."""
    settings = FeaturesSettings.from_json(run.settings)
    if settings.upload is None:
        check_source(store.home, settings.place)
    progress(f"Reading {settings.file_name}", 0, 1)
    from ranking.features.uploads.model_preview import is_network
    from ranking.files.typed_path import typed_file

    images = store.sets.get(settings.set)
    uploaded = settings.upload is not None
    path = Path(_uploaded(run)) if uploaded else typed_file(settings.place, "a file of features")
    kind = _import_model if is_network(path) else _import_vectors
    return (yield from kind(store, run, settings, path, images, progress))


def _import_vectors(
    store: Store, run: Run, settings: FeaturesSettings, path: Path, images: ImageSet, progress: OnStep
) -> Steps:
    from ranking.features.uploads.vectors_preview import preview_vectors
    from ranking.storage.uploads import KeptVectors

    run.draft.mkdir()
    target = run.draft / "vectors.npy"

    def read(settings: FeaturesSettings) -> VectorsPreview:
        preview = preview_vectors(
            path, settings.file_name, images, target, settings.vectors, settings.ids, progress
        )
        if preview.refused and not preview.offers_others and not preview.problems:
            # there is nothing to decide
            raise ValueError(f"{settings.file_name}: {preview.refused}")
        return preview

    preview, title = yield from _features_agreed("vectors", settings, read)
    check_space(store.home)
    vectors = KeptVectors(preview.name, title, preview.columns, preview.matched, time.time())
    store.features.add_vectors(settings.set, target, vectors)
    return {"name": vectors.name, "title": title}


def _import_model(
    store: Store, run: Run, settings: FeaturesSettings, path: Path, images: ImageSet, progress: OnStep
) -> Steps:
    from ranking.features.uploads.model_preview import preview_model

    # it could take the memory and the time of all other visitors
    if is_workspace(store.home):
        expected = "a file of vectors, because a model is run only where the app runs on your own computer"
        raise InputError(
            settings.file_name, expected, "an ONNX model", "compute the vectors, and upload them"
        )
    if settings.upload is None:
        shutil.copyfile(path, run.uploaded_file)
    preview, title = yield from _features_agreed(
        "model",
        settings,
        lambda settings: preview_model(run.uploaded_file, images, settings.network, progress),
    )
    check_space(store.home)
    return {"name": store.features.add_network(run.uploaded_file, preview.settings, title), "title": title}


def _features_agreed(
    about: str, settings: FeaturesSettings, read: Callable[[FeaturesSettings], P]
) -> Generator[Question, Answer, tuple[P, str]]:
    """Read the features and ask, until the user agrees; return what was read, and the title to keep it under."""
    while True:
        preview = read(settings)
        answer = yield Question(about, preview.to_json())
        if not answer.add:
            settings = replace(settings, **answer.changes)
            continue
        if preview.refused:
            raise InputError(settings.file_name, "features to add", preview.refused)
        return preview, str(answer.changes.get("title") or settings.file_name)


def import_own_image(store: Store, run: Run, progress: OnStep) -> Steps:
    """Compute the features of an image of the user. There is nothing to ask, and the page removes it."""
    # a generator, as the other imports are
    yield from ()
    progress("Computing the features of your image", 0, 1)
    from ranking.storage.uploaded_image import describe

    describe(store, run, OwnImageSettings.from_json(run.settings))
    return {}


# ---------------------------------------------------------------------------------------------------------
# Uploads
# ---------------------------------------------------------------------------------------------------------


def _uploaded(run: Run) -> str:
    """Return the uploaded file of a run, as input of `ranking.files.open_tree`."""
    from ranking.files import Upload

    file_name = str(run.settings["upload"])
    if not run.uploaded_file.is_file():
        raise InputError(readable(file_name), "its uploaded copy", remedy="upload it again")
    return Upload(run.uploaded_file, file_name)


def uploads_named(run: Run, message: str) -> str:
    """Return `message` with the name of the uploaded file in place of the path of its copy."""
    return message.replace(str(run.uploaded_file.absolute()), str(run.settings.get("upload") or "the file"))
