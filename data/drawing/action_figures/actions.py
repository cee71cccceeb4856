"""The ten actions (high-order, Table 1) by name: each samples a pose and its props."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from drawing.action_figures.figure import Act
from drawing.action_figures.handling import phoning, reading, taking_photo, using_computer
from drawing.action_figures.music import playing_instrument
from drawing.action_figures.on_foot import jumping, running, walking
from drawing.action_figures.riding import riding_bike, riding_horse

ACTIONS: dict[str, Callable[[Random], Act]] = {
    "jumping": jumping,
    "phoning": phoning,
    "playing instrument": playing_instrument,
    "reading": reading,
    "riding bike": riding_bike,
    "riding horse": riding_horse,
    "running": running,
    "taking photo": taking_photo,
    "using computer": using_computer,
    "walking": walking,
}
