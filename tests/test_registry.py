"""Plug-ins are discovered by their files, and errors list what is valid."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from ranking.registry import Registry
from ranking.settings import setting

INIT = "from ranking.registry import Registry\nTHINGS = Registry('thing', __name__)\n"

THING = """
from dataclasses import dataclass
from {package} import THINGS
from ranking.settings import setting

@THINGS.register({name!r})
@dataclass
class Thing:
    order = {order}
    size: int = setting(3, label="Size", help="How large.", minimum=1)
    hidden: int = 0
"""

WriteModule = Callable[..., None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A new package with a registry THINGS and no plug-in yet."""
    name = "things_for_a_test"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(INIT)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


@pytest.fixture
def write(package: str, tmp_path: Path) -> WriteModule:
    def write_module(module: str, name: str = "", order: int = 99, text: str = THING) -> None:
        source = text.format(package=package, name=name, order=order)
        (tmp_path / package / f"{module}.py").write_text(source)
        importlib.invalidate_caches()

    return write_module


def things(package: str) -> Registry[Any]:
    registry: Registry[Any] = importlib.import_module(package).THINGS
    return registry


def test_a_plugin_is_one_new_file(package: str, write: WriteModule) -> None:
    write("round", "Round")
    made = things(package).make("Round", size=5)
    assert (made.name, made.size) == ("Round", 5)
    assert type(made) is things(package).get("Round")


def test_names_come_by_order_then_by_alphabet(package: str, write: WriteModule) -> None:
    for module, name, order in [("a", "Late", 5), ("b", "Bee", 1), ("c", "Ant", 1), ("d", "First", 0)]:
        write(module, name, order)
    assert things(package).names() == ["First", "Ant", "Bee", "Late"]


def test_unknown_names_settings_and_values_are_refused_with_what_is_valid(
    package: str, write: WriteModule
) -> None:
    write("a", "Round")
    write("b", "Flat")
    with refused("thing", "'Blue'") as caught:
        things(package).make("Blue")
    assert "Flat, Round" in caught.value.expected
    with refused("settings of Round", "'hidden'") as caught:
        things(package).make("Round", hidden=1)
    assert caught.value.expected == "size"
    with refused("size of Round", 0):
        things(package).make("Round", size=0)


def test_a_plugin_may_have_no_settings() -> None:
    registry: Registry[Any] = Registry("colour", "email")

    @registry.register("Plain")
    @dataclass
    class Plain:
        pass

    with refused("settings of Plain", "'size'"):
        registry.make("Plain", size=1)
    assert isinstance(registry.make("Plain"), Plain)


def test_two_classes_cannot_share_a_name(package: str, write: WriteModule) -> None:
    write("a", "Round")
    write("b", "Round")  # of the same qualified name, in another file
    with refused("thing 'Round'") as caught:
        things(package).names()
    assert all(f"{package}.{module}.Thing" in str(caught.value.came) for module in "ab")


def test_a_module_that_is_run_again_replaces_its_class(package: str, write: WriteModule) -> None:
    write("a", "Round")
    before = things(package).get("Round")
    importlib.reload(sys.modules[f"{package}.a"])
    after = things(package).get("Round")
    assert after is not before
    assert things(package).names() == ["Round"]


def test_a_broken_plugin_fails_at_every_question(package: str, write: WriteModule) -> None:
    write("a", "Round")
    write("b", text="raise BrokenPipeError")
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            things(package).names()
    write("b", "Flat", text=THING + "\n# mended")
    assert things(package).names() == ["Flat", "Round"]


def test_a_plugin_may_ask_for_names_while_it_is_imported(package: str, write: WriteModule) -> None:
    write("a", "Round", text=THING + "\nKNOWN = THINGS.names()\n")
    write("b", "Flat")
    assert things(package).names() == ["Flat", "Round"]
    assert sys.modules[f"{package}.a"].KNOWN == ["Round"]


def test_threads_that_ask_at_once_all_get_every_name(package: str, write: WriteModule) -> None:
    slow = "import time\ntime.sleep(0.1)\n" + THING
    for name in ("Ant", "Bee", "Cow"):
        write(name.lower(), name, text=slow)
    registry = things(package)
    with ThreadPoolExecutor(4) as pool:
        answers = [answer.result() for answer in [pool.submit(registry.names) for _ in range(4)]]
    assert answers == [["Ant", "Bee", "Cow"]] * 4


def test_nothing_is_imported_before_the_first_question() -> None:
    registry: Registry[Any] = Registry("ghost", "no_such_package_anywhere")

    @registry.register("Casper")
    @dataclass
    class Casper:
        size: int = setting(1, label="Size", help="How large.")

    with pytest.raises(ModuleNotFoundError):
        registry.names()
