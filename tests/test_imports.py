"""The house: imports point down only. Read from the source, so that no import is too lazy to be seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

# From the roof to the ground; a part may import every part that stands lower. "ranking" is what the package
# itself exports (ranking/__init__.py); the other parts of the package go without their "ranking.".
LAYERS: tuple[set[str], ...] = (
    {"app"},
    {"pages"},
    {"pages.parts"},
    {"__main__"},
    {"commands"},
    {"reports"},
    {"experiments", "worker", "jobs", "events", "training", "kernels", "run_archive", "run_json"}
    | {"label_training", "order_training", "order_studies", "asking_simulation", "timing_studies"}
    | {"study_bench", "own_image", "own_edges", "opened"},
    {"rooms", "apart"},
    {"room_places"},
    {"worker_limits"},
    {"store", "run_store", "run", "run_settings", "home", "answers", "job_queue"}
    | {"room_layout", "room_quotas", "row_files", "database_copies"},
    {"ranking"},
    {"image_graph", "asking", "lookahead", "tree_search", "inference_steps", "vectors"},
    {"methods", "datasets", "features", "moving", "leaning", "neighbourhood"}
    | {"label_sets", "label_pairs", "fold_curves", "study_curves", "sequences", "intervals", "comparison"},
    {
        "optimise",
        "inference",
        "losses",
        "metrics",
        "ranked",
        "similarity",
        "edge_files",
        "vector_files",
        "score_files",
    }
    | {"networks", "subsequences", "pair_chains", "intake"},
    {"registry", "settings", "first_settings", "types", "archives", "spreadsheets", "cluster", "text"},
    {"errors"},
)

# The only imports between parts of one layer: by each part, of which others.
NEIGHBOURS = {
    "answers": {"home", "room_quotas", "run"},
    "asking_simulation": {"label_training"},
    "database_copies": {"answers", "home", "room_layout", "room_quotas"},
    "experiments": {"events"},
    "home": {"room_layout"},
    "inference": {"losses"},
    "job_queue": {"home", "room_layout", "run"},
    "jobs": {"events"},
    "label_sets": {"datasets"},
    "leaning": {"neighbourhood"},
    "lookahead": {"asking"},
    "networks": {"intake"},
    "optimise": {"inference", "losses"},
    "order_studies": {"order_training", "study_bench"},
    "ranked": {"metrics"},
    "registry": {"settings"},
    "room_quotas": {"home", "room_layout"},
    "run_archive": {"events", "run_json", "training"},
    "row_files": {"run"},
    "run_store": {"home", "job_queue", "room_layout", "room_quotas", "row_files", "run"},
    "store": {"home", "room_layout", "room_quotas", "row_files", "run", "run_settings", "run_store"},
    "study_bench": {"order_training"},
    "worker": {"jobs", "events", "experiments", "training", "label_training", "order_training"}
    | {"asking_simulation", "order_studies", "timing_studies"},
}
SIDEWAYS = {(source, target) for source, targets in NEIGHBOURS.items() for target in targets}

# laboratory.py names the pages and does nothing else, and app.py serves it.
APP_MAY_IMPORT = {"__future__", "streamlit", "starlette", "pages.parts"}

# A plug-in imports another only to be initialised by it: (the importing module, the imported one).
INITIALISED_BY = {
    ("ranking.methods.hoap_svm", "ranking.methods.hob_svm"),
    ("ranking.methods.hoap_svm", "ranking.methods.ap_svm"),
    ("ranking.methods.mid_rank", "ranking.methods.rank_svm"),
}


def module_name(path: Path, root: Path) -> str:
    """ranking/methods/__init__.py is ranking.methods."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def our_files(root: Path) -> list[Path]:
    files = [
        root / "app.py",
        root / "laboratory.py",
        *(root / "pages").rglob("*.py"),
        *(root / "ranking").rglob("*.py"),
    ]
    return sorted(file for file in files if file.is_file())


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


def part_of(module: str) -> str | None:
    """The part of the house that holds a module; None where it is not ours."""
    top, _, rest = module.partition(".")
    if top == "ranking":
        return rest.partition(".")[0] or "ranking"
    if top == "pages":
        return "pages.parts" if rest.partition(".")[0] == "parts" else "pages"
    return "app" if module in ("app", "laboratory") else None


def level(part: str) -> int:
    for number, layer in enumerate(LAYERS):
        if part in layer:
            return number
    raise AssertionError(f"{part!r} stands in no layer: give it a place in LAYERS")


def is_plugin(path: Path) -> bool:
    """Whether a class of the file carries a registry's decorator."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    used = [each for node in nodes if isinstance(node, ast.ClassDef) for each in node.decorator_list]
    decorators = [call.func for call in used if isinstance(call, ast.Call)]
    return any(getattr(func, "attr", getattr(func, "id", "")) == "register" for func in decorators)


def complaint(source: str, target: str, plugins: set[str]) -> str | None:
    """What is wrong with module `source` importing module `target`, or None."""
    here, there = part_of(source), part_of(target)
    assert here is not None
    if here not in ("app", "pages", "pages.parts") and target.partition(".")[0] == "streamlit":
        return "ranking never imports streamlit"
    if here == "app":
        return (
            None
            if (there or target.partition(".")[0]) in APP_MAY_IMPORT
            else "app.py and laboratory.py only serve and name pages"
        )
    if there is None or source == target:
        return None
    if here == there == "pages":
        return "pages share only what is in pages/parts"
    if here != there and level(here) >= level(there) and (here, there) not in SIDEWAYS:
        return "imports point down only"
    if source in plugins and target in plugins and (source, target) not in INITIALISED_BY:
        return "a plug-in imports another only to be initialised by it"
    return None


def complaints(root: Path) -> list[str]:
    files = our_files(root)
    plugins = {module_name(file, root) for file in files if is_plugin(file)}
    found = []
    for file in files:
        source = module_name(file, root)
        for target in sorted(set(imported(file, root))):
            if text := complaint(source, target, plugins):
                found.append(f"{source} imports {target}: {text}")
    return found


def test_the_house_keeps_its_rules():
    assert complaints(ROOT) == []


def test_every_part_of_the_package_has_its_layer_and_every_layer_is_told_once():
    told = [part for layer in LAYERS for part in layer]
    assert len(told) == len(set(told))
    parts = {part_of(module_name(file, ROOT)) for file in our_files(ROOT)}
    assert {"types", "metrics", "losses"} <= parts <= set(told)


def test_edges_between_neighbours_join_one_layer_and_run_in_no_circle():
    assert all(level(source) == level(target) for source, target in SIDEWAYS)
    remaining = set(SIDEWAYS)
    while remaining:
        ends = {target for _, target in remaining} - {source for source, _ in remaining}
        assert ends, f"these import each other in a circle: {sorted(remaining)}"
        remaining = {edge for edge in remaining if edge[1] not in ends}


def test_a_broken_rule_is_seen(tmp_path):
    """What keeps the reader of imports honest: an import inside a function, relative, from below to above."""
    (tmp_path / "ranking/losses").mkdir(parents=True)
    (tmp_path / "ranking/methods").mkdir()
    (tmp_path / "ranking/methods/svm.py").write_text("")
    (tmp_path / "ranking/losses/ap.py").write_text("def late():\n    from ..methods import svm\n")
    (tmp_path / "ranking/jobs/jobs.py").write_text("import streamlit.runtime as runtime\n")
    assert complaints(tmp_path) == [
        "ranking.jobs.jobs imports streamlit.runtime: ranking never imports streamlit",
        "ranking.losses.ap imports ranking.methods.svm: imports point down only",
    ]


def test_every_page_is_named_to_the_navigation():
    frames = [ROOT / "laboratory.py", ROOT / "pages" / "parts" / "frame.py"]
    trees = [ast.parse(file.read_text("utf-8")) for file in frames if file.is_file()]
    words = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    pages = [page for page in (ROOT / "pages").glob("*.py") if page.stem != "__init__"]
    unnamed = [page.name for page in pages if not words & {page.stem, f"pages/{page.name}"}]
    assert pages
    assert unnamed == []
