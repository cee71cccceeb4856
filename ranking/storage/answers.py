"""Answers of users as events that are only appended, and the state that follows from them.

An answer is an event: yes, no, skip or undo, for one label of one image. The events of several browser tabs are in the
order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from ranking.core.settings import Json
from ranking.storage.home import Home, is_expired
from ranking.storage.records import Damage, Lines, join_lines
from ranking.storage.run import checked_key

AnswerKind = Literal["yes", "no", "skip", "undo"]


@dataclass(frozen=True)
class AnswerEvent:
    """One key press."""

    # the browser tab, and the number of the event in it, from 1
    session: str
    number: int
    # the key of the image set, the id of the image, the name of the label; for an undo, the label whose last
    # answer it undoes
    set: str
    image: str
    label: str
    kind: AnswerKind
    # the run that asked, and its question strategy
    run: str
    strategy: str
    # the best values with the label in the top k and outside (c-star, section 5), None where infinite or not
    # yet known
    inside: float | None
    outside: float | None
    # how many events of the image had been taken into account when the question was chosen
    counted: int
    # in seconds since the epoch
    time: float

    def to_json(self) -> Json:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class ImageAnswers:
    """The state that follows from the events of one image."""

    # the events that no undo has undone, in the order of arrival
    standing: tuple[AnswerEvent, ...]
    # the number of all events
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
    """Return the state after the events of one image, in the order of arrival."""
    # An undo undoes the last standing event of its label, from whichever tab; without one it has no effect.
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

    def append(self, events: Sequence[AnswerEvent]) -> None:
        """Store all of `events` on disk before returning, or none."""
        with self._home.change():
            for set_key in {event.set for event in events}:
                self._lines(set_key).append([event.to_json() for event in events if event.set == set_key])

    def events(self, set_key: str, image: str | None = None) -> list[AnswerEvent]:
        """Return all events of an image set, or of one of its images, in the order of arrival."""
        return [event for event in self._lines(set_key).read() if image in (None, event.image)]

    def images(self, set_key: str) -> dict[str, ImageAnswers]:
        """Return the answers for each image of a set that has events, in the order of first arrival."""
        return {image: fold(events) for image, events in by_image(self.events(set_key)).items()}

    def delete(self, set_key: str) -> None:
        """Delete all answers about an image set; `restore` undoes this within DELETED_DAYS days."""
        self._join(set_key, ANSWERS, DELETED)

    def restore(self, set_key: str) -> None:
        """Undo every `delete` of answers about an image set."""
        self._join(set_key, DELETED, ANSWERS)

    def deleted(self, set_key: str) -> list[AnswerEvent]:
        """Return the events that `restore` can restore."""
        return list(self._deleted(set_key).read())

    def sweep(self) -> None:
        """Permanently remove what was deleted long ago."""
        with self._home.change():
            for file in self._home.sets.glob(f"*/{DELETED}"):
                if is_expired(file.stat().st_mtime):
                    file.unlink()

    def damage(self) -> list[Damage]:
        """Return the files with lines that cannot be read."""
        files = [file for name in (ANSWERS, DELETED) for file in self._home.sets.glob(f"*/{name}")]
        return [damage for file in files for damage in Lines(file, _event).damage()]

    def _lines(self, set_key: str) -> Lines[AnswerEvent]:
        return Lines(self._home.sets / checked_key(set_key) / ANSWERS, _event)

    def _deleted(self, set_key: str) -> Lines[AnswerEvent]:
        return Lines(self._home.sets / checked_key(set_key) / DELETED, _event)

    def _join(self, set_key: str, source: str, target: str) -> None:
        """Move all events from one file to the other, in the order of arrival; a kill leaves no event in neither."""
        folder = self._home.sets / checked_key(set_key)
        with self._home.change():
            if (folder / source).exists():
                join_lines([folder / DELETED, folder / ANSWERS], folder / target)
                (folder / source).unlink()


def _event(record: Json) -> AnswerEvent:
    event = AnswerEvent(**record)
    texts = event.session, event.set, event.image, event.label, event.kind
    if not all(isinstance(text, str) for text in texts) or event.kind not in get_args(AnswerKind):
        raise TypeError("not an answer")
    return event


ANSWERS, DELETED = "answers.jsonl", "answers_deleted.jsonl"
