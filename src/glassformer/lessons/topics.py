"""What can be played with: topics in words, and whether somebody's parameters are possible. Without torch.

In:   the TOML files of this folder; parameters as they stand in an address.
Out:  `Topic`s in order; parameters as values, or a refusal that names the wrong one.
"""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from glassformer.errors import ApiError
from glassformer.lessons.schema import Parameter, Topic, Value
from glassformer.registry import suggest

FOLDER = Path(__file__).parent
YES, NO = ("true", "1", "yes"), ("false", "0", "no")


@cache
def read_topics() -> tuple[Topic, ...]:
    """All topics, in the order that their files give."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        words = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append((words.pop("order"), Topic(name=path.stem, **words)))
    return tuple(topic for _, topic in sorted(found, key=lambda pair: pair[0]))


def find_topic(name: str) -> Topic:
    """The topic of this name."""
    known = {topic.name: topic for topic in read_topics()}
    if name not in known:
        raise ApiError(
            f"There is no topic {name[:40]!r}.{suggest(name[:40], known)} /api/playground lists them.",
            "no_topic",
            404,
        )
    return known[name]


def read_parameters(topic: Topic, given: Mapping[str, str]) -> dict[str, Value]:
    """Every parameter of the topic: as given, else its default."""
    known = {parameter.name: parameter for parameter in topic.parameters}
    for name in given:
        if name not in known:
            _refuse(f"{topic.name} has no parameter {name[:40]!r}.{suggest(name[:40], known)}")
    return {
        name: _read(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


def _read(parameter: Parameter, word: str) -> Value:
    match parameter.kind:
        case "choice":
            allowed = [choice.value for choice in parameter.choices]
            if word not in allowed:
                _refuse(f"{parameter.name} is {word[:40]!r}. Wanted one of {', '.join(allowed)}.")
            return word
        case "flag":
            if word.lower() not in (*YES, *NO):
                _refuse(f"{parameter.name} is {word[:40]!r}. Wanted true or false.")
            return word.lower() in YES
        case "text":
            longest = parameter.longest or 0
            if not word.strip():
                _refuse(f"{parameter.name} is blank. Wanted 1 to {longest} characters.")
            if len(word) > longest:
                _refuse(f"{parameter.name} has {len(word):,} characters. Wanted 1 to {longest}.")
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
        kind = "a whole number" if whole else "a number"
        _refuse(f"{parameter.name} is {word[:40]!r}. Wanted {kind} from {low:g} to {high:g}.")
    return int(number) if whole else number


def _refuse(sentence: str) -> None:
    raise ApiError(sentence, "malformed", 422)
