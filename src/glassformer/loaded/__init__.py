"""Opened models: one type, `LoadedModel`, for our own networks and for models of transformers."""
