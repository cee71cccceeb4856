"""Pairs of samples and their affinity, against the definitions written out."""

from __future__ import annotations

import io
import itertools

import numpy as np
from refusals import refusal, refused

from ranking.core.spreadsheets import guarded
from ranking.features.graph import similarity, uploaded_pairs
from ranking.features.graph.similarity import (
    affinity,
    mean_precision,
    nearest,
    nearest_samples,
    same_group,
    same_image,
)
from ranking.features.graph.uploaded_pairs import edges_from_csv


def test_samples_of_one_group_are_all_connected():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        groups = generator.integers(0, generator.integers(1, 9), generator.integers(0, 30))
        pairs = itertools.combinations(range(len(groups)), 2)
        expected = [(i, j) for i, j in pairs if groups[i] == groups[j]]
        for edges in (same_group(groups), same_image(groups), same_group([f"group {g}" for g in groups])):
            assert edges.shape == (len(expected), 2)
            assert list(map(tuple, edges.tolist())) == expected


def nearest_of(features: np.ndarray, k: int) -> list[tuple[int, int]]:
    pairs = set()
    for i in range(len(features)):
        others = [j for j in range(len(features)) if j != i]
        others.sort(key=lambda j: (float(((features[i] - features[j]) ** 2).sum()), j))
        pairs |= {(min(i, j), max(i, j)) for j in others[:k]}
    return sorted(pairs)


def test_the_nearest_are_those_of_least_distance(monkeypatch):
    for block, precision in itertools.product((7, 64, 1 << 21), (np.float32, np.float64, np.int64)):
        monkeypatch.setattr(similarity, "BLOCK", block)
        for seed in range(10):
            generator = np.random.default_rng(seed)
            n, d = generator.integers(2, 25), generator.integers(1, 4)
            # many distances tie
            features = generator.integers(-3, 4, (n, d)).astype(precision)
            k = int(generator.integers(1, n))
            edges = list(map(tuple, nearest(features, k).tolist()))
            assert edges == nearest_of(features, k), (block, precision, seed)


def test_the_nearest_samples_of_one_come_in_the_order_of_their_distance_then_of_the_set(monkeypatch):
    ties = 0
    for block, precision in itertools.product((7, 1 << 21), (np.float32, np.float64, np.int64)):
        monkeypatch.setattr(similarity, "BLOCK", block)
        for seed in range(10):
            generator = np.random.default_rng(seed)
            n, d = generator.integers(1, 25), generator.integers(1, 4)
            features = generator.integers(-3, 4, (n, d)).astype(precision)
            sample, k = int(generator.integers(n)), int(generator.integers(1, n + 3))
            apart = {j: float(((features[sample] - features[j]) ** 2).sum()) for j in range(n) if j != sample}
            expected = sorted(apart, key=lambda j: (apart[j], j))[:k]
            assert nearest_samples(features, sample, k).tolist() == expected, (block, precision, seed)
            ties += len(set(apart.values())) < len(apart)
    assert ties > 30
    assert refusal(nearest_samples, [[1.0], [np.nan]], 0, 1)[0] == "features"


def test_copies_of_a_vector_of_any_numbers_are_equally_near():
    features = np.random.default_rng(0).normal(size=(5, 1280)).astype(np.float32)[np.arange(103) % 5]
    assert nearest_samples(features, 7, 103).tolist()[:20] == [row for row in range(2, 103, 5) if row != 7]


def mean_precision_of(features: np.ndarray, labels: np.ndarray, k: int, rows: list[int]) -> float:
    means = []
    for row in rows:
        near = nearest_samples(features, row, k)
        means.append(np.mean([labels[near, c].mean() for c in np.flatnonzero(labels[row])]))
    return float(np.mean(means))


def test_mean_precision_is_that_over_the_classes_of_each_sample_then_over_samples(monkeypatch):
    for seed, measured in itertools.product(range(5), (300, 7)):
        monkeypatch.setattr(similarity, "MEASURED", measured)
        generator = np.random.default_rng(seed)
        features, labels = generator.normal(size=(40, 3)), generator.random((40, 3)) < 0.4
        rows = np.flatnonzero(labels.any(axis=1)).tolist()
        assert 7 < len(rows) < 40, "some samples have no class"
        if measured < len(rows):
            rows = [rows[int(place)] for place in np.linspace(0, len(rows) - 1, measured)]
        for k in (1, 4, 39):
            expected = mean_precision_of(features, labels, k, rows)
            np.testing.assert_allclose(mean_precision(features, labels, k), expected, err_msg=f"{seed}, {k}")


def test_invalid_groups_features_and_k_are_refused():
    for groups, came in (([1.0, np.nan], "NaN for sample 1"), ([[1, 2]], "shape (1, 2)")):
        assert refusal(same_group, groups) == ("groups", came)
    for k in (0, 3, 1.0, True):
        assert refusal(nearest, np.eye(3), k) == ("k", k)
    for features, came in (
        ([1.0, 2.0], "shape (2,)"),
        ([["a"], ["b"]], "<U1"),
        ([[1.0], [np.nan]], "NaN or infinity in 1 rows, the first row 1"),
    ):
        assert refusal(nearest, features, 1) == refusal(affinity, features, [[0, 1]]) == ("features", came)
    for edges, came in (
        ([[0, 3]], "0 to 3"),
        ([[-1, 1]], "-1 to 1"),
        ([[0.0, 1.0]], "float64 of shape (1, 2)"),
        ([0, 1], "int64 of shape (2,)"),
    ):
        assert refusal(affinity, np.eye(3), edges) == ("edges", came)


IDS = ["cat#1", "cat#2", "dog, old#1", "7"]


def test_a_csv_names_pairs_by_ids(tmp_path):
    text = 'note,j,i\nx,cat#2,7\ny,"dog, old#1",cat#1\n'
    (tmp_path / "pairs.csv").write_text("\ufeff" + text, "utf-8")
    for source in (text, "\ufeff" + text, tmp_path / "pairs.csv"):
        assert edges_from_csv(source, np.array(IDS)).tolist() == [[0, 2], [1, 3]]
    assert edges_from_csv("i,j\n2,0\n", np.arange(3)).tolist() == [[0, 2]]
    assert edges_from_csv("i,j\n", IDS).shape == (0, 2)


BAD_CSV = {
    "": (1, "nothing"),
    "i;j\n7;cat#1\n": (1, "i;j"),
    "i,j,i\n7,cat#1,7\n": (1, "i, j, i"),
    "a,j\n": (1, "a, j"),
    "i\x7fj,\u202e\n": (1, "i\ufffdj, \ufffd"),
    "i,j\n7,cat#1\n7,cow\n": (3, "'cow'"),
    "i,j\n7\n": (2, "nothing"),
    "i,j\n7,7\n": (2, "7 twice"),
    "i,j\n7,cat#1\ncat#1,7\n": (3, "cat#1 and 7 again, as in line 2"),
    "i,j\n7,cat#1\n7,cat#2\ncat#2,7\n\ncat#1,7\n": (4, "cat#2 and 7 again, as in line 3"),
    'i,j\n"7"x,cat#1\n': (2, "',' expected after '\"'"),
    "i,j," + "," * 200_000 + "\n7,cat#1\n": (1, 200_005),
}


def test_a_bad_csv_names_the_line():
    for text, (line, came) in BAD_CSV.items():
        with refused(f"line {line}", came) as caught:
            edges_from_csv(text, IDS)
        assert caught.value.remedy, came
    for data, line in ((b"i,j\n\xff,7\n", 2), ("i,j\n7,cat#1\n".encode("utf-16"), 1)):
        with refused(f"line {line}"):
            edges_from_csv(io.BytesIO(data), IDS)
    with refused("ids", 1):
        edges_from_csv("i,j\n", ["a", "a"])
    assert len(edges_from_csv("i,j,note\n7,cat#1," + "x" * 90_000 + "\n", IDS)) == 1


def test_pairs_and_other_lines_beyond_the_most_are_not_read(monkeypatch):
    """Also empty lines, and those within a cell; a file of millions of them is read no further."""
    text = "i,j\n7,cat#1\n7,cat#2\n"
    assert refusal(edges_from_csv, text, IDS, most=1) == ("line 3", "more")
    assert len(edges_from_csv(text, IDS, most=2)) == 2
    monkeypatch.setattr(uploaded_pairs, "MAX_OTHER_LINES", 3)
    start = "i,j,note\n7,cat#1,"
    assert len(edges_from_csv(start + 2 * "\n", IDS, most=2)) == 1
    for more in ("\n", '\n"7",cat#2,"\n\n"'):
        assert refusal(edges_from_csv, start + 5 * more, IDS, most=2) == ("line 6", "more")
    assert len(edges_from_csv(start + 9 * "\n", IDS)) == 1


def test_pairs_of_a_csv_are_those_that_were_sampled_also_as_a_spreadsheet_is_given_their_ids():
    random = np.random.default_rng(0)
    ids = [f"{'=' if number % 3 else chr(39)}{number}#x" for number in random.permutation(30)]
    sampled = {tuple(sorted(random.choice(30, 2, replace=False).tolist())) for _ in range(60)}
    for spelled in (ids, [guarded(name) for name in ids]):
        listed = [random.permutation(pair) for pair in sampled]
        text = "i,note,j\r\n" + "".join(f"{spelled[i]},,{spelled[j]}\r\n" for i, j in listed)
        edges = edges_from_csv(io.BytesIO(text.encode()), ids)
        assert [tuple(pair) for pair in edges.tolist()] == sorted(sampled)
        assert edges.dtype == np.int64


def test_affinity_is_that_of_the_paper(monkeypatch):
    generator = np.random.default_rng(0)
    features, edges = generator.standard_normal((9, 4)), same_group([0, 0, 1, 1, 1, 1, 0, 2, 2])
    expected = np.array([np.exp(-((features[i] - features[j]) ** 2)) for i, j in edges])
    for block in (1, 10, 1 << 21):
        monkeypatch.setattr(similarity, "BLOCK", block)
        for precision, tolerance in ((np.float64, 1e-15), (np.float32, 1e-6)):
            affinities = affinity(features.astype(precision), edges)
            assert affinities.dtype == precision
            np.testing.assert_allclose(affinities, expected, rtol=tolerance, err_msg=f"block {block}")


def test_affinity_of_distant_samples_is_zero_and_integers_do_not_overflow():
    far = np.array([[-3e38], [3e38]], np.float32)
    assert affinity(far, [[0, 1]]).tolist() == [[0.0]]
    assert affinity(np.array([[0], [1]], np.uint8), [[0, 1], [1, 0]]).tolist() == [[np.exp(-1)], [np.exp(-1)]]
    assert affinity(np.eye(3), np.empty((0, 2), int)).shape == (0, 3)
