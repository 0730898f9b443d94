"""Networks that no other library has (rotary positions, recurrent ones …), under our own names.

In:   any network of ours; or the dictionary of a config.json that we wrote.
Out:  that dictionary; or the configuration in it.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from glassformer.config import ModelConfig, NetworkConfig, RecurrentConfig
from glassformer.settings import read_settings
from glassformer.weights.mapping import Rule, Table

KINDS: dict[str, type[ModelConfig] | type[RecurrentConfig]] = {
    "glassformer": ModelConfig,
    "glassformer-recurrent": RecurrentConfig,
}
# What stands beside the settings of the network.
OTHER_KEYS = ("model_type", "architectures", "dtype", "labels", "glassformer_task")


def read_native_config(settings: Mapping[str, Any]) -> NetworkConfig:
    """The configuration that we wrote; an unknown setting is an error that offers the nearest one."""
    own = {name: value for name, value in settings.items() if name not in OTHER_KEYS}
    return read_settings(KINDS[settings["model_type"]], own)


def write_native_config(config: NetworkConfig) -> dict[str, Any]:
    """Every setting of a configuration, under its own name."""
    kind = next(name for name, cls in KINDS.items() if isinstance(config, cls))
    architecture = "Transformer" if kind == "glassformer" else "RecurrentTranslator"
    return {"model_type": kind, "architectures": [architecture], **dataclasses.asdict(config)}


def native_table(ours: Mapping[str, Tensor]) -> Table:
    """Every name stands for itself."""
    return Table(tuple(Rule((name,), name) for name in ours))
