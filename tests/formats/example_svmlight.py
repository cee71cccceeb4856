"""A small file in svmlight's form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from import_folders import lay


def some_svmlight(folder: Path, queries: int = 8) -> Path:
    random = np.random.default_rng(8)
    lines = []
    for query in range(1, queries + 1):
        for _ in range(int(random.integers(3, 7))):
            pairs = " ".join(f"{place}:{value:.3f}" for place, value in enumerate(random.random(4), 1))
            lines.append(f"{random.integers(0, 4)} qid:{query} {pairs} # a page")
    return lay(folder, {"rank.train": "\n".join(lines)}) / "rank.train"


FILES = {"SVMlight": some_svmlight}
