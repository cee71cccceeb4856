"""On the command line from a folder of images to a report, for samples, labels, sequences and scripts."""

from __future__ import annotations

import csv
import io
from functools import partial

import numpy as np
import pytest
from PIL import Image
from refusals import refused

from ranking import make_method
from ranking.features.opened import open_image_set
from ranking.metrics import average_precision
from ranking.storage.store import Store

CLASSES, FEW = ("beach", "forest", "town"), ("--min-images", "5")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """A folder for each class, 12 pictures in each."""
    folder, random = tmp_path_factory.mktemp("photographs") / "Pictures", np.random.default_rng(0)
    for number, name in enumerate(CLASSES):
        (folder / name).mkdir(parents=True)
        for picture in range(12):
            pixels = random.normal(110, 50, (32, 32, 3)) + 25 * np.eye(3)[number]
            Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / name / f"{picture}.png")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def command(command, home):
    return partial(command, home=home)


@pytest.fixture
def graded(tmp_path_factory):
    """Ten queries of ten samples each, in four grades."""
    file, random = tmp_path_factory.mktemp("graded") / "cars.train", np.random.default_rng(1)
    rows = []
    for sample in range(100):
        values = random.normal(sample % 4, 0.5, 3)
        features = " ".join(f"{column}:{value:.4f}" for column, value in enumerate(values, 1))
        rows.append(f"{sample % 4} qid:{sample // 10} {features}")
    file.write_text("\n".join(rows))
    return file


def test_two_commands_lead_from_a_folder_to_a_report(photographs, home, tmp_path, command):
    out, _ = command("import", photographs, "--name", "Holiday")
    [row] = Store(home).sets.rows()
    assert (row.title, row.images, row.classes) == ("Holiday", 36, CLASSES)
    assert row.key in out
    assert out == command("sets")[0]
    assert [run.state for run in Store(home).runs.all("import")] == ["finished"]
    report = tmp_path / "report.html"
    tables, _ = command("experiment", "Holiday", "--queries", "beach", "--folds", "2", "-o", report)
    assert "AP-SVM − SVM" in tables
    assert "Holiday" in report.read_text()


def test_samples_labels_and_sequences_are_trained_and_ranked_by_name_or_path(
    photographs, graded, home, command
):
    run = command("train", photographs, "--query", "town", "--setting", "C=10")[0].split()[1]
    assert Store(home).runs.get(run).settings["method_settings"]["C"] == 10
    top = list(csv.DictReader(io.StringIO(command("rank", run, "--set", photographs, "--top", "5")[0])))
    assert [int(row["rank"]) for row in top] == [1, 2, 3, 4, 5]

    run = command("train", "Pictures", "--method", "C-star p@k", "--setting", "core_size=1", *FEW)[0].split()[
        1
    ]
    rows = list(csv.DictReader(io.StringIO(command("rank", run, "--top", "1")[0])))
    images = Store(home).sets.get(Store(home).runs.get(run).settings["set"])
    assert len(rows) == images.image_test.sum()
    assert {row["label"] for row in rows} <= set(CLASSES)
    right = sum(int(row["relevant"]) for row in rows) / len(rows)
    assert right == pytest.approx(Store(home).runs.get(run).result["test"]["BEP"]), "one label an image"

    command("import", graded, "--format", "SVMlight", "--name", "Cars")
    run = command("train", "Cars", "--method", "RankSVM")[0].split()[1]
    rows = list(csv.DictReader(io.StringIO(command("rank", run)[0])))
    # a query of ten samples is a sequence
    assert len(rows) == 10 * Store(home).runs.get(run).result["test"]["sequences"] == 30
    assert {row["rank"] for row in rows} == {str(place) for place in range(1, 11)}
    table = command("experiment", "Cars", "--methods", "RankSVM", "SVR")[0]
    assert ("RankSVM" in table, "Kendall tau" in table) == (True, True)


@pytest.fixture
def interesting(tmp_path_factory):
    """Scenes with the share of people who found each interesting, shown by its colours; two are unknown."""
    folder, random = tmp_path_factory.mktemp("scenes"), np.random.default_rng(2)
    lines = ["image,interestingness"]
    for number in range(60):
        share = random.integers(0, 13) / 12
        pixels = random.normal([60 + 120 * share, 100, 120], 20, (16, 16, 3))
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / f"{number}.png")
        lines.append(f"{number}.png,{share:.3f}" if number > 1 else f"{number}.png,")
    (folder / "scenes.csv").write_text("\n".join(lines))
    return folder


def test_scenes_are_put_in_order_by_how_interesting_they_are(interesting, home, command):
    """midrank, section 5.3: any numbers per image are a criterion."""
    command("import", interesting, "--name", "Scenes")
    given = ("--method", "MidRank", "--setting", "subsequences=200", "--setting", "C=100")
    run = command("train", "Scenes", "--criterion", "interestingness", *given)[0].split()[1]
    trained = Store(home).runs.get(run)
    assert trained.settings["criterion"] == "interestingness"
    assert trained.result["test"]["Kendall tau"] > 0.6
    ranked = list(csv.DictReader(io.StringIO(command("rank", run)[0])))
    assert {row["rank"] for row in ranked} == {str(place) for place in range(1, 9)}
    first = list(csv.DictReader(io.StringIO(command("rank", run, "--top", "1")[0])))
    assert first == [row for row in ranked if row["rank"] == "1"]
    assert "--part" in command("rank", run, "--part", "train", code=1)[1]


def test_an_experiment_needs_labels(photographs, command):
    table = command("experiment", photographs, "--methods", "Independent p@k", "--folds", "2", *FEW)[0]
    assert "Independent p@k, entropy" in table


def test_missing_and_ambiguous_names_are_refused_with_the_existing_ones(
    photographs, graded, home, tmp_path, command
):
    fails = lambda *arguments: command(*arguments, code=1)[1]  # noqa: E731
    command("import", photographs)
    assert "Pictures" in fails("train", "Picture", "--query", "town")
    assert "beach, forest, town" in fails("train", "Pictures")
    assert "none, because Pictures has none" in fails("train", "Pictures", "--method", "RankSVM")
    assert "core_size" in fails("train", "Pictures", "--method", "C-star p@k", "--setting", "size=3")
    assert "PASCAL VOC" in fails("import", tmp_path)
    assert "for one task" in fails("experiment", "Pictures", "--methods", "SVM", "MidRank")
    assert "--output" in fails("experiment", "Pictures", "--methods", "C-star p@k", "-o", tmp_path / "a.html")
    changed = photographs.parent / "other" / "Pictures"
    changed.parent.mkdir()
    for name in CLASSES[:2]:
        (changed / name).mkdir(parents=True)
        (changed / name / "0.png").write_bytes((photographs / name / "0.png").read_bytes())
        (changed / name / "1.png").write_bytes((photographs / name / "1.png").read_bytes())
    command("import", changed)
    keys = [row.key for row in Store(home).sets.rows() if row.title == "Pictures"]
    message = fails("train", "Pictures", "--query", "town")
    assert all(key in message for key in keys)
    assert command("train", keys[-1], "--query", "town")


def test_images_are_grouped_as_the_command_line_says(photographs, tmp_path, command):
    random = np.random.default_rng(0)
    for number in range(12):
        pixels = random.integers(256, size=(80, 80, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"scene{number // 3}_{number}.png")
        (tmp_path / f"scene{number // 3}_{number}.txt").write_text(f"{number % 2} .5 .5 .4 .4\n")
    (tmp_path / "classes.txt").write_text("helmet\nhead\n")
    out, _ = command("import", tmp_path, "--format", "YOLO", "--set", "group=name up to a number")
    images = Store(command.keywords["home"]).sets.get(out.split()[0])
    sides = {name.split("_")[0]: set() for name in images.image_names}
    for name, test in zip(images.image_names, images.image_test, strict=True):
        sides[name.split("_")[0]].add(bool(test))
    assert len(sides) == 4
    assert sorted(map(len, sides.values())) == [1, 1, 1, 1]
    _, report = command("import", photographs, "--set", "group=folder", code=1)
    assert "group" in report
    _, report = command("import", photographs, "--set", "colour=red", code=1)
    assert "--set: expected NAME=VALUE, with a name of" in report


def test_an_import_prints_how_it_read_the_files_and_is_strict_if_asked(photographs, tmp_path, command):
    _, report = command("import", photographs)
    for line in (
        "format: Class folders",
        "split: 14 of 36 images for testing (40%",
        "\n1 problem\n  test split: expected training and test images",
    ):
        assert line in report
    _, report = command("import", photographs, "--strict", code=1)
    assert "1 problem, the first: expected training and test images" in report
    assert command("import", photographs, "--strict", "--set", "split=random", "--name", "whole")[0]


def test_files_that_can_be_read_in_several_ways_end_the_command_with_the_options(tmp_path, command):
    for number in range(8):
        side = "train" if number < 4 else "test"
        for kind in ("cat", "dog"):
            file = tmp_path / "x" / side / kind / f"{kind}{number}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(file)
    lists = {"train.txt": range(2, 8), "test.txt": range(2)}
    for name, numbers in lists.items():
        (tmp_path / "x" / name).write_text(
            "".join(f"cat{number}.png\ndog{number}.png\n" for number in numbers)
        )
    _, report = command("import", tmp_path / "x", code=2)
    choices = "--set split=lists or --set split=folders or --set split=random"
    assert f"split: several readings fit; choose by {choices} (" in report
    out, _ = command("import", tmp_path / "x", "--set", "split=folders")
    images = Store(command.keywords["home"]).sets.get(out.split()[0])
    tested = images.image_names[images.image_test].tolist()
    assert sorted(tested) == [f"test/{kind}/{kind}{n}" for kind in ("cat", "dog") for n in range(4, 8)]
    opened = open_image_set(tmp_path / "x", settings={"split": "lists"})
    assert int(opened.images.image_test.sum()) == 4
    assert next(row for row in opened.reading.decisions if row.about == "split").value == "lists"
    with refused("split"):
        open_image_set(tmp_path / "x")


def test_a_script_opens_images_by_their_path(photographs, tmp_path):
    images = open_image_set(photographs)
    learn, test = images.query("beach", features=("Colour",)), images.query("beach", "test", ("Colour",))
    assert len(learn) + len(test) == len(images.query("beach", "all", ("Colour",))) == 36
    assert learn.graph is not None
    method = make_method("HOB-SVM").fit([learn])
    assert average_precision(test.relevance, method.score(test)) > 0.5
    again = open_image_set(images.folder / "set", folder=tmp_path)
    assert again.images.key == images.images.key
    np.testing.assert_array_equal(again.query("beach", features=("Colour",)).features, learn.features)
    with pytest.raises(ValueError, match="split"):
        images.query("beach", "validation")
    with pytest.raises(ValueError, match="images with their labels"):
        open_image_set(tmp_path)


@pytest.mark.parametrize(("path", "subject"), [("~no-such-user/x", "~no-such-user"), ("", "path")])
def test_a_path_that_leads_nowhere_is_refused_alike_in_python_and_on_the_command_line(path, subject, command):
    with refused(subject):
        open_image_set(path)
    assert f"{subject}: expected " in command("import", path, code=1)[1]
