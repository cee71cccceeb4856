"""Background execution: the worker, export of runs."""
