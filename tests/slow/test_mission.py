"""The mission of the app as one test, in a real browser on an empty data folder.

Import a ZIP file, train every method, see ranked thumbnails, max-marginals and the similarity graph, answer
ten questions with undo, compare two runs, and open each lesson and each page.

The tables below contain the texts that a user reads and the buttons that they press: where a page moves or a
word changes, change its row.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest
from browsing import Page, Server, settle
from PIL import Image, ImageDraw
from walking import served
from working import LONGEST

from pages.parts.app import menu
from ranking import method_names

PAGES = {file.stem for file in (Path(__file__).parents[2] / "pages").glob("*.py")} - {"__init__"}
FEWEST_PAGES, LESSONS, FEWEST_STEPS, MAX_STEPS, FEWEST_METHODS = 24, 6, 3, 8, 20
QUESTIONS, SAMPLES_TESTED = 10, 24


class Place(NamedTuple):
    """A page of the laboratory."""

    # The links to press for it.
    links: tuple[str, ...]
    title: str
    # A pattern of a text that it shows.
    shows: str
    # The least number of images, charts and tables.
    pictures: int = 1
    # Whether it is opened from its card on the page of the last link.
    lesson: bool = False


PLACES = {
    "start": Place(("Start",), "Ranking laboratory", "AP", 12),
    "data": Place(("Data",), "Image sets", "Training split: 20 images", 32),
    "train": Place(("Train",), "Train", "Training runs"),
    "ranking": Place(("Train", "Ranking"), "Ranked images", "Rank 1 ", 24),
    "neighbours": Place(("Train", "Neighbours"), "Neighbours", "AP with neighbours", 8),
    "objects": Place(("Train", "Objects"), "Find the object", "Detections", 12),
    "compare": Place(("Compare",), "Compare rankings", "Selected sample", 16),
    "experiments": Place(("Compare", "Experiments"), "Experiments", "AP over 3 folds", 3),
    "most violated": Place(("Inside training",), "Most violated ranking", "violated", 2),
    "assignment": Place(("Inside training", "Assignment"), "Ranking as assignment", "Outlined cells", 1),
    "timing": Place(("Inside training", "Timing"), "Inference timing", "milliseconds per call", 1),
    "sequences": Place(("Sequences",), "Sequence ranking", "The true order", 16),
    "search": Place(("Sequences", "Search"), "MidRank search", "The best of all orders", 16),
    "ablations": Place(("Sequences", "Ablations"), "MidRank ablations", "Kendall tau", 1),
    "answer": Place(("Labels",), "Interactive labelling", "Does it show"),
    "interactions": Place(("Labels", "Interactions"), "Label interactions", "attract", 1),
    "simulation": Place(("Labels", "Simulation"), "Labelling simulation", "questions asked", 3),
    "lessons": Place(("Lessons",), "Lessons", "minutes", 0),
    "why AP": Place(("Lessons",), "Why optimise AP?", "Weighted 0-1 loss", 24, True),
    "do neighbours help": Place(("Lessons",), "Do neighbours help?", "HOAP-SVM: AP", 32, True),
    "pairs": Place(("Lessons",), "Pairs or sequences?", "Pair 1", 6, True),
    "violated": Place(("Lessons",), "Finding the most violated ranking", "correct ranking", 24, True),
    "labels": Place(("Lessons",), "Which label to ask about?", "score: best with it", 1, True),
    "where": Place(("Lessons",), "Where is the object?", "candidate windows", 12, True),
}

# Other pages, such as new ones, are reached by their section and tab.
PLACES |= {
    page: Place(tuple(filter(None, (section, title.tab))), title.page, re.escape(title.page))
    for section, pages in menu.PLACES.items()
    for page, title in pages.items()
    if title.page not in {place.title for place in PLACES.values()}
}


class Training(NamedTuple):
    """The page on which methods of a task are trained."""

    place: str
    # The fields that choose the data.
    choices: Mapping[str, str]
    # The field of the run that is shown.
    run: str
    # The expander of the form.
    fold: str | None = None
    # The button that trains the first methods of a set.
    first: str | None = None
    # Small values for the numbers that a method has.
    small: Mapping[str, int] = {}


IMPORTED = "shapes"
TRAININGS = {
    "samples": Training("train", {"Image set": IMPORTED, "Query": "disc"}, "Training run"),
    "windows": Training(
        "objects",
        {"Image set": IMPORTED, "Object": "disc"},
        "Training run",
        "A new training",
        "Train Latent AP-SVM and MI-SVM",
        {"Windows per image": 20},
    ),
    "labels": Training(
        "answer",
        {"Image set": IMPORTED},
        "Model",
        "Train another model",
        "Train C-star p@k and Independent p@k",
        {"Minimum number of images per label": 1},
    ),
    "sequences": Training(
        "sequences",
        {"Image set": "Timeline cars"},
        "Training run",
        "A new training",
        None,
        {"Length": 6, "Training sequences": 20, "Test sequences": 20, "Boosting rounds": 5},
    ),
}
TRAIN, METHOD, CANCEL, TRAINED, JUST_TRAINED = "Train", "Method", "Cancel", "Test AP [01]", "just trained"
IMPORT_FORM, IMPORT, IMPORT_DONE = "Import your own images", "Add image set", "Undo"
BEGIN, NEXT_STEP, DONE = re.compile("^(Begin|Again)$"), "Next step", "✓ done"
MAX_MARGINALS, GRAPH, COMPONENT = r"m⁺ = -?\d.*m⁻ = -?\d", "Similarity graph", r"2 samples · "
DIFFERENCE = r"AP of HOAP-SVM minus AP of [A-Z-]*SVM: [+−]\d\.\d+"
ASKED, ANSWERED, UNDO = re.compile("^Does it show"), r"\b{count} questions? answered", "u"
PICTURES = "img, canvas, svg, table"
COUNT = """all => all.map((one) => one.getBoundingClientRect())
    .filter((box) => Math.min(box.width, box.height) > 20).length"""
# All text of the page that can be seen, also in components.
TEXT = """() => {
    const texts = [];
    const visit = (root) => {
        for (const node of root.childNodes) {
            if (node.nodeType === 3 && node.parentElement?.checkVisibility()) texts.push(node.data);
            if (node.nodeType !== 1 || node.closest("style, script, .katex")) continue;
            if (node.shadowRoot) visit(node.shadowRoot);
            visit(node);
        }
    };
    visit(document.querySelector("[data-testid=stMain]"));
    return texts.join(" ").replaceAll(/\\s+/g, " ");
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose home is empty."""
    with served(tmp_path_factory.mktemp("mission")) as server:
        yield server


def test_a_user_imports_trains_ranks_answers_compares_and_opens_every_lesson_and_page(visit, tmp_path):
    page = visit("/")
    opened, lessons = set[str](), 0
    opened.add(go(page, "start"))
    import_images(page, tmp_path)
    opened.add(go(page, "data"))

    trained = {task: train_every_method(page, task) for task in ("samples", "windows", "labels", "sequences")}
    assert sorted(name for names in trained.values() for name in names) == sorted(method_names())
    assert len(method_names()) >= FEWEST_METHODS

    see_rankings(page)
    compare_two(page)
    answer_with_undo(page)
    for name, place in PLACES.items():
        opened.add(go(page, name))
        if place.lesson:
            take_lesson(page)
            lessons += 1
    go(page, "lessons")
    assert text_of(page).count(DONE) == lessons == LESSONS
    assert opened == PAGES
    assert len(opened) >= FEWEST_PAGES


# ---------------------------------------------------------------------------------------------------------
# What is seen
# ---------------------------------------------------------------------------------------------------------


def text_of(page: Page) -> str:
    return str(page.evaluate(TEXT))


def pictures_of(page: Page) -> int:
    """How many pictures, charts and tables are shown."""
    return int(page.get_by_test_id("stMain").locator(PICTURES).evaluate_all(COUNT))


def see(page: Page, text: str, pictures: int = 0) -> str:
    """The text of the page, once a text (a pattern) and so many pictures are on it; it reports no error."""
    last = time.monotonic() + LONGEST
    while True:
        settle(page)
        shown, count = text_of(page), pictures_of(page)
        for failure in ("stException", "stAlertContentError"):
            assert not page.get_by_test_id(failure).count(), f"{page.url} reports an error: {shown}"
        if re.search(text, shown) and count >= pictures:
            return shown
        assert time.monotonic() < last, (
            f"{page.url}: no {text!r}, or {count} of {pictures} pictures, in {shown}"
        )
        page.wait_for_timeout(500)


def go(page: Page, name: str) -> str:
    """Go to a place and see what it shows; return the name of its page."""
    reach(page, name)
    see(page, PLACES[name].shows, PLACES[name].pictures)
    return urlsplit(page.url).path.strip("/") or "start"


def reach(page: Page, name: str) -> None:
    """Press what leads to a place."""
    place = PLACES[name]
    for link in place.links:
        page.get_by_role("link", name=link, exact=True).first.click()
        settle(page)
    if place.lesson:
        see(page, "minutes")
        cards = [one.title for one in PLACES.values() if one.lesson]
        page.get_by_role("button", name=BEGIN).nth(cards.index(place.title)).click()
    page.get_by_role("heading", name=place.title, exact=True, level=1).wait_for()
    settle(page)


def choose(page: Page, label: str, option: str) -> None:
    """Choose the option that begins so; a page that runs again closes its list."""
    begins = re.compile(f"^{re.escape(option)}(?![-\\w])")
    last = time.monotonic() + LONGEST
    while time.monotonic() < last:
        box = page.get_by_role("combobox", name=label, exact=True).first
        box.click()
        box.fill(option)
        try:
            page.get_by_role("option", name=begins).first.click(timeout=3000)
            # a busy server begins to run the page some time after the press
            page.wait_for_timeout(300)
            return settle(page)
        except Exception as error:
            if not is_timeout(error):
                raise
            page.keyboard.press("Escape")
    raise AssertionError(f"{page.url}: no option {option!r} of {label!r} could be chosen")


# ---------------------------------------------------------------------------------------------------------
# What is done
# ---------------------------------------------------------------------------------------------------------


def import_images(page: Page, folder: Path) -> None:
    reach(page, "data")
    page.get_by_text(IMPORT_FORM).click()
    file = folder / f"{IMPORTED}.zip"
    file.write_bytes(zipped_images())
    settle(page)
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(file)
    page.get_by_role("button", name=IMPORT, exact=True).click()
    page.get_by_role("button", name=IMPORT_DONE).wait_for()
    see(page, "Samples 64")


def train_every_method(page: Page, task: str) -> list[str]:
    """Train the methods of a task by presses, one after the other; return those that were trained."""
    training, names, trained = TRAININGS[task], method_names(ranks=task), list[str]()
    reach(page, training.place)
    for label, option in training.choices.items():
        choose(page, label, option)
    if training.first is not None:
        page.get_by_role("button", name=training.first, exact=True).click()
        page.get_by_role("combobox", name=training.run, exact=True).first.wait_for()
        page.get_by_role("button", name=CANCEL).wait_for(state="detached")
        trained += [name for name in names if name in training.first]
        for method in trained:
            choose(page, training.run, method)
    for method in names:
        if method not in trained:
            train(page, training, method)
            trained.append(method)
    return trained


def train(page: Page, training: Training, method: str) -> None:
    """Train a method by the form of its page, and show what it has learned."""
    if training.fold is not None and not page.get_by_role("combobox", name=METHOD, exact=True).is_visible():
        page.get_by_text(training.fold, exact=True).click()
    choose(page, METHOD, method)
    for label, value in training.small.items():
        fill(page, label, str(value))
    page.get_by_role("button", name=TRAIN, exact=True).click()
    if training.fold is None:
        see(page, f"{re.escape(method)} on “disc”")
        page.get_by_role("button", name=CANCEL).wait_for(state="detached")
        see(page, TRAINED, 1)
    else:
        see(page, f"Show {re.escape(method)}\\b.*{JUST_TRAINED}")
        page.get_by_role("button", name=re.compile(f"^.*Show {re.escape(method)}\\b.*{JUST_TRAINED}")).click()
        see(page, re.escape(method), PLACES[training.place].pictures)


def fill(page: Page, label: str, value: str) -> None:
    """Type a number, if the method has it."""
    # A busy page still shows the form of the method chosen before, whose fields disappear while they are
    # filled.
    field = page.get_by_role("spinbutton", name=label, exact=True)
    last = time.monotonic() + LONGEST
    while set(field.evaluate_all("all => all.map((one) => one.value)")) - {value}:
        assert time.monotonic() < last, f"{page.url}: {value} could not be typed in {label!r}"
        try:
            field.fill(value, timeout=3000)
            field.press("Enter", timeout=3000)
        except Exception as error:
            if not is_timeout(error):
                raise
        settle(page)


def is_timeout(error: Exception) -> bool:
    """Playwright's own error can be imported only where it is installed."""
    return type(error).__name__ == "TimeoutError"


def see_rankings(page: Page) -> None:
    """See ranked thumbnails, the max-marginals of a sample, and the graph of connected samples."""
    go(page, "ranking")
    shown = see(page, "AP [01]", SAMPLES_TESTED)
    assert all(f" {rank} " in shown for rank in range(1, SAMPLES_TESTED + 1))
    go(page, "neighbours")
    see(page, MAX_MARGINALS, 4)
    page.get_by_text(GRAPH, exact=True).click()
    shown = see(page, COMPONENT)
    assert len(re.findall(COMPONENT, shown)) == 12


def compare_two(page: Page) -> None:
    """See rankings of the same images below each other, and the difference of two of them."""
    go(page, "compare")
    see(page, DIFFERENCE, 16)


def answer_with_undo(page: Page) -> None:
    """Answer ten questions by keys; take back the third of them, and the last."""
    go(page, "answer")
    choose(page, "Image set", "Label scenes")
    # a key that is pressed in a field is typed there
    page.get_by_text(ASKED).first.click()
    for count, key in enumerate("1010s10101", start=1):
        question = page.get_by_text(ASKED).first.inner_text()
        page.keyboard.press(key)
        see(page, ANSWERED.format(count=count))
        if count in (3, QUESTIONS):
            page.keyboard.press(UNDO)
            see(page, ANSWERED.format(count=count - 1))
            assert page.get_by_text(ASKED).first.inner_text() == question
            page.keyboard.press(key)
            see(page, ANSWERED.format(count=count))
    page.reload()
    page.get_by_text(ASKED).first.wait_for()
    shown = see(page, ANSWERED.format(count=QUESTIONS))
    assert "✓" in shown
    assert "✗" in shown


def take_lesson(page: Page) -> None:
    """Go through the steps of a lesson to its end."""
    steps = 1
    while page.get_by_role("button", name=NEXT_STEP, exact=True).count():
        before = text_of(page)
        page.get_by_role("button", name=NEXT_STEP, exact=True).click()
        page.wait_for_function(f"before => ({TEXT})() !== before", arg=before)
        see(page, "", 1)
        steps += 1
        assert steps <= MAX_STEPS
    assert steps >= FEWEST_STEPS


# ---------------------------------------------------------------------------------------------------------
# What is imported
# ---------------------------------------------------------------------------------------------------------


def zipped_images() -> bytes:
    """A ZIP file of COCO: 20 images to train on and 12 to test on, each of two shapes on noise."""
    rng, content = np.random.default_rng(0), io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for split, count in (("train", 20), ("val", 12)):
            images, boxes = [], []
            for number in range(count):
                name = f"{split}{number:02}.png"
                image = Image.fromarray(rng.integers(90, 160, (96, 128, 3), dtype=np.uint8))
                pen = ImageDraw.Draw(image)
                for side in (0, 1):
                    x, y, size = 6 + 64 * side + rng.integers(12), 10 + rng.integers(30), rng.integers(36, 44)
                    kind, colour = (number + side) % 3, tuple(rng.integers(100, 150, 3).tolist())
                    draw(pen, kind, (int(x), int(y), int(x + size), int(y + size)), colour)
                    bbox = [int(x), int(y), int(size), int(size)]
                    boxes.append({"id": len(boxes), "image_id": number, "category_id": kind, "bbox": bbox})
                images.append({"id": number, "file_name": name, "width": 128, "height": 96})
                file = io.BytesIO()
                image.save(file, "PNG")
                archive.writestr(f"{split}2017/{name}", file.getvalue())
            classes = [
                {"id": number, "name": name} for number, name in enumerate(("disc", "square", "cross"))
            ]
            labels = {"images": images, "annotations": boxes, "categories": classes}
            archive.writestr(f"annotations/instances_{split}2017.json", json.dumps(labels))
    return content.getvalue()


def draw(pen: Any, kind: int, box: tuple[int, int, int, int], colour: tuple[int, ...]) -> None:
    left, top, right, bottom = box
    if kind == 0:
        pen.ellipse(box, fill=colour)
    elif kind == 1:
        pen.rectangle(box, fill=colour)
    else:
        pen.line(box, fill=colour, width=7)
        pen.line((left, bottom, right, top), fill=colour, width=7)
