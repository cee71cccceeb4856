"""Settings as dataclass fields with a description, from which forms, checks and error messages are made."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ranking.core.errors import InputError

# values by the names of settings
Settings = dict[str, Any]
GivenSettings = Mapping[str, Any]
# a JSON object
Json = dict[str, Any]
GivenJson = Mapping[str, Any]
# features or methods, each with its settings
Named = tuple[tuple[str, Settings], ...]

T = TypeVar("T")

KINDS = {int: "a whole number", float: "a number", str: "text", bool: "True or False"}


@dataclass(frozen=True)
class Setting:
    """One setting of a plug-in.

    formula: where it enters the objective, as LaTeX. choices: the allowed values, or these with the labels that a form
    shows. log: steps are powers of ten. usual: the range that a form offers, if it is narrower than minimum to maximum.
    advanced: shown on request only.
    """

    name: str
    default: object
    label: str
    help: str
    formula: str = ""
    choices: tuple[object, ...] | dict[object, str] = ()
    minimum: float | None = None
    maximum: float | None = None
    log: bool = False
    usual: tuple[float, float] | None = None
    advanced: bool = False

    @property
    def kind(self) -> type:
        return type(self.default)

    def shown(self, choice: object) -> str:
        """Return the label of one of the choices."""
        return self.choices[choice] if isinstance(self.choices, dict) else str(choice)

    def check(self, owner: str, value: object) -> None:
        """Raise InputError about "NAME of OWNER" unless `value` is allowed."""
        subject = f"{self.name} of {owner}"
        if self.choices:
            check_choice(subject, value, self.choices)
            return
        numeric = self.kind in (int, float)
        accepted = (int, float) if self.kind is float else self.kind
        if not isinstance(value, accepted) or (numeric and isinstance(value, bool)):
            raise InputError(subject, KINDS[self.kind], _came(value))
        if numeric and isinstance(value, int | float):
            self._check_number(subject, value)

    def _check_number(self, subject: str, value: float) -> None:
        # also false for NaN and for integers that no float holds
        if not abs(value) <= sys.float_info.max:
            got = value if isinstance(value, float) else "a whole number of more than 308 digits"
            raise InputError(subject, "a finite number", got)
        if (self.minimum is not None and value < self.minimum) or (
            self.maximum is not None and value > self.maximum
        ):
            raise InputError(subject, self._range(), value)

    def _range(self) -> str:
        if self.maximum is None:
            return f"at least {self.minimum:,}"
        if self.minimum is None:
            return f"at most {self.maximum:,}"
        return f"{self.minimum:,} to {self.maximum:,}"


def setting(default: T, *, label: str, help: str, **details: object) -> T:
    """Return a dataclass field that describes a `Setting`; `details` are the Setting's other attributes."""
    description = {"label": label, "help": help, **details}
    return dataclasses.field(default=default, metadata={"setting": description})


def settings_of(plugin: Any) -> list[Setting]:
    """Return the settings of a plug-in class or instance, in the order of its fields."""
    return [
        Setting(name=item.name, default=item.default, **item.metadata["setting"])
        for item in dataclasses.fields(plugin)
        if "setting" in item.metadata
    ]


def check_settings(plugin: Any) -> None:
    """Raise InputError about the first setting whose value is not allowed."""
    for item in settings_of(plugin):
        item.check(plugin.name, getattr(plugin, item.name))


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise InputError about `name` unless `value` is one of the choices."""
    if value not in choices:
        raise InputError(name, f"one of {', '.join(map(repr, choices))}", _came(value))


def _came(value: object) -> object:
    """Return a value as the error message shows it: numbers as they are, all others as their repr."""
    return value if isinstance(value, int | float) else repr(value)


def settings_dict(plugin: Any) -> Settings:
    """Return name to value of every setting, from which the registry can make the plug-in again."""
    return {item.name: getattr(plugin, item.name) for item in settings_of(plugin)}
