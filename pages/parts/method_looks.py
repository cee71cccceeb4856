"""Colour, dash and mark of the methods that rank samples: the same wherever runs stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.label_looks import MODELS, Look
from ranking.run import Run

OF_METHODS = dict(zip(("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM", "NDCG-SVM"), MODELS, strict=True))


def of_runs(shown: Sequence[Run]) -> dict[str, Look]:
    """The look of each run by its id, no two alike: that of its method, unless a run before it has that one, else the
    first that is left. ValueError where there are more runs than looks."""
    if len(shown) > len(MODELS):
        raise ValueError(f"there are looks for {len(MODELS)} runs, got {len(shown)}; show fewer at once")
    owners = {OF_METHODS.get(run.settings["method"]): run.id for run in reversed(shown)}
    looks = {run_id: look for look, run_id in owners.items() if look is not None}
    left = [look for look in MODELS if look not in looks.values()]
    return {run.id: looks[run.id] if run.id in looks else left.pop(0) for run in shown}
