"""How fast are max-marginals: small components, one large one, and real boxes?

    python benchmarks/max_marginals.py

- 2,424 images with 1 to 6 random boxes, every pair in an image connected: `auto`, which enumerates these small
  components, found once, compared with `dynamic-cut` of the package, with PyMaxflow's dynamic cuts image by image (one
  graph per image, from whose flow and search trees each sample's cut starts), and with one product of the features
  with a weight vector (2,916 float32 features; one thread).
- One component of 3,347 samples, scores standard normal, penalties uniform from 0 to their strength: 30,000 random
  edges, the nine nearest neighbours of points in eight and in two dimensions, and a grid. The strengths run from
  weak to strong, with the slowest of each graph among them. Cold cuts, two new graphs for each sample, are run on
  12 samples and EXTRAPOLATED to all; differences must equal those of the dynamic cuts to 1e-9 of the largest.
- The boxes of BCCD (in $RANKING_REAL_DATA or ../shared/data), every pair of one image connected, random scores.

Medians, interleaved; large components once each.
"""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree

import numpy as np
from maxflow import GraphFloat
from threadpoolctl import threadpool_limits
from timing import REAL_DATA, machine, medians, milliseconds, options_of, table

from ranking.features.graph.similarity import nearest, same_image
from ranking.inference import Components, max_marginals
from ranking.inference.components import checked_model
from ranking.inference.cuts import forced_cut, network_of

SIZE, COLD = 2916, 12
STRENGTHS = {
    "random edges": (0.03, 0.1, 0.15, 0.2, 0.3, 1.0, 3.0, 5.0, 10.0),
    "nearest in 8 dimensions": (0.03, 0.3, 1.0, 10.0),
    "nearest in 2 dimensions": (0.03, 0.3, 1.0, 5.0, 10.0),
    "grid": (0.03, 0.3, 1.0, 10.0),
}


def boxes(images: int, generator: np.random.Generator) -> np.ndarray:
    """Return (n,) the image of each box; as in the paper's set, most images have one."""
    counts = generator.choice(np.arange(1, 7), images, p=[0.77, 0.14, 0.05, 0.02, 0.01, 0.01])
    return np.repeat(np.arange(images), counts)


def bccd(most: int) -> np.ndarray | None:
    """Return (n,) the image of each annotated cell, of at most `most` images; None if the set is absent."""
    files = sorted((REAL_DATA / "bccd").rglob("Annotations/*.xml"))[:most]
    counts = [len(ElementTree.parse(file).getroot().findall("object")) for file in files]
    return np.repeat(np.arange(len(files)), counts) if files else None


def pymaxflow_flips(unary: np.ndarray, penalty: np.ndarray, components: Components) -> None:
    """Compute the labellings by PyMaxflow with `reuse_trees` and `mark_node`, one graph per component."""
    model = checked_model(unary, components.edges, penalty, components)
    network = network_of(model, components.larger_than(1))
    for number in range(components.larger_than(1)):
        part = network.part(number, components.edge_starts)
        graph: GraphFloat = part.graph()
        nodes = np.arange(len(part.unary))
        graph.maxflow()
        labels = ~graph.get_grid_segments(nodes)
        for node in nodes:
            to_source = 0.0 if labels[node] else part.force[node]
            graph.add_tedge(node, to_source, part.force[node] - to_source)
            graph.mark_node(node)
            graph.maxflow(reuse_trees=True)
            graph.get_grid_segments(nodes)
            # undone at the next cut
            graph.add_tedge(node, part.force[node] - to_source, to_source)
            graph.mark_node(node)


def images(name: str, image_of: np.ndarray, rounds: int) -> list[list[str]]:
    generator = np.random.default_rng(1)
    n, edges = len(image_of), same_image(image_of)
    components = Components.of(n, edges)
    unary, penalty = generator.standard_normal(n), -0.5 * generator.random(len(edges))
    features = generator.standard_normal((n, SIZE), dtype=np.float32)
    weights = generator.standard_normal(SIZE, dtype=np.float32)
    with threadpool_limits(1):
        seconds_of = medians(
            {
                "auto": lambda: max_marginals(unary, edges, penalty, components=components),
                "dynamic-cut": lambda: max_marginals(unary, edges, penalty, "dynamic-cut", components),
                "PyMaxflow's dynamic cuts": lambda: pymaxflow_flips(unary, penalty, components),
                "one product X @ w": lambda: features @ weights,
            },
            rounds,
        )
    own = seconds_of.pop("auto")
    title = f"{name}: {n:,} samples, {len(edges):,} edges"
    return [
        [title, "auto", milliseconds(own), baseline, milliseconds(seconds), f"{seconds / own:.3g}"]
        for baseline, seconds in seconds_of.items()
    ]


def graph(name: str, samples: int, edges: int, generator: np.random.Generator) -> np.ndarray:
    """Return (m, 2) edges of the samples; a grid has as many as needed to be rectangular."""
    if name == "random edges":
        pairs = generator.choice(samples * (samples - 1) // 2, edges, replace=False)
        return np.stack(np.triu_indices(samples, 1), axis=1)[pairs]
    if name == "grid":
        grid = np.arange(samples // 58 * 58).reshape(-1, 58)
        across = np.stack([grid[:, 1:].ravel(), grid[:, :-1].ravel()], axis=1)
        return np.concatenate([across, np.stack([grid[1:].ravel(), grid[:-1].ravel()], axis=1)])
    return nearest(generator.random((samples, 8 if "8" in name else 2)), 9)


def one_component(name: str, strength: float, size: tuple[int, int]) -> list[str]:
    """Return a row of the table."""
    # size: number of samples and, for random graphs, of edges.
    generator = np.random.default_rng(0)
    edges = graph(name, *size, generator)
    n = int(edges.max()) + 1
    unary, penalty = generator.standard_normal(n), -strength * generator.random(len(edges))
    components = Components.of(n, edges)
    start = time.perf_counter()
    marginals = max_marginals(unary, edges, penalty, "dynamic-cut", components)
    seconds = time.perf_counter() - start

    network = network_of(checked_model(unary, edges, penalty, components), 1)
    tried = np.linspace(0, components.sizes[0] - 1, COLD).astype(int)
    start = time.perf_counter()
    cuts = [[forced_cut(network, node, label) for label in (True, False)] for node in tried]
    cold = (time.perf_counter() - start) / COLD * components.sizes[0]
    for node, labellings in zip(tried, cuts, strict=True):
        values = []
        for by_place in labellings:
            labels = marginals.map.copy()
            labels[components.order[: len(by_place)]] = by_place
            values.append(unary[labels].sum() + penalty[labels[edges[:, 0]] != labels[edges[:, 1]]].sum())
        difference = marginals.difference[components.order[node]]
        assert abs(values[0] - values[1] - difference) <= 1e-9 * np.abs(marginals.difference).max()
    title = f"one component, {name}, penalties to {strength:g}"
    return [title, "dynamic-cut", milliseconds(seconds), f"cold-cut, from {COLD} samples", milliseconds(cold),
            f"{cold / seconds:.3g}"]  # fmt: skip


def main() -> None:
    options = options_of(
        __doc__, rounds=(9, 1), images=(2424, 100), samples=(3347, 290), edges=(30_000, 2_600)
    )
    size = options.samples, options.edges
    rows = images("boxes of images", boxes(options.images, np.random.default_rng(0)), options.rounds)
    # compiles
    one_component("grid", 0.03, size)
    rows += [
        one_component(name, strength, size) for name, several in STRENGTHS.items() for strength in several
    ]
    cells = bccd(options.images)
    if cells is not None:
        rows += images("BCCD", cells, options.rounds)
    print(machine())
    print(table(["model", "ours", "ms", "against", "ms", "theirs / ours"], rows))
    if cells is None:
        print("BCCD is omitted: no bccd folder in $RANKING_REAL_DATA or ../shared/data.")


if __name__ == "__main__":
    main()
