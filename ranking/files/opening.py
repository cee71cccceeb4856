"""What a person typed, as a tree: a folder or a ZIP file, by what it is."""

from __future__ import annotations

from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.files import MAX_NAME, unread
from ranking.files.folder_tree import FolderTree
from ranking.files.limits import Limits
from ranking.files.tree import FileTree
from ranking.files.typed_path import typed_path
from ranking.files.zip_tree import ZipTree


class Upload(str):
    """The path of a ZIP file that a person uploaded, and `called`, what they call it: never a path."""

    def __new__(cls, path: str | Path, called: str) -> Upload:
        upload = super().__new__(cls, path)
        upload.called = called
        return upload

    called: str


TABLES = (".csv", ".tsv", ".parquet")
ANYTHING = "a folder with images, or a ZIP file of one"


def open_tree(typed: str | Path, expected: str = ANYTHING, limits: Limits | None = None) -> FileTree:
    """The folder or ZIP file at `typed`; ValueError that says what was `expected`, and what is there instead."""
    if not str(typed).strip():
        remedy = "type the path of the folder or ZIP file to import"
        raise InputError("folder or ZIP file", expected, "no path", remedy)
    path = typed_path(str(typed), expected)
    shown = readable(str(path), MAX_NAME)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()  # also keeps pipes and devices from being opened
    except (OSError, RuntimeError) as error:
        raise unread(shown, error) from error
    if is_folder:
        return FolderTree(path, limits)
    if is_file and path.suffix.lower() in TABLES:
        remedy = "type the path of the folder that the table and its images lie in"
        raise InputError(shown, expected, "a table", remedy)
    if is_file:
        return ZipTree(path, limits, typed.called if isinstance(typed, Upload) else path.name)
    raise InputError(shown, expected, "no folder or ZIP file")
