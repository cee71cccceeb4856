"""One HTML file that the laboratory hands out, looked over for whatever could come alive in it."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser

from ranking.reports.figures import script_hashes, scripts

ALIVE = {"script", "iframe", "object", "embed", "form", "base", "link"}
# within the file
LINK = re.compile(r"#p\d+$|data:(image/(webp|png|jpeg)|application/json|text/(csv|plain));base64,")


class HtmlFile(HTMLParser):
    """Every tag with its attributes, and the text outside of styles and of scripts of figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(without_scripts(text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def files(self) -> dict[str, str]:
        """The content of the files that it offers to download, by name."""
        links = {str(link["download"]): str(link["href"]) for link in self.all("a")}
        return {name: b64decode(link.partition(",")[2]).decode() for name, link in links.items()}

    def count(self, tag: str, class_: str | None = None) -> int:
        return sum(class_ in (None, attributes.get("class")) for attributes in self.all(tag))


def without_scripts(text: str) -> str:
    for script in scripts():
        text = text.replace(f"<script>{script}</script>", "")
    return text


def checked_html(text: str) -> HtmlFile:
    """The file, in which nothing runs but the drawing of figures, and nothing is of another host."""
    document = HtmlFile(text)
    assert {tag for tag, _ in document.tags} & ALIVE == set()
    for tag, attributes in document.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        links = [attributes[name] for name in ("href", "src", "xlink:href") if attributes.get(name)]
        assert all(LINK.match(str(link)) for link in links), tag
    assert "http" not in re.sub(r"http-equiv|http_", "", without_scripts(text)), (
        "no other host, not even a namespace"
    )
    [policy] = [one["content"] for one in document.all("meta") if one.get("http-equiv")]
    assert str(policy).startswith("default-src 'none'; img-src data:;")
    assert str(policy).endswith(f"; script-src {script_hashes()}")
    return document
