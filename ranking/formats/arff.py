"""Mulan's multi-label sets: an ARFF file with features and labels, and an XML file that names the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar
from xml.parsers import expat

import numpy as np

from ranking.core import Bools, Problem, Source, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import listed, readable
from ranking.datasets.cards import LabelTable
from ranking.datasets.common_settings import seed_of_test, share_of_test
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import drawn
from ranking.files.typed_path import read_typed, typed_path
from ranking.formats.arff_reader import Relation, read_arff
from ranking.formats.xml_file import MAX_XML_BYTES, parse_xml

MAX_BYTES = 512 * 2**20


@SOURCES.register("ARFF")
@dataclass
class Arff(Source):
    """Tsoumakas et al., Mulan, JMLR 2011: rows of numbers, dense or sparse, of which some attributes are labels.

    Rows have no pictures: cards with their labels stand for them. Names are row numbers, in five digits from 1.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="An .arff file on the computer that runs this app. The .xml of the same name beside it says which of its "
        "attributes are labels.",
    )
    test_file: str = setting(
        "",
        label="Test file",
        help="An .arff file with the same attributes to test on. Empty: rows of the first are drawn.",
        advanced=True,
    )
    last: int = setting(
        0,
        label="Labels at the end",
        help="How many of the last attributes are labels. 0: those that the .xml names.",
        minimum=0,
        advanced=True,
    )
    least: int = setting(
        10,
        label="Rows per label",
        help="Labels that fewer rows have are left out: nothing can be learnt of them, or measured.",
        minimum=1,
        advanced=True,
    )
    test_share: float = share_of_test(
        0.4, "How many rows are drawn for the test where there is no test file.", of="rows", advanced=True
    )
    seed: int = seed_of_test("rows")

    def title(self) -> str:
        return readable(typed_path(self.file, "an .arff file").stem) or "ARFF"

    def __len__(self) -> int:
        return len(self._table.names)

    def records(self) -> Iterator[SourceImage | Problem]:
        for relation in self._relations:
            yield from relation.problems
        yield from self._table.records(self.least)

    @cached_property
    def _relations(self) -> list[Relation]:
        files = [self.file, self.test_file] if self.test_file.strip() else [self.file]
        found = [
            read_arff(read_typed(file, MAX_BYTES, "an .arff file"), readable(Path(file).name))
            for file in files
        ]
        if found[-1].attributes != found[0].attributes:
            shown = readable(Path(files[-1]).name)
            raise InputError(shown, "the attributes of the first file", "others")
        return found

    @cached_property
    def _table(self) -> LabelTable:
        relations = self._relations
        names = [attribute.name for attribute in relations[0].attributes]
        twice = (
            sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        )
        if twice:
            raise InputError("attributes", "different names", f"{listed(twice)} more than once")
        rows = np.concatenate([relation.rows for relation in relations])
        is_label = self._is_label(names)
        binary = np.array([attribute.binary for attribute in relations[0].attributes])
        if not (binary[is_label].all() or np.isin(rows[:, is_label], (0, 1)).all()):
            raise InputError("labels", "0 or 1 in every row", "other numbers")
        labels = tuple(name for name, label in zip(names, is_label, strict=True) if label)
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes a row of the report
            features = rows[:, ~is_label].astype(np.float32)
        ids = tuple(f"{row:05d}" for row in range(1, len(rows) + 1))
        return LabelTable(
            features, rows[:, is_label] == 1, labels, ids, self._test([len(one.rows) for one in relations])
        )

    def _is_label(self, names: list[str]) -> Bools:
        """(attributes,) True for the labels; ValueError unless there are labels and features."""
        if self.last:
            told = names[-self.last :]
        else:
            beside = typed_path(self.file, "an .arff file").with_suffix(".xml")
            expected = "the .xml that names the labels; or say how many of the last attributes are labels"
            told = label_names(read_typed(beside, MAX_XML_BYTES, expected))
        unknown = sorted(set(told) - set(names))
        if unknown:
            raise InputError("labels of the .xml", "names of attributes", listed(unknown))
        is_label = np.isin(names, told)
        if not 0 < is_label.sum() < len(names):
            came = f"{is_label.sum()} labels of {len(names)} attributes"
            raise InputError("attributes", "labels and features", came)
        return is_label

    def _test(self, counts: list[int]) -> Bools:
        """(rows,) True for those of the test file, or for the share that is drawn."""
        if len(counts) == 1:
            return drawn(counts[0], self.test_share, self.seed)
        return np.arange(sum(counts)) >= counts[0]


def label_names(data: bytes) -> list[str]:
    """The names that a Mulan XML gives to labels, nested ones too; ValueError where it cannot be read.

    >>> label_names(b'<labels xmlns="http://mulan.sourceforge.net/labels"><label name="sun"/></labels>')
    ['sun']
    """
    try:
        root = parse_xml(data)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InputError("the .xml", "XML that can be read", readable(str(error))) from error
    names = [readable(element.get("name") or "", 200) for element in root.iter("label")]
    if root.tag != "labels" or not names or not all(names):
        raise InputError("the .xml", "<labels> with a <label name=...> per label", f"<{readable(root.tag)}>")
    return names
