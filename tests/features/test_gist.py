"""GIST: the fast one equals the definition, and its channels answer to the stripes that they are named after."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from PIL import Image

from ranking.features import gist, make_feature
from ranking.features.gist import prefiltered


def noise_of(side, seed):
    """Noise, smoothed differently from seed to seed."""
    small = np.random.default_rng(seed).integers(0, 256, (side // (seed + 1), side // (seed + 1)), np.uint8)
    return Image.fromarray(small).resize((side, side), Image.Resampling.BICUBIC)


def grating(angle, wavelength, side=64):
    """Stripes; brightness changes in direction `angle` (radians, y down)."""
    y, x = np.mgrid[:side, :side]
    wave = np.cos(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / wavelength)
    return Image.fromarray(np.rint(128 + 100 * wave).astype(np.uint8)).convert("RGB")


def energies(picture, **settings):
    feature = make_feature("GIST", **settings)
    return feature.describe(picture).reshape(feature.layout)


@pytest.mark.parametrize(
    ("settings", "seeds"),
    [
        ({"orientations": 4}, [0]),
        ({"scales": 2, "orientations": 3, "blocks": 2}, [0, 3]),
        ({"scales": 1, "orientations": 2, "blocks": 8}, [0, 3]),
        ({"side": 128, "scales": 1, "orientations": 2}, [3]),
    ],
)
def test_gist_is_its_definition(settings, seeds):
    feature = make_feature("GIST", **settings)
    for seed in seeds:
        picture = noise_of(feature.side, seed)
        grey = np.asarray(picture, float)
        slow = reference.gist_of(grey, feature.scales, feature.orientations, feature.blocks)
        expected = slow.ravel() / np.linalg.norm(slow)
        assert feature.describe(picture) == pytest.approx(expected, abs=2e-6), seed


def test_the_prefilter_is_its_definition():
    for seed in range(3):
        grey = np.asarray(noise_of(32, seed), np.float32)
        assert prefiltered(grey) == pytest.approx(reference.prefiltered_of(grey), abs=1e-4), seed


def test_kernels_run_uncompiled_alike():
    grey = np.asarray(noise_of(12, 0), np.float32)
    smoother = gist._smoother(12)
    slow = smoother.astype(float) @ grey @ smoother
    for kernel in (gist._smoothed, gist._smoothed.py_func):
        assert kernel(grey, smoother) == pytest.approx(slow, rel=1e-4, abs=1e-2)
    assert gist._evened.py_func(grey, smoother) == pytest.approx(gist._evened(grey, smoother), abs=1e-5)


def test_the_layout_of_gist():
    assert make_feature("GIST").layout == (4, 8, 4, 4)
    assert make_feature("GIST", scales=2, orientations=6, blocks=2).layout == (2, 6, 2, 2)


@pytest.mark.parametrize("orientations", [4, 8])
def test_a_grating_is_strongest_in_the_channel_of_its_direction(orientations):
    angles = make_feature("GIST", orientations=orientations).angles
    by_angle = [energies(grating(angle, 6), orientations=orientations) for angle in angles]
    assert [int(e.sum(axis=(0, 2, 3)).argmax()) for e in by_angle] == list(range(orientations))
