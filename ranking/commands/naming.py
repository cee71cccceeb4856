"""Find image sets by key or title, or import them from a path."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import replace

from ranking.commands.watching import finished
from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.settings import Named, Settings, settings_of
from ranking.core.text import listed, readable
from ranking.datasets import source_class, source_names
from ranking.features import default_names
from ranking.files.typed_path import typed_path
from ranking.formats.import_preview import ImportPreview, undecided
from ranking.formats.tree_source import TreeSource, tree_sources
from ranking.methods import method_class, method_names
from ranking.storage import jobs
from ranking.storage.import_questions import Answer, Question
from ranking.storage.run_settings import TASK_SETTINGS, ImportSettings
from ranking.storage.sets import ImageSetRow
from ranking.storage.store import Store


def trained_methods() -> list[str]:
    """Return the names of the methods that a task trains."""
    return [name for name in method_names() if method_class(name).ranks in TASK_SETTINGS]


def set_of(store: Store, text: str) -> ImageSet:
    """Return the image set with that key or title, else import the files at that path."""
    rows = store.sets.rows()
    named = [row for row in rows if row.key == text] or [row for row in rows if row.title == text]
    if len(named) > 1:
        keys = ", ".join(row.key for row in named)
        raise InputError(
            "SET", "the title of one image set", f"that of {len(named)}: {text}", f"use a key: {keys}"
        )
    if named:
        return store.sets.get(named[0].key)
    if not os.path.exists(text):
        titles = listed([row.title for row in rows]) if rows else "none yet"
        raise InputError(
            "SET",
            f"the title or key of an image set ({titles}), or a folder or archive of images",
            readable(text, 300),
            "`python -m ranking sets` lists them, `python -m ranking import PATH` adds one",
        )
    return store.sets.get(import_unattended(store, text, ImportSettings()))


def import_unattended(store: Store, path: str, settings: ImportSettings) -> str:
    """Import the folder or file at `path`, and return the key of the image set.

    ValueError for unreadable files; NotFinished if the import did not finish; Undecided where a decision is open.
    """
    setting = (TreeSource if settings.source is None else source_class(settings.source)).path_setting
    where = {setting: str(typed_path(path, "a folder or archive of images").resolve())}
    settings = replace(settings, source_settings={**settings.source_settings, **where})

    def confirm(question: Question) -> Answer:
        if question.about != "files":
            # near copies stay where the import has put them
            return Answer(question.number)
        preview = ImportPreview.from_json(question.reading)
        if preview.source is None or preview.content is None:
            formats = ", ".join([*tree_sources(), *file_sources()])
            remedy = f"{preview.refused}. The option --format chooses one of {formats}"
            raise InputError(readable(path, 300), "images with labels", remedy=remedy)
        if preview.open_decisions:
            raise undecided(preview, "--set")
        return Answer(question.number)

    run = finished(store, jobs.start_once(store, "import", settings.to_json()), confirm)
    return str(run.result["key"])


def file_sources() -> list[str]:
    """Return the sources that read files, but not folders and archives of images."""
    return [name for name in source_names() if source_class(name).path_setting and name not in tree_sources()]


def add_samples(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is ranked, which training and experiments share."""
    parser.add_argument("--criterion", help="the criterion to rank by (methods that rank sequences)")
    parser.add_argument(
        "--features", help="names joined by commas, such as HOG,Colour (default: as in the app)"
    )
    parser.add_argument(
        "--min-images",
        type=int,
        default=20,
        help="least number of images that must show a class for it to be a label",
    )


def features_named(images: ImageSet, text: str | None) -> Named:
    """Return the features named in `text`, joined by commas; the app's defaults for None."""
    names = default_names(images) if text is None else [name.strip() for name in text.split(",")]
    return tuple((name, {}) for name in names)


def settings_from(option: str, texts: list[str], plugins: Iterable[type]) -> Settings:
    """Read settings of a method or of one of several formats from NAME=VALUE; it checks their values itself."""
    # the path is an argument
    kinds = {
        item.name: item.kind
        for plugin in plugins
        for item in settings_of(plugin)
        if item.name != getattr(plugin, "path_setting", "")
    }
    values: Settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in kinds:
            raise InputError(option, f"NAME=VALUE, with a name of {', '.join(sorted(kinds))}", readable(text))
        if name in values:
            raise InputError(
                option, f"one value of {name}", f"{readable(str(values[name]))} and {readable(value)}"
            )
        values[name] = value
        if kinds[name] is not str:
            with contextlib.suppress(ValueError):
                values[name] = json.loads(value)
    return values


def line_of(row: ImageSetRow) -> str:
    """Return one line about an image set: its key, title and contents."""
    classes = listed(list(row.classes)) if row.classes else "no classes"
    return f"{row.key}  {row.title}: {row.images:,} images, {row.samples:,} samples; {classes}"
