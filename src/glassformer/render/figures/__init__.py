"""Figures for a paper: vector files with axes, a legend and a caption that says where the numbers come from.

In:   a Recording or a RunLog, a view and what to show of it.
Out:  Figure; `save` writes PDF, SVG or PNG, whole or not at all.
"""

from glassformer.render.figures.figure import Figure, figure

__all__ = ["Figure", "figure"]
