"""Imported files as a tree that sources read from: a folder or an archive, within stated limits."""

from ranking.files.folder_tree import FolderTree
from ranking.files.limits import Limits
from ranking.files.opening import Upload, open_tree
from ranking.files.tar_tree import TarTree
from ranking.files.tree import FileInTree, FileTree, Unusable
from ranking.files.zip_tree import ZipTree

__all__ = [
    "FileInTree",
    "FileTree",
    "FolderTree",
    "Limits",
    "TarTree",
    "Unusable",
    "Upload",
    "ZipTree",
    "open_tree",
]
