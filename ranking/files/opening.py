"""Open a typed path as a tree, whether it is a folder or a ZIP file."""

from __future__ import annotations

from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.files import MAX_NAME, unread
from ranking.files.folder_tree import FolderTree
from ranking.files.tree import FileTree
from ranking.files.typed_path import typed_path
from ranking.files.zip_tree import ZipTree


class Upload(str):
    """The path of an uploaded ZIP file. file_name: the name that the user gave it, never used as a path."""

    def __new__(cls, path: str | Path, file_name: str) -> Upload:
        upload = super().__new__(cls, path)
        upload.file_name = file_name
        return upload

    file_name: str


TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx")
ANYTHING = "a folder of images, or a ZIP file of such a folder"


def open_tree(typed: str | Path, expected: str = ANYTHING) -> FileTree:
    """Return the folder or ZIP file at `typed`. ValueError with what was `expected` if there is none."""
    if not str(typed).strip():
        remedy = "type the path of the folder or ZIP file to import"
        raise InputError("folder or ZIP file", expected, "no path", remedy)
    path = typed_path(str(typed), expected)
    shown = readable(str(path), MAX_NAME)
    try:
        # so that pipes and devices are never opened
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, RuntimeError) as error:
        raise unread(shown, error) from error
    if is_folder:
        return FolderTree(path)
    if is_file and path.suffix.lower() in TABLES:
        remedy = "type the path of the folder that contains the table and its images"
        raise InputError(shown, expected, "a table", remedy)
    if is_file:
        return ZipTree(path, file_name=typed.file_name if isinstance(typed, Upload) else path.name)
    raise InputError(shown, expected, "no folder or ZIP file")
