"""Recordings, scores and runs in a terminal."""
