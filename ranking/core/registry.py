"""Plug-ins by name: registered by a decorator, found by importing packages, checked for what they must declare."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import threading
from collections.abc import Callable, Iterator
from typing import ClassVar, Generic, TypeVar

from ranking.core.errors import InputError
from ranking.core.settings import check_settings, settings_of

# names at least as similar as this count as misspelled members
CLOSE = 0.85


class Plugin:
    """Attributes of every registered class; the base class of its kind declares the others."""

    # set by `Registry.register`
    name: ClassVar[str]
    # sorts lists of plug-ins, lowest first; equal ones are sorted by name
    order: ClassVar[int] = 99


T = TypeVar("T", bound=Plugin)
K = TypeVar("K")


class Registry(Generic[T]):
    """Named subclasses of `base`. All modules of `packages` are imported when the names are first needed."""

    def __init__(self, kind: str, base: type[T], *packages: str) -> None:
        self.kind = kind
        self.base = base
        self.packages = packages
        self._classes: dict[str, type[T]] = {}
        self._discovered = self._discovering = False
        # re-entrant, because a module may ask for names while it is imported
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Return a decorator that registers a class as `name`; InputError unless its members are sound."""

        def add(cls: type[T]) -> type[T]:
            registered = self._classes.get(name)
            # A module that is run again replaces its class; another class of the same name is an error.
            if registered is not None and _home(registered) != _home(cls):
                raise InputError(f"{self.kind} {name!r}", "one class of this name", f"{registered} and {cls}")
            cls.name = name
            _check_complete(cls, self.base, f"{self.kind} {name!r}")
            if "__dataclass_fields__" not in vars(cls):
                remedy = "add @dataclass below the decorator that registers it"
                raise InputError(f"{self.kind} {name!r}", "a dataclass", cls.__qualname__, remedy)
            _check_spelling(cls, f"{self.kind} {name!r}")
            self._classes[name] = cls
            return cls

        return add

    def names(self) -> list[str]:
        """Return all registered names, sorted by the attribute `order`, then alphabetically."""
        self._discover()
        return sorted(self._classes, key=lambda name: (self._classes[name].order, name))

    def get(self, name: str) -> type[T]:
        """Return the class of that name; InputError that lists the names for an unknown one."""
        self._discover()
        if name not in self._classes:
            raise InputError(self.kind, f"one of {', '.join(self.names())}", repr(name))
        return self._classes[name]

    def make(self, name: str, **settings: object) -> T:
        """Return a new instance with `settings`; InputError that lists what is valid for an unknown name or value."""
        cls = self.get(name)
        valid = [item.name for item in settings_of(cls)]
        unknown = [key for key in settings if key not in valid]
        if unknown:
            raise InputError(f"settings of {name}", ", ".join(valid) or "none", repr(unknown[0]))
        plugin = cls(**settings)
        check_settings(plugin)
        return plugin

    def make_as(self, kind: type[K], name: str, **settings: object) -> K:
        """Return what `make` returns, which is of the class `kind`; InputError otherwise."""
        return self.checked(kind, self.make(name, **settings))

    def checked(self, kind: type[K], plugin: T) -> K:
        """Return a plug-in that is of the class `kind`; InputError for any other."""
        if not isinstance(plugin, kind):
            raise InputError(self.kind, f"one that is a {kind.__name__}", plugin.name)
        return plugin

    def _discover(self) -> None:
        """Import every module once; other threads wait until all are imported."""
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
                # only now: no thread may see half of them
                self._discovered = True
            finally:
                self._discovering = False


def _home(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def _check_complete(cls: type, base: type, subject: str) -> None:
    """Raise InputError unless `cls` extends `base` and gives a value to all that its bases declare without one."""
    if not issubclass(cls, base):
        raise InputError(subject, f"a subclass of {base.__name__}", cls.__qualname__, "extend it")
    abstract: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    attributes = {
        name
        for place, owner in enumerate(cls.__mro__, 1)
        for name, kind in inspect.get_annotations(owner).items()
        # A value above the declaration does not count: a class declares again what its subclasses must give.
        if "ClassVar" in str(kind) and not any(name in vars(below) for below in cls.__mro__[:place])
    }
    if missing := sorted(abstract | attributes):
        raise InputError(
            subject, f"{', '.join(missing)} in class {cls.__qualname__}", "none", _remedy(missing, cls)
        )


def _remedy(missing: list[str], cls: type) -> str:
    slips = {name: difflib.get_close_matches(name, _public(cls), 1, CLOSE) for name in missing}
    renames = [f"rename {slip[0]} to {name}" for name, slip in slips.items() if slip]
    return "; ".join(renames) or f"add {missing[0]}"


def _check_spelling(cls: type, subject: str) -> None:
    """Raise InputError where `cls` has a name close to one that an abstract base declares, but not equal."""
    # Such a slip would silently leave the declared default in force.
    bases = [owner for owner in cls.__mro__ if inspect.isabstract(owner) or owner is Plugin]
    declared = {name for owner in bases for name in _public(owner)}
    required = {name for owner in bases for name in getattr(owner, "__abstractmethods__", ())}
    abilities = declared - required - {item.name for item in settings_of(cls)}
    for owner in cls.__mro__:
        for name in () if owner in bases else _public(owner):
            close = difflib.get_close_matches(name, abilities, 1, CLOSE)
            if close and name not in declared:
                raise InputError(
                    subject, f"{close[0]}, or a name that is less close to it", name, f"rename {name}"
                )


def _public(owner: type) -> Iterator[str]:
    """Yield the names without a leading underscore that a class itself assigns or annotates."""
    names = {**vars(owner), **inspect.get_annotations(owner)}
    return (name for name in names if not name.startswith("_"))
