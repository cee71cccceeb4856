"""Pages with workspaces: which one a visitor is in, isolation, shared data, and limits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from filled_home import Laboratory, copy_home
from shown import address, captions, counts_in, errors, press, text_of

from pages.parts.app import keys, menu, workspaces
from pages.parts.training import run_actions
from ranking.core.errors import HomeError
from ranking.storage import workspaces as stored
from ranking.storage.examples import FOLDER
from ranking.storage.home import SHARED
from ranking.storage.space import SERVER_LIMIT, WORKSPACE_LIMIT
from ranking.storage.store import Store

PAGES = Path(menu.__file__).parents[2]
ANNA, BERT = "a" * 26, "b" * 26


@pytest.fixture
def server(tmp_path, monkeypatch) -> Path:
    """The data folder of a server that has workspaces."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "server"))
    monkeypatch.setenv("RANKING_WORKSPACES", "on")
    (tmp_path / "server" / "workspaces" / BERT).mkdir(parents=True)
    return tmp_path / "server"


@pytest.fixture
def anna(server, filled: Laboratory) -> Laboratory:
    """Her workspace, which holds what `filled` does."""
    return copied(filled, server / "workspaces" / ANNA)


@pytest.fixture
def shared(server, filled: Laboratory) -> Laboratory:
    """The shared data folder, which holds what `filled` does."""
    return copied(filled, server / SHARED)


def copied(filled: Laboratory, folder: Path) -> Laboratory:
    copy_home(filled.home, folder)
    return Laboratory(**{**vars(filled), "home": folder})


def names_in(server: Path) -> list[str]:
    return sorted(row.name for row in stored.all_workspaces(server))


# -------------------------------------------------------------------------------------- which workspace


def test_there_are_workspaces_where_other_machines_reach_the_server(monkeypatch):
    for setting, listens_at, expected in (
        ("auto", "localhost", False),
        ("", "0.0.0.0", True),
        ("auto", "laboratory.example", True),
        ("on", "localhost", True),
        ("off", "0.0.0.0", False),
    ):
        monkeypatch.setenv("RANKING_WORKSPACES", setting)
        monkeypatch.setattr(workspaces.st, "get_option", {"server.address": listens_at}.get)
        assert workspaces.used() is expected, (setting, listens_at)
    monkeypatch.setenv("RANKING_WORKSPACES", "yes")
    with pytest.raises(HomeError, match=r"RANKING_WORKSPACES.*'yes'"):
        workspaces.used()


def test_each_first_visit_makes_a_workspace_which_every_link_carries_on(server, started, open_page):
    visits = [open_page(page) for page in ("start", "image_sets")]
    names = [address(app)["workspace"] for app in visits]
    assert names_in(server) == sorted([*names, BERT])
    app, name = visits[0], names[0]
    links = [link.proto.query_string for link in app.get("page_link")]
    assert len(links) > len(menu.PLACES)
    assert all(parse_qs(link)["workspace"] == [name] for link in links)
    press(app, "widget go to image_sets")
    assert address(app)["workspace"] == name
    app.switch_page("pages/train.py")
    assert address(app.run())["workspace"] == name, "also by a link that forgot it"
    assert names_in(server) == sorted([*names, BERT])


def test_a_workspace_that_does_not_exist_is_reported_and_not_made(server, started, open_page):
    for name in ("<b>x</b>-long-enough", "../../etc/passwd", ANNA):
        app = open_page("train", workspace=name)
        assert len(app.error) == 1
        assert names_in(server) == [BERT]
    press(app, "widget new workspace")
    assert names_in(server) == sorted([address(app)["workspace"], BERT])


# --------------------------------------------------------------------------------------- isolation


def test_no_message_contains_the_path_of_workspaces(server, monkeypatch):
    path = server / "workspaces" / ANNA
    message = f"disk I/O error; free some space in {path}/runs, or elsewhere"
    assert workspaces.without_paths(message) == (
        "disk I/O error; free some space in this workspace/runs, or elsewhere"
    )
    monkeypatch.setenv("RANKING_WORKSPACES", "off")
    assert workspaces.without_paths(message) == message


def test_the_reason_of_a_failed_run_does_not_name_the_workspace(anna, started, open_page):
    anna.store.runs.update(anna.failed, reason=f"pairs: expected a file in {anna.home}/edges, got none")
    app = open_page("train", workspace=ANNA, run=anna.failed)
    assert "expected a file in this workspace/edges" in errors(app)[0]
    assert ANNA not in "".join(errors(app))


def test_nothing_of_a_workspace_is_shown_in_another(anna, started, open_page):
    """Neither by ids in the URL, nor from caches or the session."""
    compared = f"{anna.on_shapes},{anna.finished}"
    for page, run, shown in (
        ("compare", anna.on_shapes, "disc"),
        ("neighbours", anna.neighbours, "playing instrument"),
        ("image_sets", anna.on_shapes, "shapes — "),
    ):
        app = open_page(page, workspace=ANNA, run=run, set=anna.shapes, compared=compared)
        assert shown in text_of(app)
        app.session_state[keys.JUST_DELETED] = [anna.finished]
        app.query_params["workspace"] = BERT
        app.run()
        assert shown not in text_of(app)
        assert str(anna.home) not in text_of(app)
        assert keys.JUST_DELETED not in app.session_state
        assert app.session_state[keys.IN_WORKSPACE] == BERT


def test_every_cache_of_what_a_data_folder_holds_is_keyed_by_it():
    """What is cached by an id alone would be found by visitors of all workspaces."""
    lines = [line for module in sorted(PAGES.rglob("*.py")) for line in module.read_text().splitlines()]
    cached = [
        definition
        for decorator, definition in pairwise(lines)
        # @of_home hands on the home itself
        if decorator.startswith(("@st.cache_data", "@st.cache_resource"))
    ]
    assert len(cached) > 4
    # Files that come with the program; scores and features, by their content.
    of_no_home = "_ready_made", "_inference_problem", "_inference_trace", "counted", "_mean_precision"
    for definition in cached:
        assert (
            "(home: str" in definition
            or "(folder: Path)" in definition
            or definition.removeprefix("def ").startswith(of_no_home)
        ), definition


def test_visitors_type_no_paths(anna, started, open_page, monkeypatch):
    typed = {"widget path of an import", "widget own features path"}
    app = open_page("image_sets", workspace=ANNA, set=anna.shapes)
    assert not typed & {box.key for box in app.text_input}
    assert app.selectbox(key="widget source").options == ["Digits"]
    monkeypatch.setenv("RANKING_WORKSPACES", "off")
    monkeypatch.setenv("RANKING_HOME", str(anna.home))
    assert typed & {box.key for box in open_page("image_sets", set=anna.shapes).text_input}


def test_files_are_made_in_the_workspace_of_the_page(anna, open_page, started, monkeypatch):
    # AppTest makes no files late, so what would make them is called
    made = []
    original = run_actions.st.download_button

    def catch(label, data, *arguments, **widget):
        made.append(data)
        return original(label, b"", *arguments, **widget)

    with monkeypatch.context() as patch:
        patch.setattr(run_actions.st, "download_button", catch)
        open_page("train", workspace=ANNA, run=anna.finished)
    files = [make() for make in made if callable(make)]
    assert any(file[:2] == b"PK" for file in files if isinstance(file, bytes))


# ----------------------------------------------------------------------------------- what is shared


def test_examples_are_shown_in_each_workspace_and_copied_to_none(server, started, open_page, with_examples):
    app = open_page("image_sets", workspace=BERT)
    assert "Action figures — 600 images" in text_of(app)
    assert "example" in text_of(app)
    for page in ("neighbours", "interactive_labelling", "lengths"):
        app = open_page(page, workspace=BERT)
        assert not app.error
        assert app.get("plotly_chart") or len(app.get("bidi_component")) > 1, page
    store = Store(server / "workspaces" / BERT)
    assert store.runs.all_own() == []
    assert [row.shared for row in store.sets.rows()] == [True] * len(list((FOLDER / "sets").iterdir()))
    kept = (store.home / "features").iterdir()
    assert all(file.stat().st_nlink > 1 for file in kept), "features too are kept once"
    assert not started


def test_runs_of_the_shared_data_folder_are_changed_by_no_visitor(shared, started, open_page):
    before = Store(shared.home).runs.all_own()
    app = open_page("train", workspace=BERT, run=shared.finished)
    assert "shared" in text_of(app)
    assert app.button(key="star runs").disabled
    assert app.button(key="delete runs").disabled
    app = open_page("ranked_images", workspace=BERT, run=shared.finished)
    assert not app.error
    assert any(metric.label == "AP" for metric in app.metric)
    assert Store(shared.home).runs.all_own() == before


# ------------------------------------------------------------------------------------------- limits


def test_a_full_workspace_says_so_and_computed_features_can_be_deleted(anna, started, open_page, monkeypatch):
    monkeypatch.setenv(WORKSPACE_LIMIT, "4000000")
    app = open_page("train", workspace=ANNA, set=anna.digits, query="5", method="SVM")
    before, shown = len(anna.store.runs.all()), captions(app)
    press(app, "train")
    assert any("this workspace is full" in error for error in errors(app))
    assert captions(app) == shown, "the page goes on below the error"
    assert len(anna.store.runs.all()) == before
    app = open_page("start", workspace=ANNA)
    assert [bar for bar in app.get("progress") if "B of 4 MB" in bar.text]
    assert any((anna.home / "features").iterdir())
    press(app, "widget delete features")
    assert not any((anna.home / "features").iterdir())
    monkeypatch.delenv(WORKSPACE_LIMIT)
    assert not [bar for bar in open_page("start", workspace=ANNA).get("progress") if "B of " in bar.text]


def test_a_full_server_makes_no_more_workspaces(anna, server, started, open_page, monkeypatch):
    monkeypatch.setenv(SERVER_LIMIT, "1000000")
    assert any("this server is full" in error for error in errors(open_page("start")))
    assert names_in(server) == [ANNA, BERT]
    assert counts_in(open_page("start", workspace=ANNA).error) == []
