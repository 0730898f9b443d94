"""Settings that people write, in Python, TOML or JSON: frozen dataclasses that check themselves.

In:   values for the fields of a class that derives from `Settings`.
Out:  the object, or an error that names the setting, what it is and what it may be.
"""

import dataclasses
import json
import operator
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from glassformer.errors import ConfigurationError
from glassformer.messages import Message, literal, message
from glassformer.messages.message import LONGEST_QUOTE
from glassformer.registry import suggestion

_COMPARE = {"least": operator.ge, "above": operator.gt, "most": operator.le, "below": operator.lt}


@dataclass(frozen=True, slots=True)
class Limits:
    """Which numbers a setting may be: Annotated[int, Limits(least=1)]. NaN is within no limits."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    @property
    def given(self) -> dict[str, float]:
        """The limits that are set, by name."""
        return {name: limit for name in _COMPARE if (limit := getattr(self, name)) is not None}

    def allow(self, value: float) -> bool:
        """Whether a number is within all limits."""
        return all(_COMPARE[name](value, limit) for name, limit in self.given.items())

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The limits for pydantic, which calls this; nothing of it is imported here."""
        names = {"least": "ge", "above": "gt", "most": "le", "below": "lt"}
        return handler(source) | {names[name]: limit for name, limit in self.given.items()}

    def describe(self) -> list[Message]:
        """Each limit in words."""
        codes = {name: "finite" if limit == inf else name for name, limit in self.given.items()}
        return [message(f"settings.limits.{codes[name]}", limit=limit) for name, limit in self.given.items()]


Count = Annotated[int, Limits(least=1)]
CountOrZero = Annotated[int, Limits(least=0)]
Share = Annotated[float, Limits(least=0, below=1)]
UpToOne = Annotated[float, Limits(least=0, most=1)]
Fraction = Annotated[float, Limits(above=0, below=1)]
AtLeastZero = Annotated[float, Limits(least=0, below=inf)]
AboveZero = Annotated[float, Limits(above=0)]
Positive = Annotated[float, Limits(above=0, below=inf)]


class Settings:
    """Base of frozen dataclasses whose values are checked against the annotations of their fields."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            if not fits(value, hint):
                shown, wanted = _show(value), describe_type(hint)
                raise ConfigurationError("settings.wrong_value", name=name, value=shown, wanted=wanted)
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together."""


SettingsType = TypeVar("SettingsType", bound=Settings)


def read_settings(kind: type[SettingsType], values: Mapping[str, Any]) -> SettingsType:
    """Settings from a mapping; an unknown key is an error that offers the nearest name."""
    check_names(kind, values)
    missing = [
        field.name
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.name not in values
    ]
    if missing:
        raise ConfigurationError("settings.missing", kind=kind.__name__, names=missing)
    hints = get_type_hints(kind)
    frozen = {
        name: tuple(value) if isinstance(value, list) and get_origin(hints[name]) is tuple else value
        for name, value in values.items()
    }  # JSON and TOML have lists only
    return kind(**frozen)


def check_names(kind: type[Settings], names: Iterable[str], also: Sequence[str] = ()) -> None:
    """Refuse a name that is neither a setting nor one of `also`."""
    known = [*(field.name for field in dataclasses.fields(kind)), *also]  # type: ignore[arg-type]
    for name in names:
        if name not in known:
            near = suggestion(name, known)
            raise ConfigurationError("settings.unknown", kind=kind.__name__, key=name, suggestion=near)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return parse_toml(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError("settings.unreadable", path=path, reason=str(error.strerror)) from error
    except ValueError as error:
        raise ConfigurationError("settings.not_toml", path=path, error=str(error)) from error


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; ValueError for anything else, and for what no parser can hold."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("lists or tables are nested too deep") from error


def write_toml(tables: Mapping[str, Any]) -> str:
    """Tables as a TOML text, after values outside of them; inside them, a list of tables is written as [[…]],
    any other table in one line."""
    outside = {name: value for name, value in tables.items() if not isinstance(value, Mapping)}
    lines = [f"{_write_key(name)} = {write_toml_value(value)}\n" for name, value in outside.items()]
    parts = ["".join(lines)] if lines else []
    for name, table in tables.items():
        if name in outside:
            continue
        lists = {key: value for key, value in table.items() if _is_tables(value)}
        plain = {key: value for key, value in table.items() if key not in lists}
        parts.append(_write_table(f"[{_write_key(name)}]", plain))
        for key, inner in lists.items():
            title = f"[[{_write_key(name)}.{_write_key(key)}]]"
            parts += [_write_table(title, each) for each in inner]
    return "\n".join(parts)


def _write_table(title: str, table: Mapping[str, Any]) -> str:
    """Without what is null: TOML has no such value."""
    pairs = ((key, value) for key, value in table.items() if value is not None)
    return f"{title}\n" + "".join(f"{_write_key(key)} = {write_toml_value(value)}\n" for key, value in pairs)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def write_toml_value(value: Any) -> str:
    """A value of TOML in one line; JSON spells strings and numbers the same way."""
    if isinstance(value, Mapping):
        items = (f"{json.dumps(name)} = {write_toml_value(each)}" for name, each in value.items())
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_toml_value, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return repr(value)  # inf, nan
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


def _write_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type and within its limits; a whole number does for a float."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        return fits(value, arguments[0]) and all(limits.allow(value) for limits in _find_limits(hint))
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in arguments)
    if origin in (Union, UnionType):
        return any(fits(value, choice) for choice in arguments)
    if origin in (int, float):
        return isinstance(value, (int, origin)) and not isinstance(value, bool) and not _is_huge(value)
    if origin in (list, tuple):
        return isinstance(value, origin) and all(fits(item, arguments[0]) for item in value)
    return isinstance(value, origin) if isinstance(origin, type) else True


def describe_type(hint: Any, *limits: Limits) -> Message:
    """An annotated type in words, such as "a whole number (at least 1) or nothing"."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        return describe_type(arguments[0], *_find_limits(hint))
    if origin is Literal:
        return message("settings.types.choice", choices=tuple(map(repr, arguments)))
    if origin in (Union, UnionType):
        return message("settings.types.union", types=tuple(map(describe_type, arguments)))
    if origin in (list, tuple):
        return message("settings.types.list", type=describe_type(arguments[0]))
    name = getattr(origin, "__name__", str(hint))
    kind = message(f"settings.types.{name}", default=name)
    texts = [text for each in limits for text in each.describe()]
    return message("settings.types.limited", type=kind, limits=texts) if texts else kind


def _is_huge(value: Any) -> bool:
    """Whether a whole number has more than 64 bits; Python refuses to write the largest ones as text."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _show(value: Any) -> Any:
    """A value as it stands in an error."""
    if isinstance(value, str | int | float | None) and not _is_huge(value):
        return value
    return literal((hex(value) if isinstance(value, int) else repr(value))[:LONGEST_QUOTE])


def _find_limits(hint: Any) -> list[Limits]:
    return [each for each in hint.__metadata__ if isinstance(each, Limits)]
