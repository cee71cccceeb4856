from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image
from refusals import refused
from zipped import zip_of

from ranking.datasets import looking, make_source
from ranking.datasets.looking import Look, look_at, unknown
from ranking.intake import Upload


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Two folders of images, one of which is broken."""
    for number in range(8):
        folder = tmp_path / "zoo" / ("cat" if number % 2 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    (tmp_path / "zoo" / "cat" / "1.png").write_bytes(b"no image")
    return tmp_path / "zoo"


def test_what_is_brought_is_recognised_with_a_reason_and_previewed(zoo: Path) -> None:
    steps: list[str] = []
    look = look_at(str(zoo), None, {}, steps.append)
    assert (look.source, look.files, look.refused, look.problems) == ("Class folders", 8, "", 2)
    assert "cat, dog" in look.detected[0].recognised.why
    assert look.seen is not None
    assert sorted(crop.classes for crop in look.seen.crops) == [("cat",)] * 3 + [("dog",)] * 4
    assert [row.file for row in look.seen.problems] == ["parts", "cat/1.png"]
    assert len(steps) == 2
    assert "Class folders" in steps[1]


def test_a_look_is_the_same_after_json(zoo: Path) -> None:
    look = look_at(str(zoo), None, {"seed": 3})
    assert Look.from_json(json.loads(json.dumps(look.to_json()))) == look
    assert look.source_settings["seed"] == 3


def test_another_format_can_be_chosen_and_says_why_it_does_not_fit(zoo: Path) -> None:
    look = look_at(str(zoo), "PASCAL VOC", {})
    assert (look.source, look.seen) == ("PASCAL VOC", None)
    assert "Annotations" in look.refused
    with refused("format", "'Digits'"):
        look_at(str(zoo), "Digits", {})


def test_what_nobody_knows_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir")
    look = look_at(str(tmp_path), None, {})
    assert (look.source, look.detected, look.seen) == (None, [], None)
    assert look.refused == unknown(["letter.txt"])
    assert "1 .txt" in look.refused
    assert Look.from_json(json.loads(json.dumps(look.to_json()))) == look


def test_images_without_labels_are_counted(zoo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "holiday"
    folder.mkdir()
    for number, image in enumerate(sorted(zoo.rglob("*.png"))):
        shutil.copy(image, folder / f"{number}.png")
    look = look_at(str(zip_of(folder, tmp_path / "holiday.zip")), None, {})
    assert look.refused == unknown([f"{number}.png" for number in range(look.files)])
    sentences = {unknown(names) for names in ([], ["1.png"], ["1.txt"])}
    assert len(sentences) == 3


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("image;label\n0.png;Bär\n".encode("cp1252"), "byte 19"),
        (b"image,label\n" * 9, "RANKING_INTAKE_TABLE_BYTES"),
        (b'name\t" x="y\tz\n', "line 1"),
        (b"label,label\ncat,dog\n", "label, label"),
    ],
)
def test_why_a_table_says_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: bytes, part: str
) -> None:
    monkeypatch.setenv("RANKING_INTAKE_TABLE_BYTES", "100")
    Image.new("RGB", (40, 30)).save(tmp_path / "0.png")
    (tmp_path / "t.csv").write_bytes(table)
    refusal = look_at(str(tmp_path), None, {}).refused
    assert part in refusal.removeprefix(unknown(["0.png", "t.csv"])).partition("t.csv: ")[2]
    assert refusal.isprintable(), "also where a parser quotes a sign that it did not expect"


def test_names_that_are_refused_are_told_where_nothing_else_is_left(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKING_INTAKE_NAME_LENGTH", "5")
    refusal = look_at(str(zip_of(zoo, tmp_path / "zoo.zip")), None, {}).refused
    assert all(part in refusal for part in ("8 names", "RANKING_INTAKE_NAME_LENGTH", "cat/1.png"))


def test_of_many_problems_the_first_are_told(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_PROBLEMS", 1)
    look = look_at(str(zoo), None, {})
    assert look.seen is not None
    assert (len(look.seen.problems), look.problems) == (1, 2)


def test_an_upload_is_called_as_the_person_calls_it(zoo: Path, tmp_path: Path) -> None:
    place = zip_of(zoo, tmp_path / "brought.zip")
    upload = Upload(place, "../../My zoo.zip")
    assert make_source("Class folders", folder=upload).title() == "My zoo"
    assert make_source("Class folders", folder=str(place)).title() == "brought"
