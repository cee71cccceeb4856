"""The programs that generate the image sets of data/examples; `data/examples.py` runs them.

Each set is a class that yields one `Drawn` per image: its name and classes, polygons, and the steps that paint them.
They are sources for `ranking.datasets.build_image_set`, with any seed and number of images.
"""
