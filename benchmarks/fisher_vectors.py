"""Fisher vectors of dense descriptors, as in midrank's car experiments (section 5.4), with DAISY instead of SIFT."""

from __future__ import annotations

import numpy as np
from skimage.feature import daisy, fisher_vector, learn_gmm
from sklearn.decomposition import PCA

from ranking.core import Features, ImageSet

# of a descriptor after PCA; Gaussians; columns of a vector after PCA
COLUMNS, MODES, MAX_COLUMNS = (
    64,
    64,
    1000,
)
# by which images are reduced
SCALES = (1, 2)
# descriptors that PCA and the mixture are learned from
SAMPLED = 40_000


def fisher_vectors(image_set: ImageSet) -> Features:
    """Return (n, d) Fisher vectors; PCA and mixture are learned from training images."""
    # The set has one sample per image; d is at most MOST and less than the number of training images.
    random, train = np.random.default_rng(0), np.flatnonzero(~image_set.test)
    described = [descriptors(image_set, image) for image in range(len(image_set))]
    learned = np.concatenate([described[image] for image in train])
    learned = learned[random.choice(len(learned), min(SAMPLED, len(learned)), replace=False)]
    reduced = PCA(COLUMNS, random_state=0).fit(learned)
    mixture = learn_gmm(
        reduced.transform(learned),
        n_modes=MODES,
        gm_args={"covariance_type": "diag", "random_state": 0, "max_iter": 50},
    )
    vectors = np.stack([fisher_vector(reduced.transform(crop), mixture, improved=True) for crop in described])
    pca = PCA(min(MAX_COLUMNS, len(train) - 1), random_state=0).fit(vectors[train])
    return pca.transform(vectors).astype(np.float32)


def descriptors(image_set: ImageSet, image: int) -> np.ndarray:
    """(m, 136) of one image at all scales."""
    grey = image_set.open_image(image).convert("L")
    return np.concatenate(
        [
            daisy(
                np.asarray(grey.reduce(scale)),
                step=8 // scale,
                radius=12,
                rings=2,
                histograms=8,
                orientations=8,
            ).reshape(-1, 136)
            for scale in SCALES
        ]
    )
