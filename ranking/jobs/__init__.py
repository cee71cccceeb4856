"""Long work: the queue, the worker, isolated processes, export and import of runs."""
