"""The network that a run begins with: a new one, or one that has learnt something before.

In:   the table [model] of a recipe; a task, which knows vocabulary, special ids and head.
Out:  a network, and sentences about what was taken over and what is new.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from glassformer.config import ModelConfig, RecurrentConfig, read_settings
from glassformer.errors import ConfigurationError
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.registry import suggest
from glassformer.tasks.task import Network, Task, known_words
from glassformer.training.settings import TrainSettings
from glassformer.weights.checkpoint import open_checkpoint
from glassformer.weights.hub import find_folder
from glassformer.weights.presets import preset

OF_TASK = ("head", "classes", "relation")  # what a task decides even about a network that exists
KINDS: dict[str, type[ModelConfig] | type[RecurrentConfig]] = {
    "transformer": ModelConfig,
    "recurrent": RecurrentConfig,
}


def build_network(table: Mapping[str, Any], task: Task) -> tuple[Network, list[str]]:
    """`start` names a model to go on from; else `kind` and the words of its configuration.

    `preset` names a published one ("gpt2") whose words hold where the table and the task say nothing.
    """
    words = dict(table)
    start, kind = words.pop("start", None), words.pop("kind", "transformer")
    known = words.pop("preset", None)
    try:
        if start is not None:
            if known is not None:
                raise ConfigurationError("A model to start from is no `preset`; leave out one of the two.")
            return _start_from(str(start), words, task)
        if not isinstance(kind, str) or kind not in KINDS:
            raise ConfigurationError(f"kind = {kind!r} is not possible; it is one of {', '.join(KINDS)}.")
        usual = {} if known is None else asdict(preset(str(known)))
        asked = {**usual, **task.words(), **words}
        config = read_settings(KINDS[kind], {**known_words(KINDS[kind], asked), **words})
    except ConfigurationError as error:
        raise ConfigurationError(f"[model] {error}") from error
    return (RecurrentTranslator(config) if isinstance(config, RecurrentConfig) else Transformer(config)), []


def check_names(table: Mapping[str, Any]) -> None:
    """Refuse a word that no network has; what the words say can only be judged with the task's."""
    kind = KINDS.get(str(table.get("kind", "transformer")), ModelConfig)
    known = [*kind.__slots__, "start", "kind", "preset"]
    for word in table:
        if word not in known:
            raise ConfigurationError(f"{kind.__name__} has no setting {word!r}.{suggest(word, known)}")


def check_evaluation(task: Task, settings: TrainSettings) -> None:
    """Refuse what would end the run at its first evaluation: no text to judge by, no such score."""
    if settings.best_by is not None and settings.best_by not in task.score_names():
        known = suggest(settings.best_by, task.score_names())
        raise ConfigurationError(f"best_by = {settings.best_by!r} is no score of this task.{known}")
    if len(task.examples(settings.evaluate_on).lengths) == 0:
        raise ConfigurationError(
            f"evaluate_on = {settings.evaluate_on!r} has no example that can be used; check its file, and "
            "max_length."
        )


def _start_from(name: str, words: dict[str, Any], task: Task) -> tuple[Network, list[str]]:
    """A network with all weights of the old one that fit; what the task needs besides is new."""
    old = open_checkpoint(find_folder(name)).network
    if isinstance(old, RecurrentTranslator):
        if words:
            raise ConfigurationError(f"A recurrent network stays as it is; leave out {', '.join(words)}.")
        return old.train(), [f"Starts from {name}."]
    wanted = {key: value for key, value in task.words().items() if key in OF_TASK}
    wanted = {"relation": False} | wanted | words
    known = {field: getattr(old.config, field) for field in ModelConfig.__slots__}
    config = read_settings(ModelConfig, known | wanted)
    if config == old.config:
        return old.train(), [f"Starts from {name}."]
    network = Transformer(config)
    new = _take_over(network, old)
    said = f"Starts from {name}" + (f"; new are {', '.join(new)}." if new else ".")
    return network.train(), [said]


@torch.no_grad()
def _take_over(network: Transformer, old: Transformer) -> list[str]:
    """Copy weights of the same name and shape; the names of the others, by their module."""
    known = old.state_dict()
    new = []
    for name, tensor in network.state_dict().items():
        if name in known and known[name].shape == tensor.shape:
            tensor.copy_(known[name])
        else:
            new.append(name.rpartition(".")[0] or name)
    return list(dict.fromkeys(new))
