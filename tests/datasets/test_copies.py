"""Near copies of images: found however they were changed, and not seen in what merely looks alike."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

from ranking.datasets.copies import fingerprints, near_copies
from ranking.datasets.copies.alignment import CROP, aligned, sampled, smoothed, unit
from ranking.datasets.copies.candidates import BLOCK, Crops, candidates, turned
from ranking.datasets.copies.fingerprints import SIDE, rectangle_in_frame


def painted(seed: int, size: tuple[int, int] = (240, 180)) -> Image.Image:
    """Stripes, discs and grain that are another picture for each seed."""
    random = np.random.default_rng(seed)
    grain = random.normal(0, 12, (size[1] // 4, size[0] // 4, 3))
    coarse = random.integers(40, 220, (5, 6, 3)).astype(np.uint8)
    picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    for _ in range(12):
        x, y, r = random.integers(0, size[0]), random.integers(0, size[1]), random.integers(8, 40)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(random.integers(0, 256, 3).tolist()))
    noise = Image.fromarray(np.clip(grain + 128, 0, 255).astype(np.uint8)).resize(size)
    return Image.blend(picture, noise, 0.15)


def shifted(picture: Image.Image) -> Image.Image:
    """A frame later: the camera has moved by 2%, and a thing by more."""
    later = picture.transform(
        picture.size, Image.Transform.AFFINE, (1, 0, 4, 0, 1, -3), Image.Resampling.BILINEAR
    )
    later.paste(picture.crop((60, 60, 120, 110)), (66, 58))
    return later


CHANGES = {
    "itself": lambda picture: picture,
    "quarter": lambda picture: picture.rotate(90, expand=True),
    "half": lambda picture: picture.rotate(180),
    "mirror": ImageOps.mirror,
    "mirrored quarter": lambda picture: ImageOps.flip(picture).rotate(270, expand=True),
    "dark": lambda picture: ImageEnhance.Brightness(picture).enhance(0.45),
    "other contrast": lambda picture: picture.point(lambda v: int(255 * (v / 255) ** 3)),
    "crop in the middle": lambda picture: picture.crop((6, 4, 234, 175)),
    "crop in a corner": lambda picture: picture.crop((0, 0, 228, 171)),
    "angle in a black frame": lambda picture: picture.rotate(33, Image.Resampling.BICUBIC, expand=True),
    "smaller": lambda picture: picture.resize((120, 90)),
    "later": shifted,
    "dark crop, turned": lambda picture: (
        picture.point(lambda v: v // 2).crop((0, 9, 228, 180)).rotate(90, expand=True)
    ),
}


@pytest.fixture(scope="module")
def album():
    """The fingerprints of forty unlike pictures."""
    return [fingerprints(painted(seed)) for seed in range(40)]


@pytest.mark.parametrize("change", CHANGES)
def test_only_the_changed_copy_is_detected(album, change):
    for seed in (0, 7, 23):
        copy = fingerprints(CHANGES[change](painted(seed)))
        copies = near_copies([*album, copy])
        assert copies.pairs.tolist() == [[seed, len(album)]], f"seed {seed}"
        assert copies.detail[0] > 0.6


def test_different_images_with_a_similar_layout_are_not_copies():
    """One sky, ground and house; another thing before them."""
    random, prints = np.random.default_rng(0), []
    for _ in range(12):
        picture = Image.linear_gradient("L").resize((240, 180)).convert("RGB")
        draw = ImageDraw.Draw(picture)
        draw.rectangle((20, 60, 80, 120), fill="brown")
        for _ in range(6):
            x, y, r = random.integers(60, 220), random.integers(20, 160), random.integers(10, 45)
            draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(random.integers(0, 256, 3).tolist()))
        prints.append(fingerprints(picture))
    assert not len(near_copies(prints).pairs)


def test_half_of_an_image_is_not_a_copy():
    for seed in range(5):
        picture, collage = painted(seed), painted(seed + 50)
        collage.paste(picture.crop((0, 0, 120, 180)), (0, 0))
        assert not len(near_copies([fingerprints(picture), fingerprints(collage)]).pairs), f"seed {seed}"


def test_uniform_and_too_small_images_have_no_fingerprint():
    assert fingerprints(Image.new("RGB", (200, 200), "red")) == []
    assert fingerprints(painted(0).resize((63, 200))) == []
    assert len(fingerprints(painted(0).resize((64, 64)))) == 1
    assert near_copies([[], fingerprints(painted(0)), []]).pairs.shape == (0, 2)
    assert near_copies([]).pairs.shape == (0, 2)


def test_a_black_frame_is_left_out_of_the_second_fingerprint():
    picture = painted(3)
    framed, held = fingerprints(picture.rotate(20, Image.Resampling.BICUBIC, expand=True))
    [whole] = fingerprints(picture)
    assert (framed.framed, held.framed, whole.framed) == (True, False, False)
    likeness = [np.corrcoef(turned(held.grey[None], p).ravel(), whole.grey.ravel())[0, 1] for p in range(8)]
    assert max(likeness) > 0.9
    assert rectangle_in_frame(np.full((50, 80), 90, np.uint8)) is None
    night = np.zeros((60, 60), np.uint8)
    night[3::20, 2::5] = 255
    assert rectangle_in_frame(night) is None, "lights in the dark hardly fill what they span"
    assert rectangle_in_frame(np.zeros((60, 60), np.uint8)) is None


@pytest.mark.parametrize("size", [0.93, 1.06])
def test_alignment_finds_a_crop(size):
    grey = smoothed(np.asarray(painted(5).convert("L").resize((SIDE, SIDE)), np.float32)[None])
    warp = np.array([[[size, 0, 0.03], [0, size, -0.04]]], np.float32)
    moved = sampled(grey, warp)[0].reshape(grey.shape)
    estimated = aligned(moved, grey, np.eye(2, 3, dtype=np.float32)[None], 12, CROP)
    assert np.abs(estimated - warp).max() < 0.01
    plain = float((unit(moved.reshape(1, -1)) * unit(grey.reshape(1, -1))).sum())
    values, inside = sampled(grey, estimated)
    after = float((unit(moved.reshape(1, -1), inside) * unit(values, inside)).sum())
    assert after > 0.99 > plain


def test_crops_are_turned_with_their_images():
    """The warp of a candidate leads from the crop to the image in its position."""
    greys = np.stack([np.asarray(painted(seed).convert("L").resize((SIDE, SIDE))) for seed in (1, 1)])
    for position in range(8):
        whole = turned(greys[1:], position).astype(np.float32)
        crop = sampled(whole, np.array([[[0.95, 0, 0.05], [0, 0.95, 0.05]]], np.float32))[0].reshape(
            SIDE, SIDE
        )
        pair = np.stack([crop.astype(np.uint8), greys[1]])
        [rotated] = Crops.of(pair).like(np.array([0]), np.array([1]), np.array([position])).warps
        assert np.allclose(rotated, [[0.95, 0, 0.05], [0, 0.95, 0.05]]), position


def test_many_images_that_are_alike_have_few_candidates_each():
    """So that neither time nor memory grows with the square of their number."""
    count = 400
    [one] = fingerprints(painted(0))
    hashes, greys = np.stack([one.hash] * count), np.stack([one.grey] * count)
    framed, image_of = np.zeros(count, bool), np.arange(count)
    blocks = list(candidates(hashes, greys, framed, image_of))
    assert sum(len(block.first) for block in blocks) <= 3 * count
    assert BLOCK < 10_000_000
    copies = near_copies([[one]] * 40)
    assert set(copies.pairs.ravel().tolist()) == set(range(40))
