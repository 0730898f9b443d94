"""The network that a run begins with: a new one, or a trained one.

In:   the table [model] of a recipe; a task, which knows vocabulary, special ids and head.
Out:  a network, and notes about which weights were copied and which are new.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError
from glassformer.messages import Message, message
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.registry import suggestion
from glassformer.settings import check_names, read_settings
from glassformer.tasks.scores import SCORES
from glassformer.tasks.task import Network, Task, known_settings
from glassformer.training.settings import TrainSettings
from glassformer.weights.checkpoint import open_checkpoint
from glassformer.weights.hub import find_folder
from glassformer.weights.presets import preset

SET_BY_TASK = ("head", "classes", "relation")  # what a task decides even about a network that exists
KINDS: dict[str, type[ModelConfig] | type[RecurrentConfig]] = {
    "transformer": ModelConfig,
    "recurrent": RecurrentConfig,
}


def build_network(table: Mapping[str, Any], task: Task) -> tuple[Network, list[Message]]:
    """`start` names a model to continue from; otherwise `kind` and the settings of its configuration.

    `preset` names a published configuration ("gpt2"): the defaults of what table and task do not set.
    """
    settings = dict(table)
    start, kind = settings.pop("start", None), settings.pop("kind", "transformer")
    known = settings.pop("preset", None)
    if start is not None:
        if known is not None:
            raise ConfigurationError("training.start_and_preset")
        return _start_from(str(start), settings, task)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigurationError("training.unknown_kind", value=repr(kind), known=list(KINDS))
    defaults = {} if known is None else asdict(preset(str(known)))
    wanted = {**defaults, **task.network_settings()}
    config = read_settings(KINDS[kind], {**known_settings(KINDS[kind], wanted), **settings})
    return (RecurrentTranslator(config) if isinstance(config, RecurrentConfig) else Transformer(config)), []


def check_model_names(table: Mapping[str, Any]) -> None:
    """Refuse an unknown setting; values can only be checked together with those of the task."""
    kind = KINDS.get(str(table.get("kind", "transformer")), ModelConfig)
    check_names(kind, table, ("start", "kind", "preset"))


def check_evaluation(task: Task, settings: TrainSettings) -> None:
    """Refuse what would end the run at its first evaluation: no text to evaluate on, no such score."""
    for name in settings.scores:
        SCORES[name]  # an unknown name is an error
    if settings.scores and not task.compares:
        raise ConfigurationError("training.no_answers", names=settings.scores)
    known = (*task.score_names(), *settings.scores)
    if settings.best_by is not None and settings.best_by not in known:
        near = suggestion(settings.best_by, known)
        raise ConfigurationError("training.unknown_best_by", name=settings.best_by, suggestion=near)
    if len(task.examples(settings.evaluate_on).lengths) == 0:
        raise ConfigurationError("training.nothing_to_evaluate", name=settings.evaluate_on)


def _start_from(name: str, settings: dict[str, Any], task: Task) -> tuple[Network, list[Message]]:
    """A network with all weights of the old one that fit; what the task needs besides is new."""
    old = open_checkpoint(find_folder(name)).network
    network: Network
    if isinstance(old, RecurrentTranslator):
        recurrent = read_settings(RecurrentConfig, asdict(old.config) | settings)
        network = old if recurrent == old.config else RecurrentTranslator(recurrent)
    else:
        wanted = {key: value for key, value in task.network_settings().items() if key in SET_BY_TASK}
        wanted = {"relation": False} | wanted | settings
        config = read_settings(ModelConfig, asdict(old.config) | wanted)
        network = old if config == old.config else Transformer(config)
    new = [] if network is old else _copy_weights(network, old)
    if not new:
        return network.train(), [message("training.starts_from", name=name)]
    return network.train(), [message("training.starts_from_with_new", name=name, new=new)]


@torch.no_grad()
def _copy_weights(network: Network, old: Network) -> list[str]:
    """Copy weights of the same name and shape; the names of the others, by their module."""
    known = old.state_dict()
    new = []
    for name, tensor in network.state_dict().items():
        if name in known and known[name].shape == tensor.shape:
            tensor.copy_(known[name])
        else:
            new.append(name.rpartition(".")[0] or name)
    return list(dict.fromkeys(new))
