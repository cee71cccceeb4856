"""The answers of an image set to take along: as a table (CSV), and with every question in its order (JSON lines)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

from pages.parts.runs.export import guarded
from ranking.workspace.answers import AnswerEvent, ImageAnswers, by_image, fold

COLUMNS = (
    "image",
    "place",
    "label",
    "answer",
    "inside",
    "outside",
    "strategy",
    "run",
    "time",
    "session",
    "number",
)


def csv_text(images: Mapping[str, ImageAnswers]) -> str:
    """One line a standing answer or skip, image by image in the order of the questions. Texts are guarded, numbers
    exact; what was taken back is in the JSON lines only."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for image, told in images.items():
        for place, event in enumerate(told.standing, start=1):
            texts = map(guarded, (event.strategy, event.run))
            values = ["" if value is None else repr(value) for value in (event.inside, event.outside)]
            row = [guarded(image), place, guarded(event.label), event.kind, *values, *texts]
            writer.writerow([*row, repr(event.time), event.session, event.number])
    return stream.getvalue()


def json_lines(events: Iterable[AnswerEvent]) -> str:
    """One line an image: its answers, and every event in the order of arrival, what was taken back among them."""
    names = [field.name for field in fields(AnswerEvent) if field.name not in ("set", "image")]
    lines = []
    for image, own in by_image(events).items():
        told = fold(own)
        line = {
            "set": own[0].set,
            "image": image,
            "answers": {name: "yes" if has else "no" for name, has in told.answers.items()},
            "skipped": sorted(told.skipped),
            "events": [{name: getattr(one, name) for name in names} for one in own],
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)
