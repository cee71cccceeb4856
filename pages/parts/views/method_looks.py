"""Colour, dash and mark of the methods that rank samples: the same wherever runs stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from ranking.reports.looks import LOOKS, Look, looks_by
from ranking.workspace.run import Run


def of_runs(shown: Sequence[Run]) -> dict[str, Look]:
    """The look of each run by its id, no two alike: that of its method, unless a run before it has that one, else the
    first that is left. ValueError where there are more runs than looks."""
    if len(shown) > len(LOOKS):
        raise ValueError(f"there are looks for {len(LOOKS)} runs, got {len(shown)}; show fewer at once")
    return looks_by({run.id: run.settings["method"] for run in shown})
