"""What crosses the HTTP interface: strict models, and messages cut to their limits."""

import json

import pytest
from pydantic import ValidationError

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
