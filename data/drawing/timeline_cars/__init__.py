"""Timeline cars: generated images of cars from 1920 to 1999, for sequence ranking by year.

Data flows one way: `models` chooses the year of a car and the apparent age of each part, because no single part reveals
the year; `eras` defines how parts looked in each year; `body`, `wheels` and `fittings` draw them on the sketch of
`places`; `source` makes the print, which looks like photographs of its time.
"""

from drawing.timeline_cars.source import TimelineCars

__all__ = ["TimelineCars"]
