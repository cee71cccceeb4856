"""Every sentence with a number on every step of every lesson is computed here from what its screen shows, and from the
runs on disk where the screen rounds. A sentence that no claim below covers fails its test, as does a claim that no
sentence makes."""

from __future__ import annotations

import base64
import json
import re
from itertools import combinations
from math import ceil, comb, factorial
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pytest
from homes import runs_of_labels_lesson
from shown import NUMBER, charts_of, choose, components, plain, press, values

from pages.parts.app import cache
from pages.parts.runs import lesson_comparison
from pages.parts.views import (
    all_actions,
    labels_lesson_data,
    labels_lesson_views,
    neighbour_captions,
    subsequence_worth,
)
from pages.parts.views.labels_lesson_data import BASELINE, BY_CHANCE, OWN, QUESTIONS
from pages.parts.views.lesson_settings import NEIGHBOURS, VIOLATED, WHY_AP, pairs_study
from pages.parts.views.pair_cues import cues_of, pair_examples
from ranking.explain.inference_steps import InferenceProblem, trace_of
from ranking.losses.weighted_zero_one import best_threshold, weighted_zero_one
from ranking.metrics import average_precision, ndcg
from ranking.metrics.intervals import Interval
from ranking.reports.differences import difference_on_test

pytestmark = pytest.mark.usefixtures("started")
DIFFERENCE = re.compile(r"(\d\.\d{3})[^\d≈()]+(\d\.\d{3})(?: \|)? \(?(≈ )?([+-]\d\.\d{3})")
END = re.compile(r"(?<=[.?!])\s+(?=[A-Z“*])")

# ---------------------------------------------------------------------------------------------------------
# Sentences and claims
# ---------------------------------------------------------------------------------------------------------


def sentences(app):
    """Those with a number, of texts, rows of tables and metrics; each kind in the order of the page."""
    blocks = [plain(block) for block in (*app.markdown, *app.caption, *app.info, *app.warning, *app.error)]
    parts = [part for block in blocks for line in block.splitlines() for part in END.split(line)]
    parts += [f"{metric.label}: {metric.value}" for metric in app.metric]
    parts = [part.replace("0-1 loss", "zero-one loss").replace("−", "-") for part in parts]
    return [part for part in parts if re.search(r"\d", part)]


def check(app, claims):
    """claims: a pattern and the numbers of the sentence that it finds; of one pattern in the order of the page."""
    assert not app.error
    open_ = list(claims)
    for sentence in sentences(app):
        matching = [claim for claim in open_ if re.search(claim[0], sentence)]
        assert len({pattern for pattern, _ in matching}) == 1, f"{len(matching)} claims for: {sentence}"
        numbers, expected = NUMBER.findall(sentence), list(matching[0][1])
        assert len(numbers) == len(expected), (sentence, expected)
        for number, value in zip(numbers, expected, strict=True):
            half_a_digit = 0.5 * 10.0 ** -len(number.partition(".")[2])
            assert abs(float(number.replace(",", "")) - value) <= half_a_digit + 1e-9, (sentence, expected)
        open_.remove(matching[0])
    assert not open_, "no sentence makes these claims"


def test_a_sentence_without_a_claim_a_wrong_number_and_a_claim_without_a_sentence_fail(
    scenes_home, open_page
):
    app = open_page("labels_lesson", labels_step="2", told_answer="not asked")
    taught = labels_lesson_data.taught(*runs_of_labels_lesson(scenes_home))
    right = [*((r"^### ", numbers) for numbers in precisions_before(app)), usual_answers(taught)]
    check(app, right)
    for wrong in (right[1:], [(right[0][0], [9, 9]), *right[1:]], [*right, ("nothing", [1])]):
        with pytest.raises(AssertionError):
            check(app, wrong)


# ---------------------------------------------------------------------------------------------------------
# Runs on disk
# ---------------------------------------------------------------------------------------------------------


def runs_of(store, lesson):
    images, _ = cache.ready_made()
    settings = {method: lesson.settings_of(images.key, method).to_json() for method in lesson.methods}
    return {method: store.runs.equal("train", of)[0] for method, of in settings.items()}


def scores_of(store, lesson):
    """The relevance (n,) of the test samples, and their scores by method."""
    runs = runs_of(store, lesson)
    images, _ = cache.ready_made()
    relevance = images.relevance(lesson.query)[images.test].astype(int)
    return relevance, {method: np.load(run.scores_file)[images.test] for method, run in runs.items()}


def precisions_of(store, lesson):
    relevance, scores = scores_of(store, lesson)
    return {method: average_precision(relevance, each) for method, each in scores.items()}


def actions_of(store, lesson, name, pairs):
    """The gains of every action by the file, those of the lesson's own by its runs."""
    runs = runs_of(store, lesson)
    resampled = cache.redrawn(list(runs.values()), "test")
    stored = json.loads(all_actions.MEASURED.read_text())["lessons"][name]
    gains = {
        action: {(first, second): Interval(*ends) for first, second, *ends in of["gains"]}
        for action, of in stored.items()
    }
    number = list(runs).index
    gains[lesson.query] = {
        pair: resampled.difference("AP", number(pair[1]), number(pair[0])) for pair in pairs
    }
    return gains, {action: of["AP"] for action, of in stored.items()} | {
        lesson.query: precisions_of(store, lesson)
    }


def average(gains, pairs):
    numbers = [len(gains)]
    for pair in pairs:
        each = [of[pair] for of in gains.values()]
        numbers += [fmean(gain.value for gain in each)]
        numbers += [sum(gain.low > 0 for gain in each), sum(gain.high < 0 for gain in each)]
    return "^(### )?Average AP of", numbers


# ---------------------------------------------------------------------------------------------------------
# Why optimise AP?
# ---------------------------------------------------------------------------------------------------------

PAIR = (WHY_AP.methods[0], WHY_AP.methods[1])


@pytest.fixture
def outcome(fresh_home):
    """AP and weighted 0-1 loss of both methods, and the sentences about both."""
    relevance, scores = scores_of(fresh_home, WHY_AP)
    images, _ = cache.ready_made()
    labelled, losses = [], []
    for method, run in runs_of(fresh_home, WHY_AP).items():
        every, train = np.load(run.scores_file), ~images.test
        threshold = best_threshold(images.relevance(WHY_AP.query)[train].astype(int), every[train])
        labelled.append(scores[method] - threshold)
        losses.append(weighted_zero_one(relevance, labelled[-1]))
    ap = list(precisions_of(fresh_home, WHY_AP).values())
    units = images.image_of[images.test]
    gains, _ = actions_of(fresh_home, WHY_AP, "why AP", [PAIR])
    loss = lesson_comparison.loss_difference(relevance, np.stack(labelled), units)
    gain = gains[WHY_AP.query][PAIR]
    assert (gain.value, loss.value) == pytest.approx((ap[1] - ap[0], losses[1] - losses[0]))
    leads = [gain.value if gain.low > 0 else -gain.value] if gain.without_zero else []
    leads += [loss.value if loss.high < 0 else -loss.value] if loss.without_zero else []
    claims = [("significantly better|ranks better", leads), average(gains, [PAIR])]
    called = [int(np.count_nonzero(each > 0)) for each in labelled]
    counts = [called[1], len(relevance), called[0], int(relevance.sum())]
    return ap, losses, claims, [*gain, *loss], counts


def test_why_optimise_ap(fresh_home, open_page, outcome):
    ap, losses, claims, (_, low, high, _, least, most), counts = outcome
    metrics = [
        (name, [value])
        for name, value in zip(("^AP: ", "^Weighted") * 2, (ap[0], losses[0], ap[1], losses[1]), strict=True)
    ]
    app = open_page("lesson")
    check(app, [*claims, *metrics])

    press(app, "next step")
    for place, k in ((1, 5), (7, 3), (12, 5)):
        choose(app.slider, "place", place)
        choose(app.slider, "small_k", k)
        [strip] = components(app, "ranking_strip")
        marks = np.array([item["mark"] == "relevant" for item in strip["items"]]).astype(int)
        shown = marks, -np.arange(len(marks), dtype=float)
        ranks = np.flatnonzero(marks) + 1
        terms = [number for count, rank in enumerate(ranks, start=1) for number in (count, rank)]
        curves = [values(chart["data"][0]["y"]) for chart in charts_of(app)]
        [at] = np.flatnonzero(np.diff(curves[3]))
        count = len(ranks)
        wrong = 2 * np.count_nonzero(marks[count:]) / len(marks)
        check(
            app,
            [
                ("show “riding horse”", [count, len(marks)]),
                ("tfrac", [1, count, *terms]),
                (
                    r"\*\*Notice",
                    [-np.diff(curves[0])[0], -np.diff(curves[0])[-1], len(marks) - 1, at + 1, at + 2],
                ),
                ("^AP: ", [np.mean([number / rank for number, rank in enumerate(ranks, start=1)])]),
                ("^P@", [k, marks[:k].mean()]),
                ("^NDCG", [ndcg(*shown)]),
                ("^Error rate", [wrong]),
            ],
        )

    press(app, "next step")
    [chart] = charts_of(app)
    falls, rises = (values(bars["y"]) for bars in chart["data"])
    [at] = np.flatnonzero(rises)
    check(
        app,
        [
            *claims,
            (r"\*\*Notice", [falls[0], falls[-1], len(falls), at + 1, at + 2]),
            ("paired bootstrap", [95, low, high, 95, least, most]),
            ("minimises a bound", [1]),
            ("the threshold that is best", counts),
        ],
    )


# ---------------------------------------------------------------------------------------------------------
# Do neighbours help?
# ---------------------------------------------------------------------------------------------------------


def lines_of(app):
    """Off and as learned: the ranks of the people of the scene by their letters, and who is relevant."""
    [chart] = charts_of(app)
    off, learned, relevant = {}, {}, set()
    for person in chart["data"]:
        [name] = [text for text in person["text"] if text]
        ranks = dict(zip(values(person["x"]).round(6).tolist(), values(person["y"]).tolist(), strict=True))
        off[name], learned[name] = ranks[0.0], ranks[1.0]
        if person["line"]["dash"] == "solid":
            relevant.add(name)
    return off, learned, relevant


def test_do_neighbours_help(fresh_home, open_page):
    ap = precisions_of(fresh_home, NEIGHBOURS)
    gains, every = actions_of(fresh_home, NEIGHBOURS, "neighbours", neighbour_captions.PAIRS)
    own = [gains[NEIGHBOURS.query][pair] for pair in neighbour_captions.PAIRS]
    chosen = chosen_settings(fresh_home)
    app = open_page("neighbours_lesson")
    check_differences(app)
    rows = []
    for action, of in every.items():
        cells = [
            (of[alone], of[strength_curve], gains[action][alone, strength_curve].value)
            for alone, strength_curve in neighbour_captions.PAIRS
        ]
        rows.append([number for three in cells for number in three])
    check(
        app,
        [
            *((rf"^### {method}: ", [value]) for method, value in ap.items()),
            ("^### Neighbours' effect on AP at default settings", [gain.value for gain in own]),
            chosen,
            average(gains, neighbour_captions.PAIRS),
            *((rf"^\| (\*\*)?{action}(\*\*)? \|", row) for action, row in zip(every, rows, strict=True)),
            (r"^\| Average", np.mean(rows, axis=0)),
            ("was chosen as an example", [end for gain in own for end in (95, gain.low, gain.high)]),
        ],
    )

    curve = cache.strength_curve(runs_of(fresh_home, NEIGHBOURS)["HOAP-SVM"])
    off_ap = curve.average_precision[curve.strengths == 0][0]
    press(app, "next step")
    for strength in (1.0, 0.5):
        choose(app.slider, "strength", strength)
        at = int(np.abs(curve.strengths - strength).argmin())
        caption = ("Test AP at strength", [strength, curve.average_precision[at], off_ap])
        check(app, [moved_claim(app), caption])
    choose(app.slider, "strength", 1.0)
    caption = ("Test AP at strength", [1, curve.average_precision[curve.strengths == 1][0], off_ap])
    press(app, "next step")
    check(app, [moved_claim(app), caption])
    press(app, "next step")
    off, learned, relevant = lines_of(app)
    assert not relevant
    ends = [end for ranks in (off, learned) for end in (min(ranks.values()), max(ranks.values()))]
    check(app, [("yet all", [len(off), *ends]), caption])

    press(app, "next step")
    [chart] = charts_of(app)
    strengths, shown = (values(chart["data"][0][axis]) for axis in "xy")
    off_ap, as_learned = shown[strengths == 0][0], shown[np.isclose(strengths, 1)][0]
    assert as_learned == pytest.approx(ap["HOAP-SVM"])
    relevance, rise = curve.relevance > 0, curve.rise
    counts = [
        np.count_nonzero(relevance & (rise > 0)),
        relevance.sum(),
        np.count_nonzero(relevance & (rise < 0)),
    ]
    _, low, high = neighbour_captions.by_strength(curve)
    check_differences(app)
    check(
        app,
        [
            ("^## In HOAP-SVM", [*counts, off_ap, as_learned, as_learned - off_ap, 95, low, high]),
            (r"\*\*Notice", [shown.max(), strengths[shown.argmax()], as_learned]),
            ("trained without edges", [ap["AP-SVM"], as_learned - ap["AP-SVM"]]),
            average(gains, neighbour_captions.PAIRS),
            chosen,
        ],
    )


def chosen_settings(store):
    """Of the bundled experiment: the pattern has the words about significance, by the bootstrap of Experiments."""
    run = next(run for run in store.runs.all(task="experiment") if NEIGHBOURS.query in run.settings["queries"])
    findings, numbers, words = cache.findings(run), [], ""
    for alone, with_graph in neighbour_captions.PAIRS:
        a, b = (findings.results.test(NEIGHBOURS.query, method) for method in (alone, with_graph))
        numbers += [a, b, b - a]
        sure = difference_on_test(findings, NEIGHBOURS.query, with_graph, alone).without_zero
        words += r"[^()]*\([^,)]*\)" if sure else r"[^()]*\([^,)]*, not significant\)"
    return f"^“{NEIGHBOURS.query}” with cross-validated C and η:{words}", numbers


def check_differences(app):
    """A shown difference is that of the two values shown before it, or "≈"."""
    count = 0
    for sentence in sentences(app):
        for before, after, about, difference in DIFFERENCE.findall(sentence):
            count += 1
            exact = round(float(after) - float(before) - float(difference), 3) == 0
            assert exact == (not about), sentence
    assert count


def moved_claim(app):
    """Of the person that a scene is about: both ranks, how many are ahead or behind, and how many of them alike."""
    [sentence] = [text.value for text in app.markdown if "moves from rank" in text.value]
    off, learned, relevant = lines_of(app)
    name = sentence.split()[1]
    up = learned[name] < off[name]
    assert ("up" if up else "down") in sentence
    pulls = {person for person in off if (off[person] < off[name] if up else off[person] > off[name])}
    alike = pulls & relevant if name in relevant else pulls - relevant
    some = [len(alike)] if 0 < len(alike) < len(pulls) else []
    assert some or len(pulls) < 2 or f"{'all' if alike else 'none'} " in sentence
    return "moves from rank", [off[name], learned[name], *([len(pulls)] if pulls else []), *some]


# ---------------------------------------------------------------------------------------------------------
# Pairs or sequences?
# ---------------------------------------------------------------------------------------------------------


def test_pairs_or_sequences(fresh_home, open_page):
    app = open_page("pairs_lesson")
    check(app, [])
    choose(app.segmented_control, "guess", "something else")
    check(app, [("pairs do not decide", [len(components(app, "ranking_film"))])])

    press(app, "next step")
    [film] = components(app, "ranking_film")
    shown = [film["frames"][frame] for frame in film["truth"]["order"]]
    cues = np.array([cues_of(base64.b64decode(frame["src"].partition(",")[2])) for frame in shown])
    total = comb(len(shown), 2)
    explained = [sum(cue[i] > cue[j] for i, j in combinations(range(len(cue)), 2)) for cue in cues.T]
    cars = next(row for row in fresh_home.sets.rows() if row.source == "Timeline cars")
    examples, _ = pair_examples(cars.key, "year")
    check(
        app,
        [
            ("colourful image ranks first", [explained[0], total]),
            ("brighter image ranks first", [explained[1], total]),
            ("the highest first", [total, total]),
            (r"\*\*Notice", [total - explained[0], total - explained[1], total]),
            ("Of 50 sequences", [50, *examples.usual]),
        ],
    )

    press(app, "next step")
    [chart] = charts_of(app)
    taus = {
        line["name"]: (values(line["y"])[0], values(line["error_y"]["array"])[0]) for line in chart["data"]
    }
    [fused] = [of for name, of in taus.items() if name.startswith("MidRank")]
    drawing = pairs_study("", (), "").drawing
    check(
        app,
        [
            ("Kendall tau", [*fused, *taus["RankSVM"]]),
            ("^Trained on", [drawing["train"], drawing["length"], drawing["test"], 95]),
        ],
    )

    press(app, "next step")
    measured = json.loads(subsequence_worth.MEASURED.read_text())
    worth = [[of["RankSVM"], of["MidRank"], *of["gain"]] for of in measured["sampled"].values()]
    check(
        app,
        [
            (r"95% interval", [95]),
            (r"^\| eight different digits", worth[0]),
            (r"^\| any images", worth[1]),
            ("^Mean Kendall tau", [measured["test"], measured["length"], measured["train"]]),
        ],
    )


# ---------------------------------------------------------------------------------------------------------
# Finding the most violated ranking
# ---------------------------------------------------------------------------------------------------------


def test_finding_the_most_violated_ranking(fresh_home, open_page):
    app = open_page("violated_lesson")
    [chart] = charts_of(app)
    marked = [point for point in chart["data"] if point["mode"] == "markers+text"]
    worth = [(values(point["x"])[0], values(point["y"])[0]) for point in marked]
    for (_, loss), strip in zip(worth, components(app, "ranking_strip"), strict=True):
        marks = np.array([item["mark"] == "relevant" for item in strip["items"]]).astype(int)
        assert loss == pytest.approx(1 - average_precision(marks, -np.arange(len(marks), dtype=float)))
    count, relevant = len(marks), int(marks.sum())
    points = len(values(chart["data"][0]["x"]))
    assert points == comb(count, relevant)
    sums = [score + loss for score, loss in worth]
    titles = ("The correct ranking", "The prediction", "The most violated ranking")
    rankings = zip(titles, worth, sums, strict=True)
    check(
        app,
        [
            ("^## ", [count, factorial(count)]),
            *((rf"^\*\*.*{title}.*\*\*: score", [*each, total]) for title, each, total in rankings),
            ("orders have", [factorial(count), points]),
            (r"\*\*Notice", [sums[2] - sums[0]]),
        ],
    )

    press(app, "next step")
    [chart] = charts_of(app)
    curves = [values(curve["y"]) for curve in chart["data"]]
    best = [len(curve) - int(np.argmax(curve[::-1])) for curve in curves]
    assert (np.diff(best) >= 0).all()
    check(
        app,
        [
            (r"\\?sum", [1]),
            (r"\*\*Notice", [sum(map(len, curves)), points]),
            ("^The best ranks", [*best, 4]),
        ],
    )

    press(app, "next step")
    run = runs_of(fresh_home, VIOLATED)["AP-SVM"]
    learned = cache.ranking(run, "train")
    problem = InferenceProblem.of(learned.scores, learned.relevance > 0)
    trace = trace_of(problem, "select")
    ranks = np.array(trace.ranks)
    for done in (1, 2, 0):
        choose(app.slider, "look", done)
        low, high = trace.bounds_after(done, problem.highest)
        settled = np.count_nonzero(low == high)
        claims = [
            ("training samples, ", [len(learned.scores), learned.positives]),
            (
                r"\*\*Notice",
                [settled, len(ranks), done, len(trace.steps), np.count_nonzero(ranks == ranks.max())],
            ),
        ]
        if done:
            step = trace.steps[done - 1]
            run_of = [step.block.start + 1, step.block.end]
            left = [
                number
                for bound in step.bounds
                if bound.start < bound.end and (bound.start, bound.end) != (step.position, step.position + 1)
                for ends in ((bound.start + 1, bound.end), (bound.low, bound.high))
                for number in (ends if ends[0] < ends[1] else ends[:1])
            ]
            claims += [
                ("The median of", [*run_of, step.position + 1, step.score]),
                ("^Of ranks", [step.block.low, step.block.high, step.rank]),
                *([("^So sample", left)] if left else []),
            ]
        check(app, claims)

    press(app, "next step")
    [chart] = charts_of(app)
    primal, dual, active, rest = (values(trace["y"]) for trace in chart["data"])
    assert (np.diff(dual) >= 0).all()
    planes, n = len(dual), len(learned.scores)
    assert len(active) + len(rest) == planes
    iterations = run.result["certificate"]["iterations"]  # as Train shows
    check(
        app,
        [
            ("^Optimum over", [planes, dual[-1], dual[-1]]),
            ("^The first", [iterations, n, n, 10, len(str(factorial(n))) - 1]),
            (r"\*\*Notice", [len(active), planes, ceil(1e4 * (1 - dual[-1] / primal[-1])) / 100]),
        ],
    )

    press(app, "next step")
    [chart] = charts_of(app)
    sizes = values(chart["data"][0]["x"])
    middle = len(sizes) // 2
    grown = [values(line["y"])[-1] / values(line["y"])[middle] for line in chart["data"]]
    check(
        app,
        [
            ("^Operations", [10]),
            (r"\*\*Notice", [sizes[-1] / sizes[middle], sizes[middle], sizes[-1], *grown]),
        ],
    )


# ---------------------------------------------------------------------------------------------------------
# Which label to ask about?
# ---------------------------------------------------------------------------------------------------------


class Moved(NamedTuple):
    """A line of a chart of moves: the ranks of a label before and after an answer."""

    was: int
    now: int
    in_image: bool
    answered: bool


def moves_of(chart):
    """The lines of a chart of moves by their labels."""
    return {
        line["hovertemplate"].partition(": rank ")[0]: Moved(
            *values(line["y"]).astype(int).tolist(),
            line["marker"]["symbol"] == "circle",
            line["line"]["dash"] == "dot",
        )
        for line in chart["data"]
    }


def precisions_before(app):
    """Of both models the precision before and after an answer."""
    for chart in charts_of(app)[1:]:
        [end] = chart["layout"]["shapes"]
        moves, k = moves_of(chart).values(), int(end["y0"])
        yield [sum(move.in_image for move in moves if getattr(move, at) <= k) / k for at in ("was", "now")]


def crossings(chart):
    """How many pairs of lines cross, but for that of the answered label."""
    unanswered = [move for move in moves_of(chart).values() if not move.answered]
    return sum((a.was < b.was) != (a.now < b.now) for a, b in combinations(unanswered, 2))


def partners_in(app):
    """F and the move among the other labels of each partner that the notice names, by the charts."""
    ties, own, _ = charts_of(app)
    strengths = dict(zip(ties["layout"]["yaxis"]["ticktext"], ties["data"][0]["text"], strict=True))
    moves = moves_of(own)
    [answered] = [move for move in moves.values() if move.answered]
    [notice] = [caption.value for caption in app.caption if "**Notice**" in caption.value]
    numbers = []
    for name in re.findall(r"“([^”]*)” \(\$F\$", notice):
        was, now = (
            moves[name].was - (answered.was < moves[name].was),
            moves[name].now - (answered.now < moves[name].now),
        )
        numbers += [float(strengths[name].replace("−", "-")), *([abs(was - now)] if was != now else [])]
    return numbers


def usual_answers(taught):
    """The claim about the first answers of all scenes."""
    corrected = taught.first_answers.corrected.tolist()
    counts = [sum(np.sign(change) == sign for change in corrected) for sign in (1, -1, 0)]
    return "^Of .* test scenes, the first answer", [len(corrected), *counts]


@pytest.mark.parametrize("scene", ["A", "C", "D"])
def test_which_label_to_ask_about(scene, scenes_home, open_page):
    runs = runs_of_labels_lesson(scenes_home)
    taught = labels_lesson_data.taught(*runs)
    row = dict(zip("ABCDEF", taught.examples, strict=True))[scene]
    app = open_page("labels_lesson", label_scene=scene)
    [chart] = charts_of(app)
    ticks = chart["layout"]["yaxis"]["ticktext"]
    k = len(ticks) - labels_lesson_views.BELOW
    right = sum(tick.startswith("✓") for tick in ticks[:k])
    check(
        app,
        [
            ("labels are correct: precision", [right, k, right / k]),
            ("^C-star chooses", [k, len(taught.names)]),
            ("all of the first" if right == k else "hatched bars? above", [k if right == k else k - right]),
        ],
    )

    press(app, "next step")
    for answer in ("yes", "no"):
        choose(app.segmented_control, "told_answer", answer)
        _, own, baseline = charts_of(app)
        check(
            app,
            [
                ("Swapped pairs", [crossings(own), crossings(baseline)]),
                *((r"^### (C-star|Independent): precision", each) for each in precisions_before(app)),
                ("strongest partners", partners_in(app)),
                ("no other labels cross", [0]),
                usual_answers(taught),
            ],
        )
    assert crossings(baseline) == 0

    press(app, "next step")
    for done in (0, 2):
        choose(app.slider, "questions_answered", done)
        [chart] = charts_of(app)
        inside, outside = (values(chart["data"][-at]["x"]) for at in (2, 1))
        apart = np.abs(inside - outside)
        assert (np.diff(apart) >= -1e-9).all(), "the shortest line is on top, the longest below"
        labelling_model = taught.labelling_model(OWN, row)
        precision = labelling_model.play(taught.position({}), taught.labels[row], done)[1][-1]
        check(
            app,
            [
                (r"^\*\*Precision", [precision]),
                ("the best .* contain", [k]),
                ("the shortest line", [apart[0], apart[-1]]),
            ],
        )

    press(app, "next step")
    [chart] = charts_of(app)
    lines = {line["name"]: values(line["y"]) for line in chart["data"]}
    assert list(lines) == [OWN, BASELINE, BY_CHANCE]
    columns = [0, 1, 5, QUESTIONS]
    curves = labels_lesson_data.curves(*runs)
    differences = [
        labels_lesson_views.interval(curves[own][at] - curves[other][at])
        for own, other, at in ((OWN, BASELINE, 0), (OWN, BASELINE, QUESTIONS), (OWN, BY_CHANCE, QUESTIONS))
    ]
    for (mean, _, _), (own, other, at) in zip(
        differences,
        ((OWN, BASELINE, 0), (OWN, BASELINE, QUESTIONS), (OWN, BY_CHANCE, QUESTIONS)),
        strict=True,
    ):
        assert mean == pytest.approx(lines[own][at] - lines[other][at])
    notice = [number for each, at in zip(differences, (0, 10, 10), strict=True) for number in (*each, at)]
    check(
        app,
        [
            ("^### With", [QUESTIONS, *(lines[name][at] for name in (OWN, BASELINE) for at in (0, -1))]),
            (r"^\|  \| Auto", columns[1:]),
            *((rf"^\| {re.escape(name)} \|", line[columns]) for name, line in lines.items()),
            (r"\*\*Notice", notice),
            ("generated scenes", [len(taught.scenes), taught.learned, 100 * taught.gap]),
        ],
    )
