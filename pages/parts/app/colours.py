"""Colours that colour-blind people can distinguish (Okabe and Ito 2008).

Each has a contrast of at least 3 to 1 on the light and on the dark background. Colour is never the only cue:
a glyph, a dash or a label has the same meaning.
"""

from __future__ import annotations

BLUE = "#0072B2"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#808080"
# dark enough for white text
DARK_BLUE, DARK_GREEN, DARK_VERMILLION = "#004F7C", "#00694D", "#A84300"
# dark enough for white text
DARK_GREY = "#5F5F5F"

RELEVANT, IRRELEVANT = GREEN, VERMILLION
RELEVANT_LABEL, IRRELEVANT_LABEL = DARK_GREEN, DARK_VERMILLION
RELEVANT_GLYPH, IRRELEVANT_GLYPH = "✓", "✗"
# always beside a label
OF_CLASSES = (BLUE, VERMILLION, GREEN, PURPLE, GREY)
