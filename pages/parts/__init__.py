"""What the pages share: the address, caches, the image grid, charts, forms and the job panel."""
