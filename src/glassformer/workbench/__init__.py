"""Models at work for the page: a queue of jobs, and processes of their own in which they run.

In:   requests, checked; folders in which models may lie.
Out:  recordings as bundle files, and everything that happens on the way, as it happens. Only the worker
      process imports torch.
"""

from glassformer.workbench.job_table import open_table
from glassformer.workbench.local import LocalWorkbench
from glassformer.workbench.settings import TrainerSettings, WorkbenchSettings
from glassformer.workbench.trainer import LocalTrainer

__all__ = ["LocalTrainer", "LocalWorkbench", "TrainerSettings", "WorkbenchSettings", "open_table"]
