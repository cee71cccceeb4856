"""Background execution: the worker, isolated processes, export and import of runs."""
