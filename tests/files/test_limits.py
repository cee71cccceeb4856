"""Rules for every import limit, also new ones: an error names the variable that sets the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from import_folders import lay, packed, photograph
from numbered_set import cards
from pyarrow import parquet

from ranking.core import SourceBox, SourceImage
from ranking.datasets import build, build_image_set, make_source
from ranking.features.uploads.vectors_preview import preview_vectors
from ranking.files import Limits, Unusable, open_tree
from ranking.files.limits import variable

ROOT = Path(__file__).parents[2]
# goes beyond a limit that is set to LEAST; what was said, each time
Beyond = Callable[[Path], Iterator[str]]
# where 1 would refuse everything else too
LEAST = {"vector_bytes": 200, "entries": 2}


def error_of(work: Callable[[], Any]) -> str:
    """What the refusal of `work` says."""
    with pytest.raises((ValueError, Unusable)) as caught:
        work()
    return str(caught.value)


def as_parquet(path: Path, columns: dict[str, Any]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def entries(folder: Path) -> Iterator[str]:
    files = {f"{number}.jpg": b"" for number in range(3)}
    yield error_of(lambda: open_tree(lay(folder / "x", files)))
    yield error_of(lambda: open_tree(packed(folder / "x.zip", files)))


def of_a_zip_file(folder: Path) -> Iterator[str]:
    yield error_of(lambda: open_tree(packed(folder / "x.zip", {"a.jpg": bytes(2)})))


def image(folder: Path) -> Iterator[str]:
    yield from built_set(folder)
    yield from checked(1)


def boxes(folder: Path) -> Iterator[str]:
    yield from checked(2)


def checked(boxes: int) -> Iterator[str]:
    """What is said of an image with so many boxes."""
    whole = SourceImage("a", photograph(), (SourceBox(None, ("cat",)),) * boxes)
    [row] = build.check(whole, Limits.from_environment()).problems
    yield row.expected


def built_set(folder: Path) -> Iterator[str]:
    place = lay(folder / "x", {"cat/1.jpg": None, "dog/1.jpg": None})
    yield error_of(lambda: build_image_set(make_source("Class folders", folder=str(place)), folder / "set"))


def annotations(*files: tuple[str, str, bytes]) -> Beyond:
    """Each: a source, and a file that it reads."""

    def beyond(folder: Path) -> Iterator[str]:
        for source, name, content in files:
            place = lay(folder / source, {name: content, "1.jpg": b""})
            yield error_of(lambda place=place, source=source: len(make_source(source, folder=str(place))))

    return beyond


def vectors(folder: Path) -> Iterator[str]:
    rows = np.random.default_rng(0).integers(0, 9, (2, 60)).astype(np.uint8)
    images = cards(folder / "set", [1, 1])
    np.save(folder / "wide.npy", rows.astype(np.float64))
    # within the limit, its rows as they are kept are not
    np.save(folder / "bytes.npy", rows[:, :30])
    as_parquet(folder / "x.parquet", {"x": list(rows.astype(np.float32))})
    for name in ("wide.npy", "bytes.npy", "x.parquet"):
        target = folder / f"run of {name}" / "vectors.npy"
        target.parent.mkdir()
        try:
            yield preview_vectors(folder / name, name, images, target).refused
        except ValueError as error:
            yield str(error)
        assert not target.exists()


BEYOND: dict[str, Beyond] = {
    "entries": entries,
    "total_bytes": of_a_zip_file,
    "image_bytes": image,
    "pixels": image,
    "boxes": boxes,
    "samples": built_set,
    "json_bytes": annotations(("COCO", "a.json", b'{"images": []}')),
    "table_bytes": annotations(("Table of images", "t.csv", b"image,x\n1.jpg,1\n")),
    "vector_bytes": vectors,
    "seconds": lambda _: iter([Limits.from_environment().too_slow]),
    "stored_bytes": built_set,
}


@pytest.mark.parametrize("limit", [item.name for item in fields(Limits)])
def test_an_error_about_a_limit_names_its_variable(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limit in BEYOND, f"say in BEYOND how one goes beyond {limit}"
    monkeypatch.setenv(variable(limit), str(LEAST.get(limit, 1)))
    messages = list(BEYOND[limit](tmp_path))
    assert messages
    assert [text for text in messages if variable(limit) not in text] == []


def test_the_documents_list_each_limit_with_its_default() -> None:
    text = (ROOT / "docs" / "image_sets.md").read_text("utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `RANKING_IMPORT_")]
    listed = {row[1].strip(" `"): row[2].strip().replace(",", "") for row in rows}
    assert listed == {variable(item.name): str(item.default) for item in fields(Limits)}
