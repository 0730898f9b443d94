"""Stack, kind and layer of every attention call, found without knowing the architecture.

In:   a model of transformers, and the modules that call the attention interface, in order.
Out:  a `Place` for each call. A stack is the list of blocks that a module is in; layers are numbered by call
      order within it, self- and cross-attention separately. A call is cross-attention when its module got
      the states of another stack, which a forward-pre-hook sees; names and shapes are not enough.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from glassformer.place import Kind, Place

# Names of the arguments by which modules of transformers get the states of another stack.
OTHER_STATES = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
PACKED = "cu_seqlens"  # the argument of attention that is computed part by part: of pictures, or of windows


class Stacks:
    """The stacks of one model: which of them a module belongs to."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.paths = {module: _path_of_blocks(name) for name, module in model.named_modules()}
        classes = {type(module) for module in self.paths}
        self.places = {each: _places_of_other_states(each) for each in classes}
        self.packing = {each for each in classes if PACKED in _parameters(each)}
        self.encoder = _find_encoder(model)  # its modules; None: not an encoder-decoder
        self.names: dict[str, str] = {}  # by path, after `name_stacks`

    def find(self, module: nn.Module) -> str:
        """The name of a module's stack; the path of its blocks before `name_stacks`."""
        if self.encoder is not None:
            path = "encoder" if module in self.encoder else "decoder"
        else:
            path = self.paths.get(module, "")
        return self.names.get(path, path)

    def rename(self, place: Place) -> Place:
        """A place from before `name_stacks`, with its name."""
        return place._replace(stack=self.names.get(place.stack, place.stack))

    def name_stacks(self, looks_back: Mapping[str, bool]) -> None:
        """Give names to paths, by whether the queries of each look back only.

        A single stack is the decoder if they do and the encoder otherwise; several are named by the part in
        which their paths differ.
        """
        if len(looks_back) == 1:
            ((path, causal),) = looks_back.items()
            name = "decoder" if causal else "encoder"
            self.names = {path: name, "": name}  # "": the only one there is
            return
        parts = {path: path.split(".") for path in looks_back}
        for path, own in parts.items():
            others = [other for key, other in parts.items() if key != path]
            depths = (
                depth for depth in range(len(own)) if all(own[: depth + 1] != o[: depth + 1] for o in others)
            )
            self.names[path] = own[next(depths, 0)].removesuffix("_model") or path


class Counter:
    """Numbers the calls of one forward pass."""

    def __init__(self, stacks: Stacks) -> None:
        self.stacks = stacks
        self.counts: dict[tuple[str, Kind], int] = {}
        self.crossing: dict[nn.Module, bool] = {}
        self._last: tuple[Place, Tensor] | None = None  # of a module that packs, with its queries

    @contextmanager
    def watching(self, active: Callable[[], bool]) -> Iterator[None]:
        """While `active`: count from 0 in each pass; notice which modules get states of another stack."""
        places = self.stacks.places

        def begin(*_: object) -> None:
            if active():
                self.counts.clear()
                self._last = None

        def notice(module: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
            if active():
                self.crossing[module] = any(
                    named.get(name, positional[at] if at < len(positional) else None) is not None
                    for name, at in places[type(module)]
                )

        with ExitStack() as hooks:
            hooks.enter_context(self.stacks.model.register_forward_pre_hook(begin))
            for module in self.stacks.paths:
                if places[type(module)]:
                    hooks.enter_context(module.register_forward_pre_hook(notice, with_kwargs=True))
            yield

    def locate(self, module: nn.Module, queries: Tensor) -> Place:
        """The place of the call that `module` makes now; parts of one attention have one place."""
        if self.find_whole(module, queries) and self._last is not None:
            place, before = self._last
            if before.untyped_storage().data_ptr() == queries.untyped_storage().data_ptr():
                return place
        place = self._count(module)
        if type(module) in self.stacks.packing:
            self._last = (place, queries)  # kept, so that its memory is not used for other queries
        return place

    def find_whole(self, module: nn.Module, queries: Tensor) -> int:
        """How many queries an attention has of which this call computes some (B, H, T, K); 0: it computes
        all."""
        if type(module) not in self.stacks.packing:
            return 0
        heads, count, width = queries.shape[1:]
        whole = queries.untyped_storage().nbytes() // (queries.element_size() * heads * width)
        return whole if count < whole else 0

    def _count(self, module: nn.Module) -> Place:
        kind: Kind = "cross" if self.crossing.get(module) else "self"
        stack = self.stacks.find(module)
        layer = self.counts.get((stack, kind), 0)
        self.counts[stack, kind] = layer + 1
        return Place(stack, kind, layer)


def _path_of_blocks(name: str) -> str:
    """The path of a module up to its list of blocks: model.layers for model.layers.3.self_attn."""
    parts = name.split(".")
    number = next((place for place, part in enumerate(parts) if part.isdigit()), len(parts) - 1)
    return ".".join(parts[:number])


def _find_encoder(model: nn.Module) -> set[nn.Module] | None:
    config = getattr(model, "config", None)
    get_encoder = getattr(model, "get_encoder", None)
    if get_encoder is None or not getattr(config, "is_encoder_decoder", False):
        return None
    encoder = get_encoder()
    return None if encoder is model else set(encoder.modules())


def _places_of_other_states(module_class: type[nn.Module]) -> tuple[tuple[str, int], ...]:
    """The parameters for states of another stack that a class's forward has, and their places."""
    names = [name for name in _parameters(module_class) if name != "self"]
    return tuple((name, names.index(name)) for name in OTHER_STATES if name in names)


def _parameters(module_class: type[nn.Module]) -> list[str]:
    return list(inspect.signature(module_class.forward).parameters)
