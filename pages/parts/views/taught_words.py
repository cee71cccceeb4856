"""What the lesson about labels says, in words that follow from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.studies.asking_table import signed
from pages.parts.views.taught_labels import BY_CHANCE, OWN, QUESTIONS, RIVAL, Taught, strongest
from ranking.core import Floats, Ints
from ranking.explain.lookahead import NO, YES, LabellingModel, Position

COLUMNS = (0, 1, 5, QUESTIONS)  # questions that the table shows, as the paper's Table 1
SURE = 1.96  # standard errors of an interval of 95%


def quoted(names: Sequence[str]) -> str:
    """Names as one says them.

    >>> quoted(["sea"]), quoted(["sea", "sand", "sun"]), quoted([])
    ('“sea”', '“sea”, “sand” and “sun”', 'none')
    """
    said = [f"“{name}”" for name in names]
    return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]])) or "none"


def listed(one: Taught, row: int, order: Ints, k: int) -> str:
    """The first k labels from the top, with whether the picture shows them."""
    truth = one.labels[row]
    said = [f"{one.names[i]} {RELEVANT_GLYPH if truth[i] else IRRELEVANT_GLYPH}" for i in order[:k]]
    return f"The first {k} labels: {', '.join(said)}"


def first_mistakes(one: Taught, row: int, order: Ints, k: int) -> str:
    """Which labels are wrongly among the first k, and which are missing there."""
    truth = one.labels[row]
    wrong = [one.names[i] for i in order[:k] if not truth[i]]
    missed = [one.names[i] for i in order[k:] if truth[i]]
    if not wrong:
        return f"that all of the first {k} are right."
    return f"the hatched bars above the line: {quoted(wrong)}, while {quoted(missed)} stand below it."


def moved(one: Taught, before: Ints, after: Ints, answered: int, k: int) -> str:
    """Which labels come among the first k by an answer, and which leave; but the answered one."""
    was, now = ({int(i) for i in order[:k] if i != answered} for order in (before, after))
    comes = [one.names[int(i)] for i in after if int(i) in now - was]
    goes = [one.names[int(i)] for i in before if int(i) in was - now]
    return f"{quoted(comes)} come among the first {k}, {quoted(goes)} leave"


def notice_answer(one: Taught, row: int, label: int, said: bool | None) -> str:
    """What to see in the two rankings beside each other."""
    key = "Dotted: the answered label. Blue: up among the others; broken: down."
    if said is None:
        return f"{key} **Notice** that nothing moves before an answer."
    truth = "so it is" if one.labels[row, label] == said else "which is not so: see what a wrong answer does"
    reach = strongest(one.ties(label), 2)
    drawn = [
        f"{verb} {quoted(names)}"
        for verb, sign in (("draws in", 1), ("pushes out", -1))
        if (names := [one.names[other] for other, weight in reach if sign * weight > 0])
    ]
    return (
        f"{key} **Notice** the crossings of {OWN}: “{one.names[label]}” {' and '.join(drawn)}, and those move others. "
        f"{RIVAL} has $F=0$: no two others ever cross. “{one.names[label]}”, {'yes' if said else 'no'}: {truth}."
    )


def answered(one: Taught, row: int, asked: Sequence[int]) -> str:
    """What the truth has answered, after something else that is said; nothing where nothing was asked."""
    truth = one.labels[row]
    said = [f"{one.names[i]} {RELEVANT_GLYPH if truth[i] else IRRELEVANT_GLYPH}" for i in asked]
    return f" after {', '.join(said)}" if said else ""


def maxima(one: Taught, shown: Sequence[int], inside: Floats, outside: Floats) -> str:
    """The two maxima of labels."""
    return "; ".join(f"{one.names[i]}: {inside[i]:.4f} with it, {outside[i]:.4f} without" for i in shown)


def with_and_without(one: Taught, asker: LabellingModel, position: Position, label: int) -> str:
    """What each of the two best sets of labels, with a label and without it, has that the other has not."""
    answers = np.stack([position.after(label, branch).answers for branch in (YES, NO)])
    inside, outside = asker.prediction(answers).best.members
    also, instead = (
        [one.names[i] for i in np.flatnonzero(own & ~other) if i != label]
        for own, other in ((inside, outside), (outside, inside))
    )
    brought = quoted(also) if also else "nothing else"
    k = int(inside.sum())
    return f"**“{one.names[label]}” in** brings {brought} into the best {k}; **out**, {quoted(instead)}."


def notice_question(one: Taught, label: int, surest: int, inside: Floats, outside: Floats) -> str:
    """The distance of the asked label's maxima beside that of the surest one."""
    near, far = (abs(float(inside[i] - outside[i])) for i in (label, surest))
    return (
        r"The best $t^\top s+t^\top Ft$ with each label among the $k$ and without it; one of "
        "the two is always the very best value of all. Far apart: the model is sure. **Notice** the short line: "
        f"“{one.names[label]}” differs by only {near:.4f}, “{one.names[surest]}”, the surest, by {far:.4f}: where the "
        f"model hardly cares an answer tells most.{together(one, label, inside, outside)}"
    )


def together(one: Taught, label: int, inside: Floats, outside: Floats) -> str:
    """Which labels share the distance of the asked one, for the two best answers differ by all of them."""
    distance = np.abs(inside - outside)
    same = np.flatnonzero(np.isfinite(distance) & np.isclose(distance, distance[label], rtol=1e-9, atol=0.0))
    others = [one.names[i] for i in same if i != label]
    if not others:
        return ""
    them = (
        "changes sides with it, so its line is"
        if len(others) == 1
        else "change sides with it, so their lines are"
    )
    return f" {quoted(others)} {them} as long; of equals one is asked."


def from_to(found: Mapping[str, Floats]) -> str:
    """Where each curve (q + 1, M) begins and ends, in percent."""
    means = {name: 100 * values.mean(axis=1) for name, values in found.items()}
    return "; ".join(f"{name} {mean[0]:.1f}% to {mean[-1]:.1f}%" for name, mean in means.items())


def summed_up(found: Mapping[str, Floats]) -> str:
    """What the answers are worth to both models."""
    own, rival = (100 * found[name].mean(axis=1) for name in (OWN, RIVAL))
    return (
        f"{len(own) - 1} answers lift {OWN} from {own[0]:.1f}% to {own[-1]:.1f}%, {RIVAL} from {rival[0]:.1f}% to "
        f"{rival[-1]:.1f}%."
    )


def table(found: Mapping[str, Floats]) -> str:
    """Precision in percent by the number of questions, as markdown."""
    heads = ["", *(f"Q{count}" if count else "Auto" for count in COLUMNS)]
    lines = [heads, ["---", *["---:"] * len(COLUMNS)]]
    for name, values in found.items():
        mean = 100 * values.mean(axis=1)
        lines.append([name, *(f"{mean[count]:.1f}" for count in COLUMNS)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def interval(apart: Floats) -> tuple[float, float, float]:
    """The mean of paired differences (M,) in points, and the ends of its interval of 95% over the scenes.

    >>> [round(value, 2) for value in interval(np.array([0.0, 0.02]))]
    [1.0, -0.96, 2.96]
    """
    mean = 100 * float(apart.mean())
    half = SURE * 100 * float(apart.std(ddof=1)) / float(np.sqrt(len(apart)))
    return mean, mean - half, mean + half


def notice_worth(one: Taught, found: Mapping[str, Floats]) -> str:
    """What interactions add, and what choosing the question does."""
    said = []
    for count in (0, QUESTIONS):
        mean, low, high = interval(found[OWN][count] - found[RIVAL][count])
        sure = "" if low > 0 or high < 0 else ", not certain"
        said.append(f"{signed(mean)} points ({signed(low)} to {signed(high)}{sure}) after {count} questions")
    well, badly = (100 * float((found[name][-1] - found[name][0]).mean()) for name in (OWN, BY_CHANCE))
    images = found[OWN].shape[1]
    return (
        "BEP: precision at $k$, where the scene has $k$ labels and the model is told so; answered labels are right. "
        f"**Notice** what interactions add: {OWN} is ahead by {' and '.join(said)}, and what it is worth to ask "
        f"well: {well:.1f} points by {QUESTIONS} answers, {badly:.1f} where the labels are asked for by chance. Means "
        f"over {images} drawn scenes after one training on {one.learnt} others; intervals of 95% over scenes, not "
        f"trainings, which end within {100 * one.gap:.1g}% of their optimum."
    )
