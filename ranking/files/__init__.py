"""What a person brings, as a tree of files that sources read from: a folder, or a ZIP file, within stated limits."""

from ranking.files.folder_tree import FolderTree
from ranking.files.limits import Limits
from ranking.files.opening import Upload, open_tree
from ranking.files.tree import FileInTree, FileTree, Recognised, Unusable
from ranking.files.zip_tree import ZipTree

__all__ = [
    "FileInTree",
    "FileTree",
    "FolderTree",
    "Limits",
    "Recognised",
    "Unusable",
    "Upload",
    "ZipTree",
    "open_tree",
]
