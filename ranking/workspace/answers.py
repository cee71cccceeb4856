"""Answers of users as events that are only appended, and the state that follows from them.

An answer is an event: yes, no, skip or undo, for one label of one image. A browser numbers the events of its session
from 1 and sends all events that are not yet confirmed, again and again; stored events are ignored, so nothing is lost
and nothing counts twice. Events of several browsers are in the order of arrival.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from ranking.core import is_number
from ranking.core.errors import InputError
from ranking.workspace.home import HomeStore
from ranking.workspace.run import is_count, is_run_id, is_set_key, is_time

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


class AnswerStore(HomeStore):
    """The answers of a home."""

    def append(self, events: Sequence[AnswerEvent]) -> int:
        """Store all of `events` on disk before returning, or none; return the number of new ones.

        An event with a stored session and number is ignored: the first one counts. FullError if a workspace is full.
        """
        if not events:
            return 0
        self._watch(sum(map(_bytes_of, events)))
        columns = [field.name for field in fields(AnswerEvent)]
        with self._home.change() as database:
            (before,) = database.execute("select count(*) from answer").fetchone()
            database.executemany(
                f"insert into answer ({', '.join(QUOTED[name] for name in columns)}, arrived)"
                f" values ({', '.join(f':{name}' for name in columns)}, {time.time()!r})"
                " on conflict (session, number) do nothing",
                [event.to_json() for event in events],
            )
            (after,) = database.execute("select count(*) from answer").fetchone()
        return int(after - before)

    def saved(self, sessions: Iterable[str]) -> dict[str, int]:
        """Return the greatest stored number of each of `sessions`, 0 for unknown ones."""
        with self._home.read() as database:
            return {
                session: database.execute(
                    "select coalesce(max(number), 0) from answer where session = ?", (session,)
                ).fetchone()[0]
                for session in sessions
            }

    def events(self, set_key: str, image: str | None = None) -> list[AnswerEvent]:
        """Return all events of an image set, or of one of its images, in the order of arrival."""
        with self._home.read() as database:
            rows = database.execute(
                f"select {', '.join(QUOTED.values())} from answer"
                ' where "set" = :set and (:image is null or image = :image) and deleted is null order by arrival',
                {"set": set_key, "image": image},
            ).fetchall()
        return [AnswerEvent(**dict(zip(QUOTED, row, strict=True))) for row in rows]

    def images(self, set_key: str) -> dict[str, ImageAnswers]:
        """Return the answers for each image of a set that has events, in the order of first arrival."""
        return {image: fold(events) for image, events in by_image(self.events(set_key)).items()}

    def delete(self, set_key: str) -> None:
        """Mark all answers about an image set as deleted; `restore` undoes this within DELETED_DAYS days."""
        with self._home.change() as database:
            database.execute(
                'update answer set deleted = ? where "set" = ? and deleted is null', (time.time(), set_key)
            )

    def restore(self, set_key: str) -> None:
        """Undo every `delete` of answers about an image set."""
        with self._home.change() as database:
            database.execute('update answer set deleted = null where "set" = ?', (set_key,))

    def count(self, set_key: str, deleted: bool = False) -> int:
        """Count the events of an image set; deleted: those that `restore` can restore."""
        with self._home.read() as database:
            (count,) = database.execute(
                'select count(*) from answer where "set" = ? and (deleted is not null) = ?',
                (set_key, deleted),
            ).fetchone()
        return int(count)

    def bytes_of(self, deleted: bool) -> int:
        """Estimate the disk space of the answers that are deleted, or of the others, in bytes."""
        texts = " + ".join(
            f"length(cast({name} as blob))" for name in ("session", '"set"', "image", "label", "strategy")
        )
        with self._home.read() as database:
            (count,) = database.execute(
                f"select coalesce(sum(2 * ({texts}) + 100), 0) from answer where (deleted is not null) = ?",
                (deleted,),
            ).fetchone()
        return int(count)

    def empty_deleted(self) -> None:
        """Permanently remove all deleted answers, and free their disk space."""
        with self._home.change() as database:
            database.execute("delete from answer where deleted is not null")
        self._home.shrink()


def _bytes_of(event: AnswerEvent) -> int:
    """Return the most disk space that an event needs: its row, its entries in two indexes, and the same again in the
    log that SQLite writes first."""
    texts = (value for value in event.to_json().values() if isinstance(value, str))
    return 2 * (sum(2 * len(text.encode()) for text in texts) + 200)


QUOTED = {field.name: f'"{field.name}"' for field in fields(AnswerEvent)}  # set is a keyword of SQL
