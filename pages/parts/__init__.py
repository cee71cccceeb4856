"""The common parts of the pages: frame, components, charts, forms and the job panel."""
