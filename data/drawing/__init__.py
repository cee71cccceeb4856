"""The bundled sets that a program draws."""
