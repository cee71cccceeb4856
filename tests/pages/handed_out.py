"""The file that a lesson hands out: got from its page, and looked over for whatever could come alive in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from pages.parts import keys

MOST_BYTES = 3_000_000
LINK = re.compile(r"data:image/(webp|png|jpeg);base64,")


class Tags(HTMLParser):
    """Every tag with its attributes, and the text outside of styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def count(self, tag, class_=None):
        return sum(name == tag and class_ in (None, told.get("class")) for name, told in self.tags)


def hand_out(app):
    """The file, after the page's button was pressed."""
    app.button(key=keys.widget("handout")).click().run()
    assert not app.exception
    return app.session_state[keys.HANDOUT].made


def look_over(text):
    """The tags of a file in which nothing runs, nothing is of another host, and nothing is left as markdown or TeX."""
    found = Tags(text)
    assert {tag for tag, _ in found.tags} & {
        "script",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "link",
    } == set()
    for tag, attributes in found.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        links = [attributes[name] for name in ("href", "src", "xlink:href") if attributes.get(name)]
        assert all(LINK.match(link) for link in links), tag
    assert "http" not in re.sub(r"http-equiv", "", text), "no other host, not even a namespace"
    assert "**" not in found.text
    assert not re.search(r"\\[a-zA-Z]+", found.text), "no TeX is left"
    assert len(text) < MOST_BYTES
    return found


def every_step(app, step, count, pictures=8):
    """The file of a lesson that is shown at its second step, which has `count` steps, that many pictures at least,
    charts, and the captions of the page."""
    assert not app.exception
    shown = [one.value for one in app.caption[1:]]  # but for the purpose of the page
    text = hand_out(app)
    found = look_over(text)
    assert found.count("h2") == count
    assert found.count("img") + found.count("svg", "whole") >= pictures
    assert found.count("svg", "chart") >= 1
    assert dict(app.query_params).get(step) in ("2", ["2"]), "the page stands where it stood"
    begun = [re.split(r"[*$\\]", one)[0].strip() for one in shown]
    assert all(one in found.text for one in begun if len(one) > 30)
    return text
