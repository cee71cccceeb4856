"""How an import has read the files, a few crops and the first problems; then add the set, read again, or cancel."""

from __future__ import annotations

import base64
from typing import Any

import streamlit as st

from pages.parts.app import address, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from pages.parts.components.tile import Tile
from pages.parts.importing import import_form, problem_table, uploads
from ranking.core import Decision
from ranking.core.settings import Setting, settings_of
from ranking.core.text import counted
from ranking.datasets import source_class
from ranking.formats.import_preview import OF_ALTERNATIVE, ImportPreview, fitting
from ranking.formats.source_preview import CROPS, Crop, SourcePreview
from ranking.formats.tree_source import tree_sources
from ranking.reports.markup import data_url
from ranking.storage.import_questions import Question
from ranking.storage.run import Run
from ranking.storage.run_settings import ImportSettings


def show(run: Run, question: Question) -> None:
    """What was read, with the buttons that add the image set, read again with other settings, or cancel."""
    file_name = ImportSettings.from_json(run.settings).file_name
    preview = ImportPreview.from_json(question.reading)
    st.markdown(f"#### {escaped(file_name)}{escaped(f': {preview.source}') if preview.source else ''}")
    if preview.refused:
        st.error(escaped(preview.refused[0].upper() + preview.refused[1:]), icon=":material/error:")
    if preview.content is not None:
        _show_counts(preview, preview.content)
        _show_labels(preview.content)
        # an open decision has crops of its own
        if preview.open_decisions:
            _ask_open(run, question, preview, preview.content)
        else:
            _show_crops(preview.content)
    buttons = st.container()
    if preview.source is not None:
        st.markdown("##### How your files were read")
    source = _choose_source(run, question, preview)
    values = {} if source is None else _settings_of(run, question, preview, source)
    with buttons:
        _offer_end(run, question, preview, source, values)
    if preview.content is not None:
        _show_problems(run, preview.content)


def _choose_source(run: Run, question: Question, preview: ImportPreview) -> str | None:
    """The format; choosing another format reads the files again."""
    names = list(dict.fromkeys([*preview.detected, *tree_sources()]))
    chosen: str | None = st.selectbox(
        "Format",
        names,
        index=None if preview.source is None else names.index(preview.source),
        format_func=lambda name: f"{name} (recognised)" if name in preview.detected else name,
        placeholder="no format recognised",
        key=keys.widget(f"read as {run.id} {question.number}"),
    )
    if chosen not in (None, preview.source):
        uploads.answer(run, question, add=False, source=chosen, source_settings={})
    why = {name: recognised.why for name, recognised in preview.detected.items()}
    if preview.source is not None:
        known = f"Recognised: {why.get(preview.source)}"
        is_known = preview.source in why
        st.caption(escaped(known if is_known else "Chosen by you; the files do not look like this format"))
    for name, text in why.items():
        if name != preview.source:
            st.caption(escaped(f"Also possible: {name}: {text}"))
    return preview.source if chosen is not None else None


def _show_decisions(owner: str, preview: ImportPreview, source: str) -> dict[str, tuple[str, str]]:
    """A row for each decision, with its evidence; the value of each setting that has a field here, and the new one."""
    known = {item.name: item for item in settings_of(source_class(source)) if item.kind is str}
    fields: dict[str, tuple[str, str]] = {}
    for row in preview.content.reading.decisions if preview.content is not None else ():
        decided, evidence = st.columns([2, 3], vertical_alignment="bottom")
        item = known.get(row.setting)
        with decided:
            if item is None or item.name in fields:
                st.markdown(f"**{escaped(_heading(row))}**: {escaped(row.chosen)}")
                shown = row.evidence
            else:
                value = row.value or preview.source_settings.get(item.name, item.default)
                fields[item.name] = (value, _field(owner, source, item, row, value))
                shown = row.evidence if row.chosen == value else f"{row.chosen}: {row.evidence}"
        evidence.caption(escaped(shown))
    return fields


def _heading(row: Decision) -> str:
    return f"{row.about[:1].upper()}{row.about[1:]}"


def _field(owner: str, source: str, item: Setting, row: Decision, value: str) -> str:
    """The field of the setting of a decision."""
    key = keys.widget(keys.setting(owner, source, item.name))
    forms.hold(key, value)
    if not row.alternatives and not item.choices:
        return st.text_input(_heading(row), key=key, help=escaped(item.help))
    # of a split at random, no alternative is known to state one
    others = row.alternatives or tuple(item.choices)
    options = list(dict.fromkeys([value, *others]))
    return st.selectbox(_heading(row), options, format_func=item.shown, key=key, help=escaped(item.help))


def _read_with(run: Run, question: Question, preview: ImportPreview, settings: dict[str, Any]) -> None:
    settings = {**preview.source_settings, **settings}
    uploads.answer(run, question, add=False, source=preview.source, source_settings=settings)


def _ask_open(run: Run, question: Question, preview: ImportPreview, content: SourcePreview) -> None:
    """For each decision that a person has to take: crops as each alternative reads them."""
    for row in preview.open_decisions:
        which = f"{_heading(row)}: {fitting(row)} ({row.evidence}). Choose one."
        st.warning(escaped(which), icon=":material/help:")
        readings = {row.value: content.crops[:OF_ALTERNATIVE]}
        readings |= {
            value: preview.alternatives.get(f"{row.setting}={value}", []) for value in row.alternatives
        }
        for value, crops in readings.items():
            label = f"{row.about}: {value}"
            if frame.pressed(f"Read as {escaped(value)}", f"read {label} {run.id} {question.number}"):
                _read_with(run, question, preview, {row.setting: value})
            shown = [_tile(crop, place) for place, crop in enumerate(crops)]
            grid.image_grid(shown, name=f"{keys.EXAMPLE} {label}", selected=None, label=label, kind="images")


def _settings_of(run: Run, question: Question, preview: ImportPreview, source: str) -> dict[str, Any]:
    """The decisions, and the other settings of a format, initialised with those of the preview."""
    owner = f"read {run.id} {question.number}"
    fields = _show_decisions(owner, preview, source)
    others = {name: value for name, value in preview.source_settings.items() if name not in fields}
    import_form.fill(owner, source, others)
    plugins, without = [(source, source_class(source))], ("folder", *fields)
    more = f"More settings of {source}"
    others = forms.settings_form(owner, plugins, more, shared=False, without=without)[source]
    values = {**preview.source_settings, **others}
    if changed := {name: new for name, (old, new) in fields.items() if new != old}:
        _read_with(run, question, preview, {**values, **changed})
    return values


def _show_counts(preview: ImportPreview, content: SourcePreview) -> None:
    with st.container(horizontal=True, gap="large"):
        st.metric("Images" if content.has_images else "Rows", f"{content.images:,}", width="content")
        st.metric("Files", f"{preview.files:,}", width="content")
        st.metric("Problems so far", f"{content.problem_count:,}", width="content")


def _show_labels(content: SourcePreview) -> None:
    """The most frequent classes, and the split if it was counted."""
    unit = "image" if content.has_images else "row"
    if content.classes:
        named = ", ".join(f"{escaped(name)} (**{count:,}**)" for name, count in content.classes.items())
        more = f" and {counted(content.more_classes, 'class')} more" if content.more_classes else ""
        st.markdown(f"Samples per class: {named}{more}.")
    if content.complete:
        train, test = (
            f"**{number:,}** {split} {unit}{'' if number == 1 else 's'}"
            for split, number in (("training", content.train), ("test", content.test))
        )
        st.markdown(f"Split: {train}, {test}.")
    elif content.classes:
        done = content.train + content.test
        of = f"the first {done:,} of {counted(content.images, unit)}"
        st.caption(f"Counts cover {of}. An import counts all {unit}s.")


def _show_crops(content: SourcePreview) -> None:
    crops, unit = content.crops, "image" if content.has_images else "row"
    if not crops:
        st.warning(
            "None of the first images can be used; see the problems below. An import may still find usable images.",
            icon=":material/warning:",
        )
        return
    label = f"{counted(len(crops), 'sample')} of the preview"
    shown = [_tile(crop, number) for number, crop in enumerate(crops)]
    grid.image_grid(shown, name=keys.EXAMPLE, selected=address.get(keys.EXAMPLE), label=label, kind="images")
    few = "" if len(crops) == CROPS else " that can be used"
    st.caption(
        f"One sample from each of the first {counted(len(crops), unit)}{few}. **Notice** "
        "whether each sample matches the label below it."
    )


def _tile(crop: Crop, number: int) -> Tile:
    label = ", ".join(filter(None, [*crop.classes, tiles.known_numbers(crop.numbers)])) or "no class"
    return Tile(
        str(number),
        data_url(base64.b64decode(crop.thumbnail)),
        f"sample of image {crop.image}, shows {label}",
        label,
    )


def _offer_end(
    run: Run, question: Question, preview: ImportPreview, source: str | None, values: dict[str, Any]
) -> None:
    """The buttons: add the image set, or read again if the settings have changed; and cancel."""
    chosen = {"source": source, "source_settings": values}
    is_read = source is not None and preview.content is not None and not preview.open_decisions
    has_changed = source is not None and _differ(preview, source, values)
    to_add, to_read = chosen if is_read else None, chosen if has_changed else None
    cancel = "Close" if preview.source is None else uploads.CANCEL
    uploads.offer_end(run, question, "Add image set", "add set", to_add, to_read, cancel)


def _differ(preview: ImportPreview, source: str, values: dict[str, Any]) -> bool:
    defaults = {item.name: item.default for item in settings_of(source_class(source))}
    return any(value != {**defaults, **preview.source_settings}[name] for name, value in values.items())


def _show_problems(run: Run, content: SourcePreview) -> None:
    if not content.problem_count:
        st.success("No problems so far.", icon=":material/check_circle:")
        return
    caption = "found while creating this preview, and how an import would handle them."
    problem_table.show(content.reading.problems, content.problem_count, caption, f"preview-{run.id}.csv")
