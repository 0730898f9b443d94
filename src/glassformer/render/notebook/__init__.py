"""Recordings in notebook cells."""

HEIGHT = 640  # pixels of a notebook's cell
