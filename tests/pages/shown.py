"""What a page shows, as tests compare it: texts as people read them, numbers, and keys of buttons."""

from __future__ import annotations

import re


def plain(element) -> str:
    """The text of an element, or a text, without what keeps it from being markdown."""
    return (element if isinstance(element, str) else element.value).replace("\\", "")


def text_of(app) -> str:
    """All that a page says, its boxes' options and its tables among it."""
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success, *app.title]
    boxes = [" ".join(box.options) for box in app.selectbox]
    tables = [table.value.to_csv() for table in app.dataframe]
    return "\n".join([*map(plain, parts), *boxes, *tables])


def captions(app) -> str:
    return " ".join(map(plain, app.caption))


def errors(app) -> list[str]:
    return [plain(element) for element in app.error]


def button_keys(app) -> list[str | None]:
    return [button.key for button in app.button]


def counts_in(elements) -> list[list[int]]:
    """The whole numbers of each element, in their order."""
    return [[int(number) for number in re.findall(r"\d+", plain(element))] for element in elements]
