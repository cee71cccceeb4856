"""Timeline cars: pictures drawn by the project itself of cars of 1920 to 1999, to be put in order by their year.

Data flows one way: `models` decides of a car when it was made and how old each part of it looks, for no part tells
the year by itself; `eras` says how such parts looked in which year; `body`, `wheels` and `fittings` draw them on a
sketch that `places` began; `source` says what is printed of it, as photographs of the time were.
"""

from drawing.timeline_cars.source import TimelineCars

__all__ = ["TimelineCars"]
