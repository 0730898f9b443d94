"""The walk: one text followed through one network, step by step, with the network's own numbers.

In:   a Recording; most of it where the recording kept a trace and the parameters.
Out:  the plan (what happens in which order, from what to what), and the arithmetic behind any one number.
"""

from glassformer.walk.arrays import Arrays
from glassformer.walk.cells import explain
from glassformer.walk.plan import follow, list_arrays, make_plan

__all__ = ["Arrays", "explain", "follow", "list_arrays", "make_plan"]
