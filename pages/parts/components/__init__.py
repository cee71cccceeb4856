"""What the browser draws by itself: the grid, rows, strips, graphs and questions."""
