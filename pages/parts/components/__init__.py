"""Components that run in the browser: the grid, rows, strips, graphs and questions."""
