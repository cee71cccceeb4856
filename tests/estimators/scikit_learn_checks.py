"""Prints, as JSON, the status of each of scikit-learn's checks of each estimator.

A process of its own, because SciPy reads SCIPY_ARRAY_API, without which a check is skipped, when it is imported.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from ranking.estimators import ESTIMATORS

# Settings for few samples, or for training that takes seconds otherwise.
SMALL: dict[str, dict[str, Any]] = {
    "MidRank": {"subsequences": 50, "longest": 4},
    "McRank": {"rounds": 10, "least": 1},
    "LambdaMART": {"rounds": 10, "least": 1},
    "CRR": {"steps": 1000},
}


def made(name: str) -> Any:
    return ESTIMATORS[name](**SMALL.get(name, {}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    statuses = {}
    for name in ESTIMATORS:
        results = check_estimator(made(name), on_fail=None, on_skip=None)
        statuses[name] = [
            (result["check_name"], result["status"], str(result["exception"])[:300]) for result in results
        ]
    print(json.dumps(statuses))
