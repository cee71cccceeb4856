"""What a training leaves in the folder of its run, read back."""

from __future__ import annotations

from ranking.core.errors import InputError
from ranking.features.projection import Projection
from ranking.workspace.run import Run


def projection_of(run: Run) -> Projection | None:
    """The projection that a training of any kind left beside its method; None where it sees features as they are.

    ValueError where it is not there any more, or cannot be read.
    """
    if run.settings.get("projection") is None:
        return None
    if not run.projection_file.exists():
        folder = f"the projection of training run {run.id} in its folder"
        raise InputError(run.projection_file.name, folder, remedy="train again")
    return Projection.load(run.projection_file)
