"""The topics of the playground and the check of their parameters. Without torch.

In:   the TOML files of this folder; parameters as they stand in an address.
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

FOLDER = Path(__file__).parent
YES, NO = ("true", "1", "yes"), ("false", "0", "no")


@cache
def read_topics() -> tuple[Topic, ...]:
    """All topics, in the order that their files give."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append((table.pop("order"), _build_topic(path.stem, table)))
    return tuple(topic for _, topic in sorted(found, key=lambda pair: pair[0]))


def _build_topic(name: str, table: dict[str, Any]) -> Topic:
    """A topic from its TOML file, with its texts from the catalogues (lessons.NAME.topic …)."""

    def find(key: str) -> Message:
        return message(f"lessons.{name}.topic.{key}")

    for parameter in table.get("parameters", ()):
        parameter["label"] = find(f"parameter.{parameter['name']}")
        for choice in parameter.get("choices", ()):
            key = choice["value"].replace("-", "_")
            ours = key.isascii() and key.isidentifier()  # others are numbers and words of the example
            choice["label"] = find(f"choice.{parameter['name']}.{key}") if ours else literal(choice["value"])
    texts = {key: find(key) for key in ("title", "question", "change", "see", "why")}
    return Topic.model_validate({"name": name, **table, **texts})


def find_topic(name: str) -> Topic:
    """The topic of this name."""
    known = {topic.name: topic for topic in read_topics()}
    if name not in known:
        near = suggestion(name[:40], known)
        raise ApiError("lessons.no_topic", code="no_topic", status=404, name=name[:40], suggestion=near)
    return known[name]


def read_parameters(topic: Topic, given: Mapping[str, str]) -> dict[str, Value]:
    """Every parameter of the topic: as given, else its default."""
    known = {parameter.name: parameter for parameter in topic.parameters}
    for name in given:
        if name not in known:
            near = suggestion(name[:40], known)
            raise _refuse("lessons.no_parameter", topic=topic.name, name=name[:40], suggestion=near)
    return {
        name: _read(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


def _read(parameter: Parameter, word: str) -> Value:
    match parameter.kind:
        case "choice":
            allowed = [choice.value for choice in parameter.choices]
            if word not in allowed:
                raise _refuse("lessons.not_a_choice", name=parameter.name, value=word[:40], known=allowed)
            return word
        case "flag":
            if word.lower() not in (*YES, *NO):
                raise _refuse("lessons.not_a_flag", name=parameter.name, value=word[:40])
            return word.lower() in YES
        case "text":
            longest = parameter.longest or 0
            if not word.strip():
                raise _refuse("lessons.blank", name=parameter.name, most=longest)
            if len(word) > longest:
                raise _refuse("lessons.too_long", name=parameter.name, count=len(word), most=longest)
            return word.strip()
        case _:
            return _read_number(parameter, word)


def _read_number(parameter: Parameter, word: str) -> Value:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    low, high = parameter.minimum, parameter.maximum
    assert low is not None
    assert high is not None
    whole = parameter.kind == "integer"
    if not low <= number <= high or (whole and number != int(number)):
        code = "lessons.not_an_integer" if whole else "lessons.not_a_number"
        raise _refuse(code, name=parameter.name, value=word[:40], low=low, high=high)
    return int(number) if whole else number


def _refuse(message_code: str, **parameters: Any) -> ApiError:
    return ApiError(message(message_code, **parameters), code="malformed", status=422)
