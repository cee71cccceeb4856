"""The file that a lesson hands out: got from its page, and looked over for whatever could come alive in it."""

from __future__ import annotations

import re

from html_file import look_over

from pages.parts.app import keys

MOST_BYTES = 3_000_000
SCREEN = re.compile(  # what only a screen can answer to
    r"(?i)\b(click|press|slider|drag|button|scroll|hover|tap|Choose an?|Move (the|one)|Answer, and|Train (it|on|with)|"
    r"half a minute)\b"
)


def hand_out(app):
    """The file, after the page's button was pressed."""
    app.button(key=keys.widget("handout")).click().run()
    return app.session_state[keys.HANDOUT].made


def read(text):
    """A file in which nothing runs, nothing is left as markdown or TeX, and nothing asks for what paper has not."""
    found = look_over(text)
    assert "**" not in found.text
    assert not re.search(r"\\[a-zA-Z]+", found.text), "no TeX is left"
    assert not SCREEN.search(found.text), SCREEN.search(found.text)
    assert len(text) < MOST_BYTES
    return found


def every_step(app, step, count, pictures=8):
    """The file of a lesson that is shown at its second step, which has `count` steps, that many pictures at least,
    charts, and the captions of the page."""
    shown = [one.value for one in app.caption[1:]]  # but for the purpose of the page
    text = hand_out(app)
    found = read(text)
    assert found.count("h2") == count
    assert found.count("img") + found.count("svg", "whole") >= pictures
    assert found.count("svg", "chart") >= 1
    assert dict(app.query_params).get(step) in ("2", ["2"]), "the page stands where it stood"
    begun = [re.split(r"[*$\\]", one)[0].strip() for one in shown]
    assert all(one in found.text for one in begun if len(one) > 30)
    return text
