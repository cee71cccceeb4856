"""A folder on disk as a tree: files are found by listing directories, and no link leads out of it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.files import INSIDE, NOTHING, plain, refusal, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import MAC, FileTree, Unusable, hidden_files, hidden_images, is_left_over


class FolderTree(FileTree):
    """The files in `folder`; ValueError if it cannot be listed, or contains more files than the limits allow."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self._most = (Limits.from_environment() if limits is None else limits).entries
        self.parts = folder.absolute().parts[1:]
        self._names, self._folders, self._hidden = list[str](), list[str](), list[str]()
        self._closed = dict[str, InputError]()
        try:
            self.place = folder.resolve()
            self._walk(self.place, "", (self.place,))
        except (OSError, RuntimeError) as error:
            raise unread(readable(str(folder), 255), error) from error
        self.names, self.folders = tuple(sorted(self._names)), tuple(sorted(self._folders))
        self.decisions = hidden_files(self._hidden)
        self.closed, self.problems = self._closed, hidden_images(self._hidden)

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
        path = self.place / name
        if wrong := refusal(path, self.place) if self.has(name) else NOTHING:
            raise Unusable(INSIDE, wrong)
        return path

    def _walk(self, folder: Path, name: str, above: tuple[Path, ...]) -> None:
        """Record what is in a folder. above: it and the folders that contain it."""
        paths = sorted(folder.iterdir())
        self._folders.append(name)
        for path in paths:
            self._add(path, f"{name}/{path.name}".lstrip("/"), above)

    def _add(self, path: Path, name: str, above: tuple[Path, ...]) -> None:
        if is_left_over(path.name):
            self._hide(path, name)
            return
        if len(self._names) + len(self._folders) > self._most:
            most = f"at most {self._most:,} files and folders"
            remedy = f"choose a folder nearer to the images, or set {variable('entries')}"
            raise InputError(readable(str(self.place), 255), most, "more", remedy)
        shown = readable(name, 255)
        try:
            if path.is_dir():
                real = path.resolve()
                if real.is_relative_to(self.place) and real not in above:
                    self._walk(real, name, (*above, real))
                    return
                came = "a link to a folder that contains it" if real in above else "a link out of it"
                self._closed[name] = InputError(shown, "a folder inside the chosen folder", came)
        except (OSError, RuntimeError) as error:
            self._closed[name] = unread(shown, error)
        # also what is closed, so that it is reported as not read
        self._names.append(name)

    def _hide(self, path: Path, name: str) -> None:
        """Record a hidden file, or the files in a hidden folder."""
        with contextlib.suppress(OSError):
            if not path.is_dir():
                self._hidden.append(name)
                return
            inside = path.rglob("*") if path.name == MAC else path.iterdir()
            self._hidden += [
                f"{name}/{inner.relative_to(path)}" + "/" * inner.is_dir() for inner in sorted(inside)
            ]
