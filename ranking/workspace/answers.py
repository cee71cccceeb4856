"""What people answered: events that are appended and never changed, and what follows from them.

An answer is an event: yes, no, skip, or undo, of one label of one image. A browser numbers its events from 1 in a
session of its own and sends all that it has not heard to be on disk, again and again; what came before is passed
over, so that nothing is lost and nothing counts twice. Events of several browsers stand in the order of arrival.
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
    """One key that a person pressed.

    session, number: which browser tab it came from, and the how-manieth of its events it is, from 1. set, image, label:
    the key of the image set, the id of the image, the name of the label; of an undo, the label whose last answer it
    takes back. run, strategy: the training that asked, and how it chose the question. inside, outside: the best values
    with the label in the top k and outside (c-star, section 5), None where they are infinite or were not known
    yet. counted: how many events of the image the choice of the question knew. time: by the browser's clock, in seconds
    since the epoch.
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
        """What a browser sent; a ValueError says what is wrong with it."""
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
    """Text that a database and a file can hold: halves of characters cannot be written."""
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
# For each part of an answer: what it has to be, and whether it is.
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
    """What the events of one image come to.

    standing: the events that no undo has taken back, in the order of arrival. events: how many there were at all.
    """

    standing: tuple[AnswerEvent, ...]
    events: int

    @property
    def answers(self) -> dict[str, bool]:
        """The labels whose last standing event is an answer; a later skip takes an answer back, its event stays."""
        return {name: event.kind == "yes" for name, event in self._last.items() if event.kind != "skip"}

    @property
    def skipped(self) -> set[str]:
        """The labels whose last standing event is a skip."""
        return {name for name, event in self._last.items() if event.kind == "skip"}

    @property
    def _last(self) -> dict[str, AnswerEvent]:
        return {event.label: event for event in self.standing}


def fold(events: Iterable[AnswerEvent]) -> ImageAnswers:
    """What the events of one image, in the order of arrival, come to.

    An undo takes back the last standing event of its label, whichever tab that came from; where none stands it takes
    back nothing.
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
    """The events of each image, as they came, in the order of its first one."""
    parts: dict[str, list[AnswerEvent]] = {}
    for event in events:
        parts.setdefault(event.image, []).append(event)
    return parts


class AnswerStore(HomeStore):
    """The answers of a home."""

    def append(self, events: Sequence[AnswerEvent]) -> int:
        """Have all of `events` on disk when this returns, or none; how many of them were new.

        An event whose session and number are there already adds nothing: the first stands. FullError where a room has
        no space for them.
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
        """The greatest number on disk of each of `sessions`, 0 where there is none."""
        with self._home.read() as database:
            return {
                session: database.execute(
                    "select coalesce(max(number), 0) from answer where session = ?", (session,)
                ).fetchone()[0]
                for session in sessions
            }

    def events(self, set_key: str, image: str | None = None) -> list[AnswerEvent]:
        """All events of an image set, or of one of its images, in the order of arrival."""
        with self._home.read() as database:
            rows = database.execute(
                f"select {', '.join(QUOTED.values())} from answer"
                ' where "set" = :set and (:image is null or image = :image) and deleted is null order by arrival',
                {"set": set_key, "image": image},
            ).fetchall()
        return [AnswerEvent(**dict(zip(QUOTED, row, strict=True))) for row in rows]

    def images(self, set_key: str) -> dict[str, ImageAnswers]:
        """The answers of each image of a set that has events, in the order of their first arrival."""
        return {image: fold(events) for image, events in by_image(self.events(set_key)).items()}

    def delete(self, set_key: str) -> None:
        """Take all answers about an image set out of sight; `restore` brings them back within DELETED_DAYS days."""
        with self._home.change() as database:
            database.execute(
                'update answer set deleted = ? where "set" = ? and deleted is null', (time.time(), set_key)
            )

    def restore(self, set_key: str) -> None:
        """Undo every `delete` of answers about an image set."""
        with self._home.change() as database:
            database.execute('update answer set deleted = null where "set" = ?', (set_key,))

    def count(self, set_key: str, deleted: bool = False) -> int:
        """How many events there are about an image set; deleted: of those that `restore` brings back."""
        with self._home.read() as database:
            (count,) = database.execute(
                'select count(*) from answer where "set" = ? and (deleted is not null) = ?',
                (set_key, deleted),
            ).fetchone()
        return int(count)

    def bytes_of(self, deleted: bool) -> int:
        """About how many bytes the answers take that are deleted, or those that are not."""
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
        """Remove all deleted answers for good, and give the disk back what they took."""
        with self._home.change() as database:
            database.execute("delete from answer where deleted is not null")
        self._home.shrink()


def _bytes_of(event: AnswerEvent) -> int:
    """What an event takes of the disk at most: its row, its places in two indexes, and the same once more in the log
    that SQLite writes first."""
    texts = (value for value in event.to_json().values() if isinstance(value, str))
    return 2 * (sum(2 * len(text.encode()) for text in texts) + 200)


QUOTED = {field.name: f'"{field.name}"' for field in fields(AnswerEvent)}  # set is a word of SQL's own
