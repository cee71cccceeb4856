"""Open a typed path as a tree, whether it is a folder or an archive."""

from __future__ import annotations

from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.archive_names import AS_FOUND
from ranking.files.archive_tree import ArchiveTree
from ranking.files.files import MAX_NAME, unread
from ranking.files.folder_tree import FolderTree
from ranking.files.tar_tree import TarTree, is_tar
from ranking.files.tree import FileTree
from ranking.files.typed_path import typed_path
from ranking.files.zip_tree import ZipTree


class Upload(str):
    """The path of an uploaded archive. file_name: the name that the user gave it, never used as a path."""

    def __new__(cls, path: str | Path, file_name: str) -> Upload:
        upload = super().__new__(cls, path)
        upload.file_name = file_name
        return upload

    file_name: str


TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx")
ANYTHING = "a folder of images, or a ZIP or tar file of such a folder"
# the suffixes of archives that can be read
ARCHIVES = ("zip", "tar", "tgz", "tbz2", "txz", "gz", "bz2", "xz")
# the first bytes of archives that cannot be read
OTHERS = {
    b"Rar!\x1a\x07": "a RAR archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}
# bytes by which a kind of archive is recognised
HEAD = 512


def open_tree(typed: str | Path, expected: str = ANYTHING, name_encoding: str = AS_FOUND) -> FileTree:
    """Return the folder or archive at `typed`. ValueError with what was `expected` if there is none. name_encoding: of
    names in an archive that states none."""
    if not str(typed).strip():
        remedy = "type the path of the folder or archive to import"
        raise InputError("folder or archive", expected, "no path", remedy)
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
        file_name = typed.file_name if isinstance(typed, Upload) else path.name
        return _archive_class(path, shown)(path, file_name=file_name, name_encoding=name_encoding)
    raise InputError(shown, expected, "no such file or folder")


def _archive_class(path: Path, shown: str) -> type[ArchiveTree]:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unread(shown, error) from error
    if kind := next((kind for first, kind in OTHERS.items() if head.startswith(first)), None):
        remedy = "extract it and type the path of the folder, or pack that as a ZIP file"
        raise InputError(shown, "a ZIP or tar file", kind, remedy)
    return TarTree if is_tar(head) or path.suffix.lower() == ".tar" else ZipTree
