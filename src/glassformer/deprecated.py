"""Import paths, arguments and their order of version 0.1: each works for one more version, and warns.

In:   an import such as `from glassformer.recorders.recorder import load`; a call with an old argument.
Out:  the object at its present place; the call with its present arguments.
"""

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from numbers import Integral
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Of modules that exist no longer: every name that the documents mentioned, and its present address.
MOVED = {
    old: {name: f"glassformer.{new.replace(':', '.')}" for name, new in names.items()}
    for old, names in {
        "glassformer.model.choosing": {"GenerationSettings": "GenerationSettings"},
        "glassformer.recorders.demo": {"teach_translator": "lessons.demo_translator:train_translator"},
        "glassformer.recorders.huggingface": {"HuggingFaceSubject": "loaded.transformers:TransformersModel"},
        "glassformer.recorders.long": {
            "invent_text": "lessons.long_text:invent_text",
            "open_rotary": "lessons.long_text:open_rotary",
        },
        "glassformer.recorders.ours": {"OurSubject": "loaded.native:NativeModel"},
        "glassformer.recorders.recorder": {"load": "load", "record": "record"},
        "glassformer.show": {"__call__": "render.notebook.show:show"},  # it was a module that could be called
        "glassformer.show.figures": {"figure": "figure"},
        "glassformer.show.frames": {
            "Frame": "api.frames:Frame",
            "Plane": "api.frames:FrameArray",
            "decode": "api.frames:decode_frame",
            "encode": "api.frames:encode_frame",
            "quantise": "api.frames:quantise",
            "restore": "api.frames:dequantise",
        },
        "glassformer.show.html": {"export": "export"},
        "glassformer.show.library": {"Library": "api.library:Library"},
        "glassformer.show.server.app": {"create_app": "api.app:create_app"},
        "glassformer.show.terminal": {"draw_recording": "render.terminal.heatmap:draw_recording"},
        "glassformer.show.walk": {"explain": "walk:explain", "make_plan": "walk:make_plan"},
        "glassformer.show.widget": {"show": "render.notebook.show:show"},
        "glassformer.train": {"__call__": "training.recipe:train"},
        "glassformer.train.recipe": {
            "read_recipe": "training.recipe:read_recipe",
            "run_recipe": "training.recipe:train",
        },
        "glassformer.train.settings": {
            "MonitorSettings": "training.settings:MonitorSettings",
            "TrainSettings": "training.settings:TrainSettings",
        },
        "glassformer.workbench.playground.playing": {"play": "lessons.run:run_topic"},
        "glassformer.workbench.playground.topics": {
            "find_topic": "lessons.topics:find_topic",
            "read_parameters": "lessons.topics:read_parameters",
        },
    }.items()
}


class MovedModule(ModuleType):
    """A module that is no more; its names are found at their present place."""

    def __getattr__(self, name: str) -> Any:
        return _find(self.__name__, name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """`glassformer.show(…)` after an import of an old module below `glassformer.show`."""
        return _find(self.__name__, "__call__")(*arguments, **options)


class Finder(MetaPathFinder, Loader):
    """Finds moved modules, after everything else has failed."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        has_children = any(old.startswith(f"{fullname}.") for old in MOVED)
        if fullname not in MOVED and not has_children:
            return None
        return ModuleSpec(fullname, self, is_package=has_children)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return MovedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install() -> None:
    """Let old paths be imported."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())


def _find(module: str, name: str) -> Any:
    new = MOVED.get(module, {}).get(name)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    old = module if name == "__call__" else f"{module}.{name}"
    _warn(f"{old} is now {new}", stacklevel=4)
    home, _, last = new.rpartition(".")
    return getattr(importlib.import_module(home), last)


def rename_argument(
    old: str, new: str
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A decorator: a function takes an argument by its old name, too."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            if old in options:
                _warn(f"the argument {old}= of {function.__name__} is now {new}=")
                options[new] = options.pop(old)
            return function(*arguments, **options)

        return call

    return decorate


def rename_value(argument: str, old: str, new: str) -> str:
    """The present name of a value that was given by its old one."""
    _warn(f"{argument}={old!r} is now {argument}={new!r}", stacklevel=5)
    return new


def accept_parts(name: str, whole: Any) -> Callable[[type[Result]], type[Result]]:
    """A decorator: `AttentionMap(stack, layer, kind, …)` is constructed, which now takes a Place first."""

    def decorate(kind: type[Result]) -> type[Result]:
        construct: Callable[..., None] = kind.__init__

        @wraps(construct)
        def call(self: Result, *arguments: Any, **options: Any) -> None:
            parts = {each: options.pop(each) for each in whole._fields if each in options}
            if arguments and isinstance(arguments[0], str):
                parts |= zip(("stack", "layer", "kind"), arguments, strict=False)
                arguments = arguments[3:]
            if parts:
                _warn(f"{kind.__name__} takes {name}={whole.__name__}{whole._fields} in place of its parts")
                known = options[name]._asdict() if name in options else {}
                options[name] = whole(**(known | parts))
            if parts and arguments:
                arguments = (options.pop(name), *arguments)
            construct(self, *arguments, **options)

        setattr(kind, "__init__", call)  # noqa: B010 - mypy refuses the plain assignment
        return kind

    return decorate


def accept_layer_first(method: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A decorator: takes `map("decoder", 3, "cross")`, too, where the kind now comes before the layer."""
    whole: Callable[..., Result] = method

    @wraps(method)
    def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        holder_and_stack, layer, kind, step = arguments[:2], arguments[2:3], arguments[3:4], arguments[4:]
        is_old = isinstance(next(iter(layer), None), Integral) and all(isinstance(each, str) for each in kind)
        if not is_old or len(step) > 1:
            return method(*arguments, **options)
        _warn("the order is now (stack, kind, layer), as in Place; use layer=")
        named = {"layer": layer[0], **({"step": step[0]} if step else {})}
        return whole(*holder_and_stack, *kind, **named, **options)

    return call


def _warn(text: str, stacklevel: int = 3) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel)
