"""Which columns of a table fit a role, by their names and cells: the image, its part, box, size and labels."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ranking.core import Floats
from ranking.core.text import listed, readable
from ranking.datasets.splits import PARTS, part_word
from ranking.files import Unusable
from ranking.files.tree import base
from ranking.formats.column_names import (
    BOXES,
    CORNERS,
    EXTENTS,
    FLAGS,
    ID_WORDS,
    IMAGE,
    LABEL_WORDS,
    LABELS,
    NO_PART,
    NO_PREFIX,
    ORIGIN_WORDS,
    OUTLINES,
    SIZE,
    SPLIT,
    is_numbered_split,
    may_order,
    plain_name,
    words_of,
)
from ranking.formats.image_names import ImageNames
from ranking.formats.table_cells import BOX_NUMBER, Cells, box_numbers
from ranking.formats.table_file import EXTENT, NO, UNKNOWN, YES, Table, plain_number

# a number of a part or fold
NUMBER_OF_PART = re.compile(r"(?:(?:fold|split)[-_ ]?)?(\d{1,3})(?:\.0)?", re.ASCII | re.IGNORECASE)
# different whole numbers that may stand for parts
MAX_PARTS = 20
# rows below the first one that are compared with it
MAX_HEADER_ROWS = 1_000
# of the cells of a column whose name is usual for boxes or sizes
LEAST_NUMERIC = 0.5
# and of those of a criterion
MOSTLY_NUMERIC = 0.9
MAX_LABEL_COLUMNS = 6
# the text of a setting for a role without a column
NONE = "-"


def parts_of(column: str, cells: Collection[str]) -> dict[str, str | None]:
    """Return the part that each cell of a split column names; None if it names none.

    Of whole numbers the largest is test and, of 0, 1 and 2, 1 is validation.

    >>> parts_of("split", ["PrivateTest"]), parts_of("is_test", ["0"]), parts_of("fold", ["0", "1", "2"])
    ({'PrivateTest': 'test'}, {'0': 'train'}, {'0': 'train', '1': 'val', '2': 'test'})
    """
    numbers = part_numbers(cells)
    if plain_name(column) in FLAGS or not numbers:
        return {cell: _part_in_cell(column, cell) for cell in cells}
    three = sorted(numbers.values()) == [0, 1, 2]
    parts = {max(numbers.values()): "test", **({1: "val"} if three else {})}
    return {cell: parts.get(numbers[cell], "train") if cell in numbers else None for cell in cells}


def part_numbers(cells: Collection[str]) -> dict[str, int]:
    """Return the whole numbers in all known cells, if there are several and few; otherwise {}."""
    known = [cell for cell in cells if cell.lower() not in UNKNOWN]
    matches = {cell: NUMBER_OF_PART.fullmatch(cell) for cell in known}
    numbers = {cell: int(match[1]) for cell, match in matches.items() if match is not None}
    several = 1 < len(set(numbers.values())) <= MAX_PARTS
    return numbers if several and len(numbers) == len(known) else {}


def _part_in_cell(column: str, cell: str) -> str | None:
    flag, mark = FLAGS.get(plain_name(column)), cell.lower()
    if flag is not None and mark in (*YES, *NO):
        return flag if mark in YES else "test" if flag == "train" else "train"
    return part_word(cell)


def first_row_is_data(table: Table, index: ImageNames) -> str:
    """Return why the first row is data and not a header; "" if it is a header.

    It is data if it names an image of the tree in the column in which most of the rows below do; where none does, in
    any column.
    """
    below = [0] * len(table.first)
    with contextlib.suppress(Unusable):
        for _, cells in itertools.islice(table.rows(), MAX_HEADER_ROWS):
            if len(cells) == len(below):
                below = [count + index.knows(cell.strip()) for count, cell in zip(below, cells, strict=True)]
    best = max(below, default=0)
    for cell, count in zip(map(str.strip, table.first), below, strict=True):
        is_number = plain_number(cell) is not None and not best
        if count == best and not is_number and plain_name(cell) not in IMAGE and index.knows(cell):
            return f"{cell} names an image"
    return ""


def image_column(cells: Cells, index: ImageNames) -> tuple[list[str], int]:
    """Return the column in which the most cells name images of the tree, one with a usual name among equals, and how
    many; ([], 0) if there is none.

    Plain numbers count as names only in a column with a usual name, because any number may also be an image name.
    """
    if cells.images:
        return [cells.images], cells.rows
    counts = {}
    for column in sorted(cells.free, key=lambda column: plain_name(column) not in IMAGE):
        is_usual = plain_name(column) in IMAGE
        counts[column] = sum(
            count
            for cell, count in cells.counts[column].items()
            if (is_usual or plain_number(cell) is None) and index.knows(cell)
        )
    best = max(counts.values(), default=0)
    if best:
        column = max(counts, key=counts.__getitem__)
        known = cells.counts[column]
        return [column], sum(known[cell] for cell in known if index.knows(cell))
    if not index.fills_zeros:
        index.fills_zeros = True
        found, best = image_column(cells, index)
        # of other numbers, such as those of classes, only some are names, or of few images
        if found and cells.known(found[0]).total() == best >= index.count / 4:
            return found, best
        index.fills_zeros = False
    return [], 0


def several_files(cells: Cells, index: ImageNames) -> str:
    """Return a text about a column whose cells are mostly beginnings of the names of several images each; "" if there
    is none."""
    for column in cells.free:
        known = cells.known(column)
        several = [cell for cell in known if len(index.beginning(cell)) > 1]
        if several and 2 * len(several) > len(known):
            ends = sorted(base(name).removeprefix(several[0]) for name in index.beginning(several[0]))
            counts = f"{len(several):,} of {len(known):,} values fit several files each"
            return f"{column}: {counts}, by {listed(ends)}"
    return ""


def named_box(cells: Cells) -> tuple[str, tuple[str, ...]]:
    """Return four columns and the form that their names imply; or "" and a column with four numbers per cell; or, in a
    table without names, "" and the first four columns of numbers beside each other."""
    for form, names in BOXES.items():
        for place, extent in itertools.product(names, ("",) if form == CORNERS else EXTENTS):
            columns = _with_common_words(cells, f"{place} {extent}".split())
            if columns and all(cells.is_numeric(name, LEAST_NUMERIC) for name in columns):
                return form, columns
    single = [column for column in cells.free if _is_box(cells.known(column))]
    outlines = [name for name in cells.named(OUTLINES) if name in single]
    if outlines and any(len(BOX_NUMBER.findall(cell)) > 4 for cell in cells.known(outlines[0])):
        return CORNERS, (outlines[0],)
    single = [
        name for name in single if all(len(BOX_NUMBER.findall(cell)) == 4 for cell in cells.known(name))
    ]
    if single or not cells.without_names:
        return "", tuple(single[:1])
    filled = [name for name in cells.counts if not cells.is_empty(name)]
    for start in range(len(filled) - 3):
        beside = tuple(filled[start : start + 4])
        if set(beside) <= set(cells.free) and all(map(cells.is_numeric, beside)):
            return "", beside
    return "", ()


def _with_common_words(cells: Cells, names: Sequence[str]) -> tuple[str, ...]:
    """Return the free columns of those names, which may all have the same words before or after them; () if there are
    none. Without such words, if there are both."""
    plain = [plain_name(column) for column in cells.free]
    before = [name.removesuffix(names[0]) for name in plain if name.endswith(names[0])]
    after = [name.removeprefix(names[0]) for name in plain if name.startswith(names[0])]
    affixes = [(word, "") for word in before if word not in NO_PREFIX] + [("", word) for word in after]
    for first, last in sorted(affixes, key=any):
        columns = tuple(cells.named(f"{first}{name}{last}" for name in names))
        if len(columns) == len(names):
            return columns
    return ()


def has_gap(cells: Cells, box: tuple[str, ...]) -> bool:
    """Return whether empty columns separate the first two numbers from the last two, as those of two corners."""
    names = list(cells.counts)
    return names.index(box[2]) > names.index(box[1]) + 1


def _is_box(texts: Collection[str]) -> bool:
    return bool(texts) and all(box_numbers([cell]) is not None for cell in texts)


def split_columns(cells: Cells, image: str, may_ask: bool = False) -> tuple[list[str], list[str]]:
    """Return the columns that state a split by the same rule, and those by which most images are in several parts, as
    in rounds of cross-validation. All of them are taken. image: the column of images.

    The rules are: a usual name and words such as train; whole numbers in a column or file whose name says so; flags; or
    nothing but several such words. Unusable if the numbers fit two readings, unless the user may be asked.
    """
    words = {name: {cell.lower() for cell in cells.known(name)} for name in cells.free}
    numbered = [name for name in words if cells.states_parts or is_numbered_split(name)]
    rules = [
        [name for name in cells.named(SPLIT) if any(map(part_word, cells.known(name)))],
        [name for name in numbered if part_numbers(cells.known(name))],
        [name for name in cells.named(FLAGS) if cells.is_marks(name)],
        [name for name in words if len(words[name] & {*PARTS}) > 1 and words[name] <= {*PARTS, *NO_PART}],
    ]
    every = cells.take(itertools.chain(*rules))
    rounds = [name for name in every if image and _varies(cells, image, name)]
    best = next(filter(None, ([name for name in rule if name not in rounds] for rule in rules)), [])
    if not may_ask and best and best[0] in rules[1] and is_unclear(cells, best[0]):
        came = f"two numbers in {readable(best[0])}, the larger one in most rows"
        raise Unusable("a column whose largest number is test; write train and test instead", came)
    # of columns with usual names, the first says most
    is_named = bool(best) and best[0] in rules[0] + rules[2]
    return [
        name for name in best if name == best[0] or not (is_named or is_same(cells, best[0], name))
    ], rounds


def _varies(cells: Cells, image: str, column: str) -> bool:
    """Return whether a column has several values for most images."""
    values: dict[str, set[str]] = {}
    for name, cell in cells.texts([image, column]):
        values.setdefault(name, set()).add(cell)
    several = sum(len(some) > 1 for some in values.values())
    return several > 1 and 2 * several > len(values)


def size_columns(cells: Cells, box: tuple[str, ...]) -> tuple[str, ...]:
    """Return two columns with usual names; in a table without names, the two columns of numbers after the box."""
    for names in SIZE:
        columns = tuple(cells.named(names))
        if len(columns) == 2 and all(cells.is_numeric(name, LEAST_NUMERIC) for name in columns):
            return columns
    numeric = [name for name in cells.free if cells.is_numeric(name)] if cells.without_names and box else []
    are_sizes = all(float(cell) > 1 for name in numeric for cell in cells.known(name))
    return tuple(numeric) if len(numeric) == 2 and are_sizes else ()


def is_unclear(cells: Cells, split: str) -> bool:
    """Return whether the larger of two numbers may stand for train: the test part is rarely the larger one."""
    known = cells.known(split)
    numbers = part_numbers(known)
    if plain_name(split) in FLAGS or len(numbers) != 2:
        return False
    return 2 * known[max(numbers, key=numbers.__getitem__)] > known.total()


class Labels(NamedTuple):
    """The columns of labels, others that fit as well instead, the evidence, and others that fit less well."""

    columns: list[str]
    as_good: list[list[str]]
    why: str
    further: Sequence[str] = ()


def label_columns(cells: Cells, has_box: bool) -> Labels:
    """Return a column whose name says labels, otherwise the columns of marks, otherwise one with repeated texts.

    Unusable if it contains JSON, such as the regions in CSV files of Label Studio.
    """
    named = list(cells.named(LABELS))
    if (json := next(filter(cells.is_json, named), None)) is not None:
        raise Unusable("labels that are texts", f"JSON objects in {json}")
    marks = [column for column in cells.free if cells.is_marks(column) and may_order(column) and not has_box]
    # the last word of a name says what it is
    ends = [name for name in cells.free if (words_of(name) or [""])[-1] in LABEL_WORDS]
    contains = [name for name in cells.free if not LABEL_WORDS.isdisjoint(words_of(name))]
    texts_of = [
        [name for name in names if not cells.is_numeric(name) and not cells.is_empty(name)]
        for names in (named, ends, contains)
    ]
    sure = list(dict.fromkeys([*texts_of[0], *texts_of[1]]))
    if likely := sure or named[:1] or texts_of[2]:
        others = [name for name in likely[1:] if not LABEL_WORDS.isdisjoint(words_of(name))]
        as_good = [name for name in others if not is_same(cells, likely[0], name)]
        why = f"its name suggests labels{f'; also possible: {listed(as_good)}' if as_good else ''}"
        further = [name for name in _repeated(cells) if name != likely[0]]
        instead = [[name] for name in as_good]
        filled = cells.known(likely[0]).total()
        if marks and 2 * filled <= cells.rows:
            instead.append(marks)
            why += f", in {filled:,} of {cells.rows:,} rows; the columns {listed(marks)} have marks"
        return Labels(likely[:1], instead, why, further)
    if cells.without_names and not has_box and len(cells.free) == 1:
        return Labels(cells.free, [], "the only other column")
    if marks:
        return Labels(marks, [], "columns of yes and no")
    if repeated := _repeated(cells):
        # where a box comes from is not what it shows
        is_origin = not ORIGIN_WORDS.isdisjoint(words_of(repeated[0]))
        instead = [[name] for name in repeated[1:]] + [[]] * (has_box and is_origin)
        return Labels(repeated[:1], instead, "a text column with repeated values")
    # beside a box in a table without names, the only text is what the box shows
    texts = _texts(cells) if cells.without_names and has_box else []
    return Labels(texts[:1], [], "the only text column")


def _texts(cells: Cells) -> list[str]:
    share = 1 if cells.without_names else MOSTLY_NUMERIC
    return [
        name
        for name in cells.free
        if not cells.is_empty(name) and not cells.is_numeric(name, share) and not cells.is_json(name)
    ]


def _repeated(cells: Cells) -> list[str]:
    """Return the columns of texts with repeated values, at most MAX_LABEL_COLUMNS: those with the fewest values first;
    identifiers and columns with one value only if there are no others."""
    counts = {name: (len(known), known.total()) for name in _texts(cells) if (known := cells.known(name))}
    repeated = [name for name, (values, rows) in counts.items() if 2 * values <= rows]
    no_ids = [name for name in repeated if may_order(name) and ID_WORDS.isdisjoint(words_of(name))]
    # of groups, such as several pictures of a patient, each has few rows
    large = [name for name in no_ids if 1 < counts[name][0] <= 0.4 * counts[name][1]]
    return sorted(large or no_ids or repeated, key=lambda name: counts[name][0])[:MAX_LABEL_COLUMNS]


def is_same(cells: Cells, column: str, other: str) -> bool:
    """Return whether two columns say the same in different words."""
    pairs = Counter((left, right) for left, right in cells.texts([column, other]))
    return len(pairs) == len({left for left, _ in pairs}) == len({right for _, right in pairs})


def number_columns(cells: Cells, share: float = MOSTLY_NUMERIC) -> list[str]:
    """Return the columns of numbers; a few other cells are reported, and do not turn a criterion into classes."""
    return [column for column in cells.free if may_order(column) and cells.is_numeric(column, share)]


def stated_parts(table: Table, index: ImageNames) -> dict[str, str | None]:
    """Return the part of each image that a table of images and parts states; {} for another table."""
    is_data = bool(first_row_is_data(table, index))
    cells = Cells(table.without_header() if is_data else table, is_data)
    image, _ = image_column(cells, index)
    cells.take(image)
    split, _ = split_columns(cells, "".join(image))
    if not split or not image:
        return {}
    parts = parts_of(split[0], cells.counts[split[0]])
    rows = cells.texts([*image, *split])
    return {index.find(text): parts[cell] for text, cell in rows if index.knows(text)}


def class_names(table: Table, labels: Collection[str], index: ImageNames) -> dict[str, str]:
    """Return the name for each of `labels` by a table with a number or code, and a name, per row; {} for another
    table."""
    # the first row is harmless if it names the columns
    columns = list(zip(table.header, *(cells for _, cells in table.rows()), strict=False))
    columns = [column for column in columns if len(set(column)) == len(column)]
    codes = next((column for column in columns if labels and set(labels) <= set(column)), ())
    names = next((column for column in columns if column != codes and not any(map(index.knows, column))), ())
    if any(plain_number(name) is not None for name in names):
        return {}
    return {code: name for code, name in zip(codes, names, strict=False) if code in labels}


def form_that_fits(boxes: Floats, limits: Floats, slack: float, likely: str) -> tuple[str, str, bool]:
    """Return the form by which most boxes lie inside their images, `likely` among equals; the evidence; and whether
    corners fit as well as widths and heights. slack: by how much rounded boxes may reach out."""
    low, high = boxes[:, :2], boxes[:, 2:]
    corners = (high > low).all(axis=1) & (high <= limits + slack).all(axis=1)
    extents = (high > 0).all(axis=1) & (low + high <= limits + slack).all(axis=1)
    fits = {CORNERS: int(corners.sum()), EXTENT: int(extents.sum())}
    form = max(fits, key=lambda form: (fits[form], form == likely))
    counts = "; ".join(f"{fits[form]:,} of {len(boxes):,} read as “{form}”" for form in fits)
    both = fits[CORNERS] == fits[EXTENT] == len(boxes)
    return form, f"boxes inside their images: {counts}", both
