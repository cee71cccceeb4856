"""The problem of a training run on few of its samples, solved by its method and by a program in CVXPY.

The result has the larger of two sizes to compare the optima, and both to extrapolate the seconds of CVXPY.
"""

from __future__ import annotations

import numpy as np

from ranking.core import Bools, ImageSet, Ints
from ranking.core.errors import InputError
from ranking.experiments.sample_task import query_of
from ranking.experiments.study import Context, Result, Study
from ranking.explain.cvxpy_comparison import PROGRAMS, program_of, solve_both
from ranking.features import load_features
from ranking.features.projection import fit_projection
from ranking.inference import AttractivePairs
from ranking.methods import check_ranks, make_method_as
from ranking.methods.linear import LinearMethod
from ranking.storage.run_settings import CvxpySettings, TrainSettings

# samples
MAX_SAMPLES = 200


class CvxpyComparison(Study[CvxpySettings]):
    """Solves the problem on half the samples and on all, at most MAX_SAMPLES. The result is the two `Solved`."""

    settings = CvxpySettings

    def run(self, settings: CvxpySettings, context: Context) -> Result:
        check_ranks(settings.method, TrainSettings.task)
        program, images = program_of(settings.method, settings.method_settings), context.images
        # the settings name a set
        assert images is not None
        if program is None:
            expected = f"{', '.join(PROGRAMS)} with {AttractivePairs.name}, or a method with a ranking loss"
            got = f"{settings.method} with other settings" if settings.method in PROGRAMS else settings.method
            raise InputError("method", expected, got, "train a method that has a program in CVXPY")
        features = load_features(images, settings.features, context.features, context.on_step)
        projection = fit_projection(settings.projection, features, ~images.test, context.on_step)
        relevance = images.relevance(settings.query, settings.corrections)
        context.on_step("Loading CVXPY", 0, 1)
        import cvxpy  # noqa: F401  # now, so that loading it is no part of the seconds

        most, solved = min(MAX_SAMPLES, int(np.count_nonzero(~images.test))), []
        for number, samples in enumerate((most // 2, most)):
            context.check()
            context.on_step(f"{samples:,} samples", number, 2)
            rows = some_rows(images, relevance, samples)
            query = query_of(images, settings, features, relevance, rows, context.edges, projection)
            method = make_method_as(LinearMethod, settings.method, **settings.method_settings)
            solved.append(solve_both(program, method, query))
        return {"solved": [each._asdict() for each in solved]}


def some_rows(images: ImageSet, relevance: Ints, samples: int) -> Bools:
    """Return (n,) a mask of this many training samples: of whole images in random order."""
    # Neighbours stay together, except for one relevant and one irrelevant sample, which come first.
    place = np.random.default_rng(0).permutation(len(images.image_names))[images.image_of]
    rows = np.flatnonzero(~images.test)
    rows = rows[np.argsort(place[rows], kind="stable")]
    relevant = relevance[rows] > 0
    needed = np.concatenate([rows[relevant][:1], rows[~relevant][:1], rows])
    mask = np.zeros(len(images), bool)
    mask[list(dict.fromkeys(needed.tolist()))[:samples]] = True
    return mask
