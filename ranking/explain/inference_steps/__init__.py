"""Readable implementations of the four loss-augmented inference algorithms, which record every step.

They give the interleaving ranks of `ranking.inference.most_violated_ranking`, and record which samples are evaluated,
which ranks that settles, and how many comparisons it takes.

>>> problem = InferenceProblem.of([0.5, 0.9, 0.2], [True, False, False])
>>> trace = trace_of(problem, "search")
>>> trace.ranks, trace.steps[1].probes
(array([1, 2]), (1,))
"""

from ranking.explain.inference_steps.buckets import Bins, bins_of
from ranking.explain.inference_steps.problem import InferenceProblem, Value
from ranking.explain.inference_steps.trace import Step, Trace
from ranking.explain.inference_steps.tracing import TRACED, trace_of

__all__ = ["TRACED", "Bins", "InferenceProblem", "Step", "Trace", "Value", "bins_of", "trace_of"]
