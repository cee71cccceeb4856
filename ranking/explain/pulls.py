"""Why a sample has its score: how strongly each training sample pulls it up or down."""

from __future__ import annotations

import numpy as np

from ranking.core import Features, Floats, Method
from ranking.core.errors import InputError
from ranking.methods import score_direction
from ranking.solvers.block import Block, exact_product

# of the correction for rounding, each two passes over the features
STEPS = 16


def training_coefficients(method: Method, features: Features) -> Floats:
    """Return how much each training sample counts in the weights of a trained linear method.

    The weights that minimise a regularised risk are a sum over training samples, w = sum_i c_i x_i [1]_, and so are
    those of a run that stopped early. Solvers track c exactly, but compute w in the precision of the features, so that
    w differs from the sum by rounding, which a large C magnifies. The smallest change of c that makes up for this is
    added, by a few steps of least squares [2]_.

    Parameters
    ----------
    method
        A trained method.
    features : (n, d)
        The training samples, in the order of training: those of all queries below each other, or the pool of sequences.

    Returns
    -------
    coefficients : (n,)
        c, such that the score of a sample x is sum_i c_i x_i.x. With a similarity graph, that is the unary score.

    Raises
    ------
    InputError
        If `method.coefficients` is None, or for other numbers of samples or of features than in training.

    References
    ----------
    .. [1] B. Schölkopf, R. Herbrich, A. J. Smola: A generalized representer theorem. COLT 2001.
    .. [2] C. C. Paige, M. A. Saunders: LSQR. ACM Transactions on Mathematical Software 8, 1982.
    """
    known, weights = method.coefficients, score_direction(method)
    if known is None or weights is None:
        raise InputError("method", "one that knows its coefficients", method.name, "train it again")
    if features.shape != (len(known), len(weights)):
        raise InputError("features", f"shape {(len(known), len(weights))}", features.shape)
    # pages that show no pulls do without
    from scipy.sparse.linalg import LinearOperator, lsqr

    block = Block(features)
    rounding = weights - block.exact_normal(known)
    # the change is small: single precision is enough for it
    combine = LinearOperator(features.shape[::-1], block.normal, block.scores, dtype=np.float64)
    change: Floats = lsqr(combine, rounding, atol=0.0, btol=0.0, iter_lim=STEPS)[0]
    return known + change


def pulls(coefficients: Floats, features: Features, sample: Features) -> Floats:
    """Return how strongly each training sample pulls a sample up (> 0) or down (< 0).

    Parameters
    ----------
    coefficients : (n,)
        The result of `training_coefficients`.
    features : (n, d)
        The training samples, as there.
    sample : (d,)
        The features x of any sample.

    Returns
    -------
    pulls : (n,)
        c_i x_i.x, which add up to the score of the sample.

    Raises
    ------
    InputError
        If the features are not of n samples and of d features.

    References
    ----------
    C.-K. Yeh, J. S. Kim, I. E. H. Yen, P. Ravikumar: Representer point selection for explaining deep neural networks.
    NeurIPS 2018.

    Examples
    --------
    >>> pulls(np.array([2.0, -1.0]), np.array([[1.0, 0.0], [1.0, 3.0]]), np.array([0.5, 1.0]))
    array([ 1. , -3.5])
    """
    if features.shape != (*coefficients.shape, *sample.shape):
        raise InputError("features", f"shape {(*coefficients.shape, *sample.shape)}", features.shape)
    return coefficients * exact_product(features, sample.astype(np.float64))
