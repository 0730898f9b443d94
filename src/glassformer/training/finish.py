"""Models out of a run: saved with their tokenizer, or averaged over several checkpoints.

In:   a network, its task; the checkpoints of a run.
Out:  folders in Hugging Face layout.
"""

from pathlib import Path

from glassformer.tasks.task import Network, Task
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.optim import average_weights
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint

AVERAGED = "averaged"


def save_model(network: Network, folder: Path, task: Task) -> None:
    """A folder that `load`, and where the network is one of its kinds also transformers, opens."""
    save_checkpoint(network, folder, task.tokenizer, labels=getattr(task, "labels", ()))


def average_checkpoints(checkpoints: Checkpoints, network: Network, task: Task) -> Path:
    """The mean of the last checkpoints, in `averaged` beside them; `network` has its weights afterwards."""
    states = (open_checkpoint(place).network.state_dict() for place in checkpoints.all()[-checkpoints.keep :])
    network.load_state_dict(average_weights(states))
    folder = checkpoints.run / AVERAGED
    save_model(network, folder, task)
    return folder
