"""Label scenes: generated images that each show about a dozen of some forty concepts.

Data flows one way: `story` chooses the concepts of an image, which attract and exclude each other as in reality;
`places` composes it from `sky`, `land`, `water`, `town` and `people` on a `canvas`, in the `light` of its time of day;
`paint` defines how it is painted. Figures and some scenery are those of the action figures.
"""

from drawing.label_scenes.source import LabelScenes

__all__ = ["LabelScenes"]
