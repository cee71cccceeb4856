"""Compiled steps of block-coordinate Frank-Wolfe: a component's scores, worst labelling, and steps.

`score` says which row of the two feature blocks belongs to a position: a sample's below len(X), else an edge's.
`planes` are labelling - truth by position, `shares` their multipliers. See `block_frank_wolfe`.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Bools, Features, Floats, Ints

# samples: components up to this size are enumerated, larger ones cut
ENUMERATED = 10
# at most per turn of a component
STEPS = 4
# of the gain of the first step: the turn ends below it
ENOUGH = 0.1


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _dot(row: Features, weights: Floats) -> float:
    total = 0.0
    for k in range(len(weights)):
        total += row[k] * weights[k]
    return total


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _add(factor: float, row: Features, total: Floats) -> None:
    for k in range(len(total)):
        total[k] += factor * row[k]


@nb.njit(cache=True, nogil=True)
def score_positions(
    score: Ints, X: Features, A: Features, scale: float, eta: float, v: Floats, w2: Floats, scores: Floats
) -> None:
    """Write the scores of positions."""
    n = len(X)
    for k in range(len(score)):
        i = score[k]
        scores[k] = scale * _dot(X[i], v) if i < n else eta * _dot(A[i - n], w2)


@nb.njit(cache=True, nogil=True)
def _enumerate(scores: Floats, samples: int, ends: Ints, truth: Bools, costs: Floats, labels: Bools) -> None:
    """Write the most violated labelling of a component, trying all in the order of a Gray code."""
    together = np.zeros((samples, samples))
    for e in range(samples, len(scores)):
        together[ends[e, 0], ends[e, 1]] = together[ends[e, 1], ends[e, 0]] = scores[e]
    for i in range(samples):
        labels[i] = False
    value = best = 0.0
    code = best_code = 0
    for number in range(1, 1 << samples):
        i = 0
        while not (number >> i) & 1:
            i += 1
        change = scores[i] - costs[i] if truth[i] else scores[i] + costs[i]
        if labels[i]:
            change = -change
        for j in range(samples):
            change += together[i, j] if labels[i] == labels[j] else -together[i, j]
        labels[i] = not labels[i]
        code ^= 1 << i
        value += change
        if value > best:
            best, best_code = value, code
    for i in range(samples):
        labels[i] = (best_code >> i) & 1
    for e in range(samples, len(scores)):
        labels[e] = labels[ends[e, 0]] != labels[ends[e, 1]]


@nb.njit(cache=True, nogil=True)
def _slot(
    labels: Bools, truth: Bools, costs: Floats, planes: Floats, losses: Floats, shares: Floats, used: int
) -> int:
    """Store the plane of a labelling; return its slot."""
    # A slot at `used` is a new one. Where all slots are taken, one without weight is replaced, or the two
    # with the least weight are merged.
    for j in range(used):
        equal = True
        for k in range(len(labels)):
            if planes[j, k] != 1.0 * labels[k] - 1.0 * truth[k]:
                equal = False
                break
        if equal:
            return j
    slot = used
    if used == len(shares):
        slot = second = -1
        for j in range(used):
            if slot < 0 or shares[j] < shares[slot]:
                slot, second = j, slot
            elif second < 0 or shares[j] < shares[second]:
                second = j
        if shares[slot] > 0.0:
            total = shares[slot] + shares[second]
            part = shares[slot] / total
            for k in range(len(labels)):
                planes[second, k] += part * (planes[slot, k] - planes[second, k])
            losses[second] += part * (losses[slot] - losses[second])
            shares[second] = total
    losses[slot] = shares[slot] = 0.0
    for k in range(len(labels)):
        planes[slot, k] = 1.0 * labels[k] - 1.0 * truth[k]
        losses[slot] += costs[k] * abs(planes[slot, k])
    return slot


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _bent(step: float, bare: Floats, direction: Floats, pull: Floats) -> tuple[float, float]:
    """Return the slope and curvature of 1/2 ||min(0, bare + pull + step direction)||^2 at a step."""
    slope = curvature = 0.0
    for k in range(len(bare)):
        value = bare[k] + pull[k] + step * direction[k]
        if value < 0.0:
            slope += value * direction[k]
            curvature += direction[k] * direction[k]
    return slope, curvature


@nb.njit(cache=True, nogil=True)
def _best_step(
    rise: float, curvature: float, bare: Floats, direction: Floats, pull: Floats, shrink: float, limit: float
) -> float:
    """Return the step in [0, limit] with the largest rise of the dual."""
    # Maximises rise step - 1/2 curvature step^2 - shrink/2 ||min(0, ...)||^2. The slope falls, in straight
    # pieces: Newton's method ends in the right piece; bisection guards it.
    if rise - limit * curvature - shrink * _bent(limit, bare, direction, pull)[0] >= 0.0:
        return limit
    low, high, step = 0.0, limit, 0.0
    for _ in range(60):
        bent, bent_curvature = _bent(step, bare, direction, pull)
        slope, curve = rise - step * curvature - shrink * bent, curvature + shrink * bent_curvature
        if slope > 0.0:
            low = step
        else:
            high = step
        following = step + slope / curve if curve > 0.0 else (high if slope > 0.0 else low)
        if abs(following - step) <= 1e-13 * limit:
            break
        step = following if low < following < high else 0.5 * (low + high)
    return step


@nb.njit(cache=True, nogil=True)
def _extremes(
    scores: Floats, planes: Floats, losses: Floats, shares: Floats, used: int
) -> tuple[int, int, float]:
    """Return the most violated plane, the least violated one with weight, and their difference."""
    best = worst = -1
    highest = lowest = 0.0
    for j in range(used):
        value = losses[j] + _dot(planes[j], scores)
        if best < 0 or value > highest:
            best, highest = j, value
        if shares[j] > 0.0 and (worst < 0 or value < lowest):
            worst, lowest = j, value
    return best, worst, highest - lowest


@nb.njit(cache=True, nogil=True)
def gain(
    scores: Floats, worst: Floats, costs: Floats, starts: Ints,
    planes: Floats, losses: Floats, shares: Floats, used: Ints, gains: Floats,
) -> None:  # fmt: skip
    """Write by how much the most violated labelling, `worst`, exceeds each worst plane with weight."""
    for c in range(len(used)):
        a, b = starts[c], starts[c + 1]
        value = 0.0
        for k in range(a, b):
            value += scores[k] * worst[k] + costs[k] * abs(worst[k])
        lowest = np.inf
        for j in range(used[c]):
            if shares[j, c] > 0.0:
                lowest = min(lowest, losses[j, c] + _dot(planes[j, a:b], scores[a:b]))
        gains[c] = value - lowest


@nb.njit(cache=True, nogil=True)
def _write_direction(
    rows: Ints, X: Features, A: Features, scale: float, eta: float, best: Floats, worst: Floats,
    direction: Floats, slope: Floats,
) -> bool:  # fmt: skip
    """Write the directions of v and of bare from plane `worst` to plane `best`; return whether they change an edge."""
    n, edges = len(X), False
    for k in range(len(direction)):
        direction[k] = 0.0
    for k in range(len(slope)):
        slope[k] = 0.0
    for k in range(len(rows)):
        change = best[k] - worst[k]
        if change != 0.0 and rows[k] < n:
            _add(-scale * change, X[rows[k]], direction)
        elif change != 0.0:
            _add(-eta * change, A[rows[k] - n], slope)
            edges = True
    return edges


@nb.njit(cache=True, nogil=True)
def descend(
    order: Ints, X: Features, A: Features, scale: float, eta: float,
    starts: Ints, samples: Ints, score: Ints, ends: Ints, truth: Bools, costs: Floats, labels: Bools,
    planes: Floats, losses: Floats, shares: Floats, used: Ints,
    v: Floats, bare: Floats, w2: Floats, pull: Floats, shrink: float,
) -> None:  # fmt: skip
    """Make the steps of each component in `order`."""
    # v, bare and w2 = min(0, shrink (bare + pull)) follow the shares. labels: by position, the most violated
    # labelling of components too large to enumerate.
    direction, slope = np.empty(len(v)), np.empty(len(bare))
    for c in order:
        part = slice(starts[c], starts[c + 1])
        rows, scores = score[part], np.empty(starts[c + 1] - starts[c])
        score_positions(rows, X, A, scale, eta, v, w2, scores)
        if samples[c] <= ENUMERATED:
            _enumerate(scores, samples[c], ends[part], truth[part], costs[part], labels[part])
        held, loss, share = planes[:, part], losses[:, c], shares[:, c]
        slot = _slot(labels[part], truth[part], costs[part], held, loss, share, used[c])
        used[c] = max(used[c], slot + 1)
        first = 0.0
        for turn in range(STEPS):
            if turn:
                score_positions(rows, X, A, scale, eta, v, w2, scores)
            best, worst, between = _extremes(scores, held, loss, share, used[c])
            first = max(first, between)
            if between <= ENOUGH * first * (turn > 0):
                break
            edges = _write_direction(rows, X, A, scale, eta, held[best], held[worst], direction, slope)
            curvature, limit = _dot(direction, direction), share[worst]
            if edges:
                rise = loss[best] - loss[worst] - _dot(direction, v)
                step = _best_step(rise, curvature, bare, slope, pull, shrink, limit)
                _add(step, slope, bare)
                for k in range(len(w2)):
                    w2[k] = min(0.0, shrink * (bare[k] + pull[k]))
            else:
                step = min(between / curvature, limit) if curvature * limit > between else limit
            _add(step, direction, v)
            share[worst] = share[worst] - step if step < limit else 0.0
            share[best] += step
            if samples[c] == 1:
                break
