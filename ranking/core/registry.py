"""Plug-ins by name: a decorator, discovery of the modules of packages, and an error that lists what is valid."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ranking.core.errors import InputError
from ranking.core.settings import check_settings, settings_of

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes of one kind, found by importing every module of `packages` at the first question."""

    def __init__(self, kind: str, *packages: str) -> None:
        self.kind = kind
        self.packages = packages
        self._classes: dict[str, type[T]] = {}
        self._discovered = self._discovering = False
        self._lock = threading.RLock()  # re-entrant, since a module may ask while it is imported

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator: the class becomes `name` here and gets it as its attribute `name`."""

        def add(cls: type[T]) -> type[T]:
            known = self._classes.get(name)
            # A module that is run again replaces its class; anything else under the same name is a mistake.
            if known is not None and _home(known) != _home(cls):
                raise InputError(f"{self.kind} {name!r}", "one class of this name", f"{known} and {cls}")
            cls.name = name  # type: ignore[attr-defined]
            self._classes[name] = cls
            return cls

        return add

    def names(self) -> list[str]:
        """Every registered name, in the order of `order` attributes, then of the alphabet."""
        self._discover()
        return sorted(self._classes, key=lambda name: (getattr(self._classes[name], "order", 99), name))

    def get(self, name: str) -> type[T]:
        self._discover()
        if name not in self._classes:
            raise InputError(self.kind, f"one of {', '.join(self.names())}", repr(name))
        return self._classes[name]

    def make(self, name: str, **settings: Any) -> T:
        """A new instance with `settings`; an unknown name or value: InputError that lists what is valid."""
        cls = self.get(name)
        valid = [item.name for item in settings_of(cls)]
        unknown = [key for key in settings if key not in valid]
        if unknown:
            raise InputError(f"settings of {name}", ", ".join(valid) or "none", repr(unknown[0]))
        made = cls(**settings)
        check_settings(made)
        return made

    def _discover(self) -> None:
        """Import every module once; another thread waits until all are there."""
        if self._discovered:
            return
        with self._lock:
            if self._discovered or self._discovering:
                return
            self._discovering = True
            try:
                for package in self.packages:
                    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                        importlib.import_module(f"{package}.{module.name}")
                self._discovered = (
                    True  # after the last: the next question is never answered from half of them
                )
            finally:
                self._discovering = False


def _home(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
