"""One concept has one term: no text or name, and no name of a test, uses a word that another term replaces."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("ranking", "pages", "data", "benchmarks")
NAMES_ALONE = "tests"  # a folder whose names are checked, not its text
# What may follow "training": a training image, a training loss.
NOUNS = "runs?|images?|samples?|sets?|split|sequences?|side|path|part|loss|objective|data|step|time"
# A pattern of the word to replace, in lower case, and the term to use.
PROSE = {
    rf"trainings|(a|this|that|each|every|one|no|another|the same) training(?! ({NOUNS})\b)": "training run",
    r"pictures?": "image, crop or plot",
    r"told|tells|tell": "reported, shown; distinguished",
    r"(stand|stands) at": "is at rank",
    r"(go|goes) first": "is ranked first",
    r"the truth": "ground truth",
    r"a look|looked at|looks at": "preview; evaluated, shown",
    r"by heart": "overfit",
    r"nobody|somebody|everybody|whoever": "you, a user, or the passive",
    r"brought|bring|brings|bringing": "import, upload",
    r"taken? away|takes away|taking away": "delete",
    r"for good": "permanently",
    r"(take|to take|taken) along": "download",
    r"left out|leaves? out|leaving out": "ignored, dropped, omitted",
    r"lean(s|ing|ed)? on|leans": "use neighbours, depend on",
    r"lifted|lifts?": "moved up",
    r"dealt|deals?": "assigned to folds",
    r"contenders?": "compared method",
    r"recipes?": "settings",
    r"rivals?": "baseline",
    r"strangers?|stranger's": "untrusted",
    r"lent|lender|borrowed|borrows?": "shared",
    r"drawn (set|sets|image|images|scene|scenes|figure|figures|one|ones)": "generated",
    r"drawn again": "resampled",
    r"under way|has died|goes on": "is running, stopped, continues",
    r"mistakes?": "error",
    r"speed lab|sample graph|label questions|ask simulation": "the page's title",
    r"worst mistake|what neighbours pay": "most violated ranking, pairwise potential",
    r"learnt": "learned",
    r"hand-outs?|handed on": "handout, report",
    r"right (ones|label|labels)|wrong ones": "relevant, correct",
    r"(whole|broken) border": "solid border, dashed border",
    r"weights of now|with the weights of": "current weights",
}
NAMES = {
    r"told|said|asked|brought|(?<!not )found(?! error)|drawn|dealt|lent|lender|rival|rivals|recipe|recipes|contender"
    r"|contenders|trainings|stranger|strangers|learnt|leaning|leanings|leans": "the field's word",
}
# Words that are right in one file: a pattern of the word, and why.
EXCEPTIONS: dict[str, str] = {
    # Parameters and fields of that name, also in docstrings.
    "data/drawing/action_figures/skeleton.py": "lift",
    "ranking/explain/playback.py": "lifts|lifted",
    "ranking/datasets/decoding.py": "picture",
    # The lift of a pair of labels is the field's term.
    "ranking/explain/label_pairs.py": "lift",
    "pages/label_interactions.py": "lift",
    # Stored values and keys, and usual names of columns.
    "data/drawing/label_scenes/story.py": "nobody",
    "ranking/formats/coco.py": "leave out",
    "ranking/formats/pascal_voc.py": "leave out",
    "ranking/formats/table_columns.py": "picture",
    "ranking/methods/mid_rank_settings.py": "left out|drawn",
    "ranking/methods/mid_rank.py": "drawn",
    # Stored names: a settings field, a file of a run, and a URL parameter.
    "ranking/core/run_settings.py": "brought",
    "pages/parts/importing/import_form.py": "brought",
    "pages/parts/importing/import_preview.py": "brought",
    "pages/parts/importing/uploads.py": "brought",
    # URL parameters.
    "pages/parts/app/keys.py": "contenders|rival",
    # Columns of CSV files.
    "pages/most_violated.py": "looks at",
    "pages/parts/studies/timing_charts.py": "a training",
    # The component has that name.
    "pages/parts/components/picture/__init__.py": "picture",
    "pages/parts/components/picture/picture.js": "picture",
    "ranking/workspace/run.py": "brought",
    "ranking/jobs/worker.py": "brought",
    "benchmarks/label_questions.py": "rival",
    # The seed of its files depends on the names of the kinds.
    "benchmarks/fuzz_kinds.py": "brought",
    # Fields of settings and URL parameters.
    "tests/core/test_run_settings.py": "brought",
    "tests/features/test_uploaded_vectors.py": "brought",
    "tests/features/uploads/test_models.py": "brought",
    "tests/jobs/test_worker.py": "brought",
    "tests/pages/test_custom_features.py": "brought",
    "tests/pages/test_label_questions.py": "rival",
    "tests/pages/test_lesson_sentences.py": "told",
    "tests/pages/uploading.py": "brought",
    "tests/workspace/test_store.py": "brought",
}
# Strings of Python: from version 3.12 the text of an f-string is a token of its own.
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, kind ("prose" or "name") and text of each string, comment and identifier."""
    if path.suffix != ".py":
        yield from (
            (number, "prose", line) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        )
        return
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type in STRINGS | {tokenize.COMMENT}:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, "prose", line
        elif token.type == tokenize.NAME:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", token.string).replace("_", " ")
            yield token.start[0], "name", words


def words(path: Path) -> Iterator[tuple[str, str]]:
    """Each word that another term replaces, and what to do about it."""
    name = path.relative_to(ROOT)
    for number, kind, text in texts(path):
        if kind == "prose" and name.parts[0] == NAMES_ALONE:
            continue
        for pattern, term in (PROSE if kind == "prose" else NAMES).items():
            for match in re.finditer(rf"(?<![\w-])({pattern})(?![\w-])", text.lower()):
                where = f"{name}:{number}: {kind} {match[0]!r}"
                yield match[0], f"{where}, say: {term} | {text.strip()[:100]}"


def hits(path: Path) -> Iterator[str]:
    allowed = EXCEPTIONS.get(str(path.relative_to(ROOT)), "(?!)")
    return (hit for word, hit in words(path) if not re.fullmatch(allowed, word))


SUFFIXES = (".py", ".js", ".html")
FILES = sorted(
    [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    + [*(ROOT / NAMES_ALONE).rglob("*.py")]
    + [ROOT / "app.py", *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
)


@pytest.mark.parametrize("folder", sorted({path.relative_to(ROOT).parts[0] for path in FILES}))
def test_each_concept_has_one_term(folder: str) -> None:
    replaced = [hit for path in FILES if path.relative_to(ROOT).parts[0] == folder for hit in hits(path)]
    assert replaced == []


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_each_exception_is_needed(name: str) -> None:
    used = {word for word, _ in words(ROOT / name)}
    assert {word for word in EXCEPTIONS[name].split("|") if word not in used} == set()


if __name__ == "__main__":
    print(*(hit for path in FILES for hit in hits(path)), sep="\n")
