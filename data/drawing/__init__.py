"""The programs that draw the image sets of data/examples, which `data/examples.py` runs.

Each set is a class that tells image after image as a `Drawn`: what it is called and shows, polygons, and the steps that
paint them. They are sources of `ranking.datasets.build_image_set`, with any seed and number of images.
"""
