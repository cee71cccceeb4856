"""MidRank with several readings of what the paper leaves open, and with few grades.

These are parts of `ordering_baselines.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from public_figures import Figures, in_digits, measures, measures_of
from sklearn.datasets import load_digits
from timing import table

from ranking import SequenceSet, make_method
from ranking.methods.length_rankings import Rankings, scores_of_orders
from ranking.methods.mid_rank import MidRank

# the first attributes; on a fold of their training images the reading is chosen
CHOOSING = 5


class Reading(NamedTuple):
    """A row of the table. trained: settings for training; read: settings for prediction only."""

    name: str
    trained: dict[str, Any]
    read: dict[str, str]


EXACT, KEPT = {"votes": "exact position"}, {"votes": "kept"}
STRICT, NONE = {"ties": "forbidden"}, {"constant": 0.0}
READINGS = (
    Reading("default", {}, {}),
    Reading("votes for the exact position", {}, EXACT),
    Reading("votes kept (not in the paper)", {}, KEPT),
    Reading("constant counted in the search too", {}, {"constant_in_search": "counted"}),
    Reading("no constant", NONE, {}),
    Reading("no constant, votes for the exact position", NONE, EXACT),
    Reading("ties forbidden", STRICT, {}),
    Reading("ties forbidden, votes for the exact position", STRICT, EXACT),
    Reading("ties forbidden, votes kept (earlier default)", STRICT, KEPT),
    Reading("ties forbidden, no constant, exact position (eqs. 3, 4 to the letter)", STRICT | NONE, EXACT),
    Reading("ties forbidden, no constant, votes kept", STRICT | NONE, KEPT),
)

# (3,) measures by name
MeasuresByName = dict[str, np.ndarray]


def show(figures: Figures, attributes: int, count: int, tests: int, subsequences: int) -> None:
    """Print the table of all readings."""
    attributes = min(attributes, len(figures.orders))
    rows = np.arange(len(figures.features))
    chosen, tested = list[MeasuresByName](), list[MeasuresByName]()
    for attribute in range(attributes):
        if attribute < CHOOSING:
            split = figures.splits(attribute, rows[figures.train], min(count, 3000))[0]
            chosen.append(tried(*split, subsequences))
        train = figures.sequences(attribute, rows[figures.train], count, 1)
        tested.append(
            tried(train, figures.sequences(attribute, rows[~figures.train], tests, 2), subsequences)
        )
        print(f"  attribute {attribute + 1} of {attributes}", flush=True)
    print(f"\nReadings of MidRank on public figures, {attributes} attributes, C = {MidRank().C:g}\n")
    header = ["reading", "tau, chosen by", "tau, others", "NDCG", "tau", "pairs", "best length"]
    print(table(header, [row(name, chosen, tested) for name in tested[0] if " alone " not in name]) + "\n")


def row(name: str, chosen: list[MeasuresByName], tested: list[MeasuresByName]) -> list[str]:
    """Return tau on the choosing attributes, tau on the others, the measures of all, and the best single length."""
    alone: dict[str, list[float]] = {}
    for measures_of_run in tested:
        for key in (key for key in measures_of_run if key.startswith(f"{name} alone ")):
            alone.setdefault(key.split(" alone ")[1], []).append(measures_of_run[key][1])
    taus = {length: float(np.mean(values)) for length, values in alone.items()}
    best = max(taus, key=taus.__getitem__, default="")
    held_out = tested[CHOOSING:] or tested
    count = len(alone.get(best, []))
    few = f" ({count} attributes)" if count < len(tested) else ""
    return [
        name,
        f"{np.mean([measures_of_run[name][1] for measures_of_run in chosen]):.3f}",
        f"{np.mean([measures_of_run[name][1] for measures_of_run in held_out]):.3f}",
        *in_digits(np.mean([measures_of_run[name] for measures_of_run in tested], axis=0)),
        f"{best}: {taus[best]:.3f}{few}" if best else "",
    ]


def tried(train: SequenceSet, test: SequenceSet, subsequences: int) -> MeasuresByName:
    """Return the measures of all readings and of their single lengths; each model is trained once."""
    measures_by_name: MeasuresByName = {"RankSVM": measures(make_method("RankSVM").fit(train), test)}
    methods: dict[str, MidRank] = {}
    rankings: dict[str, Rankings] = {}
    for name, trained, read in READINGS:
        method = methods.setdefault(
            str(trained), make_method("MidRank", subsequences=subsequences, **trained)
        )
        if not method.lengths:
            method.fit(train)
        method.votes = read.get("votes", MidRank.votes)
        method.constant_in_search = read.get("constant_in_search", MidRank.constant_in_search)
        key = f"{trained} {method.constant_in_search}"
        if key not in rankings:
            rankings[key] = method.rankings(test)
        ranked = rankings[key]
        measures_by_name[name] = measured(test, method.fused(ranked, test.starts))
        for length, orders in zip(ranked.lengths, ranked.orders, strict=True):
            measures_by_name[f"{name} alone {length}"] = measured(test, orders)
    return measures_by_name


def measured(test: SequenceSet, orders: np.ndarray) -> np.ndarray:
    """Return (3,) measures of orders (N,) of sequences of equal length."""
    grades = test.grades[test.members].reshape(len(test), -1)
    return measures_of(grades, scores_of_orders(orders, test.starts).reshape(grades.shape)).mean(axis=0)


# ---------------------------------------------------------------------------------------------------------
# Few grades
# ---------------------------------------------------------------------------------------------------------

GRADES, SEEDS, LENGTHS = (3, 4, 6, 8), range(2), (8, 20)
BASELINE_GRID = (100.0, 1e3, 1e4)


def show_few_grades(folder: Path | None, count: int, subsequences: int) -> None:
    """Print tau of both methods by the number of grades, means over two orders of the persons or digits."""
    pools = {"digits": digits()} | ({} if folder is None else {"public figures": persons(folder)})
    lines = []
    for name, pool in pools.items():
        for length in LENGTHS:
            for grades in GRADES:
                cases = [made(pool, grades, length, count, seed) for seed in SEEDS]
                baseline, own = (np.mean([taus(*case, subsequences) for case in cases], axis=0)).tolist()
                lines.append(
                    [
                        name,
                        str(length),
                        str(grades),
                        f"{baseline:.3f}",
                        f"{own:.3f}",
                        f"{own - baseline:+.3f}",
                    ]
                )
                print(f"  {' '.join(lines[-1])}", flush=True)
    header = ["images", "sequences of", "grades", "RankSVM", "MidRank", "difference"]
    print("\nKendall tau by the number of grades\n\n" + table(header, lines) + "\n")


class Pool(NamedTuple):
    """features: (n, d) of length 1; kinds: (n,) the person or digit; train: (n,) training images."""

    features: np.ndarray
    kinds: np.ndarray
    train: np.ndarray


def persons(folder: Path) -> Pool:
    figures = Figures(folder / "pubfig_data.mat")
    return Pool(figures.features, figures.persons, figures.train)


def digits() -> Pool:
    """Return the digits, with as many training images as the public figures."""
    data = load_digits()
    features = data.data / np.linalg.norm(data.data, axis=1, keepdims=True)
    train = np.random.default_rng(0).permutation(len(features)) < 241
    return Pool(features.astype(np.float32), data.target, train)


def made(pool: Pool, grades: int, length: int, count: int, seed: int) -> tuple[SequenceSet, SequenceSet]:
    """Sample training and test sequences of any images; kinds are in random order, and adjacent ones are merged."""
    random = np.random.default_rng(seed)
    kinds = pool.kinds.max() + 1
    graded = (random.permutation(kinds) * grades // kinds)[pool.kinds]
    parts = []
    for part in (pool.train, ~pool.train):
        rows = np.flatnonzero(part)
        members = np.stack([random.choice(rows, length, replace=False) for _ in range(count)])
        members = members[graded[members].min(axis=1) < graded[members].max(axis=1)]
        starts = np.arange(0, members.size + 1, length)
        parts.append(SequenceSet(pool.features, graded, members.ravel(), starts))
    return parts[0], parts[1]


def taus(train: SequenceSet, test: SequenceSet, subsequences: int) -> tuple[float, float]:
    """Return tau of RankSVM with the best C of a grid, and of MidRank with its default settings."""
    baselines = [measures(make_method("RankSVM", C=C).fit(train), test)[1] for C in BASELINE_GRID]
    return max(baselines), measures(make_method("MidRank", subsequences=subsequences).fit(train), test)[1]
