"""Studies: one model over many texts, as tables with intervals, in a folder. Torch is never imported.

In:   folders that `gf.study` wrote.
Out:  `Study`; `open_study`, `pool_studies`. See docs/how-to/corpus.md for files and columns.
"""

from glassformer.studies.moments import Moments, draw_weights
from glassformer.studies.study import Study, is_study, open_study, pool_studies

__all__ = ["Moments", "Study", "draw_weights", "is_study", "open_study", "pool_studies"]
