"""From a name, a folder or a live network to a loaded model.

In:   `load("zoo/translator")`, `load("gpt2")`, `load("path/")`, `load(network, tokenizer)`.
Out:  a `LoadedModel`.
"""

import os
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import NativeModel, open_native
from glassformer.loaded.transformers import TransformersModel, open_pretrained
from glassformer.messages import message
from glassformer.model.int8 import round_to_int8
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.text.files import read_json
from glassformer.weights.checkpoint import fits_family
from glassformer.weights.family import FAMILIES
from glassformer.weights.hub import find_folder
from glassformer.weights.native import KINDS

Precision = Literal["float32", "int8"]


def load(
    model: Any,
    tokenizer: Any = None,
    *,
    name: str | None = None,
    device: str | torch.device | None = None,
    weights: Precision = "float32",
) -> LoadedModel:
    """Open a model: a zoo name, a folder, a hub name, one of our networks, a live model of transformers.

    What is opened from files runs on `device` (the CPU by default); a live network stays where it is.
    With weights="int8" one of our Transformers computes its products with eight bits, on a CPU, and
    generates about twice as fast; a live one is copied. Its maps are then those of the rounded network.

    >>> model = gf.load("zoo/translator")
    >>> sorted(model.capabilities)
    ['edits', 'gradients', 'reads_text', 'records', 'traces', 'translates']
    >>> config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2)
    >>> gf.load(transformers.GPT2LMHeadModel(config), name="live").can("generates")
    True
    """
    if weights == "int8":
        return _round(load(model, tokenizer, name=name, device=device))
    if weights != "float32":
        raise InputError("loaded.unknown_weights", seen=repr(weights))
    if isinstance(model, (str, Path)):
        if tokenizer is not None:
            raise InputError("loaded.tokenizer_beside_folder")
        return _open(model, name, device)
    if device is not None:
        raise InputError("loaded.device_of_live_network")
    if isinstance(model, LoadedModel):
        if tokenizer is not None or name is not None:
            raise InputError("loaded.already_loaded", name=model.name)
        return model
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if isinstance(model, Transformer | RecurrentTranslator):
        return NativeModel(model, tokenizer, name=name)
    if isinstance(model, nn.Module) and hasattr(model, "config") and hasattr(model, "get_input_embeddings"):
        named = str(getattr(model, "name_or_path", "") or type(model).__name__)
        return TransformersModel(model, tokenizer, name=name or name_path(named))
    raise InputError("loaded.not_a_model", kind=type(model).__name__)


def _round(loaded: LoadedModel) -> LoadedModel:
    """The same model with weights of eight bits."""
    if not isinstance(loaded, NativeModel):
        raise InputError("loaded.int8_not_ours", name=loaded.name)
    return NativeModel(
        round_to_int8(deepcopy(loaded.network)),
        loaded.tokenizer,
        name=loaded.name,
        generation=loaded.generation,
        labels=loaded.labels,
        notes=(*loaded.notes, message("loaded.int8")),
    )


def _open(model: str | Path, name: str | None, device: str | torch.device | None) -> LoadedModel:
    check_device(device)
    folder = find_folder(model)
    open_folder = open_pretrained if _needs_transformers(folder) else open_native
    loaded = open_folder(folder, name or name_path(model))
    if device is not None:
        loaded.to(device)
    return loaded


def check_device(device: str | torch.device | None) -> None:
    """Refuse a device that torch cannot compute on here."""
    if device is None:
        return
    try:
        (torch.zeros(1, device=device) + 1).item()
    except (RuntimeError, AssertionError, TypeError) as error:  # unknown; not built in; no numbers
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError("loaded.no_such_device", device=str(device), reason=reason) from error


def name_path(model: str | Path) -> str:
    """What a model is called: the last component of a path, which hides the rest of it."""
    path = Path(model).expanduser()
    return Path(os.path.abspath(path)).name if path.is_dir() else str(model)


def _needs_transformers(folder: Path) -> bool:
    """Whether a folder holds an architecture that transformers knows and our network cannot be."""
    kind = read_json(folder / "config.json").get("model_type")
    if not isinstance(kind, str) or kind in KINDS or (kind in FAMILIES and fits_family(folder)):
        return False
    from transformers import CONFIG_MAPPING

    return kind in CONFIG_MAPPING
