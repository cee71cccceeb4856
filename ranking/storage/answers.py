"""Answers of users as events that are only appended, and the state that follows from them.

An answer is an event: yes, no, skip or undo, for one label of one image. A browser numbers the events of its session
from 1 and sends all events that are not yet confirmed, again and again; stored events are ignored, so nothing is lost
and nothing counts twice. Events of several browsers are in the order of arrival.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from ranking.core import is_number
from ranking.core.errors import InputError
from ranking.storage.home import Home, is_expired
from ranking.storage.records import Damage, Lines
from ranking.storage.run import checked_key, is_count, is_run_id, is_set_key, is_time
from ranking.storage.space import check_space

AnswerKind = Literal["yes", "no", "skip", "undo"]
LONGEST_TEXT = 1000  # characters of the name of an image, a label or a strategy


@dataclass(frozen=True)
class AnswerEvent:
    """One key press.

    session, number: the browser tab and the number of the event in it, from 1. set, image, label: the key of the image
    set, the id of the image, the name of the label; for an undo, the label whose last answer it undoes. run, strategy:
    the run that asked, and its question strategy. inside, outside: the best values with the label in the top k and
    outside (c-star, section 5), None where infinite or not yet known. counted: how many events of the image had been
    taken into account when the question was chosen. time: by the browser's clock, in seconds since the epoch.
    """

    session: str
    number: int
    set: str
    image: str
    label: str
    kind: AnswerKind
    run: str
    strategy: str
    inside: float | None
    outside: float | None
    counted: int
    time: float

    @classmethod
    def from_json(cls, values: object) -> AnswerEvent:
        """Read what a browser sent; ValueError that names the invalid part."""
        names = [field.name for field in fields(cls)]
        if not isinstance(values, Mapping) or sorted(values) != sorted(names):
            raise InputError("answer", f"an object of {', '.join(names)}", f"{values!r:.80}")
        for name, (expected, accepts) in CHECKS.items():
            if not accepts(values[name]):
                raise InputError(f"{name} of an answer", expected, f"{values[name]!r:.80}")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _is_text(value: object) -> bool:
    """Whether a value is text that a database and a file can store: lone surrogates cannot be written."""
    return (
        isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and not re.search("[\ud800-\udfff]", value)
    )


def _matches(value: object, accepts: Callable[[str], bool]) -> bool:
    return isinstance(value, str) and accepts(value)


def _is_session(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def _is_value(value: object) -> bool:
    return value is None or is_number(value)


TEXT = f"text of 1 to {LONGEST_TEXT} characters"
# For each part of an answer: a description of valid values, and a function that checks one.
CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "session": ("32 hexadecimal digits", lambda value: _matches(value, _is_session)),
    "number": ("a whole number from 1", lambda value: is_count(value) and value > 0),
    "set": ("the key of an image set", lambda value: _matches(value, is_set_key)),
    "image": (TEXT, _is_text),
    "label": (TEXT, _is_text),
    "kind": (
        ", ".join(get_args(AnswerKind)),
        lambda value: _matches(value, get_args(AnswerKind).__contains__),
    ),
    "run": ("the id of a run", lambda value: _matches(value, is_run_id)),
    "strategy": (TEXT, _is_text),
    "inside": ("a number or nothing", _is_value),
    "outside": ("a number or nothing", _is_value),
    "counted": ("a whole number from 0", is_count),
    "time": ("seconds since the epoch", is_time),
}


@dataclass(frozen=True)
class ImageAnswers:
    """The state that follows from the events of one image.

    standing: the events that no undo has undone, in the order of arrival. events: the number of all events.
    """

    standing: tuple[AnswerEvent, ...]
    events: int

    @property
    def answers(self) -> dict[str, bool]:
        """The answers by label, from the last standing event of each; a later skip cancels an answer."""
        return {name: event.kind == "yes" for name, event in self._last.items() if event.kind != "skip"}

    @property
    def skipped(self) -> set[str]:
        """The labels whose last standing event is a skip."""
        return {name for name, event in self._last.items() if event.kind == "skip"}

    @property
    def _last(self) -> dict[str, AnswerEvent]:
        return {event.label: event for event in self.standing}


def fold(events: Iterable[AnswerEvent]) -> ImageAnswers:
    """Return the state after the events of one image, in the order of arrival.

    An undo undoes the last standing event of its label, from whichever tab; without one it has no effect.
    """
    standing: list[AnswerEvent] = []
    count = 0
    for event in events:
        count += 1
        if event.kind != "undo":
            standing.append(event)
            continue
        same = [place for place, earlier in enumerate(standing) if earlier.label == event.label]
        if same:
            del standing[same[-1]]
    return ImageAnswers(tuple(standing), count)


def by_image(events: Iterable[AnswerEvent]) -> dict[str, list[AnswerEvent]]:
    """Group events by image, in the order of the first event of each."""
    parts: dict[str, list[AnswerEvent]] = {}
    for event in events:
        parts.setdefault(event.image, []).append(event)
    return parts


class Answers:
    """The answers of a data folder: a file of lines in the folder of each image set, also of shared sets."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def append(self, events: Sequence[AnswerEvent]) -> int:
        """Store all of `events` on disk before returning, or none; return the number of new ones.

        An event with a stored session and number is ignored: the first one counts. FullError if a workspace is full.
        """
        check_space(self._home.path)
        new = 0
        with self._home.change():
            for set_key in {event.set for event in events}:
                known = {(event.session, event.number) for event in self.events(set_key)}
                known |= {(event.session, event.number) for event in _events(self._deleted(set_key))}
                fresh = dict[tuple[str, int], AnswerEvent]()
                for event in events:
                    if event.set == set_key and (event.session, event.number) not in known:
                        fresh.setdefault((event.session, event.number), event)
                self._lines(set_key).append([event.to_json() for event in fresh.values()])
                new += len(fresh)
        return new

    def events(self, set_key: str, image: str | None = None) -> list[AnswerEvent]:
        """Return all events of an image set, or of one of its images, in the order of arrival."""
        return [event for event in _events(self._lines(set_key)) if image in (None, event.image)]

    def images(self, set_key: str) -> dict[str, ImageAnswers]:
        """Return the answers for each image of a set that has events, in the order of first arrival."""
        return {image: fold(events) for image, events in by_image(self.events(set_key)).items()}

    def delete(self, set_key: str) -> None:
        """Delete all answers about an image set; `restore` undoes this within DELETED_DAYS days."""
        self._move(self._lines(set_key), self._deleted(set_key))

    def restore(self, set_key: str) -> None:
        """Undo every `delete` of answers about an image set."""
        self._move(self._deleted(set_key), self._lines(set_key))

    def deleted(self, set_key: str) -> list[AnswerEvent]:
        """Return the events that `restore` can restore."""
        return _events(self._deleted(set_key))

    def empty_trash(self) -> None:
        """Permanently remove all deleted answers."""
        self._remove_deleted(lambda file: True)

    def sweep(self) -> None:
        """Permanently remove what was deleted long ago."""
        self._remove_deleted(lambda file: is_expired(file.stat().st_mtime))

    def damage(self) -> list[Damage]:
        """Return the files with lines that cannot be read."""
        return [damage for file in self._home.sets.glob(f"*/{ANSWERS}") for damage in Lines(file).damage()]

    def _lines(self, set_key: str) -> Lines:
        return Lines(self._home.sets / checked_key(set_key) / ANSWERS)

    def _deleted(self, set_key: str) -> Lines:
        return Lines(self._home.sets / checked_key(set_key) / DELETED)

    def _move(self, source: Lines, target: Lines) -> None:
        with self._home.change():
            if source.file.exists():
                target.append(source.read())
                source.file.unlink()

    def _remove_deleted(self, is_chosen: Callable[[Path], bool]) -> None:
        with self._home.change():
            for file in self._home.sets.glob(f"*/{DELETED}"):
                if is_chosen(file):
                    file.unlink()


def _events(lines: Lines) -> list[AnswerEvent]:
    return [AnswerEvent(**record) for record in lines.read() if record.keys() == NAMES]


ANSWERS, DELETED = "answers.jsonl", "answers_deleted.jsonl"
NAMES = {field.name for field in fields(AnswerEvent)}
