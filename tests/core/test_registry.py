"""Plug-ins are discovered by their files, and errors list what is valid."""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from refusals import refused

from ranking import method_names
from ranking.core import SampleMethod
from ranking.core.registry import Plugin, Registry
from ranking.datasets import source_names
from ranking.features import feature_names
from ranking.losses import loss_names
from ranking.methods import METHODS
from ranking.methods.structured_rank_svm import StructuredRankSVM

INIT = "from ranking.core.registry import Plugin, Registry\nTHINGS = Registry('thing', Plugin, __name__)\n"

THING = """
from dataclasses import dataclass
from {package} import THINGS, Plugin
from ranking.core.settings import setting

@THINGS.register({name!r})
@dataclass
class Thing(Plugin):
    order = {order}
    size: int = setting(3, label="Size", help="How large.", minimum=1)
    hidden: int = 0
"""


class Package:
    """A new package with a registry, and no plug-in yet."""

    name = "things_for_a_test"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / self.name
        self.folder.mkdir()
        (self.folder / "__init__.py").write_text(INIT)

    def write(self, module: str, name: str = "", order: int = 99, text: str = THING) -> None:
        source = text.format(package=self.name, name=name, order=order)
        (self.folder / f"{module}.py").write_text(source)
        importlib.invalidate_caches()

    @property
    def things(self) -> Registry[Any]:
        registry: Registry[Any] = importlib.import_module(self.name).THINGS
        return registry


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Package(tmp_path)
    for module in [module for module in sys.modules if module.partition(".")[0] == Package.name]:
        del sys.modules[module]


def test_a_plugin_is_one_new_file(package):
    package.write("round", "Round")
    made = package.things.make("Round", size=5)
    assert (made.name, made.size) == ("Round", 5)
    assert type(made) is package.things.get("Round")


def test_names_come_by_order_then_by_alphabet(package):
    for module, name, order in [("a", "Late", 5), ("b", "Bee", 1), ("c", "Ant", 1), ("d", "First", 0)]:
        package.write(module, name, order)
    assert package.things.names() == ["First", "Ant", "Bee", "Late"]


def test_unknown_names_settings_and_values_are_refused_with_what_is_valid(package):
    package.write("a", "Round")
    package.write("b", "Flat")
    with refused("thing", "'Blue'") as caught:
        package.things.make("Blue")
    assert "Flat, Round" in caught.value.expected
    with refused("settings of Round", "'hidden'") as caught:
        package.things.make("Round", hidden=1)
    assert caught.value.expected == "size"
    with refused("size of Round", 0):
        package.things.make("Round", size=0)


def test_a_plugin_may_have_no_settings():
    registry: Registry[Any] = Registry("colour", Plugin, "email")

    @registry.register("Plain")
    @dataclass
    class Plain(Plugin):
        pass

    with refused("settings of Plain", "'size'"):
        registry.make("Plain", size=1)
    assert isinstance(registry.make("Plain"), Plain)


def test_two_classes_cannot_share_a_name(package):
    for module in "ab":
        # of the same qualified name, in another file
        package.write(module, "Round")
    with refused("thing 'Round'") as caught:
        package.things.names()
    assert all(f"{package.name}.{module}.Thing" in str(caught.value.came) for module in "ab")


def test_a_module_that_is_run_again_replaces_its_class(package):
    package.write("a", "Round")
    before = package.things.get("Round")
    importlib.reload(sys.modules[f"{package.name}.a"])
    assert package.things.get("Round") is not before
    assert package.things.names() == ["Round"]


def test_a_broken_plugin_raises_its_error_at_every_look_up(package):
    package.write("a", "Round")
    package.write("b", text="raise BrokenPipeError")
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            package.things.names()
    package.write("b", "Flat", text=THING + "\n# mended")
    assert package.things.names() == ["Flat", "Round"]


def test_no_plugin_is_imported_before_the_first_look_up():
    registry: Registry[Any] = Registry("ghost", Plugin, "no_such_package_anywhere")
    registry.register("Casper")(dataclass(type("Casper", (Plugin,), {})))
    with pytest.raises(ModuleNotFoundError):
        registry.names()


class Shape(Plugin, ABC):
    """A base class of plug-ins: two abilities with a default, and two things that each must have."""

    corners: ClassVar[int]
    is_round: ClassVar[bool] = False

    @property
    def outline(self) -> str:
        return "solid"

    @abstractmethod
    def area(self) -> float: ...


def given(bases: tuple[type, ...] = (Shape,), **attributes: Any) -> type:
    """Register a class of these attributes."""
    registry: Registry[Any] = Registry("shape", Shape)
    return registry.register("Square")(dataclass(type("Square", bases, attributes)))


WHOLE: dict[str, Any] = {"corners": 4, "area": lambda self: 1.0}


def test_a_class_with_all_that_its_base_asks_for_is_registered():
    square = given(**WHOLE)
    assert (square().area(), square.is_round, square().outline) == (1.0, False, "solid")
    # private, or like nothing that is declared
    assert not hasattr(given(**WHOLE, _is_rond=True, side=2), "rond")


def test_a_class_that_lacks_something_is_refused_by_its_name():
    with refused("shape 'Square'") as caught:
        given()
    assert caught.value.expected == "area, corners in class Square"
    with refused("shape 'Square'") as caught:
        given(corners=4, areas=WHOLE["area"])
    assert caught.value.remedy == "rename areas to area"
    with refused("shape 'Square'", "Square"):
        given((Plugin,), **WHOLE)


def test_a_value_does_not_stand_for_what_a_subclass_declares_again():
    again = type("Polygon", (Shape,), {"__annotations__": {"is_round": "ClassVar[bool]"}})
    with refused("shape 'Square'") as caught:
        given((again,), **WHOLE)
    assert caught.value.expected == "is_round in class Square"
    assert given((again,), **WHOLE, is_round=True)


def test_a_class_whose_annotations_are_no_fields_is_refused():
    registry: Registry[Any] = Registry("shape", Shape)
    attributes = {**WHOLE, "__annotations__": {"depth": "int"}, "depth": 3}
    with refused("shape 'Square'", "Square") as caught:
        registry.register("Square")(type("Square", (Shape,), attributes))
    assert caught.value.remedy == "add @dataclass below the decorator that registers it"


def test_a_misspelt_ability_is_refused_with_the_name_it_is_close_to():
    for name, meant in [("is_rounds", "is_round"), ("outlines", "outline"), ("oder", "order")]:
        for attributes in ({name: True}, {"__annotations__": {name: "bool"}, name: True}):
            with refused("shape 'Square'", name) as caught:
                given(**WHOLE, **attributes)
            assert caught.value.expected.startswith(f"{meant}, "), name


def test_plugins_are_found():
    """Many tests run over these names."""
    assert len(method_names()) >= 20
    assert len(feature_names()) >= 6
    assert len(source_names()) >= 9
    assert len(loss_names()) >= 2


def test_methods_declare_their_abilities():
    """No method is refused for a name of its own, and one that says `use_graph` is."""
    for name in method_names():
        METHODS.register(name)(METHODS.get(name))
    with refused("method 'Mine'", "use_graph"):
        METHODS.register("Mine")(dataclass(type("Mine", (METHODS.get("AP-SVM"),), {"use_graph": True})))
    with refused("method 'Mine'") as caught:
        METHODS.register("Mine")(type("Mine", (SampleMethod,), {"score": None, "save": None, "load": None}))
    assert caught.value.expected == "fit in class Mine"
    with refused("method 'Mine'") as caught:
        METHODS.register("Mine")(dataclass(type("Mine", (StructuredRankSVM,), {})))
    assert caught.value.expected == "loss in class Mine"
    assert "Mine" not in method_names()
