"""Work by a process of its own: answers, refusals, and what breaks it."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from refusals import refused

from ranking.features import load_features
from ranking.files import isolated
from ranking.files.isolated import READER, SECONDS, ask
from ranking.jobs.uploaded_image import describe, describe_isolated
from ranking.storage.store import Store

PROGRAM = """
import os, sys, time
import numpy as np
from ranking.core.errors import InputError
from ranking.files import isolated

def work(arguments, data):
    if data == b"die":
        os.abort()
    if data in (b"[]", b"goodbye"):
        print(data.decode(), file=sys.stderr, flush=True)
        os._exit(isolated.REFUSED)
    if data == b"grow":
        return bytes(2**33)
    if data == b"wait":
        time.sleep(60)
    if data == b"spin":
        while True:
            pass
    if data == b"no":
        raise ValueError("expected yes, got no")
    if data == b"parts":
        raise InputError("answer", "yes", np.int64(1234), "say yes")
    return " ".join([*arguments, data.decode()]).encode()

if __name__ == "__main__":
    isolated.SECONDS = 1
    isolated.serve(work)
"""
PARTS = [("Colour", {})]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "works_alone.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(isolated.__file__).parents[2]}")
    return "works_alone"


def jpeg(size: tuple[int, int], orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = Image.linear_gradient("L").resize(size).convert("RGB")
    stream = io.BytesIO()
    picture.save(stream, "JPEG", exif=exif)
    return stream.getvalue()


def test_it_is_given_what_came_and_answers(program):
    assert ask(program, ["a", "b c"], b"123") == b"a b c 123"


def test_a_refusal_comes_in_its_own_words(program, monkeypatch):
    for data, part in ((b"no", "expected yes, got no"), (b"grow", "4.29 GB.*; try another file")):
        with pytest.raises(ValueError, match=part):
            ask(program, [], data)
    with refused("answer", 1234) as caught:
        ask(program, [], b"parts")
    assert (caught.value.expected, caught.value.remedy) == ("yes", "say yes")
    monkeypatch.setenv("RANKING_WORKER_MEMORY", "much")
    with refused("RANKING_WORKER_MEMORY", "'much'"):
        ask(program, [], b"")


def test_what_crashes_or_takes_too_long_is_refused(program, monkeypatch):
    with refused(READER) as caught:
        ask(program, [], b"die")
    assert caught.value.came == "a crash (signal 6)"
    for last_words in (b"[]", b"goodbye"):  # no refusal of ours, though the exit code is
        with refused(READER) as caught:
            ask(program, [], last_words)
        assert str(caught.value.came).startswith("a crash (")
    with refused(READER) as caught:
        ask(program, [], b"spin")
    assert caught.value.came == f"more than {SECONDS} seconds of processor time"
    monkeypatch.setattr(isolated, "SECONDS", 0.5)
    with refused(READER) as caught:
        ask(program, [], b"wait")
    assert caught.value.came == "no answer within 1 seconds"


def test_a_request_waits_while_too_many_are_running(program, monkeypatch):
    turns = threading.BoundedSemaphore(1)
    monkeypatch.setattr(isolated, "_turns", turns)
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(ask(program, [], b"1")))
    with turns:
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
    asking.join()
    assert answers == [b"1"]


def test_an_own_image_is_described_as_it_would_be_here_and_as_it_is_seen(tmp_path):
    store = Store(tmp_path / "home")
    for name in ("there", "here"):
        (tmp_path / name).mkdir()
    lying = jpeg((60, 40), orientation=6)
    images, features = describe_isolated(store, lying, PARTS, tmp_path / "there")
    assert images.image_sizes.tolist() == [[40, 60]], "a telephone held upright stores its picture lying"
    describe(store, lying, PARTS, tmp_path / "here")
    np.testing.assert_array_equal(features, load_features(images, PARTS, tmp_path / "here"))
    reference = load_features(images, PARTS, tmp_path / "new")
    np.testing.assert_array_equal(features, reference)


def test_an_own_image_that_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="JPEG, PNG or WebP"):
        describe_isolated(Store(tmp_path / "home"), b"GIF89a", PARTS, tmp_path)
    monkeypatch.setenv("RANKING_INTAKE_PIXELS", "100")
    with pytest.raises(ValueError, match="RANKING_INTAKE_PIXELS"):
        describe_isolated(Store(tmp_path / "home"), jpeg((60, 40)), PARTS, tmp_path)


def test_only_the_requested_model_is_copied_beside_an_uploaded_image(tmp_path):
    """Where the folder is of another disk it is a copy, and all of them may be gigabytes."""
    store, folder = Store(tmp_path / "home"), tmp_path / "here"
    folder.mkdir()
    names = [f"onnx-{letter * 32}" for letter in "ab"]
    for name in names:
        (store.home / "models" / f"{name}.onnx").write_bytes(b"model")
    (store.home / "vectors" / "key").mkdir()
    (store.home / "vectors" / "key" / "own-1.npy").write_bytes(b"vectors")
    for name in (names[0], "onnx-" + "c" * 32, "../models"):
        store.features.place_model(name, folder)
    assert [file.name for file in folder.iterdir()] == [f"{names[0]}.onnx"]
