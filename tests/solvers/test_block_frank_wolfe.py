"""Block-coordinate Frank-Wolfe on the risk of HOB-SVM: against the whole program, and against the other optimisers."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
import reference
from block_problems import agree, problem
from checks import case
from refusals import ANYTHING, refused

from ranking import ProgressEvent
from ranking.inference import Components
from ranking.solvers import Cut, block_frank_wolfe, cutting_plane
from ranking.solvers.relay import Relay

module = sys.modules["ranking.solvers.block_frank_wolfe"]
turns = sys.modules["ranking.solvers.block_turns"]


def test_the_optimum_is_that_of_the_whole_program() -> None:
    for C, eta, dtype in itertools.product([0.05, 5.0], [0.01, 1.0, 100.0], [np.float32, np.float64]):
        risk, relevant, costs, components = problem([4, 3, 1], 3, C, eta, dtype)
        pairs = components.edges, risk.pairwise.features.astype(float)
        outputs = reference.labelling_outputs(risk.features.rows.astype(float), relevant, pairs, eta)
        optimum = reference.one_slack_optimum([outputs], C, bound=3)
        solution = block_frank_wolfe(risk, relevant, costs, components, 1e-5)
        with case(C, eta, dtype):
            assert solution.certificate.converged
            assert solution.certificate.primal == pytest.approx(optimum, rel=1.1e-5)
            assert solution.certificate.dual == pytest.approx(optimum, rel=1.1e-5)
            assert (solution.weights[5:] <= 0).all()


def test_cutting_planes_end_at_the_same_optimum() -> None:
    """Also with components that are too large to enumerate, and with samples without features."""
    # Samples without features reach no margin, and their loss is constant.
    size = module.ENUMERATED + 5
    chain = np.array([(i, i + 1) for i in range(size - 1)])
    two_hubs = np.array([(hub, i) for hub in (0, 1) for i in range(2, size)])
    sizes = [1] * 10 + [2] * 8 + [3] * 5 + [5, 6]
    problems = {(C, eta): problem(sizes, 1, C, eta) for C in (0.1, 10.0) for eta in (0.01, 1.0, 100.0)}
    for name, edges in (("chain", chain), ("two hubs", two_hubs)):
        problems |= {(name, eta): problem([size, 1, 1], 4, 2.0, eta, edges=edges) for eta in (0.3, 30.0)}
    bare, *_ = problems["no features", 1.0] = problem([3, 3, 1, 1], 6, 2.0)
    bare.features.rows[::2] = 0.0
    bare.pairwise.features[::2] = 0.0
    for key, (risk, *rest) in problems.items():
        with case(key):
            agree(block_frank_wolfe(risk, *rest, tolerance=1e-4), cutting_plane(risk, 2e-3))


def test_planes_that_find_no_slot_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    risk, *rest = problem([6, 5, 5, 4, 1], 5, 0.5, 3.0)
    planes: list[int] = []
    wide = block_frank_wolfe(
        risk, *rest, tolerance=1e-4, on_progress=lambda event: planes.append(event.planes)
    )
    assert planes[-1] > 3 * 5
    monkeypatch.setattr(module, "SLOTS", 3)
    narrow = block_frank_wolfe(
        risk, *rest, tolerance=2e-2, on_progress=lambda event: planes.append(event.planes)
    )
    assert planes[-1] <= 3 * 5
    agree(narrow, wide)


def test_affinities_near_one_and_a_large_eta_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """All edges pull in one direction. Without the anchor no component can move alone."""
    risk, *rest = problem([2] * 8 + [3] * 4 + [1] * 4, 7, 0.05, 100.0, spread=1e-3)
    solution = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=100)
    assert solution.certificate.converged
    # What was proven along the way is that of the problem without the anchor.
    early = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=1)
    assert early.certificate.dual > 0.5 * solution.certificate.primal
    monkeypatch.setattr(module, "EASE", 0.0)
    held_by_nothing = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=100)
    assert not held_by_nothing.certificate.converged
    assert held_by_nothing.certificate.dual <= solution.certificate.primal


def test_what_does_not_fit_is_refused() -> None:
    risk, relevant, costs, components = problem([3, 3, 1], 12)
    good = {"risk": risk, "relevant": relevant, "costs": costs, "components": components}
    same = relevant[components.edges[0]]
    # the first edge's labels differ where its samples' do not, or the other way round
    apart = np.zeros(13)
    apart[7] = risk.C * (1.0 if not same.any() else -1.0)
    of_larger_C = Cut(1.01 * np.append(np.where(relevant, -risk.C, risk.C), np.zeros(6)), 0.0)
    for subject, came, change in [
        ("components", "7 samples and 0 edges", {"components": Components.of(7, [])}),
        ("costs", (6,), {"costs": costs[1:]}),
        ("start", (7,), {"start": Cut(np.zeros(7), 0.0)}),
        ("start", None, {"start": Cut(apart, 0.0)}),
        ("start", None, {"start": of_larger_C}),
        ("highest of the risk", ANYTHING, {"risk": replace(risk, highest=np.inf)}),
    ]:
        with case(subject, came), refused(subject, came):
            block_frank_wolfe(**{**good, **change})


def test_a_gap_that_rounding_hides_is_not_closed() -> None:
    risk, *rest = problem([1] * 5 + [3] * 3, 15, 5.0, 10.0)
    solution = block_frank_wolfe(risk, *rest, tolerance=1e-17, max_iterations=5000)
    assert not solution.certificate.converged
    assert solution.certificate.iterations < 5000
    assert solution.certificate.relative_gap < 1e-6


def test_cutting_planes_go_on_where_it_ends() -> None:
    risk, *rest = problem([1] * 10 + [3] * 8, 16, 5.0, 10.0)
    events: list[ProgressEvent] = []
    relay = Relay(risk, 1e-3, 1000, events.append)
    first = relay.turn(
        lambda left: block_frank_wolfe(
            risk, *rest, tolerance=1e-3, max_iterations=left, on_progress=relay.report
        ),
        iterations=2,
    )
    assert not first.certificate.converged
    solution = relay.one_slack()
    agree(solution, block_frank_wolfe(risk, *rest, tolerance=1e-3))
    # They begin with all that was proven, as a plane of theirs.
    assert (events[3].iteration, events[3].planes) == (2, 2)
    assert [event.iteration for event in events] == sorted(event.iteration for event in events)
    for before, after in itertools.pairwise(events):
        assert after.primal <= before.primal
        assert after.dual >= before.dual
    assert solution.working_set is not None
    assert relay.one_slack() is solution


def test_a_turn_that_made_it_worse_leaves_the_weights_as_they_were() -> None:
    risk, *_ = problem([1] * 10 + [3] * 8, 16, 5.0, 10.0)
    relay = Relay(risk, 1e-9, 1000, None)
    first = relay.one_slack(5)
    worse = relay.turn(lambda left: cutting_plane(risk, 1e-9, 0))
    assert worse.certificate.primal == first.certificate.primal
    assert worse.certificate.dual == first.certificate.dual
    np.testing.assert_array_equal(worse.weights, first.weights)


def test_turns_end_with_the_iterations() -> None:
    risk, *_ = problem([1] * 10 + [3] * 8, 16, 5.0, 10.0)
    relay = Relay(risk, 1e-9, 5, None)
    assert relay.one_slack(3).certificate.iterations == 3
    last = relay.one_slack()
    assert last.certificate.iterations == 5
    assert relay.one_slack() is last


def test_no_other_step_is_better() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bare, way, pull = rng.normal(size=(3, 6))
        rise, curvature = rng.uniform(0, 5), rng.choice([0.0, rng.uniform(0, 2)])
        shrink, most = rng.uniform(0.1, 1.0), rng.uniform(0.2, 3.0)
        step = turns._best_step(rise, curvature, bare, way, pull, shrink, most)
        assert 0 <= step <= most, seed
        tried = np.append(step, np.linspace(0, most, 10_001))
        bent = np.minimum(0.0, bare + pull + np.multiply.outer(tried, way))
        values = rise * tried - curvature * tried**2 / 2 - shrink * (bent**2).sum(axis=-1) / 2
        assert values[0] >= values.max() - 1e-12, seed


def test_components_at_rest_hide_less_than_is_allowed() -> None:
    """At weights 0 what a component can gain is what its wrong labels cost."""
    risk, relevant, costs, components = problem([4, 3, 3, 2, 1, 1, 1], 3)
    layout = module._Layout.of(risk, relevant, costs, components)
    state = module._State.at_start(risk, layout, None)
    gains = risk.C * np.add.reduceat(costs[components.order], components.starts[:-1])
    for share in (0.01, 0.3, 0.9, 3.0):
        moving = state.movable(np.zeros(layout.starts[-1]), share * gains.sum())
        assert np.delete(gains, moving).sum() <= share * gains.sum()
    assert len(moving) < len(gains)
