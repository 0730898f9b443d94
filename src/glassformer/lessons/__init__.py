"""The playground: small experiments with the parts that a Transformer is made of, one topic in two files.

A topic `name` is `name.toml` (its words and parameters, read without torch) and `name.py` (a pure function
`play` on the house's own torch code). Both are found by being here.
"""
