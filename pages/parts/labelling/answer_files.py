"""Downloads of the answers of an image set: a table (CSV), and every question in order (JSON lines)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

from ranking.core.spreadsheets import rows_csv
from ranking.storage.answers import AnswerEvent, ImageAnswers, by_image, fold


def csv_text(images: Mapping[str, ImageAnswers]) -> str:
    """Return a line per answer or skip, image by image in the order of the questions."""
    # Answers that were undone are only in the JSON lines.
    return rows_csv(
        [
            {
                "image": image,
                "place": place,
                "label": event.label,
                "answer": event.kind,
                "inside": event.inside,
                "outside": event.outside,
                "strategy": event.strategy,
                "run": event.run,
                "time": event.time,
                "session": event.session,
                "number": event.number,
            }
            for image, answers in images.items()
            for place, event in enumerate(answers.standing, start=1)
        ]
    )


def json_lines(events: Iterable[AnswerEvent]) -> str:
    """Return a line per image: its answers, and all events in the order of arrival, undone ones too."""
    names = [field.name for field in fields(AnswerEvent) if field.name not in ("set", "image")]
    lines = []
    for image, own in by_image(events).items():
        answers = fold(own)
        line = {
            "set": own[0].set,
            "image": image,
            "answers": {name: "yes" if has else "no" for name, has in answers.answers.items()},
            "skipped": sorted(answers.skipped),
            "events": [{name: getattr(event, name) for name in names} for event in own],
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)
