"""Methods compared as the papers do it (high-order, section 5): cross-validation, a test, and statistics.

Given a home with an image set::

    settings = ExperimentSettings(image_set.key, (("HOG", {}),), queries=("jumping",))
    results = experiment_at_home(store, settings, on_progress=print)
    print(plain(validation_table(results)))

A protocol becomes a plan of trials (`plan`), one training each. A unit (`unit`) trains the trials of one path of rising
C on one fold; units are trained side by side (`running`, `workers`), and the trials of a finished unit are kept
(`trial_store`) and never trained again. Tables, curves and comparisons are plain data made of results.
"""
