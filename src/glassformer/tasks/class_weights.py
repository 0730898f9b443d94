"""Class weights: how much each class counts in the training loss.

In:   the setting `class_weights`; how often each class occurs in the training split.
Out:  one factor for each class, whose mean over all training labels is 1: an update is as large as without
      weights, so that the learning rate need not be changed. Scores, that is the loss of dev, too, have none.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.errors import ConfigurationError
from glassformer.messages import Message, message
from glassformer.model.loss import IGNORED
from glassformer.registry import suggestion
from glassformer.tasks.task import Task

ClassWeights = Literal["balanced"] | dict[str, Any] | None  # "balanced", or a table label → weight
SHOWN = 12  # classes in a sentence


def check_class_weights(weights: ClassWeights) -> None:
    """Refuse weights that are no numbers, negative, or all 0."""
    if not isinstance(weights, dict):
        return
    for label, weight in weights.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not isfinite(weight) or weight < 0:
            raise ConfigurationError("tasks.class_weights.wrong", label=label, value=repr(weight))
    if not weights or not any(weights.values()):
        raise ConfigurationError("tasks.class_weights.none")


def compute_class_weights(
    weights: ClassWeights, counts: Mapping[str, int], labels: Sequence[str]
) -> list[float]:
    """The factor of each label. A label that a table does not name has the weight 1.

    Balanced weights are inverse to the counts: all classes that occur count the same in all.
    """
    if weights == "balanced":
        raw = [1 / counts[label] if counts[label] else 0.0 for label in labels]
    else:
        assert isinstance(weights, dict)
        for name in weights:
            if name not in labels:
                near = suggestion(name, labels)
                raise ConfigurationError("tasks.class_weights.unknown", label=name, suggestion=near)
        raw = [float(weights.get(label, 1.0)) for label in labels]
    total = sum(weight * counts[label] for weight, label in zip(raw, labels, strict=True))
    if not total:
        raise ConfigurationError("tasks.class_weights.none")
    scale = sum(counts.values()) / total
    return [weight * scale for weight in raw]


class Factors:
    """The factor of each class as a tensor, kept on each device: a CUDA graph cannot copy it there."""

    def __init__(self, factors: Sequence[float]) -> None:
        self.factors = factors
        self._kept: dict[torch.device, Tensor] = {}

    def on(self, device: torch.device) -> Tensor:
        """The factors on a device."""
        if device not in self._kept:
            self._kept[device] = torch.tensor(self.factors, dtype=torch.float32, device=device)
        return self._kept[device]

    def as_message(self, labels: Sequence[str]) -> Message:
        """The factors in a sentence, largest first."""
        pairs = sorted(zip(self.factors, labels, strict=True), key=lambda pair: -pair[0])
        shown = [
            message("tasks.class_weights.one", label=label, factor=each) for each, label in pairs[:SHOWN]
        ]
        code = "tasks.class_weights.all" if len(shown) == len(pairs) else "tasks.class_weights.largest"
        return message(code, factors=shown, count=len(pairs))


def find_factors(task: Task, weights: ClassWeights) -> Factors | None:
    """The factors of a task's classes, given its setting; None: there are no weights."""
    if weights is None:
        return None
    return Factors(compute_class_weights(weights, task.count_classes("train"), task.labels))


def weighted_loss(logits: Tensor, labels: Tensor, factors: Factors | None, smoothing: float = 0.0) -> Tensor:
    """The cross-entropy of all labels, each times the factor of its class, summed."""
    if factors is None:
        return F.cross_entropy(
            logits, labels, reduction="sum", label_smoothing=smoothing, ignore_index=IGNORED
        )
    losses = F.cross_entropy(
        logits, labels, reduction="none", label_smoothing=smoothing, ignore_index=IGNORED
    )  # 0 where a label is ignored
    return (losses * factors.on(labels.device)[labels.clamp(min=0)]).sum()
