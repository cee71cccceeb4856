"""Methods compared as the papers do it (high-order, section 5): cross-validation, a test, and statistics.

Given a home with an image set::

    settings = ExperimentSettings(image_set.key, (("HOG", {}),), queries=("jumping",))
    results = experiment_at_home(store, settings, on_progress=print)
    print(plain(validation_table(results)))

A protocol becomes a plan of cells (`plan`), one training each. Paths of cells are trained side by side (`running`),
each cell is kept as soon as it is there (`cell_store`), and what is there is never trained again. Tables, curves and
comparisons are plain data made of results.
"""
