"""Contexts that leave a model exactly as it was found.

In:   a model.
Out:  contexts in which it is in evaluation mode without gradients, or has another attention implementation.
      Afterwards modes, hooks and configurations are as before, also after an exception, including the hooks
      that transformers adds for `output_attentions`. Compiled code runs in eager mode, because a compiled
      graph does not call hooks.
"""

import sys
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
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
HOOKS_INSTALLED = "_output_capturing_hooks_installed"  # set by transformers on a model with its hooks

_locks: "weakref.WeakKeyDictionary[nn.Module, threading.RLock]" = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()


class Shared:
    """A context that all threads share: entered with its first user, left with its last."""

    def __init__(self, make: Callable[[], AbstractContextManager[object]]) -> None:
        self.make = make
        self.lock = threading.Lock()
        self.users = 0
        self.entered = ExitStack()

    @contextmanager
    def using(self) -> Iterator[None]:
        with self.lock:
            if self.users == 0:
                self.entered.enter_context(self.make())
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if self.users == 0:
                    self.entered.close()


_eager_mode = Shared(lambda: torch.compiler.set_stance("force_eager"))


@contextmanager
def exclusive(model: nn.Module) -> Iterator[None]:
    """One recording of a model at a time; compiled code runs in eager mode, without autocast."""
    with _locks_lock:
        lock = _locks.setdefault(model, threading.RLock())
    with lock, _plain_defaults():
        yield


@contextmanager
def preserving_state(model: nn.Module) -> Iterator[None]:
    """Exclusive use of a model without dropout and gradients, with named outputs; restored afterwards."""
    with exclusive(model):
        modes = [(module, module.training) for module in model.modules()]
        hooks = [(module, name, dict(module.__dict__[name])) for module, _ in modes for name in HOOKS]
        unmarked = [module for module, _ in modes if HOOKS_INSTALLED not in module.__dict__]
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
                module.__dict__.pop(HOOKS_INSTALLED, None)
            for config, found in settings:
                _put_back(config.__dict__, found)


def frozen(model: nn.Module) -> AbstractContextManager[None]:
    """No parameter of the model needs a gradient."""
    return replacing("requires_grad", [(each, False) for each in model.parameters() if each.requires_grad])


def using_attention(model: nn.Module, implementation: str) -> AbstractContextManager[None]:
    """Every part of the model uses this attention implementation."""
    name = "_attn_implementation_internal"
    return replacing(name, [(each, implementation) for each in configurations(model) if hasattr(each, name)])


@contextmanager
def replacing(name: str, values: Collection[tuple[Any, Any]]) -> Iterator[None]:
    """An attribute of some objects has other values; afterwards those that it had."""
    found = [(thing, getattr(thing, name)) for thing, _ in values]
    try:
        for thing, value in values:
            setattr(thing, name, value)
        yield
    finally:
        for thing, value in found:
            setattr(thing, name, value)


def configurations(model: nn.Module, *, generation: bool = False) -> list[Any]:
    """Every configuration that a part of the model reads, each once; with those for generation on request."""
    names = ("config", "generation_config") if generation else ("config",)
    modules = list(model.modules())
    common = {each: [name for name in names if hasattr(each, name)] for each in set(map(type, modules))}
    waiting = [
        getattr(module, name)
        for module in modules
        for name in names
        if name in module.__dict__ or name in common[type(module)]  # hasattr of a module is slow
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
def _plain_defaults() -> Iterator[None]:
    """No compiled code; no autocast, which would hide the precision of a model; new tensors on the CPU."""
    with ExitStack() as contexts:
        if "torch._dynamo" in sys.modules:  # otherwise nothing is compiled, and importing it takes seconds
            contexts.enter_context(_eager_mode.using())
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                contexts.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            contexts.enter_context(torch.device("cpu"))
        yield


def _set_modes(modes: Iterable[tuple[nn.Module, bool]]) -> None:
    for module, training in modes:
        if module.training is not training:  # setting an attribute of a module is slow
            module.training = training


def _put_back(current: Any, found: dict[Any, Any]) -> None:
    """Restore the content of a mapping in place; other threads never see it empty."""
    for key in current.keys() - found.keys():
        del current[key]
    for key, value in found.items():
        if key not in current or current[key] is not value:
            current[key] = value
