"""The page Label questions without a browser: what it tells the component, and what it says where things are missing."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from label_home import HOSTILE, LabelHome
from test_ranked_images import components

from pages.parts import answer_files, cache
from pages.parts.questions import Sent
from ranking import METHODS  # noqa: F401
from ranking.answers import AnswerEvent, AnswerStore, fold
from ranking.asking import answers_of
from ranking.metrics import break_even_precision


def test_placeholder():
    pass
