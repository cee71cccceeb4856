"""Settings as JSON: the types of a dataclass's fields define the valid values, and how they are read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, get_type_hints

from ranking.core.arrays import is_number
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, Json, Named, Settings
from ranking.core.text import readable

# Metadata of a field that is omitted from JSON at its default: the field was added later, and settings stored before
# it must equal settings stored since.
OPTIONAL = {"optional": True}

T = TypeVar("T")

# the values of settings, by their names
Grids = dict[str, tuple[float, ...]]


class Kind(NamedTuple):
    """A type of field: its description, how it is read from JSON (errors for other values), and how it is written."""

    expected: str
    read: Callable[[object], object]
    write: Callable[[Any], object] = lambda value: value


def limited(default: T, least: float, most: float | None = None) -> T:
    """Return a field for a number from `least` to `most`."""
    return field(default=default, metadata={"range": (least, most)})


def one_of(default: str, *choices: str) -> str:
    """Return a field for a text that is one of the choices."""
    return field(default=default, metadata={"choices": choices})


@dataclass(frozen=True)
class StoredSettings:
    """A dataclass that is stored as JSON. Unknown names, types and values raise an InputError.

    kind_name: what messages call a run with these settings. task: the task of such a run, which is stored in the JSON
    unless it is `implied`; "" for settings without a task.
    """

    kind_name: ClassVar[str]
    task: ClassVar[str] = ""
    implied: ClassVar[bool] = False

    @classmethod
    def from_json(cls, values: GivenSettings) -> Self:
        """Read the output of `to_json`; ValueError with the expected and the actual value for anything else."""
        if cls.task and values.get("task", cls.task) != cls.task:
            raise InputError("task", cls.task, f"{values['task']!r:.80}")
        values = {name: value for name, value in values.items() if not cls.task or name != "task"}
        cls._check_names(values)
        kinds = _kinds(cls)
        read = {name: _read(name, kinds[name], value) for name, value in values.items()}
        settings = cls(**read)
        settings.check()
        return settings

    def to_json(self) -> Json:
        kinds = _kinds(type(self))
        record = {
            item.name: kinds[item.name].write(getattr(self, item.name))
            for item in fields(self)
            if not ("optional" in item.metadata and getattr(self, item.name) == item.default)
        }
        return {**record, "task": self.task} if self.task and not self.implied else record

    def check(self) -> None:
        """Raise InputError about the first value that is not among its field's choices, or out of its range."""
        for item in fields(self):
            value = getattr(self, item.name)
            least, most = item.metadata.get("range", (None, None))
            if least is not None and not least <= value <= (value if most is None else most):
                expected = f"at least {least:,}" if most is None else f"{least:,} to {most:,}"
                raise InputError(item.name, expected, value)
            if value not in item.metadata.get("choices", (value,)):
                raise InputError(
                    item.name, f"one of: {', '.join(item.metadata['choices'])}", f"{value!r:.80}"
                )

    @classmethod
    def _check_names(cls, values: GivenSettings) -> None:
        known = fields(cls)
        needed = [item.name for item in known if item.default is item.default_factory is MISSING]
        rest = [item.name for item in known if item.name not in needed]
        parts = [", ".join(needed)] if needed else []
        expected = "; ".join([*parts, f"optional: {', '.join(rest)}"] if rest else parts)
        if missing := [name for name in needed if name not in values]:
            raise InputError(
                f"settings of the {cls.kind_name}", expected, remedy=f"missing: {', '.join(missing)}"
            )
        if unknown := [name for name in values if name not in (*needed, *rest)]:
            came = f"an unknown {', '.join(map(readable, unknown))}"
            raise InputError(f"settings of the {cls.kind_name}", expected, came)


def _kinds(cls: type[StoredSettings]) -> dict[str, Kind]:
    """Return the kind of each field, by its type."""
    if cls not in _known:
        types = get_type_hints(cls)
        _known[cls] = {item.name: KINDS[types[item.name]] for item in fields(cls)}
    return _known[cls]


def _read(name: str, kind: Kind, value: object) -> object:
    try:
        return kind.read(value)
    except (TypeError, ValueError) as error:
        raise InputError(name, kind.expected, f"{value!r:.80}") from error


def _of(*types: type[T]) -> Callable[[object], T]:
    """Return a reader that accepts these types only: True is not a whole number."""

    def read(value: object) -> T:
        if isinstance(value, types) and type(value) in types:
            return value
        raise TypeError

    return read


def _number(value: object) -> float:
    if not is_number(value):
        raise TypeError
    return value


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(_of(str), _of(list, tuple)(value)))


def _named(value: Any) -> Named:
    return tuple((str(name), dict(settings)) for name, settings in value)


def _grids(value: object) -> Grids:
    lists = {str(name): _of(list, tuple)(values) for name, values in _of(dict)(value).items()}
    return {name: tuple(float(_number(number)) for number in values) for name, values in lists.items()}


def _lists(grids: Grids) -> dict[str, list[float]]:
    return {name: list(values) for name, values in grids.items()}


def _pairs(named: Named) -> list[list[object]]:
    return [[name, settings] for name, settings in named]


NONE = type(None)
SETTINGS = "settings by name, as {'seed': 1}"
KINDS: dict[object, Kind] = {
    str: Kind("text", _of(str)),
    str | None: Kind("a text", _of(str, NONE)),
    int: Kind("a whole number", _of(int)),
    float: Kind("a number", _number),
    bool: Kind("true or false", _of(bool)),
    Settings: Kind(SETTINGS, _of(dict)),
    Settings | None: Kind(SETTINGS, _of(dict, NONE)),
    Named: Kind("a list of a name and settings each, as [['NAME', {}]]", _named, _pairs),
    tuple[str, ...]: Kind("a list of names, as ['NAME']", _names, list),
    Grids: Kind("numbers by setting, as {'C': [1, 10]}", _grids, _lists),
}
# by class, filled when first needed
_known: dict[type[StoredSettings], dict[str, Kind]] = {}
