"""Label scenes: pictures drawn by the project itself that show about a dozen of some forty concepts each.

Data flows one way: `story` decides what a picture shows, concepts that go together and exclude each other as in
life; `places` composes it of `sky`, `land`, `water`, `town` and `people` on a `canvas`, in the `light` of its hour;
`paint` says how it is painted. Figures and some scenery are those of the action figures.
"""

from drawing.label_scenes.source import LabelScenes

__all__ = ["LabelScenes"]
