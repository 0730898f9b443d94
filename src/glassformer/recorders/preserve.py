"""A model on loan: whatever happens while it is watched, it is given back as it was found.

In:   a model of transformers.
Out:  contexts in which it is in evaluation mode without gradients, or has another attention implementation.
      Afterwards modes, hooks and configurations are as before, also after an exception. Asking transformers
      for `output_attentions` hangs hooks on a model and leaves them there; those go, too. What was compiled
      runs as it is written, for a compiled graph calls nobody who looks.
"""

import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

HOOKS = (
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
)
MARK = "_output_capturing_hooks_installed"  # what transformers notes on a model that it has hung hooks on

_locks: "weakref.WeakKeyDictionary[nn.Module, threading.RLock]" = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()
_stance = ExitStack()  # of torch towards compiled code: one for all threads
_lookers = 0  # who want it to be eager


@contextmanager
def alone_with(model: nn.Module) -> Iterator[None]:
    """Nobody else records this model meanwhile; compiled code runs as written, in the model's precision."""
    with _lock_of(model), _as_written(), _as_usual():
        yield


@contextmanager
def on_loan(model: nn.Module) -> Iterator[None]:
    """Alone with a model; no dropout, no gradients, outputs by name; all is put back afterwards."""
    with alone_with(model):
        modes = [(module, module.training) for module in model.modules()]
        hooks = [(module, name, dict(module.__dict__[name])) for module, _ in modes for name in HOOKS]
        unmarked = [module for module, _ in modes if MARK not in module.__dict__]
        settings = [(config, dict(config.__dict__)) for config in configurations(model, generation=True)]
        try:
            _set_modes((module, False) for module, _ in modes)
            for config, found in settings:
                if found.get("return_dict") is False:
                    config.return_dict = True
            with torch.no_grad():
                yield
        finally:
            _set_modes(modes)
            for module, name, kept in hooks:
                if kept or module.__dict__[name]:  # most have none
                    _put_back(module.__dict__[name], kept)
            for module in unmarked:
                module.__dict__.pop(MARK, None)
            for config, found in settings:
                _put_back(config.__dict__, found)


@contextmanager
def switched(model: nn.Module, implementation: str) -> Iterator[None]:
    """Every part of the model asks for this attention implementation."""
    configs = [config for config in configurations(model) if hasattr(config, "_attn_implementation_internal")]
    found = [config._attn_implementation_internal for config in configs]
    try:
        for config in configs:
            config._attn_implementation_internal = implementation
        yield
    finally:
        for config, before in zip(configs, found, strict=True):
            config._attn_implementation_internal = before


def configurations(model: nn.Module, *, generation: bool = False) -> list[Any]:
    """Every configuration that a part of the model reads, each once; with those for generation if asked."""
    words = ("config", "generation_config") if generation else ("config",)
    modules = list(model.modules())
    common = {each: [word for word in words if hasattr(each, word)] for each in set(map(type, modules))}
    waiting = [
        getattr(module, word)
        for module in modules
        for word in words
        if word in module.__dict__ or word in common[type(module)]  # a module is slow to say that it has none
    ]
    found: dict[int, Any] = {}
    while waiting:
        config = waiting.pop()
        if config is None or id(config) in found or not hasattr(config, "__dict__"):
            continue
        found[id(config)] = config
        waiting += [getattr(config, name, None) for name in getattr(config, "sub_configs", {})]
    return list(found.values())


@contextmanager
def _as_usual() -> Iterator[None]:
    """No autocast, which would hide the precision of a model, and new tensors where they are by default."""
    with ExitStack() as contexts:
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                contexts.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            contexts.enter_context(torch.device("cpu"))
        yield


@contextmanager
def _as_written() -> Iterator[None]:
    """Compiled code runs as it is written while at least one recording is under way."""
    global _lookers
    if "torch._dynamo" not in sys.modules:  # then nothing is compiled, and to import it takes seconds
        yield
        return
    with _locks_lock:
        if _lookers == 0:
            _stance.enter_context(torch.compiler.set_stance("force_eager"))
        _lookers += 1
    try:
        yield
    finally:
        with _locks_lock:
            _lookers -= 1
            if _lookers == 0:
                _stance.close()


def _set_modes(modes: Iterable[tuple[nn.Module, bool]]) -> None:
    for module, training in modes:
        if module.training is not training:  # a module is slow to take even what it has
            module.training = training


def _lock_of(model: nn.Module) -> threading.RLock:
    with _locks_lock:
        return _locks.setdefault(model, threading.RLock())


def _put_back(current: Any, found: dict[Any, Any]) -> None:
    """The same mapping with its former content; nobody who reads it meanwhile finds it empty."""
    for key in current.keys() - found.keys():
        del current[key]
    for key, value in found.items():
        if key not in current or current[key] is not value:
            current[key] = value
