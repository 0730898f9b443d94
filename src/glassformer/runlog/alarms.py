"""Alarms of a run: one for each trouble, from when it began until it passed, joined from the log's events.

In:   events; those of alarms carry a record (version 1) of cause, places and steps, older ones only a text.
Out:  `Alarm`s, in the order in which they began.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from glassformer.errors import InputError
from glassformer.messages import Message
from glassformer.place import Place

VERSION = 1  # of the records
ALARM = "alarm"  # the kinds of event: it begins,
GREW = "alarm_grew"  # other heads or layers have it too,
PASSED = "alarm_passed"  # it is over
ALARM_KINDS = (ALARM, GREW, PASSED)


@dataclass(frozen=True, slots=True)
class Alarm:
    """One trouble of a run."""

    cause: str  # "loss_spike", "dead_heads" …; in logs of older versions their topic
    first_step: int
    last_step: int  # at which it showed, as far as was written
    passed_at: int | None  # the step at which it was found to be over; None: it is not
    message: Message  # what was seen, and what helps
    heads: Mapping[Place, tuple[int, ...]] = field(default_factory=dict)  # by map
    layers: tuple[str, ...] = ()  # whose gradients it is about, such as "encoder.3"
    value: float | None = None

    @property
    def topic(self) -> str:
        """The cause in words."""
        return self.cause.replace("_", " ")

    def as_message(self) -> Message:
        """What was seen, and what helps."""
        return self.message


@dataclass(frozen=True, slots=True)
class AlarmRecord:
    """What an event says about its alarm."""

    number: int  # of the alarm in its run
    cause: str
    first_step: int
    last_step: int
    heads: Mapping[Place, tuple[int, ...]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        heads = {place.address: list(heads) for place, heads in self.heads.items()}
        return {
            "version": VERSION,
            "number": self.number,
            "cause": self.cause,
            "first_step": self.first_step,
            "last_step": self.last_step,
            **({"heads": heads} if heads else {}),
            **({"layers": list(self.layers)} if self.layers else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "AlarmRecord":
        """What `to_json` wrote; KeyError, TypeError or ValueError for anything else."""
        try:
            heads = {
                Place.parse(address): tuple(_count(head) for head in heads)
                for address, heads in data.get("heads", {}).items()
            }
        except (AttributeError, InputError) as error:
            raise ValueError("not the heads of maps") from error
        cause, layers = data["cause"], tuple(data.get("layers", ()))
        if not isinstance(cause, str) or not all(isinstance(layer, str) for layer in layers):
            raise TypeError("a text is none")
        steps = _count(data["first_step"]), _count(data["last_step"])
        return cls(_count(data["number"]), cause, *steps, heads, layers)


def join_alarms(events: Iterable[Any]) -> tuple[Alarm, ...]:
    """The alarms that events tell of."""
    found: dict[object, Alarm] = {}
    for place, event in enumerate(events):
        if event.kind not in ALARM_KINDS:
            continue
        record = event.find_record()
        if record is None:  # of an older version: it began, and nothing more is known
            at = event.find_place()
            heads = {} if at is None else {at: ()}
            found["old", place] = Alarm(
                event.topic, event.step, event.step, None, event.as_message(), heads, value=event.value
            )
            continue
        known = found.get(record.number)
        if event.kind == PASSED:
            if known is not None:
                found[record.number] = replace(known, last_step=record.last_step, passed_at=event.step)
            continue
        found[record.number] = Alarm(
            record.cause,
            record.first_step,
            record.last_step,
            None,
            event.as_message(),
            record.heads,
            record.layers,
            event.value,
        )
    return tuple(found.values())


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("not a count")
    return value
