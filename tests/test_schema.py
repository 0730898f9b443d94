"""What crosses the HTTP interface: strict models, and messages cut to their limits."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from glassformer.api.effects import EffectsRequest
from glassformer.api.jobs import JobRequest
from glassformer.messages import literal, message
from glassformer.place import Place
from glassformer.schema import LONGEST_LIST, LONGEST_TEXT, MessageModel, PlaceModel, RequestModel


class Request(RequestModel):
    """A request with one number."""

    share: float


@pytest.mark.parametrize("body", [{"share": float("nan")}, {"share": 1, "more": 2}, {}])
def test_a_request_takes_finite_numbers_and_known_fields_only(body: dict[str, object]) -> None:
    assert Request.model_validate({"share": 0.5}).share == 0.5
    with pytest.raises(ValidationError):
        Request.model_validate(body)


RUN = {"kind": "record", "model": "zoo/tiny", "text": "x"}
STEER = {"kind": "steer", "stack": "decoder", "layer": 0, "vector": [1.0]}
UNKNOWN = {f"unknown{number}": 1 for number in range(1000)}


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (JobRequest, RUN | UNKNOWN),
        (JobRequest, RUN | {"prefix": ["x"] * 1000}),
        (JobRequest, RUN | {"want": ["x"] * 1000}),
        (JobRequest, RUN | {"want": ["weights"] * 1000}),
        (JobRequest, RUN | {"decode": UNKNOWN}),
        (JobRequest, RUN | {"edits": [{}] * 1000}),
        (JobRequest, RUN | {"edits": [STEER | UNKNOWN]}),
        (JobRequest, RUN | {"edits": [STEER | {"vector": ["x"] * 1000}]}),
        (JobRequest, RUN | {"edits": [STEER | {"positions": ["x"] * 1000}]}),
        (EffectsRequest, {"run": RUN, "outcome": {}, "ids": ["x"] * 1000}),
    ],
)
def test_of_many_faults_the_first_are_looked_for(model: type[RequestModel], body: dict[str, Any]) -> None:
    """Four megabytes of faults kept a server from all else for seconds."""
    with pytest.raises(ValidationError) as error:
        model.model_validate(body)
    assert error.value.error_count() <= 3


def test_unknown_fields_are_named_beside_known_ones() -> None:
    with pytest.raises(ValidationError) as error:
        Request.model_validate(UNKNOWN | {"share": 0.5})
    assert [each["loc"] for each in error.value.errors()] == [(f"unknown{number}",) for number in range(3)]


def test_a_message_is_sent_within_its_limits() -> None:
    names = tuple(str(number) for number in range(LONGEST_LIST + 5))
    sent = MessageModel.of(message("a.b", names=names, loss=float("inf"), text="x" * (LONGEST_TEXT + 5)))
    assert sent.parameters["names"] == names[:LONGEST_LIST]
    assert sent.parameters["loss"] == "inf"  # JSON has no such number
    assert len(str(sent.parameters["text"])) == LONGEST_TEXT
    assert json.loads(sent.model_dump_json())["code"] == "a.b"
    assert MessageModel.of(literal("plain")).default is not None


def test_a_place_is_sent_with_its_address() -> None:
    sent = PlaceModel.of(Place("decoder", "cross", 3, 2))
    assert (sent.address, sent.step) == ("decoder.cross.3@2", 2)
