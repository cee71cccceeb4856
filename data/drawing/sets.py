"""The bundled image sets, as generated."""

from __future__ import annotations

from drawing.action_figures import ActionFigures
from drawing.generated import GeneratedSource
from drawing.hidden_objects import HiddenObjects
from drawing.label_scenes import LabelScenes
from drawing.timeline_cars import TimelineCars

SETS: tuple[GeneratedSource, ...] = (
    ActionFigures(600),
    LabelScenes(400),
    TimelineCars(320),
    HiddenObjects(450),
)
