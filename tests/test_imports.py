"""Rules of imports: a folder imports only those above it, and no two files import each other.

They are read from the source, so that imports inside functions count too.
"""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]

# From the ground up: a folder of `ranking`, and one of `pages/parts`, imports those of lines above its own.
HOUSE = (
    ("core",),
    ("files", "losses", "metrics"),
    ("inference", "datasets"),
    ("solvers", "formats"),
    ("methods", "features"),
    ("explain", "storage", "estimators"),
    ("experiments",),
    ("reports",),
    ("commands",),
    ("pages.parts.app",),
    ("pages.parts.components",),
    ("pages.parts.charts",),
    ("pages.parts.training",),
    ("pages.parts.rankings",),
    ("pages.parts.comparison", "pages.parts.neighbours", "pages.parts.objects", "pages.parts.sequences"),
    ("pages.parts.labelling", "pages.parts.importing", "pages.parts.studies"),
    ("pages.parts.lessons",),
    ("pages",),
)
LINE_OF = {folder: line for line, folders in enumerate(HOUSE) for folder in folders}
NEVER = {
    ("storage", "methods"),
}
# An experiment needs no data folder: of the storage it imports only the settings that describe it.
SETTINGS = {f"ranking.storage.{name}" for name in ("run_settings", "stored_settings", "json_numbers")}
# Of pages/parts: what several pages use, and what uses the frame of all pages.
SHARED = {"app", "components", "charts"}
FRAME = {"app", "laboratory", "pages.start"}
# all that `ranking` holds beside its folders
FLAT = {"__init__.py", "__main__.py"}


def module_name(path: Path, root: Path) -> str:
    """ranking/methods/__init__.py is ranking.methods."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def our_files(root: Path) -> list[Path]:
    return sorted([*(root / "pages").rglob("*.py"), *(root / "ranking").rglob("*.py")])


def imported(path: Path, root: Path) -> Iterator[str]:
    """Every module that a file imports at any depth: `a.b.c` for `from a.b import c` if c is a module."""
    package = module_name(path, root).split(".")[: None if path.name == "__init__.py" else -1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                place = root.joinpath(*base.split("."), alias.name)
                is_module = place.is_dir() or place.with_suffix(".py").is_file()
                yield f"{base}.{alias.name}" if is_module else base


def folder_of(module: str) -> str | None:
    """The folder of the house that holds a module; None where it is not ours."""
    top, *below = module.split(".")
    if top == "pages":
        return ".".join([top, *below[:2]]) if below[:1] == ["parts"] else top
    return (below[0] if below else top) if top == "ranking" else None


def complaint(source: str, target: str) -> str | None:
    """What is wrong with module `source` importing module `target`, or None."""
    here, there, of_pages = folder_of(source), folder_of(target), source.startswith("pages.")
    if target.partition(".")[0] == "streamlit" and not of_pages:
        return "ranking never imports streamlit"
    if there is None or source == target or here == there != "pages":
        return None
    if here == there:
        return "pages share only what is in pages/parts"
    if here in ("ranking", "__main__"):
        return None
    if there == "ranking":
        return None if of_pages else "what `ranking` exports is for others"
    never = (here, there) in NEVER or (of_pages and there == "commands")
    never |= (here, there) == ("experiments", "storage") and target not in SETTINGS
    below = LINE_OF[here] <= LINE_OF[there]
    return "a folder imports those above it only" if below or never else None


def complaints(root: Path) -> list[str]:
    messages, needs = [], {}
    for file in our_files(root):
        source = module_name(file, root)
        needs[source] = set(imported(file, root)) - {source}
        messages += [
            f"{source} imports {target}: {text}"
            for target in sorted(needs[source])
            if (text := complaint(source, target))
        ]
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        messages.append(f"a circle: {' imports '.join(error.args[1])}")
    return messages


def test_folders_import_only_folders_above_and_files_never_each_other():
    assert len(our_files(ROOT)) > 200
    assert complaints(ROOT) == []


def test_every_folder_has_a_position_in_the_order_of_imports():
    folders = {
        prefix + place.name
        for prefix, folder in (("", "ranking"), ("pages.parts.", "pages/parts"))
        for place in (ROOT / folder).iterdir()
        if place.is_dir() and place.name != "__pycache__"
    }
    assert folders | {"pages"} == set(LINE_OF)
    assert {file.name for file in (ROOT / "ranking").glob("*.py")} == FLAT


def test_the_table_for_contributors_is_in_the_order_of_imports():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`\w+/`(?:, )?)+) \|", text, re.MULTILINE)
    folders = [folder for row in rows for folder in re.findall(r"\w+", row)]
    assert sorted(folders) == sorted(folder for folder in LINE_OF if not folder.startswith("pages"))
    assert folders == sorted(folders, key=LINE_OF.get)


def test_a_part_with_one_user_is_beside_it():
    """In the folder of the part that imports it; the parts of one page alone are in one folder for such pages."""
    files = our_files(ROOT)
    modules = {module_name(path, ROOT) for path in files}
    importers: dict[str, set[str]] = {name: set() for name in modules if name.startswith("pages.parts.")}
    for path in [*files, ROOT / "app.py", ROOT / "laboratory.py"]:
        for target in imported(path, ROOT):
            if target in importers:
                importers[target].add(module_name(path, ROOT))
    folders: dict[str, set[str]] = {}
    for name, users in importers.items():
        if len(users) == 1:
            folders.setdefault(*users, set()).add(name.split(".")[2])
    assert len(importers) > 80
    assert len(folders) > 20
    assert {user: found for user, found in folders.items() if not is_beside(user, found)} == {}


def is_beside(user: str, folders: set[str]) -> bool:
    """Whether parts that only `user` imports may be in these folders of pages/parts."""
    if user in FRAME:
        return folders == {"app"}
    if user.startswith("pages.parts."):
        return folders == {user.split(".")[2]}
    return len(folders) == 1 and not folders & SHARED


def test_the_picture_is_of_todays_imports():
    draw = runpy.run_path(str(ROOT / "docs" / "architecture.py"))["picture"]
    committed = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert committed.count("<rect ") == len(LINE_OF)
    assert committed == draw(), "run python docs/architecture.py"


def test_a_violated_import_rule_is_reported(tmp_path):
    """What keeps the reader of imports honest: an import inside a function, relative, from below to above."""
    for name, text in {
        "ranking/methods/svm.py": "from ranking.methods import ap_svm\n",
        "ranking/methods/ap_svm.py": "def late():\n    from . import svm\n",
        "ranking/losses/ap.py": "def late():\n    from ..methods import svm\n",
        "pages/parts/training/run_steps.py": "from pages.parts.importing import trash\n",
        "pages/parts/importing/trash.py": "from ranking.commands import trash\n",
        "ranking/commands/trash.py": "",
        "ranking/storage/jobs.py": "import streamlit.runtime as runtime\n",
        "ranking/experiments/study.py": "from ranking.storage import store\n",
        "ranking/storage/store.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    *rules, circle = complaints(tmp_path)
    assert rules == [
        "pages.parts.importing.trash imports ranking.commands.trash: a folder imports those above it only",
        "pages.parts.training.run_steps imports pages.parts.importing.trash: a folder imports those above it only",
        "ranking.experiments.study imports ranking.storage.store: a folder imports those above it only",
        "ranking.losses.ap imports ranking.methods.svm: a folder imports those above it only",
        "ranking.storage.jobs imports streamlit.runtime: ranking never imports streamlit",
    ]
    assert circle.startswith("a circle: ranking.methods.")


def test_every_page_is_named_to_the_navigation():
    frames = [ROOT / "laboratory.py", ROOT / "pages" / "parts" / "app" / "menu.py"]
    trees = [ast.parse(file.read_text("utf-8")) for file in frames if file.is_file()]
    words = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    pages = [page for page in (ROOT / "pages").glob("*.py") if page.stem != "__init__"]
    missing = [page.name for page in pages if not words & {page.stem, f"pages/{page.name}"}]
    assert len(pages) >= 24
    assert missing == []
