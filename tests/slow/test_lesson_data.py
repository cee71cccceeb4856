"""The programs of `data/` measure again what the lessons read from their files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from shown import program_of

from pages.parts.lessons import all_actions
from pages.parts.lessons.lesson_settings import WHY_AP
from ranking.datasets import load_image_set
from ranking.datasets.sequences import ANY, ONE_EACH
from ranking.storage.examples import folder_of


def test_the_command_measures_what_the_lesson_trains(tmp_path):
    images, query = load_image_set(folder_of("Action figures")), WHY_AP.query
    again = program_of("ten_actions").measured("why AP", images, tmp_path, [query])[query]
    stored = json.loads(all_actions.MEASURED.read_text())["lessons"]["why AP"][query]
    assert again["gains"][0][:2] == list(WHY_AP.methods)
    assert again["gains"][0][2:] == pytest.approx(stored["gains"][0][2:], abs=2e-3)
    assert again["AP"] == pytest.approx(stored["AP"], abs=5e-7)


def test_the_command_measures_the_same_on_fewer_sequences():
    command = program_of("subsequences")
    few = command.measured(train=100, test=60, subsequences=1000, shortest=8)
    gains = {of: row["gain"] for of, row in few["sampled"].items()}
    assert (few["train"], few["test"]) == (100, 60)
    assert gains[ONE_EACH][0] > gains[ANY][0] + 0.05, "with eight different digits it gains more"
    for row in few["sampled"].values():
        assert row["gain"][1] <= row["gain"][0] <= row["gain"][2]
        assert row["MidRank"] - row["RankSVM"] == pytest.approx(row["gain"][0], abs=2e-6)


def test_one_of_each_group_is_one_image_of_each_digit():
    command = program_of("subsequences")
    with pytest.MonkeyPatch.context() as patched:
        seen = []
        patched.setattr(
            command, "taus_of", lambda _, sequences: seen.append(sequences) or np.zeros(len(sequences))
        )
        command.measured(train=10, test=20, subsequences=20, longest=3)
    grades = [each.grades[each.members].reshape(20, command.LENGTH) for each in seen]
    assert all(len(set(row)) == command.LENGTH for row in grades[0].tolist())
    assert any(len(set(row)) < command.LENGTH for row in grades[2].tolist())
