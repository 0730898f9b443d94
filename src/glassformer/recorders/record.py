"""The front of the door: from a name, a folder or a live network to something that can be recorded.

In:   `load("zoo/translator")`, `load("gpt2")`, `load("path/")`, `load(network, tokenizer)`.
Out:  a `Subject`, whose `record` runs the network once and hands out a Recording.
"""

import importlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.checks import USUAL, check_device, name_path
from glassformer.recorders.edits.edit import Edit
from glassformer.recording import Recording


@runtime_checkable
class Subject(Protocol):
    """A network, its tokenizer and its name: what can be recorded."""

    name: str

    def record(
        self,
        inputs: str | Sequence[int],
        target: str | Sequence[int] | None = None,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        second_text: str | None = None,
        decode: GenerationSettings | None = None,
        want: Collection[str] = USUAL,
        edits: Sequence[Edit] = (),
    ) -> Recording:
        """Run the network once on a text and keep what is wanted; the network is left exactly as found."""


def load(
    model: Any, tokenizer: Any = None, *, name: str | None = None, device: str | torch.device | None = None
) -> Subject:
    """Something to record: a zoo name, folder or hub name; a network of ours; a live one of transformers.

    What is opened here runs on `device` (the CPU); a live network stays where it is.
    """
    from glassformer.recorders.native.recorder import OurSubject, is_ours, open_ours
    from glassformer.weights.hub import find_folder

    if isinstance(model, (str, Path)):
        if tokenizer is not None:
            raise InputError("A folder or a name brings its own tokenizer; leave `tokenizer` out.")
        check_device(device)
        folder = find_folder(model)
        called = name or name_path(model)
        if _is_theirs(folder):
            return _open_theirs(folder, called, device)
        subject = open_ours(folder, called)
        if device is not None:
            subject.network.to(device)
        return subject
    if device is not None:
        raise InputError("A live network is recorded where it is; move it yourself, and leave `device` out.")
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if is_ours(model):
        return OurSubject(model, tokenizer, name=name)
    if isinstance(model, nn.Module):
        return _load_live(model, tokenizer, name)
    if isinstance(model, Subject):
        return model
    raise InputError(
        f"A {type(model).__name__} cannot be recorded; "
        "give a name, a folder, or a network with its tokenizer."
    )


def record(  # noqa: PLR0913 - the same form as a subject's
    model: Any,
    inputs: str | Sequence[int],
    target: str | Sequence[int] | None = None,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
    decode: GenerationSettings | None = None,
    want: Collection[str] = USUAL,
    edits: Sequence[Edit] = (),
) -> Recording:
    """`load` and `record` in one word."""
    return load(model, tokenizer, device=device).record(
        inputs,
        target,
        source_language=source_language,
        target_language=target_language,
        second_text=second_text,
        decode=decode,
        want=want,
        edits=edits,
    )


def _is_theirs(folder: Path) -> bool:
    """Whether a folder holds an architecture that transformers knows and we have no network for."""
    from glassformer.weights.family import FAMILIES
    from glassformer.weights.native import KINDS
    from glassformer.weights.tensors import read_json

    kind = read_json(folder / "config.json").get("model_type")
    if not isinstance(kind, str) or kind in KINDS or kind in FAMILIES:
        return False
    from transformers import CONFIG_MAPPING

    return kind in CONFIG_MAPPING


def _open_theirs(folder: Path, name: str, device: str | torch.device | None) -> Subject:
    from glassformer.recorders.transformers.opening import open_pretrained

    subject = open_pretrained(folder, name)
    if device is not None:
        subject.model.to(device)
    return subject


def _load_live(model: nn.Module, tokenizer: Any, name: str | None) -> Subject:
    try:
        room = importlib.import_module("glassformer.recorders.transformers.recorder")
    except ModuleNotFoundError as error:
        raise InputError(
            f"A live {type(model).__name__} cannot be recorded by this version; save it with "
            "save_pretrained() and load that folder."
        ) from error
    subject: Subject = room.load_live(model, tokenizer, name=name)
    return subject
