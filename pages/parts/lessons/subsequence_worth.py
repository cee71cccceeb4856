"""When subsequences help: the results of data/subsequences.py on digits, and their captions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pages.parts.app import home
from ranking.datasets.sequences import ANY, ONE_EACH
from ranking.metrics.intervals import Interval
from ranking.reports.prose import change, markdown_table, signed_end

MEASURED = Path(__file__).parents[3] / "data" / "subsequences.json"
PAIRS, SUBSEQUENCES = "RankSVM", "MidRank"
DISPLAY_NAMES = {ONE_EACH: "eight different digits", ANY: "any images"}


class Worth(NamedTuple):
    """Mean Kendall tau of both methods, and the gain of MidRank over RankSVM with its interval."""

    # The interval is over sequences.
    pairs: float
    subsequences: float
    gain: Interval


class Measured(NamedTuple):
    """Results on `test` sequences of `length` images after training on `train`, by the way of sampling."""

    length: int
    train: int
    test: int
    sampled: Mapping[str, Worth]


def measured() -> Measured:
    """Return the stored results; raise Gone if they cannot be read."""
    with home.missing_as_error():
        stored = json.loads(MEASURED.read_text())
    sampled = {
        of: Worth(row[PAIRS], row[SUBSEQUENCES], Interval(*row["gain"]))
        for of, row in stored.pop("sampled").items()
    }
    return Measured(**stored, sampled=sampled)


def summed_up(worths: Measured) -> str:
    """Say in which sequences subsequences help; a test compares it with the stored intervals."""
    differ, others = (
        f"{worth.pairs:.3f} → {worth.subsequences:.3f}"
        for worth in (worths.sampled[of] for of in DISPLAY_NAMES)
    )
    return f"Subsequences help when all eight digits differ ({differ}), not otherwise ({others})."


def table(worths: Measured) -> str:
    """Return the results as a Markdown table."""
    rows = []
    for of, display_name in DISPLAY_NAMES.items():
        worth = worths.sampled[of]
        low, high = map(signed_end, worth.gain[1:])
        difference = f"{change(worth.pairs, worth.subsequences)} ({low} to {high})"
        rows.append([display_name, f"{worth.pairs:.3f}", f"{worth.subsequences:.3f}", difference])
    heads = ["Digits in numerical order", PAIRS, SUBSEQUENCES, "Difference (95% interval)"]
    return markdown_table(heads, rows)
