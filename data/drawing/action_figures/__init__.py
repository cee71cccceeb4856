"""Action figures: scenes drawn by the project itself, in which people do one of ten actions.

Data flows one way: `scene` asks `places` for a background, `actions` for poses and props (over `skeleton`),
`wardrobe` for clothes, and has `figure` and `head` draw people into a sketch, which is a list of polygons;
`paint` says how it is painted.
"""

from drawing.action_figures.source import ActionFigures

__all__ = ["ActionFigures"]
