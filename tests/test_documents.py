"""README, CONTRIBUTING and docs: their Python runs, their links lead somewhere, their lines can be read."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pages.parts.app.menu import PAGES

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MAX_LINES = {"README.md": 160, "CONTRIBUTING.md": 120}
CODE = ("ranking", "pages", "tests", "benchmarks", "data", "docs")
# What code defines: functions and classes, variables and fields, names of stored files.
DEFINED = re.compile(
    r"\b(?:def|class) (\w+)|^\s*(?:self\.)?(\w+)(?:: [^=\n]+)?(?: =|$)|\"([\w]+\.(?:jsonl?|np[yz]))\"",
    re.MULTILINE,
)
# characters of a line of prose
WIDEST = 130

# Those of extending.md are files, which test_extending.py executes in their places.
EXAMPLES = [
    (document.name, number, code)
    for document in DOCUMENTS
    if document.name != "extending.md"
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL))
]


LINK = re.compile(r"\]\(([^)\s]+)\)")
SECTION = re.compile(r"\]\(([^)\s#]*)#([^)\s]+)\)")


def test_documents_examples_and_links_were_found() -> None:
    texts = [document.read_text("utf-8") for document in DOCUMENTS]
    assert len(DOCUMENTS) >= 5
    assert len(EXAMPLES) >= 5
    assert sum(len(LINK.findall(text)) for text in texts) >= 20
    assert sum(len(SECTION.findall(text)) for text in texts) >= 1


@pytest.mark.parametrize(("name", "number", "code"), EXAMPLES, ids=[f"{name}-{n}" for name, n, _ in EXAMPLES])
def test_an_example_in_python_runs(
    name: str, number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    for image in range(12):
        folder = tmp_path / "photographs" / ("beach" if image % 2 else "forest")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (48, 48, 3), np.uint8)).save(folder / f"{image}.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "home"))
    exec(compile(code, f"{name}, example {number}", "exec"), {})


@functools.cache
def known_to_the_code() -> tuple[set[str], set[str]]:
    """The paths of the repository's files and folders; and the names of functions, classes, variables, folders and
    stored files."""
    paths = [path for folder in CODE for path in (ROOT / folder).rglob("*") if path.name != "__pycache__"]
    paths += [path for path in ROOT.iterdir() if path.name in CODE or path.is_file()]
    names = {path.name for path in paths if path.is_dir()}
    for text in [path.read_text("utf-8") for path in paths if path.suffix == ".py"]:
        names |= {name for found in DEFINED.findall(text) for name in found if name}
    return {f"/{path.relative_to(ROOT)}{'/' * path.is_dir()}" for path in paths}, names


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/conventions.md", "docs/extending.md"])
def test_what_is_named_to_contributors_exists(name: str) -> None:
    """Files by any end of their path; functions and variables by their last part; commands by the files in them."""
    whole = (ROOT / name).read_text("utf-8")
    text = re.sub(r"```.*?```", "", whole, flags=re.DOTALL)
    quoted = set(re.findall(r"`([^`\n]+)`", text))
    words = {word for words in quoted for word in words.split()} - set(
        re.findall(r"^# (\S+\.py)$", whole, re.MULTILINE)
    )
    files = {word for word in words if re.fullmatch(r"[\w./]*(/|\.py|\.md|\.svg|\.txt|\.toml)", word)}
    terms = {word for word in quoted - files if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", word)}
    paths, known = known_to_the_code()
    assert len(files) >= 2
    assert len(terms) >= 5
    assert [file for file in files if not any(path.endswith(f"/{file}") for path in paths)] == []
    assert [term for term in terms if not {term, term.rpartition(".")[2]} & known] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = LINK.findall(document.read_text("utf-8"))
    local = [target for target in targets if not target.startswith("http")]
    missing = [target for target in local if not (document.parent / target.partition("#")[0]).exists()]
    assert missing == []
    served = re.compile(r"http://localhost:8501/(\w*)")
    pages = {match[1] for target in targets if (match := served.match(target))}
    assert pages <= {*PAGES, ""}, "an address that the menu does not lead to"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_link_to_a_section_finds_its_heading(document: Path) -> None:
    for path, anchor in SECTION.findall(document.read_text("utf-8")):
        text = (document.parent / path if path else document).read_text("utf-8")
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
        assert anchor in anchors, f"{document.name} links to {path}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_the_lines_of_a_document(document: Path) -> None:
    lines = document.read_text("utf-8").splitlines()
    assert len(lines) <= MAX_LINES.get(document.name, len(lines))
    assert [line for line in lines if len(line) > WIDEST and not line.startswith("|")] == []
