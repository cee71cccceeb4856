"""What a person brings, as a tree of files that sources read from: a folder, or a ZIP file, within stated limits."""

from ranking.intake.folder_tree import FolderTree
from ranking.intake.limits import Limits
from ranking.intake.opening import Upload, open_tree
from ranking.intake.recognised import Recognised
from ranking.intake.tree import FileInTree, FileTree, Unusable
from ranking.intake.zip_tree import ZipTree

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
