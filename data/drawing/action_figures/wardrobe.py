"""The appearance of a person: build, skin, hair and clothes, sampled from matching colours."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from drawing.sketch import Colour, mix, rgb

SKINS = [rgb(code) for code in ("f6d3b8", "ecbd97", "dba277", "c08455", "9a6440", "74482e", "573522")]
HAIRS = [
    rgb(code) for code in ("2a2023", "3d2a22", "5d3a24", "8a5a2e", "c08a3e", "d9b36a", "a8482a", "b9b4ad")
]
# Each scene uses one of these palettes, so that the clothes in an image match.
WARDROBES = [
    [rgb(code) for code in codes.split()]
    for codes in (
        "e3a32b d0603c 2f7f86 28405e f2e6cf 8a3b3b",
        "d98a8a f2e6cf 6b4464 3f6c8f 8fa67a e8b04a",
        "3a3d44 c8553d f2e6cf 588b8b e9b872 7a9cb8",
        "274060 e07a5f 81b29a f2cc8f 5f5b84 f4f1de",
        "bc4749 6a994e f2e8cf 386641 d9a441 33415c",
        "ef8354 4f5d75 bfc0c0 2d3142 7fb7be f6d6ad",
    )
]
TROUSERS = [rgb(code) for code in ("33425c", "4b5a73", "3b3a3f", "6d5a48", "7c7f74", "8c6f56", "25303f")]
SHOES = [rgb(code) for code in ("2c2a2e", "f3eee4", "a8413a", "5b4534", "e3a32b", "39596b")]
CUTS = ("short", "short", "bob", "long", "ponytail", "bun", "curls", "bald", "tuft")
HATS = ("", "", "", "", "", "cap", "beanie", "sunhat", "helmet")


@dataclass(frozen=True)
class Body:
    """One person's build (1 is average) and clothes."""

    height: float
    girth: float
    head: float
    skin: Colour
    hair: Colour
    cut: str
    hat: str
    hat_colour: Colour
    # "tee", "long", "jacket", "stripes", "dress"
    top: str
    top_colour: Colour
    second: Colour
    # "trousers", "shorts", "skirt"
    bottom: str
    bottom_colour: Colour
    shoes: Colour
    glasses: bool
    beard: bool
    scarf: bool
    bag: bool


def dress(random: Random, wardrobe: list[Colour], cold: bool) -> Body:
    """Return a random person; if `cold`, with long sleeves, and more often with a hat and a scarf."""
    child = random.random() < 0.2
    cut = random.choice(CUTS)
    top = random.choice(
        ("long", "jacket", "long") if cold else ("tee", "tee", "long", "jacket", "stripes", "dress")
    )
    bottom = "trousers" if cold else random.choice(("trousers", "trousers", "shorts", "skirt"))
    colour, second, third = random.sample(wardrobe, 3)
    hat = random.choice(("beanie", "beanie", "", "cap")) if cold else random.choice(HATS)
    return Body(
        height=random.uniform(0.68, 0.82) if child else random.uniform(0.9, 1.08),
        girth=random.choice((random.uniform(0.85, 1.1), random.uniform(0.9, 1.4))),
        head=random.uniform(1.18, 1.3) if child else random.uniform(0.95, 1.08),
        skin=random.choice(SKINS),
        hair=random.choice(HAIRS),
        cut=cut,
        hat=hat,
        hat_colour=third,
        top=top,
        top_colour=colour,
        second=second,
        bottom="dress" if top == "dress" else bottom,
        bottom_colour=colour
        if top == "dress"
        else random.choice([*TROUSERS, mix(third, (40, 40, 60), 0.35)]),
        shoes=random.choice(SHOES),
        glasses=random.random() < 0.2,
        beard=not child and cut in ("short", "bald", "tuft") and random.random() < 0.35,
        scarf=random.random() < (0.6 if cold else 0.06),
        bag=random.random() < 0.12,
    )
