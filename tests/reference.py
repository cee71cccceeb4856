"""Slow reference implementations of the fast algorithms, written from the papers' definitions only."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from scipy.optimize import linprog

from ranking.explain.programs import EXACT, planes_primal
from ranking.losses import RankingLoss, as_loss

# Metrics: a list of grades from the top of a ranking to its end; the worst of all orders that scores allow


def allowed_orders(scores: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Yield every order of the samples in which no score is followed by a higher one."""
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            yield order


def worst(metric: Callable[[list[int]], float], relevance: Sequence[int], scores: Sequence[float]) -> float:
    """Return the least value of `metric` over all orders that the scores allow."""
    return min(metric([relevance[row] for row in order]) for order in allowed_orders(scores))


def precision_of(ranked: Sequence[int], k: int) -> float:
    return sum(grade > 0 for grade in ranked[:k]) / k


def average_precision_of(ranked: Sequence[int]) -> float:
    ranks = [rank for rank, grade in enumerate(ranked, start=1) if grade > 0]
    return sum(precision_of(ranked, rank) for rank in ranks) / len(ranks)


def ndcg_of(ranked: Sequence[int], k: int, exponential: bool = False) -> float:
    def dcg(grades: Sequence[int]) -> float:
        gains = [2.0**grade - 1 if exponential else grade for grade in grades]
        return sum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains[:k], start=1))

    return dcg(ranked) / dcg(sorted(ranked, reverse=True))


def right_and_wrong_pairs(relevance: Sequence[int], scores: Sequence[float]) -> tuple[int, int]:
    """Count the pairs of different grades with the more relevant sample strictly higher, and all others."""
    pairs = graded_pairs(relevance, [range(len(relevance))])
    right = sum(scores[a] > scores[b] for a, b in pairs)
    return right, len(pairs) - right


# Rankings: an order of the samples from the top down; relevant: (n,) of each sample


Order = tuple[int, ...]
Grades = Sequence[int]
# of rows of a pool
Sequences = Iterable[Sequence[int]]
# of the positions, from 1, of the relevant samples, ascending
Loss = Callable[[Sequence[int]], float]


def ap_loss(positions: Sequence[int]) -> float:
    """Quicksort, eq. 6."""
    return 1 - sum(index / position for index, position in enumerate(positions, start=1)) / len(positions)


def ndcg_loss(positions: Sequence[int]) -> float:
    """Quicksort, section 2.2."""
    ideal = sum(1 / math.log2(1 + position) for position in range(1, len(positions) + 1))
    return 1 - sum(1 / math.log2(1 + position) for position in positions) / ideal


# those of the papers; `definition_of` knows every loss
LOSSES: dict[str, Loss] = {"ap": ap_loss, "ndcg": ndcg_loss}


def positions_of_relevant(order: Order, relevant: Sequence[bool]) -> list[int]:
    return [position for position, sample in enumerate(order, start=1) if relevant[sample]]


def joint_feature_vector(order: Order, features: np.ndarray, relevant: Sequence[bool]) -> np.ndarray:
    """Return Psi(X, R) as the sum over pairs (quicksort, eq. 1)."""
    # With scores (n,) as features it is w.Psi(X, R).
    total, pairs = np.zeros(np.shape(features)[1:]), 0
    for above, below in itertools.combinations(order, 2):
        if relevant[above] != relevant[below]:
            # R_xy (psi(x) - psi(y)) either way round
            total = total + (features[above] - features[below])
            pairs += 1
    return total / pairs


def objective(order: Order, scores: np.ndarray, relevant: Sequence[bool], loss: Loss) -> float:
    """Return w.Psi(X, R) + Delta(R*, R), which the most violated ranking maximises (quicksort, eq. 5)."""
    return float(joint_feature_vector(order, scores, relevant)) + loss(positions_of_relevant(order, relevant))


def interleavings(scores: np.ndarray, relevant: Sequence[bool]) -> Iterator[Order]:
    """Yield every interleaving of relevant and irrelevant samples, each kind in descending order of score."""
    from_top = sorted(range(len(scores)), key=lambda sample: -scores[sample])
    positives = [sample for sample in from_top if relevant[sample]]
    negatives = [sample for sample in from_top if not relevant[sample]]
    for chosen in itertools.combinations(range(len(scores)), len(positives)):
        next_positive, next_negative = iter(positives), iter(negatives)
        yield tuple(
            next(next_positive if position in chosen else next_negative) for position in range(len(scores))
        )


def best_objective(
    orders: Iterable[Order], scores: np.ndarray, relevant: Sequence[bool], loss: Loss
) -> float:
    return max(objective(order, scores, relevant, loss) for order in orders)


def best_path(scores: np.ndarray, relevant: np.ndarray, terms: np.ndarray) -> float:
    """Return the best objective over all interleavings, by dynamic programming from the top position."""
    # terms: (|P|, n) what the i-th relevant sample adds to the loss at each position. Requires of the loss
    # only that it is such a sum; O(|P||N|).
    positives = np.sort(scores[relevant])[::-1]
    negatives = np.sort(scores[~relevant])[::-1]
    pairs = len(positives) * len(negatives)
    above = np.concatenate([[0.0], np.cumsum(positives)])
    best = np.full((len(positives) + 1, len(negatives) + 1), -np.inf)
    best[0, 0] = 0.0
    for i, j in itertools.product(range(len(positives) + 1), range(len(negatives) + 1)):
        if i:
            best[i, j] = max(best[i, j], best[i - 1, j] + terms[i - 1, i + j - 1])
        # i relevant samples above this irrelevant one, the others below
        if j:
            higher, lower = above[i] - i * negatives[j - 1], above[-1] - above[i]
            lower -= (len(positives) - i) * negatives[j - 1]
            best[i, j] = max(best[i, j], best[i, j - 1] + (higher - lower) / pairs)
    return float(best[-1, -1])


def loss_terms(loss: str | RankingLoss, positives: int, n: int) -> np.ndarray:
    """Return (|P|, n) what the i-th relevant sample adds to the loss at each position.

    Of a loss that is not in LOSSES, these are its own gains times differences of its own discount.
    """
    loss = as_loss(loss)
    index, position = np.arange(1.0, positives + 1)[:, None], np.arange(1.0, n + 1)[None, :]
    if loss.name == "ap":
        return (1 - index / position) / positives
    if loss.name == "ndcg":
        gained, ideal = 1 / np.log2(1.0 + position), 1 / np.log2(1.0 + index)
        return (ideal - gained) / ideal.sum()
    return loss.gains(positives)[:, None] * (loss.discount(index) - loss.discount(position))


def definition_of(loss: str | RankingLoss) -> Loss:
    """Return the definition of a loss in its paper; of a loss that is not in LOSSES, the sum of `loss_terms`."""
    loss = as_loss(loss)

    def total(positions: Sequence[int]) -> float:
        terms = loss_terms(loss, len(positions), max(positions))
        return math.fsum(terms[index, position - 1] for index, position in enumerate(positions))

    return LOSSES.get(loss.name, total)


# Labellings of binary models: unary (n,), edges [(i, j)] or cliques of any size, penalty (m,)


Clique = Sequence[int]


def value_of_labelling(
    labels: Sequence[bool], unary: Sequence[float], cliques: Sequence[Clique], penalty: Sequence[float]
) -> float:
    """Return sum_i y_i unary_i + sum_c penalty_c [the labels of c are not all equal]."""
    # High-order, eq. 6, for given scores, where cliques are edges; P^n Potts (Kohli et al. 2007) where they
    # are larger.
    alone = [score for score, label in zip(unary, labels, strict=True) if label]
    paid = [cost for clique, cost in zip(cliques, penalty, strict=True) if differ(labels, clique)]
    return math.fsum([*alone, *paid])


def differ(labels: Sequence[bool], clique: Clique) -> bool:
    return any(labels[i] != labels[clique[0]] for i in clique)


def best_by_label(value: Callable[[Sequence[bool]], float], n: int) -> np.ndarray:
    """Return (2, n) the best value over all labellings with y_i = 1, and with y_i = 0."""
    best = np.full((2, n), -math.inf)
    for labels in itertools.product([False, True], repeat=n):
        worth = value(labels)
        for i, label in enumerate(labels):
            best[int(not label), i] = max(best[int(not label), i], worth)
    return best


def max_marginals_of(
    unary: Sequence[float], cliques: Sequence[Clique], penalty: Sequence[float]
) -> np.ndarray:
    """Return (2, n) max-marginals (high-order, eqs. 9 and 10)."""
    return best_by_label(lambda labels: value_of_labelling(labels, unary, cliques, penalty), len(unary))


value_with_cliques, max_marginals_with_cliques = value_of_labelling, max_marginals_of


def connected(n: int, edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the samples of each connected component, by merging the ends of one edge after the other."""
    parts = [{i} for i in range(n)]
    for i, j in edges:
        joined = next(part for part in parts if i in part) | next(part for part in parts if j in part)
        parts = [part for part in parts if not part & joined] + [joined]
    return [sorted(part) for part in parts]


def part_of(
    samples: Sequence[int], unary: np.ndarray, edges: np.ndarray, penalty: np.ndarray
) -> tuple[np.ndarray, list[tuple[int, int]], list[float]]:
    """Return the model of one component, its samples numbered from 0."""
    number = {sample: position for position, sample in enumerate(samples)}
    kept = [e for e, (i, j) in enumerate(edges) if i in number]
    return (
        unary[list(samples)],
        [(number[i], number[j]) for i, j in edges[kept]],
        [penalty[e] for e in kept],
    )


def differences_of(unary: np.ndarray, edges: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return (n,) s_i of high-order, eq. 11, from all labellings of each component."""
    # The values of other components cancel.
    differences = np.empty(len(unary))
    for samples in connected(len(unary), edges):
        positive, negative = max_marginals_of(*part_of(samples, unary, edges, penalty))
        differences[samples] = positive - negative
    return differences


def relaxed_max_marginal(
    unary: np.ndarray, edges: np.ndarray, penalty: np.ndarray, i: int | None = None, label: bool = False
) -> float:
    """Return the best value over the local polytope, with y_i = label where there is an i."""
    # A linear program of labels y and of z_e = [the labels of e differ], with z <= y_a + y_b, z <= 2 - y_a -
    # y_b, z >= y_a - y_b, z >= y_b - y_a.
    n, m = len(unary), len(edges)
    left, right = (np.eye(n)[edges[:, end]] for end in (0, 1))
    z = np.eye(m)
    # rows @ (y, z) <= limits
    rows = np.block([[-left - right, z], [left + right, z], [left - right, -z], [right - left, -z]])
    limits = np.repeat([0.0, 2.0, 0.0, 0.0], m)
    fixed = [(0.0, 1.0) if i != number else (float(label), float(label)) for number in range(n)]
    program = linprog(-np.append(unary, penalty), rows, limits, bounds=[*fixed, *[(None, None)] * m])
    return -float(program.fun)


def cliques_of(n: int, edges: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return all maximal cliques of two samples or more: every subset is tried."""
    joined = {frozenset(int(i) for i in edge) for edge in edges}
    whole = [
        set(part)
        for size in range(2, n + 1)
        for part in itertools.combinations(range(n), size)
        if all(frozenset(pair) in joined for pair in itertools.combinations(part, 2))
    ]
    return sorted(tuple(sorted(part)) for part in whole if not any(part < larger for larger in whole))


# Training: one-slack problems over a list of outputs, each (Psi(output) - Psi(truth), its loss)


Output = tuple[np.ndarray, float]


def ranking_outputs(features: np.ndarray, relevant: Sequence[bool], loss: Loss) -> list[Output]:
    """Return the outputs of all rankings of the samples: all permutations."""
    samples = range(len(relevant))
    truth = tuple(sorted(samples, key=lambda sample: not relevant[sample]))
    ideal = joint_feature_vector(truth, features, relevant)
    return [
        (
            joint_feature_vector(order, features, relevant) - ideal,
            loss(positions_of_relevant(order, relevant)),
        )
        for order in itertools.permutations(samples)
    ]


# edges (m, 2) or cliques, and their affinities (m, d2)
Pairs = tuple[Any, np.ndarray]
NO_PAIRS: Pairs = (np.empty((0, 2), int), np.empty((0, 0)))


def labelling_features(
    labels: Sequence[bool], features: np.ndarray, pairs: Pairs = NO_PAIRS, eta: float = 1.0
) -> np.ndarray:
    """Return Psi(X, Y), flattened to (2d + d2,) (high-order, eqs. 4 and 5)."""
    mask, (cliques, affinity) = np.array(labels), pairs
    cut = [eta * row for clique, row in zip(cliques, affinity, strict=True) if differ(labels, clique)]
    pairwise = sum(cut, start=np.zeros(affinity.shape[1]))
    return np.concatenate([features[mask].sum(axis=0), features[~mask].sum(axis=0), pairwise])


def labelling_outputs(
    features: np.ndarray, relevant: Sequence[bool], pairs: Pairs = NO_PAIRS, eta: float = 1.0
) -> list[Output]:
    """Return the outputs of all labellings of the samples (high-order, eqs. 4, 5 and 7 with J = |N|/|P|)."""
    positives = sum(relevant)
    negatives = len(relevant) - positives
    balance = negatives / positives

    truth = labelling_features(relevant, features, pairs, eta)
    outputs = []
    for labels in itertools.product([False, True], repeat=len(relevant)):
        missed = sum(true_label and not label for true_label, label in zip(relevant, labels, strict=True))
        false = sum(label and not true_label for true_label, label in zip(relevant, labels, strict=True))
        loss = (balance * missed + false) / (balance * positives + negatives)
        outputs.append((labelling_features(labels, features, pairs, eta) - truth, loss))
    return outputs


def clique_outputs(
    features: np.ndarray, relevant: Sequence[bool], pairs: Pairs, eta: float = 1.0
) -> list[Output]:
    """Return the outputs of all labellings, where pairs form maximal cliques."""
    # Each clique whose labels are not all equal adds eta x the mean affinity of its edges.
    edges, affinity = pairs
    row = {frozenset(int(i) for i in edge): affinity[e] for e, edge in enumerate(edges)}
    cliques = cliques_of(len(relevant), edges)
    means = np.array(
        [
            np.mean([row[frozenset(pair)] for pair in itertools.combinations(clique, 2)], axis=0)
            for clique in cliques
        ]
    )
    return labelling_outputs(features, relevant, (cliques, means), eta)


def one_slack_primal(weights: np.ndarray, queries: Sequence[Sequence[Output]], C: float) -> float:
    """Return 1/2 ||w||^2 + C/n sum of slacks (high-order, eqs. 1, 3 and 8)."""
    flat = weights.ravel()
    slacks = [max(loss + float(flat @ psi) for psi, loss in outputs) for outputs in queries]
    return float(flat @ flat) / 2 + C / len(queries) * sum(slacks)


def one_slack_optimum(queries: Sequence[Sequence[Output]], C: float, bound: int = 0) -> float:
    """Return the optimum of the same problem with a constraint for every output."""
    # bound: how many weights, the last ones, are <= 0 (high-order, eq. 8), which no program over planes has.
    # takes a second to load
    import cvxpy as cp

    planes = [
        (np.stack([psi for psi, _ in outputs]), np.array([loss for _, loss in outputs]))
        for outputs in queries
    ]
    if not bound:
        return float(planes_primal(planes, C).value)
    w, slack = cp.Variable(len(queries[0][0][0])), cp.Variable(len(queries), nonneg=True)
    constraints = [xi >= losses + normals @ w for xi, (normals, losses) in zip(slack, planes, strict=True)]
    constraints.append(w[-bound:] <= 0)
    value = cp.sum_squares(w) / 2 + C * cp.sum(slack) / len(queries)
    return float(cp.Problem(cp.Minimize(value), constraints).solve(**EXACT))


def rank_svm_primal(
    weights: np.ndarray, features: np.ndarray, relevant: np.ndarray, C: float, loss: str | RankingLoss
) -> float:
    """Return the objective of quicksort, eq. 4, in float64, with the hinge by dynamic programming."""
    scores = features.astype(float) @ weights
    return float(weights @ weights) / 2 + C * ranking_slack(scores, relevant, loss)


def ranking_slack(scores: np.ndarray, relevant: np.ndarray, loss: str | RankingLoss) -> float:
    """Return max_R Delta(R) + S(R) - S(R*) of given scores, by dynamic programming."""
    truth = scores[relevant].mean() - scores[~relevant].mean()
    return float(best_path(scores, relevant, loss_terms(loss, int(relevant.sum()), len(relevant))) - truth)


def svm_primal(weights: np.ndarray, features: np.ndarray, relevant: np.ndarray, C: float) -> float:
    """Return the objective of high-order, eq. 8, in float64, without pairs."""
    # With the worst label of each sample.
    margins = features.astype(float) @ (weights[0] - weights[1]) * np.where(relevant, 1, -1)
    costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
    return float((weights**2).sum()) / 2 + C * float(np.maximum(0, costs - margins).sum())


def best_scores(window_scores: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """Return the highest score of each image, whose windows are in the rows starts[i] to starts[i + 1]."""
    return np.array([max(window_scores[a:b]) for a, b in itertools.pairwise(starts)])


def bag_slack(scores: np.ndarray, relevant: np.ndarray, loss: str | None) -> float:
    """Return the hinge of the best scores: of a ranking loss, or for None the least over b of MI-SVM's."""
    if loss is not None:
        return ranking_slack(scores, relevant, loss)
    signs, costs = (
        np.where(relevant, 1, -1),
        np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum()),
    )
    # It is linear between the b at which an image has margin 1.
    return min(float(costs @ np.maximum(0, 1 - signs * (scores + b))) for b in signs - scores)


def bag_primal(
    weights: np.ndarray,
    windows: np.ndarray,
    starts: Sequence[int],
    bonus: np.ndarray,
    relevant: np.ndarray,
    C: float,
    loss: str | None,
) -> float:
    """Return 1/2 ||w||^2 + C times the hinge of the images' best windows, in float64."""
    scores = best_scores(windows.astype(float) @ weights + bonus, starts)
    return float(weights @ weights) / 2 + C * bag_slack(scores, relevant, loss)


def pairwise_model(
    weights: tuple[np.ndarray, np.ndarray], features: np.ndarray, pairs: Pairs, eta: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return w.Psi(X, Y), up to a constant, as unary scores, edges and penalties."""
    unary, pairwise = weights
    return features.astype(float) @ (unary[0] - unary[1]), pairs[0], eta * (pairs[1] @ pairwise)


def labelling_slack(unary: np.ndarray, edges: np.ndarray, penalty: np.ndarray, relevant: np.ndarray) -> float:
    """Return max_Y Delta(Y) + w.Psi(X, Y) - w.Psi(X, Y*), a sum over connected components."""
    costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
    total = 0.0
    for samples in connected(len(unary), edges):
        model, truth = part_of(samples, unary, edges, penalty), relevant[samples]
        total += max(
            float(costs[samples] @ (truth != labels)) + value_of_labelling(labels, *model)
            for labels in itertools.product([False, True], repeat=len(samples))
        ) - value_of_labelling(truth, *model)
    return total


def hoap_primal(
    weights: tuple[np.ndarray, np.ndarray],
    features: np.ndarray,
    relevant: Sequence[bool],
    pairs: Pairs,
    C: float,
    eta: float = 1.0,
) -> float:
    """Return the objective of high-order, eq. 14: all labellings for each max-marginal, and all rankings."""
    row = np.concatenate([np.ravel(part) for part in weights])
    best = best_by_label(
        lambda labels: float(row @ labelling_features(labels, features, pairs, eta)), len(relevant)
    )
    scores = best[0] - best[1]
    slack = max(loss + float(psi) for psi, loss in ranking_outputs(scores, relevant, ap_loss))
    return float(row @ row) / 2 + C * slack


# Top k of labels: t in {0, 1}^L with k ones; unary (L,), F (L, L) the whole matrix of interactions


def top_ks(
    labels: int, k: int, inside: Iterable[int] = (), outside: Iterable[int] = ()
) -> Iterator[np.ndarray]:
    """Yield every set of k labels that holds all of `inside` and none of `outside`, as marks (L,)."""
    for members in itertools.combinations(range(labels), k):
        if set(inside) <= set(members) and not set(outside) & set(members):
            yield np.isin(np.arange(labels), members)


def whole(core: Sequence[int], interactions: np.ndarray) -> np.ndarray:
    """Return F (L, L) of its rows F[core]."""
    labels = interactions.shape[1]
    matrix = np.zeros((labels, labels))
    for row, c in zip(interactions, core, strict=True):
        for i in range(labels):
            matrix[c, i] = matrix[i, c] = row[i]
    return matrix


def value_of_top_k(t: np.ndarray, unary: np.ndarray, F: np.ndarray) -> float:
    """Return t's + t'Ft over ordered pairs (c-star, eq. 6)."""
    labels = np.flatnonzero(t)
    return float(sum(unary[i] for i in labels) + sum(F[i, j] for i in labels for j in labels))


def best_top_k_of(
    unary: np.ndarray, F: np.ndarray, k: int, inside: Iterable[int] = (), outside: Iterable[int] = ()
) -> float:
    """Return the greatest value of any set; -inf where there is none."""
    values = [value_of_top_k(t, unary, F) for t in top_ks(len(unary), k, tuple(inside), tuple(outside))]
    return max(values, default=-math.inf)


def top_k_features(t: np.ndarray, shared: np.ndarray, own: np.ndarray, core: Sequence[int]) -> np.ndarray:
    """Return psi with w.psi = t's + t'Ft: w the weights by label, the own weights, F of core pairs."""
    pairs = [2.0 * t[i] * t[j] for i, j in itertools.combinations(range(len(t)), 2) if i in core or j in core]
    return np.concatenate([np.outer(t, shared).ravel(), t * own, pairs])


def top_k_outputs(
    shared: np.ndarray, own: np.ndarray, z: np.ndarray, truth: np.ndarray, k: int, core: Sequence[int]
) -> list[Output]:
    """Return the outputs of all sets of k labels of one image, relative to `truth`."""
    # Their loss is 1 - precision at k.
    right = top_k_features(truth, shared, own, core)
    return [
        (top_k_features(t, shared, own, core) - right, float((t & ~z).sum()) / k if k else 0.0)
        for t in top_ks(len(z), k)
    ]


def best_order_of(unary: np.ndarray, design: np.ndarray, F: np.ndarray, D: np.ndarray) -> float:
    """Return max over all orders of sum_i s_i c_{pi_i} + sum_ij f_ij d_{pi_i, pi_j} (c-star, eq. 5)."""
    items = range(len(unary))
    return max(
        sum(unary[i] * design[pi[i]] for i in items)
        + sum(F[i, j] * D[pi[i], pi[j]] for i in items for j in items)
        for pi in itertools.permutations(items)
    )


def joint_information_of(labels: np.ndarray, core: Sequence[int]) -> float:
    """Return the sum over labels outside of the core of I((t_core); t_i) in nats, from the definition."""
    rows = [tuple(row) for row in labels[:, list(core)].tolist()]
    total = 0.0
    for i in set(range(labels.shape[1])) - set(core):
        for a in set(rows):
            for b in (False, True):
                both = sum(
                    row == a and mark == b for row, mark in zip(rows, labels[:, i], strict=True)
                ) / len(rows)
                if both:
                    total += both * math.log(both / (rows.count(a) / len(rows) * np.mean(labels[:, i] == b)))
    return total


# GIST: Oliva and Torralba's definition


def frequencies(n: int) -> np.ndarray:
    """(n,) in cycles per picture."""
    return np.fft.fftfreq(n, 1 / n)


def prefiltered_of(grey: np.ndarray, margin: int = 5) -> np.ndarray:
    wide = np.log(1 + np.pad(np.asarray(grey, float), margin, "symmetric"))
    n = len(wide)
    s = 4 / math.sqrt(math.log(2))
    low_pass = np.exp(-np.add.outer(frequencies(n) ** 2, frequencies(n) ** 2) / s**2)

    def smoothed(plane: np.ndarray) -> np.ndarray:
        return np.fft.ifft2(np.fft.fft2(plane) * low_pass).real

    detail = wide - smoothed(wide)
    evened = detail / (0.2 + np.sqrt(np.abs(smoothed(detail**2))))
    return evened[margin : n - margin, margin : n - margin]


def gist_of(grey: np.ndarray, scales: int, orientations: int, blocks: int) -> np.ndarray:
    """(scales, orientations, blocks, blocks), not yet of length 1, of a square of grey levels."""
    side = len(grey)
    border, part = side // 4, side // blocks
    stretched = 255 * (grey - grey.min()) / (grey.max() - grey.min())
    spectrum = np.fft.fft2(np.pad(prefiltered_of(stretched), border, "symmetric"))
    n = len(spectrum)
    energies = np.empty((scales, orientations, blocks, blocks))
    for scale, orientation in np.ndindex(scales, orientations):
        gain = np.empty((n, n))
        for (y, v), (x, u) in itertools.product(enumerate(frequencies(n)), repeat=2):
            turned = math.atan2(v, u) + math.pi * orientation / orientations
            turned -= 2 * math.pi * (turned > math.pi)
            ratio = math.hypot(v, u) / n / (0.3 / 1.85**scale)
            gain[y, x] = math.exp(
                -10 * 0.35 * (ratio - 1) ** 2 - 2 * math.pi * 16 * orientations**2 / 32**2 * turned**2
            )
        response = np.abs(np.fft.ifft2(spectrum * gain))
        inside = response[border : border + side, border : border + side]
        energies[scale, orientation] = inside.reshape(blocks, part, blocks, part).mean(axis=(1, 3))
    return energies


# Learned features


class Layer(NamedTuple):
    """A kernel (outputs, inputs, side, side), depthwise if inputs are 1, and a batch norm: numbers per output."""

    kernel: np.ndarray
    mean: Any
    deviation: Any
    gain: np.ndarray
    shift: np.ndarray


def normalised_convolution(x: np.ndarray, layer: Layer, stride: int) -> np.ndarray:
    """Return the output (outputs, rows, columns) in float64, with the zeros around x (inputs, n, n) of TensorFlow."""
    kernel = layer.kernel.astype(np.float64)
    side, n = kernel.shape[2], x.shape[1]
    zeros = max((math.ceil(n / stride) - 1) * stride + side - n, 0)
    around = (zeros // 2, zeros - zeros // 2)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), around, around)), (side, side), (1, 2)
    )
    windows = windows[:, ::stride, ::stride]
    if kernel.shape[1] == 1:
        output = np.einsum("cyxij,cij->cyx", windows, kernel[:, 0])
    else:
        output = np.einsum("cyxij,ocij->oyx", windows, kernel, optimize=True)
    mean, deviation, gain, shift = (np.reshape(part, (-1, 1, 1)).astype(np.float64) for part in layer[1:])
    return (output - mean) / deviation * gain + shift


def efficientnet_lite0(pixels: np.ndarray, layers: Iterable[Layer]) -> np.ndarray:
    """Return the 1,280 features of normalised pixels (3, n, n), with layers in the order of execution.

    The stages are those of EfficientNet-B0 in Table 1 (Tan and Le, ICML 2019).
    """
    remaining = iter(layers)

    def convolve(x: np.ndarray, stride: int = 1) -> np.ndarray:
        return normalised_convolution(x, next(remaining), stride)

    x = convolve(pixels.astype(np.float64), 2).clip(0, 6)
    stages = [(1, 1, 1), (6, 2, 2), (6, 2, 2), (6, 2, 3), (6, 1, 3), (6, 2, 4), (6, 1, 1)]
    for expansion, stride, blocks in stages:
        for block in range(blocks):
            inside = convolve(x).clip(0, 6) if expansion > 1 else x
            inside = convolve(inside, 1 if block else stride).clip(0, 6)
            x = convolve(inside) + (x if block else 0)
    return convolve(x).clip(0, 6).mean(axis=(1, 2))


# Sequences of graded samples: features (n, d) and grades (n,) of a pool, sequences of its rows


def graded_pairs(grades: Grades, sequences: Sequences) -> list[tuple[int, int]]:
    """Return every (i, j) within a sequence of which i has the higher grade, once for each occurrence."""
    return [(i, j) for sequence in sequences for i in sequence for j in sequence if grades[i] > grades[j]]


def pair_svm_primal(
    w: np.ndarray, features: np.ndarray, grades: Grades, sequences: Sequences, C: float
) -> float:
    """Return 1/2 ||w||^2 + C mean over the pairs of max(0, 1 - w.(x_i - x_j))."""
    pairs = graded_pairs(grades, sequences)
    losses = [max(0.0, 1.0 - float(w @ (features[i] - features[j]))) for i, j in pairs]
    return float(w @ w) / 2 + C * math.fsum(losses) / len(pairs)


# Orders of a sequence by its windows (midrank); samples: (n, d) features, an order: numbers from the first place


def psi_of(representation: str, window: np.ndarray) -> np.ndarray:
    """Return psi of a window (L, d) of samples in order (midrank, section 3.3 and Fig. 5)."""
    pairs = [x - y for i, x in enumerate(window) for y in window[i + 1 :]]
    if representation == "stacked":
        return np.concatenate(window)
    if representation == "stacked difference":
        return np.concatenate([x - y for x, y in itertools.pairwise(window)])
    if representation == "full stacked difference":
        return np.concatenate(pairs)
    if representation == "mean pairwise difference":
        return np.mean(pairs, axis=0)
    assert representation == "max-pooled difference"
    return np.max(pairs, axis=0)


def value_of_order(
    order: Sequence[int],
    samples: np.ndarray,
    theta: np.ndarray,
    length: int,
    representation: str,
    offset: float,
) -> float:
    """Return midrank, eq. 3 with the signed square root of section 3.1."""
    total = 0.0
    for start in range(len(order) - length + 1):
        window = samples[list(order[start : start + length])]
        score = float(theta @ psi_of(representation, window)) + offset
        total += math.copysign(math.sqrt(abs(score)), score)
    return total


def best_of_all_orders(value: Callable[[Order], float], n: int) -> float:
    return max(value(order) for order in itertools.permutations(range(n)))


def climb_of(value: Callable[[Order], float], start: Order, visited: set[Order]) -> list[Order]:
    """Return the path of one search tree (midrank, section 4); `visited` grows by all evaluated orders."""
    path, visited_before = [start], visited | {start}
    visited.add(start)
    while len(path) <= len(start):
        children = []
        for a, b in itertools.combinations(range(len(start)), 2):
            child = list(path[-1])
            child[a], child[b] = child[b], child[a]
            if tuple(child) not in visited_before:
                children.append(tuple(child))
        visited_before.update(children)
        visited.update(children)
        if not children:
            break
        best = max(children, key=value)
        if value(best) <= value(path[-1]) + 1e-10:
            break
        path.append(best)
    return path


def subsequence_primal(
    theta: np.ndarray,
    level: float,
    psis: np.ndarray,
    deltas: np.ndarray,
    costs: np.ndarray,
    mu: float,
    B: float,
) -> float:
    """Return midrank, eq. 4."""
    # psis: (m, D) written out. theta: (D,). B: a constant component of weight `level`.
    margins = deltas * (psis @ theta + B * level)
    hinges = np.maximum(0.0, 1.0 - margins)
    return mu / 2 * (float(theta @ theta) + level**2) + float(costs @ hinges)


def votes_of(orders: Sequence[Order], values: Sequence[float], votes: str) -> list[int]:
    """Return the fused order by weighted votes (midrank, section 3.4)."""
    # Position by position the sample with the most votes; ties by the weighted mean position.
    weights = [max(value, 0.0) for value in values]
    if not any(weights):
        weights = [1.0] * len(values)
    means = [
        sum(w * order.index(i) for w, order in zip(weights, orders, strict=True))
        for i in range(len(orders[0]))
    ]
    fused: list[int] = []
    for position in range(len(orders[0])):
        counts = [0.0] * len(orders[0])
        for w, order in zip(weights, orders, strict=True):
            if votes == "remaining order":
                voted = [next(i for i in order if i not in fused)]
            elif votes == "exact position":
                voted = [order[position]]
            else:
                voted = list(order[: position + 1])
            for i in voted:
                counts[i] += w
        left = [i for i in range(len(orders[0])) if i not in fused]
        fused.append(min(left, key=lambda i: (-counts[i], means[i], i)))
    return fused


def relative_attributes_primal(
    w: np.ndarray, features: np.ndarray, grades: Grades, sequences: Sequences, C: float
) -> float:
    """Return 1/2 ||w||^2 + C mean over ordered and similar pairs of their squared slacks."""
    # Ordered pairs have max(0, 1 - w.(x_i - x_j))^2, similar ones (w.(x_i - x_j))^2.
    scores = features @ w
    losses = [max(0.0, 1.0 - scores[i] + scores[j]) for i, j in graded_pairs(grades, sequences)]
    for sequence in sequences:
        pairs = itertools.combinations(sequence, 2)
        losses += [scores[i] - scores[j] for i, j in pairs if grades[i] == grades[j]]
    return float(w @ w) / 2 + C * math.fsum(loss**2 for loss in losses) / len(losses)


def list_net_loss(scores: np.ndarray, grades: Grades, sequences: Sequences) -> float:
    """Return the mean over the sequences of -sum_i P_y(i) log P_s(i), softmax of grades and of scores."""
    losses = []
    for sequence in sequences:
        targets = [math.exp(grades[i]) / math.fsum(math.exp(grades[j]) for j in sequence) for i in sequence]
        predictions = [
            math.exp(scores[i]) / math.fsum(math.exp(scores[j]) for j in sequence) for i in sequence
        ]
        losses.append(-math.fsum(p * math.log(q) for p, q in zip(targets, predictions, strict=True)))
    return math.fsum(losses) / len(losses)


def list_mle_loss(scores: np.ndarray, grades: Grades, sequences: Sequences) -> float:
    """Return the mean of sum_i -log( exp s_i / (exp s_i + sum of exp s_j of lower grade) )."""
    # The mean is over the sequences.
    losses = []
    for sequence in sequences:
        for i in sequence:
            rest = math.fsum(math.exp(scores[j]) for j in sequence if grades[j] < grades[i])
            losses.append(-math.log(math.exp(scores[i]) / (math.exp(scores[i]) + rest)))
    return math.fsum(losses) / len(sequences)


def crr_primal(
    w: np.ndarray, features: np.ndarray, grades: Grades, sequences: Sequences, C: float, alpha: float
) -> float:
    """Return 1/2 ||w||^2 + C [alpha/2 mean squared error + (1 - alpha)/2 that of differences in pairs]."""
    members = [i for sequence in sequences for i in sequence]
    own = np.array([grades[i] for i in members], float)
    targets = (np.array(grades, float) - own.mean()) / own.std()
    wrong = features @ w - targets
    single = [wrong[i] ** 2 for i in members]
    paired = [(wrong[i] - wrong[j]) ** 2 for i, j in graded_pairs(grades, sequences)]
    loss = alpha * math.fsum(single) / len(single) + (1 - alpha) * math.fsum(paired) / len(paired)
    return float(w @ w) / 2 + C * loss / 2


def ada_rank(
    features: np.ndarray, grades: Grades, sequences: Sequences, rounds: int
) -> list[tuple[int, float]]:
    """Return the weak rankers of AdaRank with NDCG as (column, weight): Algorithm 1 of Xu and Li."""
    # No two scores may tie.

    def quality(scores: np.ndarray, sequence: Sequence[int]) -> float:
        ranked = [grades[i] for i in sorted(sequence, key=lambda i: -scores[i])]
        gained = [
            math.fsum(g / math.log2(2 + at) for at, g in enumerate(r)) for r in (ranked, sorted(ranked)[::-1])
        ]
        return gained[0] / gained[1]

    chosen: list[tuple[int, float]] = []
    shares = [1 / len(sequences)] * len(sequences)
    for _ in range(rounds):
        means = [
            math.fsum(p * quality(column, q) for p, q in zip(shares, sequences, strict=True))
            for column in features.T
        ]
        best = int(np.argmax(means))
        chosen.append((best, math.log((1 + means[best]) / (1 - means[best])) / 2))
        total = sum(weight * features[:, column] for column, weight in chosen)
        powers = [math.exp(-quality(total, q)) for q in sequences]
        shares = [power / math.fsum(powers) for power in powers]
    return chosen


# Resampled test sets: relevance and scores of samples that belong to units, how often each unit is drawn


def resampled(
    relevance: Sequence[int], scores: Sequence[float], units: Sequence[int], times: Sequence[int]
) -> list[int]:
    """Return the grades from the top of the ranking of a resample: each unit as often as `times` says."""
    # Equal scores are ranked pessimistically.
    samples = []
    for grade, score, unit in zip(relevance, scores, units, strict=True):
        samples += [(-score, grade)] * times[unit]
    return [grade for _, grade in sorted(samples)]


# Principal components: rows (n, d) of training samples


def pca_of(
    training: Sequence[Sequence[float]],
    rows_to_project: Sequence[Sequence[float]],
    components: int,
    whiten: bool = False,
    least: float = 1e-10,
) -> np.ndarray[Any, Any]:
    """Return (m, k) `rows_to_project` along the k directions in which the training rows vary most."""
    # k is at most `components`, without directions of a variance below `least`; by a singular value
    # decomposition of the rows minus their mean.
    rows = np.array(training, np.float64)
    _, lengths, directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    variances = (lengths**2 / len(rows))[:components]
    variances = variances[variances >= least]
    scale = np.sqrt(variances.mean() / variances) if whiten else 1.0
    return (
        (np.array(rows_to_project, np.float64) - rows.mean(axis=0)) @ directions[: len(variances)].T * scale
    )


# Detections: boxes (left, top, right, bottom)


Box = Sequence[float]


def overlap_of(box: Box, second: Box) -> float:
    """Return the intersection over union of two boxes."""
    width = min(box[2], second[2]) - max(box[0], second[0])
    height = min(box[3], second[3]) - max(box[1], second[1])
    shared = width * height if width > 0 and height > 0 else 0.0
    return shared / sum([(b[2] - b[0]) * (b[3] - b[1]) for b in (box, second)], -shared)


def suppressed(boxes: Sequence[Box], scores: Sequence[float], most: float) -> list[int]:
    """Return the boxes that remain, by falling score."""
    kept: list[int] = []
    for number in sorted(range(len(boxes)), key=lambda number: -scores[number]):
        if all(overlap_of(boxes[number], boxes[higher]) <= most for higher in kept):
            kept.append(number)
    return kept


def detection_points(
    detections: Sequence[tuple[Sequence[Box], Sequence[float]]], objects: Sequence[Sequence[Box]]
) -> list[tuple[float, bool]]:
    """Return score and correctness of every detection, by falling score, as VOC's program does."""
    every = [
        (score, image, box)
        for image, (boxes, scores) in enumerate(detections)
        for box, score in zip(boxes, scores, strict=True)
    ]
    taken, points = set(), []
    for score, image, box in sorted(every, key=lambda detection: -detection[0]):
        overlaps = [overlap_of(box, real) for real in objects[image]]
        nearest = (image, overlaps.index(max(overlaps))) if overlaps else None
        hit = nearest is not None and max(overlaps) >= 0.5 and nearest not in taken
        taken |= {nearest} if hit else set()
        points.append((score, hit))
    return points


def detection_ap(points: Sequence[tuple[float, bool]], total: int) -> float:
    """Return the area below the highest precision at each recall or a higher one."""
    precisions, hits = [], 0
    for number, (_, hit) in enumerate(points, start=1):
        hits += hit
        precisions.append(hits / number)
    return sum(max(precisions[number:]) for number, (_, hit) in enumerate(points) if hit) / total


# Candidate windows and their features


def grouped(pixels: np.ndarray, segments: np.ndarray) -> list[Box]:
    """Return the boxes of segments, and of the repeated unions of the most similar two neighbours."""
    regions = [set(zip(*np.nonzero(segments == number), strict=True)) for number in range(segments.max() + 1)]
    boxes = [bounds(region) for region in regions]
    while True:
        best = None
        for i, j in itertools.combinations(range(len(regions)), 2):
            if touching(regions[i], regions[j]):
                similarity = similarity_of(pixels, regions[i], regions[j])
                if best is None or similarity > best[0]:
                    best = similarity, i, j
        if best is None:
            return boxes
        regions[best[1]] |= regions.pop(best[2])
        boxes.append(bounds(regions[best[1]]))


def bounds(region: set[tuple[int, int]]) -> Box:
    rows, columns = zip(*region, strict=True)
    return tuple(int(edge) for edge in (min(columns), min(rows), max(columns) + 1, max(rows) + 1))


def touching(first: set[tuple[int, int]], second: set[tuple[int, int]]) -> bool:
    return any((y + dy, x + dx) in second for y, x in first for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)))


def similarity_of(pixels: np.ndarray, first: set[tuple[int, int]], second: set[tuple[int, int]]) -> float:
    counts = [Counter(tuple(pixels[place] // 64) for place in region) for region in (first, second)]
    common = sum(
        min(counts[0][colour] / len(first), counts[1][colour] / len(second)) for colour in sorted(counts[0])
    )
    left, top, right, bottom = bounds(first | second)
    area, both = pixels.shape[0] * pixels.shape[1], len(first) + len(second)
    return common + (1 - both / area) + (1 - ((right - left) * (bottom - top) - both) / area)


def window_features(picture: Image.Image, box: Box) -> np.ndarray:
    """Return (964,) HOG and colours of one window, pixel after pixel."""
    # Of the level whose cells are about 8 pixels.
    side = math.sqrt((box[2] - box[0]) * (box[3] - box[1]))
    for _ in range(min(2, max(0, round(math.log2(side / 48))))):
        picture, box = picture.reduce(2), tuple(edge / 2 for edge in box)
    orientations, colours = votes(picture)
    hog = cell_means(orientations, box, 6)
    blocks = []
    for y, x in itertools.product(range(5), range(5)):
        block = hog[y : y + 2, x : x + 2].ravel()
        block = np.minimum(block / math.sqrt(block @ block + 1e-4), 0.25)
        blocks.append(block / math.sqrt(block @ block + 1e-4))
    parts = [np.concatenate(blocks), np.sqrt(cell_means(colours, box, 2)).ravel()]
    parts = [part / (np.linalg.norm(part) or 1.0) for part in parts]
    return np.concatenate(parts) / np.linalg.norm(np.concatenate(parts))


def votes(picture: Image.Image) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient (height, width, 9) and the colour (height, width, 16) of each pixel."""
    # The two nearest orientations share the gradient in parts of 1/8192.
    grey = np.pad(np.sqrt(np.array(picture.convert("L")) / 255), 1, mode="edge")
    hsv = np.array(picture.convert("HSV")).astype(int)
    orientations, colours = np.zeros((*hsv.shape[:2], 9)), np.zeros((*hsv.shape[:2], 16))
    for y, x in np.ndindex(hsv.shape[:2]):
        down, right = grey[y + 2, x + 1] - grey[y, x + 1], grey[y + 1, x + 2] - grey[y + 1, x]
        place = math.degrees(math.atan2(down, right)) % 180 / 20 - 0.5
        length, lower = 8192 * math.hypot(down, right), math.floor(place)
        upper = math.floor(length * (place - lower) + 0.5)
        orientations[y, x, (lower + 1) % 9] += upper / 8192
        orientations[y, x, lower % 9] += (math.floor(length + 0.5) - upper) / 8192
        hue, saturation, value = hsv[y, x]
        colours[y, x, value // 64 if saturation < 50 else 4 + 2 * (hue * 6 // 256) + value // 128] = 1
    return orientations, colours


def cell_means(pixels: np.ndarray, box: Box, side: int) -> np.ndarray:
    """Return (side, side, channels) means over the cells of a box, with edges at whole pixels."""
    means = np.empty((side, side, pixels.shape[2]))
    edges = [
        [math.floor(low + (high - low) * k / side + 0.5) for k in range(side + 1)]
        for low, high in ((box[1], box[3]), (box[0], box[2]))
    ]
    for cell in np.ndindex(side, side):
        ranges = []
        for along, size in zip((0, 1), pixels.shape[:2], strict=True):
            first, end = edges[along][cell[along]], edges[along][cell[along] + 1]
            first = min(first, size - 1)
            ranges.append(slice(first, max(first + 1, min(end, size))))
        means[cell] = pixels[tuple(ranges)].mean(axis=(0, 1))
    return means
