"""Action figures: generated scenes of people, each doing one of ten actions.

Data flows one way: `scene` gets a background from `places`, poses and props from `actions` (over `skeleton`), and
clothes from `wardrobe`; `figure` and `head` draw people into a sketch, which is a list of polygons; `paint` defines
how it is painted.
"""

from drawing.action_figures.source import ActionFigures

__all__ = ["ActionFigures"]
