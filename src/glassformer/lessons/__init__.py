"""The playground: small experiments with the parts of a Transformer. And small models for first steps.

A topic is one folder in `topics/`: `topic.toml` (its parameters, read without torch) and `__init__.py` (a
function `compute` on this project's own torch code). Its texts are messages `lessons.NAME.…`.
"""
