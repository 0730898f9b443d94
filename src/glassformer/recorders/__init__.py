"""A model runs once, and a Recording comes out."""
