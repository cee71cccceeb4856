"""Choose the core labels of a c-star greedily by joint mutual information (c-star, section 5)."""

from __future__ import annotations

import numpy as np

from ranking.core import Bools, Floats
from ranking.core.errors import InputError


def core_labels(labels: Bools, size: int) -> list[int]:
    """Return the `size` labels that are jointly most informative about the others, the best first.

    >>> core_labels(np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]], bool), 1)
    [0]
    """
    # labels: (M, L). Each step adds the label c with the greatest sum over the labels i outside of the core
    # of I((t_core, t_c); t_i), the mutual information of the joint configuration and one label by the
    # frequencies in `labels`; of equal sums, that of the lower number. The paper gives no formula beyond "joint mutual
    # information, greedily"; this is the sum over pairs of the core and one other label.
    images, count = labels.shape
    if not 0 <= size <= count:
        raise InputError("size of the core", f"0 to {count}, the number of labels", size)
    core: list[int] = []
    configuration = np.zeros(images, np.int64)
    for _ in range(size):
        information = [
            -np.inf if c in core else _joint_information(configuration, labels, c, core) for c in range(count)
        ]
        core.append(int(np.argmax(information)))
        _, configuration = np.unique(2 * configuration + labels[:, core[-1]], return_inverse=True)
    return core


def _joint_information(configuration: np.ndarray, labels: Bools, added: int, core: list[int]) -> float:
    """Return the sum over labels outside of the core of their information on the configuration."""
    # The sum is over labels outside of the core and `added`, of the mutual information of each with the joint
    # configuration.
    with_it = labels[:, added]
    groups = int(configuration.max(initial=0)) + 1
    present_by_mark = [_counts(configuration[rows], labels[rows], groups) for rows in (with_it, ~with_it)]
    sizes = np.concatenate(
        [np.bincount(configuration[rows], minlength=groups) for rows in (with_it, ~with_it)]
    )
    present = np.concatenate(present_by_mark)
    nonempty = sizes > 0
    information = _information(sizes[nonempty].astype(np.float64), present[nonempty])
    information[[*core, added]] = 0.0
    return float(information.sum())


def _counts(configuration: np.ndarray, labels: Bools, groups: int) -> Floats:
    """Return (groups, L) how many images of each configuration have each label."""
    counts = np.zeros((groups, labels.shape[1]))
    rows, columns = np.nonzero(labels)
    np.add.at(counts, (configuration[rows], columns), 1.0)
    return counts


def _information(sizes: Floats, present: Floats) -> Floats:
    """Return (L,) in nats the mutual information of `sizes` (g,) of configurations and `present` (g, L)."""
    # present: labels.
    total = sizes.sum()
    information = np.zeros(present.shape[1])
    for counts in (present, sizes[:, None] - present):
        expected = sizes[:, None] * (counts.sum(axis=0) / total)
        met = counts > 0
        ratio = np.divide(counts, expected, out=np.ones_like(counts), where=met)
        information += np.where(met, counts * np.log(ratio), 0.0).sum(axis=0) / total
    return information
