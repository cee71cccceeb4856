"""Settings as dataclass fields that describe themselves, so that widgets, checks and errors need no list."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One field of a plug-in: what it is called, what it means, what it may be.

    formula: where the setting enters the objective, as LaTeX. log: steps are powers of ten.
    usual: the range that a form offers, where the one allowed is wider. advanced: shown on request only.
    """

    name: str
    default: Any
    label: str
    help: str
    formula: str = ""
    choices: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    log: bool = False
    usual: tuple[float, float] | None = None
    advanced: bool = False

    @property
    def kind(self) -> type:
        return type(self.default)

    def check(self, owner: str, value: Any) -> None:
        """ValueError unless `value` is allowed."""
        where = f"{owner}: {self.name}"
        if self.choices:
            if value not in self.choices:
                raise ValueError(
                    f"{where} must be one of {', '.join(map(repr, self.choices))}, got {value!r}"
                )
            return
        numeric = self.kind in (int, float)
        accepted = (int, float) if self.kind is float else self.kind
        if not isinstance(value, accepted) or (numeric and isinstance(value, bool)):
            raise ValueError(f"{where} must be {self.kind.__name__}, got {value!r}")
        if numeric:
            self._check_number(where, value)

    def _check_number(self, where: str, value: Any) -> None:
        if not abs(value) <= sys.float_info.max:  # also false for NaN and for integers that no float holds
            raise ValueError(f"{where} must be finite, got {value!r:.40}")
        if (self.minimum is not None and value < self.minimum) or (
            self.maximum is not None and value > self.maximum
        ):
            raise ValueError(f"{where} must be {self._range()}, got {value!r}")

    def _range(self) -> str:
        if self.maximum is None:
            return f"at least {self.minimum}"
        if self.minimum is None:
            return f"at most {self.maximum}"
        return f"between {self.minimum} and {self.maximum}"


def setting(default: Any, *, label: str, help: str, **details: Any) -> Any:
    """A dataclass field that is a `Setting`; `details` are the Setting's other attributes."""
    description = {"label": label, "help": help, **details}
    return dataclasses.field(default=default, metadata={"setting": description})


def settings_of(plugin: Any) -> list[Setting]:
    """The settings of a plug-in class or instance, in the order of its fields."""
    return [
        Setting(name=item.name, default=item.default, **item.metadata["setting"])
        for item in dataclasses.fields(plugin)
        if "setting" in item.metadata
    ]


def check_settings(plugin: Any) -> None:
    """ValueError that names the setting, what it may be and what came, for the first bad one."""
    for item in settings_of(plugin):
        item.check(plugin.name, getattr(plugin, item.name))


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError unless `value`, called `name`, is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def settings_dict(plugin: Any) -> dict[str, Any]:
    """Name to value of every setting: what recreates the plug-in through its registry."""
    return {item.name: getattr(plugin, item.name) for item in settings_of(plugin)}
