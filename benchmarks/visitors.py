"""How long do interactions take with thirty people on one server, each in their own workspace?

    python benchmarks/visitors.py [--browsers 30] [--minutes 3] [--pause 3]

A server with workspaces is started on a temporary data folder. It shares the generated scenes with a run, and 200 label
scenes with a label ranker. Each browser creates a workspace, starts a run and another one as soon as it has ended;
meanwhile it turns the pages of the ranking, visits other pages, and answers questions about labels, with a pause before
each step. The browsers are tabs without a browser (`streamlit_tab.py`): they speak to the server as
a page's script does, rerun fragments as often as these request, and paint nothing. An interaction is timed from the
action to the end of the page run that follows. At the end each workspace must contain its own runs and answers, and
nothing else.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from streamlit_tab import Tab
from timing import machine, options_of, table

from pages import add_generated, requests, serving, train_here
from ranking.storage.home import SHARED, WORKSPACES
from ranking.storage.run import ENDED
from ranking.storage.run_settings import LabelTrainSettings
from ranking.storage.store import Store

# seconds: the median interaction
MUST = 0.5
QUERIES = ("phoning", "running", "walking", "playing instrument", "reading")
PAGES = ("", "image_sets", "train", "compare", "neighbours")


def fill(server: Path, of_figures: int, of_scenes: int) -> tuple[str, str, str, str]:
    """Fill the shared data folder with action figures, label scenes and a run of each; return their ids."""
    # In this order: the key of the figures, their run, the key of the scenes, their label ranker.
    store = Store(server / SHARED)
    figures = add_generated(store, "Action figures", of_figures)
    scenes = add_generated(store, "Label scenes", of_scenes)
    trained = train_here(store, requests(figures, C=1.0) | {"query": QUERIES[0]})
    settings = LabelTrainSettings(scenes, (("HOG", {}),), "C-star p@k", {"max_iterations": 20}, min_images=5)
    return figures, trained, scenes, train_here(store, settings.to_json())


class Person:
    """A user in their own workspace, with the times of all their steps."""

    def __init__(self, number: int, url: str, shared: tuple[str, str, str, str], pause: float) -> None:
        self.tab, self.workspace = Tab(url), ""
        self.figures, self.trained, self.scenes, self.ranker = shared
        self.draw, self.pause = random.Random(number), pause
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.answered, self.started = 0, 0

    async def work(self, until: float) -> None:
        async with self.tab:
            await asyncio.sleep(self.draw.random() * self.pause)
            await self.enter()
            await self.begin()
            steps = (self.turn, self.turn, self.browse, self.answer, self.answer, self.answer, self.begin)
            while time.monotonic() < until:
                await asyncio.sleep(self.draw.uniform(0.5, 1.5) * self.pause)
                await self.draw.choice(steps)()

    async def show_around(self) -> None:
        async with self.tab:
            await self.enter()
            for page in PAGES:
                await self.tab.open(page)
            await self.turn()
            await self.answer()
            await self.begin()

    def note(self, what: str, seconds: float) -> None:
        self.seconds[what].append(seconds)

    async def enter(self) -> None:
        self.note("create a workspace", await self.tab.open(""))
        self.workspace = self.tab.query["workspace"]

    async def browse(self) -> None:
        self.note("go to a page", await self.tab.open(self.draw.choice(PAGES)))

    async def turn(self) -> None:
        if self.tab.page != "ranked_images":
            self.note("go to a page", await self.tab.open("ranked_images", run=self.trained))
        else:
            self.note("turn a page of the ranking", await self.tab.rerun(k=str(self.draw.randint(1, 50))))

    async def answer(self) -> None:
        if self.tab.page != "interactive_labelling":
            self.note("go to a page", await self.tab.open("interactive_labelling", label_run=self.ranker))
        self.answered += 1
        kind = self.draw.choice(("yes", "no"))
        # the key names the question
        self.note("answer a question", await self.tab.press(f"widget {kind} .*"))

    async def begin(self) -> None:
        """Start a run, unless one of this workspace is running or queued."""
        store = Store(self.home)
        if sum(run.state not in ENDED for run in store.runs.all_own("train")):
            return
        settings = {"method.AP-SVM.C": f"{self.draw.uniform(0.1, 1000):.4f}"}
        query = self.draw.choice(QUERIES)
        self.note(
            "go to a page",
            await self.tab.open("train", set=self.figures, query=query, method="AP-SVM", **settings),
        )
        self.note("start a run", await self.tab.press("train"))
        self.started += 1

    @property
    def home(self) -> Path:
        return Path(os.environ["RANKING_HOME"]) / WORKSPACES / self.workspace

    def crossed(self) -> list[str]:
        """Return everything that is not as it must be in the workspace."""
        store, answers = Store(self.home), Store(self.home).answers.events(self.scenes)
        mishaps = []
        if len(store.runs.all_own("train")) != self.started:
            mishaps.append(
                f"{self.workspace}: {len(store.runs.all_own('train'))} runs, started {self.started}"
            )
        if len({event.session for event in answers}) > 1 or len(answers) != self.answered:
            mishaps.append(f"{self.workspace}: {len(answers)} answers, gave {self.answered}")
        return mishaps + [f"{self.workspace}: {exception}" for exception in self.tab.exceptions]


async def crowd(people: list[Person], guide: Person, minutes: float) -> None:
    """Run all users concurrently, after one uncounted user has opened each page."""
    # A newly started server first has to load its modules.
    await guide.show_around()
    until = time.monotonic() + 60 * minutes
    async with asyncio.TaskGroup() as group:
        for person in people:
            group.create_task(person.work(until))


def rows_of(people: list[Person]) -> list[list[str]]:
    """Return a row per kind of interaction, and one for all."""
    together: dict[str, list[float]] = defaultdict(list)
    for person in people:
        for what, seconds in person.seconds.items():
            together[what] += seconds
    every = [second for seconds in together.values() for second in seconds]
    return [row(what, seconds) for what, seconds in sorted(together.items())] + [row("all", every)]


def row(what: str, seconds: list[float]) -> list[str]:
    late = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    return [what, str(len(seconds)), f"{statistics.median(seconds):.3f}", f"{late:.3f}"]


def main() -> None:
    options = options_of(
        __doc__, browsers=(30, 1), minutes=(3.0, 0.05), pause=(3.0, 0.5), figures=(1200, 60), scenes=(200, 50)
    )
    browsers, minutes = options.browsers, options.minutes
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ |= {"RANKING_HOME": folder, "RANKING_WORKSPACES": "on"}
        shared = fill(Path(folder), options.figures, options.scenes)
        with serving(Path(folder)) as server:
            people = [Person(number, server.url, shared, options.pause) for number in range(browsers)]
            guide = Person(browsers, server.url, shared, options.pause)
            asyncio.run(crowd(people, guide, minutes))
            memory = server.memory()
        mishaps = [mishap for person in people for mishap in person.crossed()]
        ended = sum(
            run.state == "finished" for person in people for run in Store(person.home).runs.all_own("train")
        )
    print(
        f"{machine()}; {browsers} browsers, {minutes:g} minutes, a step every {options.pause:g} s on average\n"
    )
    rows = rows_of(people)
    print(table(["interaction", "times", "median, s", "95th percentile, s"], rows))
    began, answered = (sum(getattr(person, name) for person in people) for name in ("started", "answered"))
    print(f"\n{began} runs started, {ended} ended; {answered} answers; memory of the server {memory:.0f} MB")
    print(f"crossed between workspaces, lost, or failed: {len(mishaps)}", *mishaps, sep="\n")
    if mishaps or (float(rows[-1][2]) > MUST and not options.smoke):
        raise SystemExit(f"the median must be at most {MUST} s, and nothing may cross")


if __name__ == "__main__":
    main()
