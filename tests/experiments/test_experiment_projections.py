"""Experiments through a projection: each fold has its own, of what is learnt from in it."""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
from tiny_actions import images, material, planned

from ranking.experiments.material import Bench, projections_of
from ranking.features import make_feature
from ranking.features.extract import cache_name
from ranking.features.projection import PCA

FOUR: dict[str, Any] = {"kind": "PCA", "components": 4}
WHITE: dict[str, Any] = {"kind": "PCA", "components": 4, "whiten": True}


def test_each_fold_has_its_own_projection_of_what_it_learns_from():
    image_set = images()
    plan = planned(image_set, projection=WHITE)
    bare = material(plan, image_set)
    through = replace(bare, projections=projections_of(plan, bare.features))
    assert list(through.projections) == list(plan.splits.all) == [0, 1, 2, None]
    bench = Bench(through)
    for fold, split in plan.splits.all.items():
        expected = PCA(4, whiten=True).fitted(bare.features[split.learn])
        for seen, rows in (
            (bench.training_set("jump", fold, False).features, split.learn),
            (bench.held_out("jump", fold, False).features, split.held),
        ):
            np.testing.assert_array_equal(seen, expected(bare.features[rows]))
        changed = bare.features.copy()
        changed[split.held] = np.random.default_rng(3).random(changed[split.held].shape)
        again = projections_of(plan, changed)[fold]
        np.testing.assert_array_equal(again.axes, through.projections[fold].axes)
        sent = pickle.loads(pickle.dumps(bench))  # as to the workers of a cluster
        np.testing.assert_array_equal(
            sent.held_out("jump", fold, False).features, bench.held_out("jump", fold, False).features
        )
        graphs = [side.held_out("jump", fold, True).graph for side in (Bench(bare), bench)]
        assert None not in graphs
        np.testing.assert_array_equal(*(graph.affinity for graph in graphs), "neighbours are of the features")
    first, *rest = [projection.axes for projection in through.projections.values()]
    assert all((axes != first).any() for axes in rest)


def test_cells_without_projection_keep_their_keys_and_others_have_their_own():
    image_set = images()
    plain = planned(image_set)
    assert projections_of(plain, np.empty((0, 3), np.float32)) == {}
    for (fold, leaning), key in plain.samples.items():
        split, features = plain.splits.all[fold], [cache_name(image_set.key, make_feature("HOG"))]
        record = [image_set.key, features, plain.graph if leaning else None]
        content = hashlib.sha256(json.dumps(record).encode())
        for rows in (split.learn, split.held):
            content.update(rows.astype("<i8").tobytes() + b"|")
        assert key == content.hexdigest()
    all_of_them = [FOUR, WHITE, {"kind": "PCA", "components": 5}, None]
    keys = [planned(image_set, projection=projection).samples[0, False] for projection in all_of_them]
    assert len(set(keys)) == len(all_of_them)
    whole = planned(image_set, projection={**FOUR, "whiten": False})
    assert whole.samples[0, False] == keys[0]
