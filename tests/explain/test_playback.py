"""Recordings: what a file must be, and what a page shows of each iteration."""

from __future__ import annotations

import numpy as np
import pytest
from archives import packed, unpacked
from refusals import refused

from ranking.explain.playback import (
    LIFTED,
    MAX_BYTES,
    MAX_ITERATIONS,
    TOP,
    Playback,
    frames_of,
    frames_of_sequence,
    lifts,
    most_iterations,
    read_playback,
    spread_geometrically,
)
from ranking.metrics import average_precision, kendall_tau


def recording(count: int = 4, samples: int = 30, seed: int = 0) -> Playback:
    scores = np.random.default_rng(seed).normal(size=(count, samples)).astype(np.float32)
    iterations, rounds = np.arange(count) * 2, np.arange(count) // 2
    return Playback(iterations, rounds, np.linspace(3, 2, count), np.linspace(-1, 2, count), scores)


def in_file(playback: Playback) -> bytes:
    return playback.content()


def test_a_saved_recording_is_read_unchanged(tmp_path):
    made = recording()
    made.dual[0] = -np.inf
    made.save(tmp_path / "playback.npz")
    back = read_playback(tmp_path / "playback.npz", 30)
    assert back is not None
    for name, array in vars(made).items():
        assert np.array_equal(getattr(back, name), array), name
    assert read_playback(tmp_path / "none.npz", 30) is None


@pytest.mark.parametrize("samples", [1, 578, 8_333, 20_000, 249_000])
def test_a_file_has_at_most_two_megabytes(tmp_path, samples):
    count = most_iterations(samples)
    assert 2 <= count <= MAX_ITERATIONS
    recording(count, samples).save(tmp_path / "playback.npz")
    assert (tmp_path / "playback.npz").stat().st_size <= MAX_BYTES == 2_000_000
    assert read_playback(tmp_path / "playback.npz", samples) is not None


def test_incomplete_recordings_are_refused_with_a_message(tmp_path):
    whole = in_file(recording())
    first = whole.index(recording().scores.tobytes())
    changed = whole[:first] + bytes([whole[first] ^ 1]) + whole[first + 1 :]
    for data in (b"", b"garbage", whole[:-100], changed, in_file(recording(samples=29))):
        (tmp_path / "playback.npz").write_bytes(data)
        with refused("playback.npz"):
            read_playback(tmp_path / "playback.npz", 30)


def test_a_frame_ranks_the_test_samples_by_the_scores_of_its_iteration():
    for seed in range(10):
        made, random = recording(seed=seed), np.random.default_rng(seed)
        relevance, test = random.integers(0, 2, 30), random.random(30) < 0.6
        rows = np.flatnonzero(test)
        for i, frame in enumerate(frames_of(made, relevance, test, "ap")):
            scores = made.scores[i]
            order = rows[np.argsort(-scores[rows])][:TOP]
            assert frame.top.tolist() == order.tolist(), seed
            assert frame.measures["AP"] == average_precision(relevance[rows], scores[rows])
            assert frame.measures[f"P@{len(order)}"] == pytest.approx(relevance[order].mean())
            assert frame[:4] == (2 * i, i // 2, made.primal[i], made.dual[i])
            lifted = [lift.sample for lift in frame.lifted]
            assert not test[lifted].any(), "the most violated ranking is one of training samples"
            assert not relevance[lifted].any()
        assert all(not frame.lifted for frame in frames_of(made, relevance, test, None))


def test_a_sample_that_passes_most_relevant_ones_comes_first():
    scores = np.array([4.0, 3.0, 2.0, 1.0, 0.9, -9.0])
    relevant = np.array([True, True, True, False, False, False])
    lifted = lifts(scores / 100, relevant, "ap")
    passed = [count for _, count in lifted]
    assert passed == sorted(passed, reverse=True)
    assert passed[0] == 3, "with scores as close as this only the loss counts"
    assert len(lifted) <= LIFTED
    assert lifts(100 * scores, relevant, "ap") == (), "with scores as far apart as this nothing is violated"


def test_frames_that_are_spread_have_both_ends():
    for count in range(1, 61):
        few = spread_geometrically(list(range(count)), 5)
        assert few[0] == 0
        assert few[-1] == count - 1
        assert len(few) <= 5


def test_the_first_recordings_have_no_rounds(tmp_path):
    made = recording()
    parts = {name: array for name, array in unpacked(in_file(made)).items() if name != "rounds.npy"}
    (tmp_path / "playback.npz").write_bytes(packed(parts))
    back = read_playback(tmp_path / "playback.npz", 30)
    assert not back.rounds.any()
    assert np.array_equal(back.scores, made.scores)


def test_a_folder_in_place_of_a_recording_is_refused_without_its_path(tmp_path):
    (tmp_path / "playback.npz").mkdir()
    with refused("playback.npz") as caught:
        read_playback(tmp_path / "playback.npz", 30)
    assert str(tmp_path) not in str(caught.value)


def test_a_frame_of_a_sequence_has_all_of_it_by_the_scores_of_its_iteration():
    for seed in range(10):
        made, random = recording(seed=seed), np.random.default_rng(seed)
        samples, relevance = random.permutation(100)[:6], random.integers(0, 4, 6)
        frames = frames_of_sequence(made, slice(8, 14), samples, relevance)
        assert len(frames) == len(made)
        for i, frame in enumerate(frames):
            scores = made.scores[i, 8:14]
            assert frame.top.tolist() == samples[np.argsort(-scores)].tolist(), seed
            assert frame.measures == {"Kendall tau": kendall_tau(relevance, scores)}
            assert frame[:4] == (2 * i, i // 2, made.primal[i], made.dual[i])
            assert (frame.relevant, frame.lifted) == ((), ())
