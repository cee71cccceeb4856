"""Hidden objects: generated outdoor scenes that show some of eight objects, to be found without their boxes.

Data flows one way: `objects` draws each object; `scene` puts some of them into a place of the action figures, whose
painting steps are used too.
"""

from drawing.hidden_objects.source import HiddenObjects

__all__ = ["HiddenObjects"]
