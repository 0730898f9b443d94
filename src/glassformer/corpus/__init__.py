"""Models over many texts.

In:   models and texts.
Out:  tables with their evidence: `compare` puts two models side by side.
"""
