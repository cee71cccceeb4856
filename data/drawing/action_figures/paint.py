"""The painting steps of a scene: background, shapes, then weather and light."""

from __future__ import annotations

from drawing.action_figures.scene import Scene
from drawing.generated import Steps

INDOORS_AT_NIGHT = (0.88, 0.84, 0.88)


def steps_of(scene: Scene) -> Steps:
    light, ground = scene.light, scene.ground
    steps: Steps = [["gradient", *gradient] for gradient in ground.gradients]
    steps += [["polygons", 0, len(scene.sketch.shapes)], ["halve"]]
    if not ground.indoors:
        steps += weather_steps(light.weather, light.haze, scene.weather)
        steps += [["tint", *light.tint]]
    elif light.dark:
        steps += [["tint", *INDOORS_AT_NIGHT]]
    return steps + [["glow", *glow, 0.75 if light.dark else 0.4] for glow in ground.glows]


def weather_steps(weather: str, haze: tuple[int, ...], seed: str) -> Steps:
    """Return the steps for fog, rain or falling snow; none for other weather."""
    if weather == "fog":
        return [["fog", haze]]
    return [[weather, seed]] if weather in ("rain", "snow") else []
