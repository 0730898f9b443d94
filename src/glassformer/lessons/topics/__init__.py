"""The topics of the playground, one folder each, and the check of their parameters. Without torch.

In:   the file `topic.toml` of every folder here; parameters as they stand in a URL.
Out:  `Topic`s in order; parameters as values, or an error that names the wrong one.
"""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.errors import ApiError
from glassformer.lessons.schema import Parameter, Topic, Value
from glassformer.messages import Message, literal, message
from glassformer.registry import suggestion

YES, NO = ("true", "1", "yes"), ("false", "0", "no")
LONGEST_NAME = 40  # characters of a name or value that an error repeats
WRONG = ("malformed", 422)  # code and status of a parameter that is refused


@cache
def read_topics() -> tuple[Topic, ...]:
    """All topics, in the order that their files give."""
    found = []
    for path in (path for folder in __path__ for path in Path(folder).glob("*/topic.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append((table.pop("order"), _build_topic(path.parent.name, table)))
    return tuple(topic for _, topic in sorted(found, key=lambda pair: (pair[0], pair[1].name)))


def _build_topic(name: str, table: dict[str, Any]) -> Topic:
    """A topic from its TOML file. Its texts are messages lessons.NAME.topic.…; English ones that stand in the
    file are for topics that the catalogues do not know."""

    def find(key: str, texts: dict[str, Any], entry: str) -> Message:
        return message(f"lessons.{name}.topic.{key}", default=texts.get(entry))

    for parameter in table.get("parameters", ()):
        parameter["label"] = find(f"parameter.{parameter['name']}", parameter, "label")
        for choice in parameter.get("choices", ()):
            key = choice["value"].replace("-", "_")
            ours = key.isascii() and key.isidentifier()  # others are numbers and words of the example
            code = f"choice.{parameter['name']}.{key}"
            choice["label"] = find(code, choice, "label") if ours else literal(choice["value"])
    texts = {key: find(key, table, key) for key in ("title", "question", "change", "see", "why")}
    return Topic.model_validate({"name": name, **table, **texts})


def find_topic(name: str) -> Topic:
    """The topic of this name.

    >>> gf.find_topic("masks").parameters[0].name
    'mask'
    """
    known = {topic.name: topic for topic in read_topics()}
    if name not in known:
        name = name[:LONGEST_NAME]
        near = suggestion(name, known)
        raise ApiError("lessons.no_topic", status=404, name=name, suggestion=near)
    return known[name]


def read_parameters(topic: Topic, given: Mapping[str, str]) -> dict[str, Value]:
    """The value of every parameter of a topic: as given, else its default.

    >>> gf.read_parameters(gf.find_topic("masks"), {"mask": "causal"})["mask"]
    'causal'
    """
    known = {parameter.name: parameter for parameter in topic.parameters}
    for name in given:
        if name not in known:
            near = suggestion(name[:LONGEST_NAME], known)
            shown = name[:LONGEST_NAME]
            raise ApiError("lessons.no_parameter", *WRONG, topic=topic.name, name=shown, suggestion=near)
    return {
        name: _read(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


def _read(parameter: Parameter, text: str) -> Value:
    name, value = parameter.name, text[:LONGEST_NAME]
    match parameter.kind:
        case "choice":
            allowed = [choice.value for choice in parameter.choices]
            if text not in allowed:
                raise ApiError("lessons.not_a_choice", *WRONG, name=name, value=value, known=allowed)
            return text
        case "flag":
            if text.lower() not in (*YES, *NO):
                raise ApiError("lessons.not_a_flag", *WRONG, name=name, value=value)
            return text.lower() in YES
        case "text":
            most = parameter.max_length or 0
            if not text.strip():
                raise ApiError("lessons.blank", *WRONG, name=name, most=most)
            if len(text) > most:
                raise ApiError("lessons.too_long", *WRONG, name=name, count=len(text), most=most)
            return text.strip()
        case "integer" | "number":
            return _read_number(parameter, text)


def _read_number(parameter: Parameter, text: str) -> Value:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    low, high = parameter.minimum, parameter.maximum
    assert low is not None
    assert high is not None
    whole = parameter.kind == "integer"
    if not low <= number <= high or (whole and number != int(number)):
        code = "lessons.not_an_integer" if whole else "lessons.not_a_number"
        raise ApiError(code, *WRONG, name=parameter.name, value=text[:LONGEST_NAME], low=low, high=high)
    return int(number) if whole else number
