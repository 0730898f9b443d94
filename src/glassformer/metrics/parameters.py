"""The knobs of a metric: declared in its signature, checked before it runs.

In:   a function whose keyword-only arguments are annotated, and what a person asked for.
Out:  Parameters with type, default, bounds and meaning (for controls and documents); checked values.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from glassformer.errors import ConfigurationError
from glassformer.registry import suggest


@dataclass(frozen=True, slots=True)
class About:
    """What an argument means, and its bounds (both included); used as Annotated[float, About(...)]."""

    meaning: str
    chinese: str  # the same, for the page
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared argument of a metric."""

    name: str
    type: Any  # float, int, bool, str or a class
    choices: tuple[str, ...]  # of a Literal; else empty
    default: Any  # inspect.Parameter.empty where one must be given
    about: About

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def check(self, metric: str, value: Any) -> Any:
        """The value as the metric takes it; a whole number does for a float, nothing else is converted."""
        if self.choices:
            if value in self.choices:
                return value
            raise self._refuse(metric, value, "one of " + ", ".join(self.choices))
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        fits = isinstance(value, self.type) and (self.type is bool or not isinstance(value, bool))
        if not fits or (self.type is float and not isfinite(value)):
            raise self._refuse(metric, value, _spell(self.type))
        least, most = self.about.least, self.about.most
        if (least is not None and value < least) or (most is not None and value > most):
            bounds = f"from {least:g}" if least is not None else ""
            bounds += f" up to {most:g}" if most is not None else ""
            raise self._refuse(metric, value, f"{_spell(self.type)} {bounds.strip()}")
        return value

    def _refuse(self, metric: str, value: Any, wanted: str) -> ConfigurationError:
        return ConfigurationError(
            f"The {self.name} of {metric} is {value!r}. Wanted {wanted}: {self.about.meaning}. Change it."
        )


def _spell(kind: Any) -> str:
    words = {float: "a number", int: "a whole number", bool: "True or False", str: "a string"}
    return words.get(kind, f"a {kind.__name__}")


def declare(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a metric: its keyword-only arguments."""
    hints = get_type_hints(function, include_extras=True)
    declared = []
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        hint = hints[argument.name]
        if get_origin(hint) is not Annotated:
            raise TypeError(f"{function.__name__}: annotate {argument.name} with Annotated[type, About(...)]")
        plain, about = get_args(hint)
        choices = get_args(plain) if get_origin(plain) is Literal else ()
        declared.append(Parameter(argument.name, str if choices else plain, choices, argument.default, about))
    return tuple(declared)


def settle(metric: str, declared: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared parameter with its value; refuses unknown names, missing ones and impossible values."""
    known = {parameter.name: parameter for parameter in declared}
    for name in given:
        if name not in known:
            hint = suggest(name, known) if known else " It has none."
            raise ConfigurationError(f"{metric} has no parameter called {name!r}.{hint}")
    settled = {}
    for name, parameter in known.items():
        if name in given:
            settled[name] = parameter.check(metric, given[name])
        elif parameter.required:
            raise ConfigurationError(
                f"{metric} was given no {name}. Wanted {parameter.about.meaning}. Pass {name}=."
            )
        else:
            settled[name] = parameter.default
    return settled
