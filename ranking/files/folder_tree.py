"""A folder on disk as a tree: links out of it are refused, pipes and devices are never opened.

The user may name any folder that the server can read. No name inside it (in XML, in lists, in links) can lead out of
it: files are found by listing directories, and each file is checked again before it is read.
"""

from __future__ import annotations

from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.files import INSIDE, NOTHING, plain, refusal, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import DEEPEST, FileTree, Unusable, hidden_images, is_left_over, packed_again


class FolderTree(FileTree):
    """The files in `folder`; ValueError if it cannot be listed, or contains more files than the limits allow."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self._limits = Limits.from_environment() if limits is None else limits
        self.parts = folder.absolute().parts[1:]
        self._names, self._seen_folders, self._closed = list[str](), [""], dict[str, InputError]()
        self._left, self._hidden = self._limits.entries, list[str]()
        try:
            self.place = folder.resolve()
            paths = sorted(self.place.iterdir())
        except (OSError, RuntimeError) as error:
            raise unread(readable(str(folder), 255), error) from error
        self._walk(paths, "", (self.place,))
        self.names, self.folders = tuple(sorted(self._names)), tuple(sorted(self._seen_folders))
        self.closed, self.problems = self._closed, (*packed_again(self.names), *hidden_images(self._hidden))

    def head(self, name: str, size: int) -> bytes:
        path = self._path(name)
        try:
            with path.open("rb") as file:
                return file.read(size)
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error

    def seekable(self, name: str, limit: int, what: str = "a file", by: str = "") -> Path:
        self.note_opened(name)
        return self._path(name)

    def _path(self, name: str) -> Path:
        if not self.has(name):
            raise Unusable(INSIDE, NOTHING)
        path = self.place / name
        if wrong := refusal(path, self.place):
            raise Unusable(INSIDE, wrong)
        return path

    def _walk(self, paths: list[Path], prefix: str, above: tuple[Path, ...]) -> None:
        """Record what each of `paths` is. above: the folders that contain them, to detect circular links."""
        for path in paths:
            if is_left_over(path.name):
                self._hidden += self._inside(path, prefix + path.name)
                continue
            self._left -= 1
            if self._left < 0:
                most = f"at most {self._limits.entries:,} files and folders"
                remedy = f"choose a folder nearer to the images, or set {variable('entries')}"
                raise InputError(readable(str(self.place), 255), most, "more", remedy)
            name = prefix + path.name
            try:
                if path.is_dir():
                    self._enter(path, name, above)
                else:
                    self._names.append(name)
            except (OSError, RuntimeError) as error:
                self._closed[name] = unread(readable(name, 255), error)
                # it may be a file: reading it raises the same error
                self._names.append(name)

    @staticmethod
    def _inside(path: Path, name: str) -> list[str]:
        """Return the names of a hidden file, or of the files in a hidden folder."""
        try:
            return [f"{name}/{inner.name}" for inner in sorted(path.iterdir())] if path.is_dir() else [name]
        except (OSError, RuntimeError):
            return [name]

    def _enter(self, path: Path, name: str, above: tuple[Path, ...]) -> None:
        shown = readable(name, 255)
        real = path.resolve()
        if not real.is_relative_to(self.place):
            self._closed[name] = InputError(shown, "a folder inside the chosen folder", "a link out of it")
        elif real in above:
            self._closed[name] = InputError(
                shown, "a folder, or a link to a separate folder", "a link to a folder that contains it"
            )
        elif len(above) > DEEPEST:
            self._closed[name] = InputError(shown, f"folders at most {DEEPEST} deep", "a deeper one")
        else:
            try:
                paths = sorted(real.iterdir())
            except OSError as error:
                self._closed[name] = unread(shown, error)
            else:
                self._seen_folders.append(name)
                self._walk(paths, f"{name}/", (*above, real))
