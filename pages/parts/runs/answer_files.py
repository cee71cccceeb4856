"""The answers of an image set to take along: as a table (CSV), and with every question in its order (JSON lines)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

from ranking.core.spreadsheets import rows_csv
from ranking.workspace.answers import AnswerEvent, ImageAnswers, by_image, fold


def csv_text(images: Mapping[str, ImageAnswers]) -> str:
    """One line a standing answer or skip, image by image in the order of the questions; what was taken back is in the
    JSON lines only."""
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
    """One line an image: its answers, and every event in the order of arrival, what was taken back among them."""
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
