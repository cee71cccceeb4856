"""What every home begins with: ``python data/examples.py`` makes data/examples.

The folder is laid out as a home is (`ranking.workspace.home`): three image sets that the programs of data/drawing draw,
runs as their workers leave them, and the trials of the experiment among them. `ranking.workspace.examples` copies it.
Images are drawn anew each time, byte for byte the same. A run that is there and still listed is kept; to train it
again, remove its folder. All of it takes about twenty minutes.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from drawing.drawn import DrawnSource
from drawing.painting import QUALITY
from drawing.sets import SETS
from PIL import Image

sys.path.append(str(Path(__file__).parents[1]))  # the lessons are of the pages, which are not installed
from pages.parts.runs.lesson_settings import NEIGHBOURS, VIOLATED, WHY_AP, pairs_study
from ranking.core import ImageSet
from ranking.core.run_settings import (
    AnyStudySettings,
    AnyTrainSettings,
    AskingSettings,
    ExperimentSettings,
    LabelTrainSettings,
    Named,
    OrderTrainSettings,
    TimingSettings,
)
from ranking.datasets import Thumbnails, build_image_set, load_image_set
from ranking.datasets.thumbnails import PackWriter
from ranking.experiments.cross_validation.trial_store import FOLDER as EXPERIMENTS
from ranking.jobs import jobs
from ranking.workspace.examples import FOLDER, folder_of
from ranking.workspace.row_files import ROW
from ranking.workspace.run import ENDED, LOCK, Kind, Run
from ranking.workspace.store import Store

SIDE = 240  # pixels
FEATURES: Named = (("HOG", {}), ("Colour", {}))
LESSONS = (WHY_AP, VIOLATED, NEIGHBOURS)
LAST = "AP-SVM"  # of the last lesson: the run that pages open on
CREATED = 1_795_600_000.0  # seconds since 1970 of the first run that is listed; each later one counts as a second newer
COMPARED = ("playing instrument", "phoning", "riding bike")
LABEL_METHODS, ORDER_METHODS = ("Independent p@k", "C-star p@k"), ("RankSVM", "MidRank")


def runs_of(figures: str, scenes: str, cars: str) -> Iterator[AnyTrainSettings | AnyStudySettings]:
    """The settings of all runs, on the image sets of these keys, in the order in which they are made."""
    yield TimingSettings(share=1 / 3, rounds=3, parts="tables")
    for lesson in LESSONS:
        for method in sorted(lesson.methods, key=lambda method: method == LAST):
            yield lesson.settings_of(figures, method)
    for method in LABEL_METHODS:
        yield LabelTrainSettings(scenes, FEATURES, method)
    for method in ORDER_METHODS:
        yield OrderTrainSettings(cars, FEATURES, "year", method)
    yield pairs_study(cars, FEATURES, "year")
    methods = tuple((name, {}) for name in reversed(LABEL_METHODS))
    yield AskingSettings(scenes, FEATURES, methods, ("closest maxima", "entropy", "random"))
    grids = {"C": (10.0, 100.0, 1000.0), "eta": (1.0,)}
    yield ExperimentSettings(figures, FEATURES, queries=COMPARED, grids=grids, folds=3)


def draw(source: DrawnSource) -> ImageSet:
    """Make the image set of `source`, in place of the one that is there."""
    target = folder_of(source.name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "set"
        image_set, problems = build_image_set(source, folder)
        if problems:
            raise ValueError(f"{source.name}: {problems[0]}")
        thumbnails, images = Thumbnails(folder), range(len(image_set.image_names))
        packs = {
            "crops": [_smaller(thumbnails.crop(sample)) for sample in range(len(image_set))],
            "thumbs": [_smaller(thumbnails.image(image)) for image in images],
        }
        for name, pictures in packs.items():
            with PackWriter(folder / name) as pack:
                for picture in pictures:
                    pack.append(picture)
        row = {"source": source.name, "created": 0.0, "deleted": None, "revision": 0}
        (folder / ROW).write_text(json.dumps(row))
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    return load_image_set(target)


def _smaller(thumbnail: bytes) -> bytes:
    """A thumbnail of at most SIDE pixels, encoded as the images are: what ships has to be small."""
    picture, stream = Image.open(io.BytesIO(thumbnail)), io.BytesIO()
    picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    picture.save(stream, "WEBP", quality=QUALITY, method=6)
    return stream.getvalue()


def kind_of(settings: AnyTrainSettings | AnyStudySettings) -> Kind:
    return "train" if isinstance(settings, AnyTrainSettings) else "study"


def id_of(settings: AnyTrainSettings | AnyStudySettings) -> str:
    """The id of the run of these settings."""
    return hashlib.sha256(json.dumps(settings.to_json(), sort_keys=True).encode()).hexdigest()[:10]


def made(store: Store, settings: AnyTrainSettings | AnyStudySettings) -> Run:
    """The run of these settings, which a worker has finished in the home of `store`."""
    run = jobs.start_once(store, kind_of(settings), settings.to_json())
    while (run := jobs.poll(store, run.id)).state not in ENDED:
        time.sleep(0.1)
    if run.state != "finished":
        raise RuntimeError(f"{settings}: {run.state}, {run.reason}")
    return run


def keep(run: Run, folder: Path) -> None:
    """Copy the folder of a run, without what only its worker needed."""
    shutil.copytree(run.folder, folder, ignore=shutil.ignore_patterns(LOCK, run.stderr_file.name))
    row = json.loads((folder / ROW).read_text())
    (folder / ROW).write_text(json.dumps({**row, "pid": None}))


def main() -> None:
    images = [draw(source) for source in SETS]
    for source, image_set in zip(SETS, images, strict=True):
        print(f"{source.name}: {len(image_set):,} samples", flush=True)
    listed = {id_of(settings): settings for settings in runs_of(*(image_set.key for image_set in images))}
    runs = FOLDER / "runs"
    runs.mkdir(exist_ok=True)
    for folder in runs.iterdir():
        if folder.name not in listed:
            shutil.rmtree(folder)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        store = Store(home)
        for source in SETS:
            store.adopt(folder_of(source.name), source.name)
        for name, settings in listed.items():
            if (runs / name).is_dir():
                continue
            run = made(store, settings)
            keep(run, runs / name)
            print(f"{name}: {run.ended - run.created:.0f} s, {settings}", flush=True)
            if isinstance(settings, ExperimentSettings):
                shutil.rmtree(FOLDER / EXPERIMENTS, ignore_errors=True)
                shutil.copytree(store.home / EXPERIMENTS, FOLDER / EXPERIMENTS)
    put_in_order([runs / name for name in listed])


def put_in_order(folders: list[Path]) -> None:
    """Have the runs in these folders count as made one after the other, whenever each was trained."""
    for position, folder in enumerate(folders):
        row = json.loads((folder / ROW).read_text())
        (folder / ROW).write_text(json.dumps({**row, "created": CREATED + position}))


if __name__ == "__main__":
    main()
