"""The programs that drew the sets of `ranking.datasets.drawn_sets`.

Each set is a class that tells image after image as a `Drawn`: what it is called and shows, polygons, and the steps that
paint them. They are also sources of `ranking.datasets.build_image_set`, with other seeds or more images.
"""
