"""Comparison of methods as in the papers (high-order, section 5): cross-validation, a test, and statistics.

Given an image set, for example from `ranking.datasets.load_image_set`::

    settings = ExperimentSettings(image_set.key, (("HOG", {}),), queries=("jumping",))
    Experiment().run(settings, Context(image_set, Path("features"), (Path("trials"),), on_step=print))
    results = results_of(plan_of(settings, image_set), TrialStore(Path("trials")))
    print(plain(validation_table(results)))

A protocol becomes a plan of trials (`plan`), one training run each. A unit (`unit`) trains the trials of one path of
rising C on one fold. Units are trained concurrently (`running`, `workers`). The trials of a finished unit are stored
(`trial_store`) and never trained again. Tables, curves and comparisons are plain data computed from results.
"""
