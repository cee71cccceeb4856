"""Class names of YOLO: files that list them, and which of them fits which labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ranking.core.text import readable, unique_name
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, parent, suffix

MAX_NAMES_BYTES = 2**18
YAML, NAMES = (".yaml", ".yml"), (".names", ".labels")
LINES = re.compile(r"(?:\w+_)?(?:class|label|name)(?:e?s)?(?:[-_ ]?(?:names?|list))?\.txt")
STATED = re.compile(r"^[ \t]*names[ \t]*=(.+)$", re.MULTILINE)
NUMBERED = re.compile(r"\d{1,6}", re.ASCII)
PARTS = {"train": "train", "val": "val", "valid": "val", "test": "test"}
Names = dict[int, str]


@dataclass(frozen=True, eq=False)
class NamesFile:
    """A file of class names. points: the keypoints of a pose and the numbers of each, (0, 0) if there are none.

    paths: (part, path) of images by the file. found: whether one of the paths exists. stated_by: the file of settings
    that names this one, "" if there is none.
    """

    file: str
    names: Names
    points: tuple[int, int] = (0, 0)
    paths: tuple[tuple[str, str], ...] = ()
    found: bool = False
    stated_by: str = ""

    def agrees(self, other: NamesFile, used: Iterable[int]) -> bool:
        return all(self.names.get(number) == other.names.get(number) for number in used)


def may_list_names(name: str) -> bool:
    """Return whether the name of a file is usual for one of class names.

    >>> [may_list_names(name) for name in ("classes.txt", "_darknet.labels", "data.yaml", "train.txt")]
    [True, True, True, False]
    """
    return suffix(name) in YAML + NAMES or LINES.fullmatch(base(name).lower()) is not None


def read_names(tree: FileTree, name: str) -> NamesFile | None:
    """Return what a file states, None if it is YAML about other things; Unusable if it names no class."""
    text = tree.head(name, MAX_NAMES_BYTES).decode("utf-8-sig", errors="replace")
    if suffix(name) not in YAML:
        return NamesFile(name, _usable(dict(enumerate(map(str.strip, text.splitlines())))))
    content = parsed_yaml(text)
    if "names" not in content:
        return None
    names, shape = content["names"], content.get("kpt_shape")
    if isinstance(names, str) and (file := ending_alike(names, tree.names)):
        listed = read_names(tree, file) if suffix(file) not in YAML else None
        names = listed.names if listed is not None else {}
    else:
        names = yaml_names(names)
    numbers = (
        [int(text) for text in shape if NUMBERED.fullmatch(str(text))] if isinstance(shape, list) else []
    )
    stated = {key: content.get(key) for key in PARTS}
    paths = tuple(
        (PARTS[key], path)
        for key, value in stated.items()
        for path in (value if isinstance(value, list) else [value])
        if isinstance(path, str) and path.strip("./ ")
    )
    found = any(ending_alike(path, [*tree.names, *tree.folders]) for _, path in paths)
    points = (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)
    return NamesFile(name, _usable(names), points, paths, found)


def stated_names(tree: FileTree, name: str) -> NamesFile | None:
    """Return the file that a file of settings names, as in `names = data/obj.names`; None if it names none."""
    text = tree.head(name, MAX_NAMES_BYTES).decode("utf-8-sig", errors="replace")
    match = STATED.search(text)
    file = ending_alike(match[1].strip(), tree.names) if match else ""
    stated = read_names(tree, file) if file and suffix(file) not in YAML else None
    return None if stated is None else replace(stated, found=True, stated_by=name)


def _usable(names: Names) -> Names:
    usable = {number: unique_name(label) for number, label in names.items() if readable(label)}
    if not usable:
        raise Unusable("a list of class names", "none that can be read")
    return usable


def ending_alike(path: str, names: Collection[str]) -> str:
    """Return the name that ends in most parts of a path of another computer, the uppermost of equals; "" if none does.

    >>> ending_alike(r"D:\\x\\images\\train", ["labels/train", "images/train", "train/y"]), ending_alike("a", ["b"])
    ('images/train', '')
    """
    parts = [part for part in path.casefold().replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for start in range(len(parts)):
        end = "/" + "/".join(parts[start:])
        if alike := [name for name in names if f"/{name.casefold()}".endswith(end)]:
            return min(alike, key=lambda name: (name.count("/"), name))
    return ""


def files_of_folders(files: Sequence[NamesFile], used: dict[str, set[int]]) -> dict[str, list[NamesFile]]:
    """Return the file that fits the class numbers of each folder of labels, and those that fit with other names.

    used: the numbers in each folder. A file in the folder or above it goes first; folders below the same files have
    the same file.
    """
    above = {}
    for folder in used:
        nearer = [
            file
            for file in files
            if file.stated_by or f"{folder}/".startswith(f"{parent(file.file)}/".lstrip("/"))
        ]
        above[folder] = tuple(nearer or files)
    numbers: dict[tuple[NamesFile, ...], set[int]] = {}
    for folder, some in above.items():
        numbers.setdefault(some, set()).update(used[folder])
    best = {some: _fitting(some, files, of_some) for some, of_some in numbers.items()}
    return {
        folder: [
            file
            for file in best[some]
            if file is best[some][0] or not file.agrees(best[some][0], numbers[some])
        ]
        for folder, some in above.items()
    }


def _fitting(above: Sequence[NamesFile], files: Sequence[NamesFile], used: set[int]) -> list[NamesFile]:
    """Return the files that fit the class numbers `used`, the best first: of those `above`, or else of all files.

    Files that name all numbers are preferred; where they differ, those whose paths exist; where these differ too, those
    that name no more numbers; then the nearest.
    """
    named = [[file for file in some if used <= file.names.keys()] for some in (above, files)]
    fit = next(filter(None, named), list(above))
    found = [file for file in fit if file.found]
    exact = [file for file in fit if used and len(file.names) == max(used) + 1]
    for some in (found, exact):
        if some and not all(file.agrees(fit[0], used) for file in fit):
            fit = [file for file in fit if file in some] or fit
    return sorted(fit, key=lambda file: (-file.file.count("/"), suffix(file.file) not in YAML, file.file))


def parsed_yaml(text: str) -> dict[str, object]:
    """Return the mapping at the top of a YAML file, with texts, lists and mappings; Unusable if it cannot be read.

    PyYAML's safe_load would turn a class named "no" into False. BaseLoader keeps it as text, supports no tags, expands
    nothing, and is written in Python, which refuses deep nesting where C would crash.

    >>> parsed_yaml("nc: 2\\nnames: [cat, no]")
    {'nc': '2', 'names': ['cat', 'no']}
    """
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            content: dict[Any, Any] = super().construct_mapping(node, deep)
            values = [
                (self.construct_object(key), self.construct_object(value, True)) for key, value in node.value
            ]
            if twice := [str(key) for key, value in values if value != content[key]]:
                raise Unusable("each key once", f"{twice[0]} with several values")
            return content

    try:
        content = yaml.load(text, Loader)
    except RecursionError as error:
        raise Unusable("YAML of a few levels", "one nested too deep") from error
    except (yaml.YAMLError, ValueError) as error:
        # ValueError: an escape beyond the last Unicode character
        raise Unusable("YAML that can be read", " ".join(str(error).split())) from error
    return content if isinstance(content, dict) else {}


def yaml_names(names: object) -> Names:
    """Return the texts of a list, or of a mapping from numbers.

    >>> yaml_names(["cat", "dog"]), yaml_names({"0": "cat", "5": "dog", "x": "none"})
    ({0: 'cat', 1: 'dog'}, {0: 'cat', 5: 'dog'})
    """
    if isinstance(names, list):
        return {number: _whole(name) for number, name in enumerate(names) if isinstance(name, str)}
    pairs = names.items() if isinstance(names, dict) else ()
    return {
        int(number): _whole(name)
        for number, name in pairs
        if isinstance(number, str) and NUMBERED.fullmatch(number) and isinstance(name, str)
    }


def _whole(name: str) -> str:
    """Return a name in which surrogate pairs, as JSON writes them, are joined."""
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
