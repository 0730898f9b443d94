"""Recordings and runs for people: figures, terminal, notebook and offline HTML."""
