"""The first lesson: why optimise AP? One query ranked by two methods, one image moved, one sentence understood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts import address, cache, charts, frame, keys, lessons, measures, rivals, sets, tiles
from pages.parts.colours import BLUE, GREEN, PURPLE, VERMILLION
from pages.parts.frame import escaped
from pages.parts.rivals import Standing
from pages.parts.strip import strip
from ranking import moving
from ranking.moving import Measures
from ranking.ranked import Ranking, precision_terms
from ranking.run import Run
from ranking.types import ImageSet, Ints

LESSON = lessons.WHY_AP
STEPS = ("1 · Two rankings", "2 · Move one image", "3 · Understood")
SHOWN, COLUMNS = 12, 6
DEFAULT_K = 5

# The small ranking: which places of the images that stay are relevant, from the top. All stand below the cut
# and below the usual k, so that each measure shows its own shape as the image passes.
OTHERS: Ints = np.isin(np.arange(1, SHOWN), (6, 8, 10)).astype(np.int64)
RELEVANT = int(OTHERS.sum()) + 1

HEADLINES = (
    f"Query “{LESSON.query}”: two methods that learnt from the same people",
    f"{SHOWN} people, {RELEVANT} show “{LESSON.query}”. Move one of these: what does it cost?",
    "AP asks *where* the relevant images stand. Counting wrong labels only asks *on which side of a cut*.",
)

CUT = "Wrong labels at the cut"  # not the loss of step 1: there the sign of the score labels

WEIGHTED = (
    r"$\displaystyle\tfrac12\Bigl(\frac{\#\text{relevant, score}\le0}{|P|}+\frac{\#\text{irrelevant, score}>0}{|N|}"
    r"\Bigr)$: a score above 0 says relevant, any other irrelevant, and both kinds weigh the same, however many they "
    "are. To call everybody the same costs 0.5. SVM minimises a bound on this loss on the training samples; AP-SVM "
    "never looks at the sign."
)

# The formulas of pages/parts/measures.py, short enough to stand under a number; r_i is the place of image i.
FORMULAS = {
    "AP": r"\frac1{|P|}\sum_{i\in P}\text{P@}r_i",
    "P@k": r"\frac{\#\text{relevant among first }k}{k}",
    "NDCG": r"\frac{\sum_{i\in P}1/\log_2(1+r_i)}{\sum_{r\le|P|}1/\log_2(1+r)}",
    CUT: r"\frac{\#\text{wrong, first }|P|\text{ called relevant}}{n}",
}
EQUALLY_HIGH = r"\vphantom{\sum_{i\in P}}"


def steps() -> None:
    left, right = st.columns([5, 3], vertical_alignment="center")
    with right:
        chosen = lessons.choose_step(STEPS, keys.STEP)
    left.markdown(f"## {HEADLINES[chosen - 1]}")
    found = LESSON.trained()
    images = cache.image_set(next(iter(found.values())).settings["set"])
    left.caption(
        f"People of the lesson's small set of {len(images.image_names)} scenes; none of these was learnt from."
    )
    rankings = {method: cache.ranking(run, "test") for method, run in found.items()}
    k = address.read(keys.SMALL_K, address.number(int, 1, SHOWN - 1), DEFAULT_K)
    standings = [rivals.standing(method, ranked, k) for method, ranked in rankings.items()]
    if chosen == 1:
        show_rivals(images, found, rankings, standings, k)
    elif chosen == 2:
        show_moving(images, rankings[LESSON.methods[-1]])
    else:
        show_understood(found, standings, k)
    lessons.offer_next(chosen, STEPS, keys.STEP)
    sets.prepare()  # what other pages need, once the lesson has what it needs


# ---------------------------------------------------------------------------------------------------------
# 1: one query, two methods
# ---------------------------------------------------------------------------------------------------------


def show_rivals(
    images: ImageSet,
    found: dict[str, Run],
    rankings: dict[str, Ranking],
    standings: Sequence[Standing],
    k: int,
) -> None:
    for column, (method, run), stands in zip(
        st.columns(2, gap="large"), found.items(), standings, strict=True
    ):
        with column:
            show_rival(images, rankings[method], stands, k)
            link = {keys.RUN: run.id}
            st.page_link("pages/ranked_images.py", label=f"The whole ranking of {method}", query_params=link)
    st.markdown(f"## {rivals.compared(*standings)} {rivals.verdict(*standings)}")
    st.caption(rivals.why(*standings))


def show_rival(images: ImageSet, ranked: Ranking, stands: Standing, k: int) -> None:
    method = stands.method
    st.markdown(f"### {method}")
    with st.container(horizontal=True, gap="large"):
        st.metric("AP", f"{stands.average_precision:.3f}", help=measures.AP, width="content")
        st.metric(f"P@{k}", f"{stands.precision:.3f}", help=measures.PRECISION, width="content")
        st.metric(
            "Weighted 0-1 loss",
            f"{stands.zero_one:.3f}",
            help=WEIGHTED,
            width="content",
        )
    top = Ranking(ranked.samples[:SHOWN], ranked.relevance[:SHOWN], ranked.scores[:SHOWN])
    shown = tiles.pictures_of(images, cache.thumbnails(images.key), top)
    first = stands.first_mistake
    flags = {shown[first - 1].id: "first mistake"} if first is not None and first <= SHOWN else {}
    label = f"The first {len(shown)} test samples as {method} ranks them"
    strip(shown, name=f"strip of {method}", label=label, columns=COLUMNS, narrow=4, flags=flags)
    st.caption(first_mistake(images, ranked, first))


def first_mistake(images: ImageSet, ranked: Ranking, first: int | None) -> str:
    """Where a ranking goes wrong first, and by what."""
    if first is None:
        return "**Notice**: no mistake, for everybody relevant stands first."
    row = int(ranked.samples[first - 1])
    return f"**Notice** the first mistake: the person at place **{first}** shows “{escaped(tiles.shows(images, row))}”."


# ---------------------------------------------------------------------------------------------------------
# 2: one image moves
# ---------------------------------------------------------------------------------------------------------


@st.fragment
def show_moving(images: ImageSet, ranked: Ranking) -> None:
    left, right = st.columns([4, 1], gap="large")
    with left:
        bound = address.bound(keys.PLACE, address.number(int, 1, SHOWN), 1)
        place = int(st.slider("Place of the image that moves", 1, SHOWN, **bound))
    with right:
        bound = address.bound(keys.SMALL_K, address.number(int, 1, SHOWN - 1), DEFAULT_K)
        k = int(st.slider("k of P@k", 1, SHOWN - 1, **bound))
    with frame.in_place():
        show_small_ranking(images, moving.small_ranking(ranked, OTHERS, place), place)
    show_measures(place, k)


def show_small_ranking(images: ImageSet, order: Ranking, place: int) -> None:
    """Real pictures in an order that was made up, with the terms of AP below the relevant ones."""
    shown = tiles.pictures_of(images, cache.thumbnails(images.key), order)
    shown = tiles.with_terms(shown, order.relevance)
    terms = precision_terms(order.relevance)
    mover = shown[place - 1].id
    strip(
        shown,
        name="small ranking",
        label=f"{len(shown)} people, {RELEVANT} of them relevant, in the chosen order",
        columns=SHOWN,
        narrow=4,
        flags={mover: "moves"},
        ends={shown[RELEVANT - 1].id: "cut"},  # after as many places as there are relevant images
        chosen=mover,
    )
    ap, total = order.average_precision, " + ".join(rf"\tfrac{{{found}}}{{{at}}}" for found, at in terms)
    st.markdown(
        rf"$\displaystyle\text{{AP}}=\frac1{{{RELEVANT}}}\Bigl({total}\Bigr)={ap:.3f}$, the mean of "
        "the fractions below the relevant images: so many relevant up to here, of so many images."
    )


def show_measures(place: int, k: int) -> None:
    """Each measure as a number, as a function of the place, and as a formula."""
    by_place = moving.measures_by_place(OTHERS, k)
    for column, (name, field, colour, stepped) in zip(
        st.columns(4),
        (
            ("AP", "average_precision", BLUE, False),
            ("P@k", "precision", GREEN, True),
            ("NDCG", "ndcg", PURPLE, False),
            (CUT, "zero_one", VERMILLION, True),
        ),
        strict=True,
    ):
        with column:
            values = [getattr(measured, field) for measured in by_place]
            shown = name.replace("@k", f"@{k}")
            st.metric(
                shown, f"{values[place - 1]:.3f}", help="Less is better." if field == "zero_one" else None
            )
            st.markdown(rf"$\displaystyle {FORMULAS[name]}{EQUALLY_HIGH}$")
            charts.measure_by_place(values, place, shown, colour, keys.widget(f"by place {field}"), stepped)
    st.caption(
        f"**Notice**: AP and NDCG fall steeply at the top and hardly at the bottom. "
        f"P@{k} {say_changes([measured.precision for measured in by_place])}; the share of wrong labels at the cut "
        f"{say_changes([measured.zero_one for measured in by_place])}. {say_step(by_place, place)} The cut: whatever "
        f"the signs of their scores, the first $|P|={RELEVANT}$ are called relevant, the others not. $r_i$: the place "
        "of image $i$; $P$: the relevant images."
    )


def say_changes(values: Sequence[float]) -> str:
    """At how many steps down a measure (n,) by place changes."""
    steps, places = len(values) - 1, moving.changes(values)
    if not places:
        return "does not change at all"
    if len(places) == 1:
        return f"changes at one step of {steps}, {down_from(places[0])}"
    return f"changes at {len(places)} steps of {steps}"


def down_from(place: int) -> str:
    return f"{place} → {place + 1}"


def say_step(by_place: Sequence[Measures], place: int) -> str:
    """What the next step down costs, in AP and in wrong labels."""
    if place == len(by_place):
        return "It cannot go further down."
    now, then = by_place[place - 1], by_place[place]
    fall = now.average_precision - then.average_precision
    rise = then.zero_one - now.zero_one
    return f"One place further down costs {fall:.3f} of AP and adds {rise:.3f} to the share of wrong labels."


# ---------------------------------------------------------------------------------------------------------
# 3: understood
# ---------------------------------------------------------------------------------------------------------


def show_understood(found: dict[str, Run], standings: Sequence[Standing], k: int) -> None:
    by_place = moving.measures_by_place(OTHERS, k)
    ap = [measured.average_precision for measured in by_place]
    zero_one = [measured.zero_one for measured in by_place]
    charts.cost_of_a_place(ap, zero_one, keys.widget("cost of a place"))
    st.caption(say_costs(ap, zero_one))
    st.markdown(f"## {rivals.compared(*standings)} {rivals.verdict(*standings)}")
    st.caption(
        f"{rivals.why(*standings)} Train on other queries of this or a larger set, with another C, and see."
    )
    if frame.pressed("Train it yourself", "train it yourself", type="primary"):
        st.switch_page("pages/train.py", query_params=lessons.address_of(found[LESSON.methods[-1]]))


def say_costs(ap: Sequence[float], zero_one: Sequence[float]) -> str:
    """Where one place further down costs something, and where nothing: measures (n,) by place."""
    gaps = sorted(set(range(1, len(ap))) - set(moving.changes(ap)))
    free = ", ".join(down_from(place) for place in gaps)
    return (
        f"What one place further down costs the image of step 2. **Notice**: from place 1 to 2 it costs "
        f"{ap[0] - ap[1]:.3f} of AP, from {SHOWN - 1} to {SHOWN} only {ap[-2] - ap[-1]:.3f}. The gaps, {free}: there "
        f"it moves past another relevant image, which costs AP nothing. The striped bar: the share of wrong labels at "
        f"the cut {say_changes(zero_one)}, where the image leaves the first {RELEVANT}."
    )


frame.show_page("lesson", "Two methods, one query: what is optimised decides what comes first.", steps)
