"""Every lesson in a home whose newest experiments compare any of the methods: no lesson needs one of them."""

from __future__ import annotations

from itertools import combinations

import pytest
from shown import plain_texts

from pages.parts.app import menu
from pages.parts.lessons.lesson_settings import NEIGHBOURS
from ranking import method_names
from ranking.datasets import load_image_set
from ranking.storage.examples import folder_of
from ranking.storage.run_settings import ExperimentSettings

LESSONS = sorted(menu.PLACES["Lessons"].keys() - {"lessons"})
METHODS = method_names(ranks="samples")
SUBSETS = [names for count in range(1, len(METHODS) + 1) for names in combinations(METHODS, count)]


def test_lessons_and_subsets_were_found():
    assert len(LESSONS) == 6
    assert len(SUBSETS) == 2 ** len(METHODS) - 1 >= 31


@pytest.fixture
def compared(fresh_home):
    """A new home in which an experiment with each subset of the methods has ended, without any trial."""
    key = load_image_set(folder_of("Action figures")).key
    features = NEIGHBOURS.settings_of(key, "SVM").features
    for names in SUBSETS:
        settings = ExperimentSettings(key, features, tuple((name, {}) for name in names), (NEIGHBOURS.query,))
        run = fresh_home.runs.create("study", settings.to_json())
        fresh_home.runs.end(run.id, "finished", result={})


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_opens(lesson, compared, started, open_page):
    app = open_page(lesson, all_steps="True")
    assert not app.error
    assert not app.warning
    if lesson == "neighbours_lesson":
        assert "cross-validated C" in plain_texts(app), "of the bundled experiment"
