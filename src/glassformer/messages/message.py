"""A message: the code of a text and its parameters.

In:   a code of the catalogues, and values: numbers, names, other messages, lists of them.
Out:  text in any language; a JSON object that a page formats by itself.

Templates are those of `str.format` without conversions, and with some specifications of their own:
`{name:q}` quotes, `{count:plural token|tokens}` chooses by number, `{names:or}` and `{names:and}` join lists.
Numbers take Python's specifications (`{share:.0%}`). web/src/core/messages.ts formats the same way.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from glassformer.messages.catalogues import find_template
from glassformer.messages.languages import get_language

LONGEST_QUOTE = 200  # characters of a quoted parameter: it may be anybody's file

_CODE = re.compile(r"[\w-]+(\.[\w-]+)+")
_NUMBER_FORMAT = re.compile(r"\+?,?(\.\d)?[%defg]?")  # strangers' templates may not ask for a million digits
_DEEPEST = 8  # messages in messages


@dataclass(frozen=True, slots=True)
class Message:
    """The code of a text and its parameters; `str()` is the text in the language of this process."""

    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    default: str | None = None  # template for a code that no catalogue has: the English text of a plug-in

    def __post_init__(self) -> None:
        values = {name: _plain(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", MappingProxyType(values))

    def __hash__(self) -> int:
        return hash((self.code, repr(dict(self.parameters)), self.default))

    def __reduce__(self) -> tuple[Any, ...]:
        return Message, (self.code, dict(self.parameters), self.default)

    def text(self, language: str) -> str:
        """The text in a language; in English where the language lacks it."""
        template = find_template(self.code, language) or self.default
        if template is None:
            details = ", ".join(f"{name}: {value}" for name, value in self.parameters.items())
            return f"{self.code} ({details})" if details else self.code
        try:
            return _Formatter(language).vformat(template, (), self.parameters)
        except (ValueError, IndexError):  # a template of a stranger's file: a brace too many
            return template

    def __str__(self) -> str:
        return self.text(get_language())

    def replace(self, old: str, new: str) -> "Message":
        """The same message with one text replaced by another in all its parameters."""

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(change, value))
            return value.replace(old, new) if isinstance(value, (str, Message)) else value

        parameters = {name: change(value) for name, value in self.parameters.items()}
        return Message(self.code, parameters, self.default)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        parameters = {name: _to_json(value) for name, value in self.parameters.items()}
        default = {} if self.default is None else {"default": self.default}
        return {"code": self.code, "parameters": parameters, **default}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], depth: int = 0) -> "Message":
        """What `to_json` made; KeyError, TypeError or ValueError for anything else."""
        if depth > _DEEPEST:
            raise ValueError(f"messages are nested deeper than {_DEEPEST} levels")
        code, parameters, default = data["code"], data.get("parameters", {}), data.get("default")
        if not (isinstance(code, str) and isinstance(parameters, Mapping)):
            raise TypeError("a message has a code and parameters")
        if default is not None and not isinstance(default, str):
            raise TypeError("the default of a message is a text")
        return cls(code, {str(name): _from_json(value, depth) for name, value in parameters.items()}, default)


@runtime_checkable
class Describable(Protocol):
    """Anything that can stand in a message: an address, an edit."""

    def as_message(self) -> Message:
        """What it is, as a message."""


def message(code: str, /, default: str | None = None, **parameters: Any) -> Message:
    """A message by its code."""
    return Message(code, parameters, default)


def literal(text: str) -> Message:
    """A text that is not ours to translate: the message of another library, a line of an old file."""
    return Message("text.literal", {"text": text}, "{text}")


def as_message(text: Message | str) -> Message:
    """A message as it is, the message of a code, or a plain text."""
    if isinstance(text, Message):
        return text
    return Message(text) if is_code(text) else literal(text)


def is_code(text: str) -> bool:
    """Whether a text is the code of a message rather than a sentence."""
    return _CODE.fullmatch(text) is not None


class _Formatter(Formatter):
    def __init__(self, language: str) -> None:
        self.language = language

    def get_field(self, field_name: str, _: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A parameter by its whole name: templates of strangers reach no attributes."""
        return kwargs.get(field_name, f"{{{field_name}}}"), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message):
            return value.text(self.language)
        if format_spec.startswith("plural "):
            one, _, many = format_spec.removeprefix("plural ").partition("|")
            return one if value == 1 else many
        if isinstance(value, tuple):
            return self._join([self.format_field(each, "") for each in value], format_spec)
        if format_spec == "q":
            text = str(value)
            short = text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"
            return repr(short) if isinstance(value, str) else short
        known = isinstance(value, (int, float)) and _NUMBER_FORMAT.fullmatch(format_spec)
        return format(value, format_spec) if known else str(value)

    def _join(self, texts: list[str], how: str) -> str:
        separator = find_template("list.separator", self.language) or ","
        if how in ("or", "and") and len(texts) > 1:
            last = find_template(f"list.{how}", self.language) or how
            texts = [*texts[:-2], _spaced(last).join(texts[-2:])]
        return _spaced(separator).join(texts)


def _spaced(template: str) -> str:
    """Catalogues are stripped; `_` stands for a blank at an end."""
    return template.replace("_", " ")


def _plain(value: Any) -> Any:
    """A parameter as it is kept: numbers, texts, messages and tuples of them."""
    if isinstance(value, (Message, str, bool, int, float)) or value is None:
        return value
    if isinstance(value, Describable):
        return value.as_message()
    if isinstance(value, (list, tuple, set, frozenset)) or _is_view(value):
        return tuple(map(_plain, sorted(value) if isinstance(value, (set, frozenset)) else value))
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else str(value)


def _is_view(value: Any) -> bool:
    return type(value).__name__ in ("dict_keys", "dict_values", "range", "mappingproxy")


def _to_json(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_json()
    return [_to_json(each) for each in value] if isinstance(value, tuple) else value


def _from_json(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return Message.from_json(value, depth + 1)
    return tuple(_from_json(each, depth + 1) for each in value) if isinstance(value, list) else value
