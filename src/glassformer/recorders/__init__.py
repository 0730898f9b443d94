"""The door between the wings: a network runs once, and a Recording comes out."""
