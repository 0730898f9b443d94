"""The parameters of a metric: declared in its signature, checked before it runs.

In:   a function whose keyword-only arguments are annotated, and what a person asked for.
Out:  Parameters with type, default, bounds and meaning (for controls and documents); checked values.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from glassformer.deprecated import rename_value
from glassformer.errors import ConfigurationError
from glassformer.messages import Message, as_message
from glassformer.registry import suggestion
from glassformer.settings import Limits, describe_type, fits


@dataclass(frozen=True, slots=True)
class About:
    """What an argument means, and its bounds (both included); used as Annotated[float, About(...)]."""

    text: str  # in English, or the code of a message
    least: float | None = None
    most: float | None = None
    renamed: Mapping[str, str] = field(
        default_factory=dict
    )  # choices that had another name, which still works

    @property
    def meaning(self) -> Message:
        return as_message(self.text)


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
        if isinstance(value, str) and value in self.about.renamed:
            value = rename_value(self.name, value, self.about.renamed[value])
        kind: Any = Literal[self.choices] if self.choices else self.type
        limits = Limits(least=self.about.least, most=self.about.most)
        if not fits(value, kind) or not limits.allow(value) or (kind is float and not isfinite(value)):
            raise ConfigurationError(
                "metrics.wrong_parameter",
                metric=metric,
                name=self.name,
                value=value,
                wanted=describe_type(kind, limits),
                meaning=self.about.meaning,
            )
        return float(value) if self.type is float else value


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
            near = suggestion(name, known)
            raise ConfigurationError("metrics.unknown_parameter", metric=metric, name=name, suggestion=near)
    settled = {}
    for name, parameter in known.items():
        if name in given:
            settled[name] = parameter.check(metric, given[name])
        elif parameter.required:
            meaning = parameter.about.meaning
            raise ConfigurationError("metrics.missing_parameter", metric=metric, name=name, meaning=meaning)
        else:
            settled[name] = parameter.default
    return settled
