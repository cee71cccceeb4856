"""Files of the right form with anything in them: each is imported or refused in the product's own words."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
from xml.sax.saxutils import escape, quoteattr

import brought
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ranking.datasets import build_image_set, make_source
from ranking.datasets.looking import look_at

QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["1.jpg", "../1.jpg", "/etc/passwd", "cat", "NaN", "1e999", "-1", "<b>", "\ud800", "\0", "x" * 5000]
    ),
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(), st.sampled_from([0, 1, 2, 40, 30, 10**400, -(10**400)])
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)


def imported_or_refused(source, folder, **more):
    """Both stages of an import; what is told of it can be shown and kept. Any other error than ValueError fails."""
    look = look_at(str(folder), None, {})
    told = [json.dumps(look.to_json()), look.refused]
    draft = folder.parent / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    with contextlib.suppress(ValueError):
        _, problems = build_image_set(make_source(source, folder=str(folder), **more), draft)
        told += [text for row in problems for text in vars(row).values()]
    assert all(text.isprintable() for text in told)


@pytest.fixture
def folder(tmp_path):
    return brought.lay(tmp_path / "x", {"1.jpg": None, "2.jpg": None})


def one_of(good):
    """A good value mostly, so that what is around it is reached."""
    return st.one_of(st.just(good), st.just(good), ANYTHING)


def entry(**parts):
    """An object of these parts, each of which may be anything, or not there."""
    return st.fixed_dictionaries({}, optional={name: one_of(good) for name, good in parts.items()})


COCO = st.fixed_dictionaries(
    {
        "images": st.lists(entry(id=1, file_name="1.jpg", width=40, height=30), max_size=3),
        "annotations": st.lists(
            entry(id=1, image_id=1, category_id=1, bbox=[0, 0, 9, 9], iscrowd=0), max_size=3
        ),
        "categories": st.one_of(
            st.lists(entry(id=1, name="cat", supercategory="animal"), max_size=3), ANYTHING
        ),
    }
)


@given(COCO)
@QUICK
def test_any_coco(folder, content):
    (folder / "a.json").write_text(json.dumps(content))
    imported_or_refused("COCO", folder)


VALUE = entry(x=1, y=1, width=10, height=10, rotation=0, rectanglelabels=["cat"], choices=["cat"], rating=3)
RESULT = st.fixed_dictionaries(
    {"type": one_of("rectanglelabels"), "value": st.one_of(VALUE, ANYTHING)},
    optional={"original_width": one_of(40), "original_height": one_of(30), "id": one_of("r")},
)
DONE = st.lists(st.fixed_dictionaries({"result": st.lists(RESULT, max_size=3)}), max_size=2)
TASK = st.fixed_dictionaries(
    {"data": st.one_of(entry(image="1.jpg"), ANYTHING)},
    optional={"annotations": st.one_of(DONE, ANYTHING)},
)  # fmt: skip


@given(st.lists(TASK, max_size=3))
@QUICK
def test_any_label_studio(folder, content):
    (folder / "a.json").write_text(json.dumps(content))
    imported_or_refused("Label Studio", folder)


@given(st.one_of(ANYTHING, st.text()))
@QUICK
def test_any_json(folder, content):
    (folder / "a.json").write_text(json.dumps(content))
    for source in ("COCO", "Label Studio"):
        imported_or_refused(source, folder)


CELLS = st.one_of(
    st.sampled_from(["1.jpg", "2.jpg", "cat", "0", "10", "train", "test"]), TEXTS, NUMBERS.map(str)
)
COLUMNS = st.lists(
    st.one_of(st.sampled_from(["image", "label", "xmin", "ymin", "xmax", "ymax", "split", "group", "year"]), TEXTS),
    min_size=1, max_size=8,
)  # fmt: skip


@given(COLUMNS, st.lists(st.lists(CELLS, max_size=8), max_size=6), st.sampled_from(",;\t"))
@QUICK
def test_any_table(folder, header, rows, mark):
    stream = io.StringIO()
    written = csv.writer(stream, delimiter=mark)
    with contextlib.suppress(csv.Error):  # csv itself writes no row of one empty cell without quotes
        written.writerows([header, *rows])
    (folder / "t.csv").write_bytes(stream.getvalue().encode("utf-8", "surrogatepass"))
    imported_or_refused("Table of images", folder)


ATTRIBUTES = st.dictionaries(
    st.sampled_from(
        ["name", "width", "height", "label", "xtl", "ytl", "xbr", "ybr", "frame", "id", "points", "rotation", "subset"]
    ),
    st.one_of(st.sampled_from(["1.jpg", "40", "30", "0", "9", "cat"]), TEXTS, NUMBERS.map(str)),
    max_size=8,
)  # fmt: skip
TAGS = st.sampled_from(
    ["annotation", "annotations", "object", "name", "bndbox", "xmin", "ymin", "xmax", "ymax", "size", "width", "height",
     "filename", "image", "box", "track", "polygon", "tag", "attribute", "meta", "part", "difficult", "actions"]
)  # fmt: skip


def element(inner):
    return st.tuples(TAGS, ATTRIBUTES, st.lists(inner, max_size=4)).map(
        lambda told: (
            f"<{told[0]}{''.join(f' {key}={quoteattr(text)}' for key, text in told[1].items())}>"
            f"{''.join(told[2])}</{told[0]}>"
        )
    )


XML = st.recursive(st.one_of(TEXTS.map(escape), NUMBERS.map(str)), element, max_leaves=12)


@given(st.lists(XML, max_size=4), st.sampled_from(["annotation", "annotations"]))
@QUICK
def test_any_xml(folder, inner, root):
    text = f"<{root}>{''.join(inner)}</{root}>".encode("utf-8", "replace")
    (folder / "Annotations").mkdir(exist_ok=True)
    (folder / "JPEGImages").mkdir(exist_ok=True)
    (folder / "Annotations" / "1.xml").write_bytes(text)
    (folder / "annotations.xml").write_bytes(text)
    for source in ("PASCAL VOC", "CVAT"):
        imported_or_refused(source, folder)


@given(
    st.lists(
        st.lists(
            st.one_of(st.sampled_from(["0", "1", ".5", "1.0"]), NUMBERS.map(str), TEXTS), max_size=8
        ).map(" ".join),
        max_size=5,
    ),
    TEXTS,
)
@QUICK
def test_any_rows_and_names_of_yolo(folder, rows, names):
    (folder / "1.txt").write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))
    (folder / "data.yaml").write_bytes(f"names: [cat, {names}]".encode("utf-8", "surrogatepass"))
    imported_or_refused("YOLO", folder)
