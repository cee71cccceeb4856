"""The names of YOLO's classes: the list `names` of a data.yaml, or a line for each in classes.txt or obj.names.

Of YAML only the forms are read in which tools write that list; there are no anchors to expand and no tags to obey.
"""

from __future__ import annotations

import re

from ranking.core.text import readable, told_apart
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, suffix

MAX_BYTES = 2**18
LINES = ("classes.txt", "obj.names", "classes.names")
KEY = re.compile(r"^names[ \t]*:[ \t]*(.*)$", re.MULTILINE)
ITEM = re.compile(r"[ \t]*-[ \t]+(\S.*)|[ \t]+['\"]?(\d{1,6})['\"]?[ \t]*:[ \t]*(\S.*)")
SKIPPED = re.compile(r"[ \t]*(#.*)?")
PAIR = re.compile(r"""['"]?(\d{1,6})['"]?[ \t]*:[ \t]*(.*)""")
POSE = re.compile(r"^kpt_shape[ \t]*:", re.MULTILINE)
# Possessive: what is never closed is passed over once, however long it is.
SINGLE, DOUBLE = r"'((?:[^']|'')*+)'", r'"((?:[^"\\]|\\.)*+)"'
NUMBERED = r"""['"]?\d{1,6}['"]?\s*:\s*"""
REMARKS = r"(?:\s*+\#[^\n]*+)*+"  # between cells, on what is left of a line
CELL = re.compile(
    rf"""{REMARKS}(?P<cell>(?>\s*(?:{NUMBERED})?(?:{SINGLE}|{DOUBLE})?)[^,\]}}]*+)(?P<end>[,\]}}])""",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
BLANKS = frozenset("0abtnvfreN_LP")  # escapes of what is no letter of a name
Names = dict[int, str]


def names_file(tree: FileTree) -> str | None:
    """The file of `tree` that names the classes, the one nearest to the top; None where there is none."""
    found = [name for name in tree.names if suffix(name) in (".yaml", ".yml") or base(name).lower() in LINES]
    for name in sorted(found, key=lambda name: (name.count("/"), base(name).lower() in LINES, name)):
        if suffix(name) not in (".yaml", ".yml") or _has_names(tree, name):
            return name
    return None


def _has_names(tree: FileTree, name: str) -> bool:
    try:
        return KEY.search(_text(tree, name)) is not None
    except Unusable:  # reading it in earnest tells why
        return True


def read_names(tree: FileTree, name: str) -> tuple[Names, bool]:
    """Number to name, and whether the labels are of poses, whose rows go on after the box; Unusable where there is no
    name in the file."""
    text = _text(tree, name)
    if suffix(name) in (".yaml", ".yml"):
        names, pose = yaml_names(text), POSE.search(text) is not None
    else:
        names, pose = dict(enumerate(line.strip() for line in text.splitlines())), False
    names = {number: told_apart(told) for number, told in names.items() if readable(told)}
    if not names:
        raise Unusable("a list of the names of classes", "none that can be read")
    return names, pose


def yaml_names(text: str) -> Names:
    """What the key `names` of a YAML file lists.

    >>> yaml_names("nc: 2\\nnames: [cat, 'a, dog']"), yaml_names("names:\\n  0: cat\\n  5: dog # big\\nnc: 2")
    ({0: 'cat', 1: 'a, dog'}, {0: 'cat', 5: 'dog'})
    """
    key = KEY.search(text)
    if key is None:
        return {}
    if key[1][:1] == "[":
        return {number: _plain(cell) for number, cell in enumerate(_cells(text[key.start(1) + 1 :]))}
    if key[1][:1] == "{":
        pairs = map(PAIR.fullmatch, _cells(text[key.start(1) + 1 :]))
        return {int(pair[1]): _plain(pair[2]) for pair in pairs if pair is not None}
    names: Names = {}
    for line in text[key.end() :].splitlines()[1:]:
        item = ITEM.fullmatch(line)
        if item is not None:
            names[len(names) if item[2] is None else int(item[2])] = _plain(item[1] or item[3])
        elif SKIPPED.fullmatch(line) is None:
            break
    return names


def _cells(text: str) -> list[str]:
    """What commas separate outside of quotes, up to a closing bracket; in one pass, however long it is."""
    cells, at = list[str](), 0
    while (cell := CELL.match(text, at)) is not None:
        cells.append(cell["cell"].strip())
        at = cell.end()
        if cell["end"] != ",":
            return [told for told in cells if told]
    return []  # a bracket that is never closed


def _plain(told: str) -> str:
    """What a YAML scalar says: what is quoted without quotes and escapes, the rest without the remark after it."""
    told = told.strip()
    if (single := re.match(SINGLE, told)) is not None:
        return single[1].replace("''", "'")
    if (double := re.match(DOUBLE, told, re.DOTALL)) is not None:
        return ESCAPE.sub(_letter, double[1]).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return told.partition(" #")[0].strip()


def _letter(escape: re.Match[str]) -> str:
    """The letter that an escape stands for; writers of ASCII alone write all others so."""
    told = escape[1]
    if len(told) == 1:
        return " " if told in BLANKS else told
    code = int(told[1:], 16)
    return chr(code) if code < 0x110000 else "\N{REPLACEMENT CHARACTER}"


def _text(tree: FileTree, name: str) -> str:
    return tree.read(name, MAX_BYTES, "a list of names").decode("utf-8-sig", errors="replace")
