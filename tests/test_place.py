"""The address of an attention map: its text, its message, and how places are found."""

from typing import Any

import numpy as np
import pytest

from glassformer.errors import InputError, RecordingError
from glassformer.metrics import score
from glassformer.place import Place, match_places
from glassformer.recording import from_arrays


def test_a_place_reads_in_both_languages() -> None:
    place = Place("decoder", "cross", 3)
    assert str(place) == "decoder layer 3, cross"
    assert place.as_message().text("zh") == "解码器第 3 层，交叉注意力"
    assert str(Place("decoder", "self", 0, 2)) == "decoder layer 0, self, step 2"


def test_a_stack_of_a_stranger_keeps_its_name() -> None:
    assert str(Place("vision{0}", "self", 1)) == "vision{0} layer 1, self"


@pytest.mark.parametrize("place", [Place("encoder", "self", 0), Place("text.layers", "cross", 11, 4)])
def test_an_address_leads_back(place: Place) -> None:
    assert Place.parse(place.address) == place


@pytest.mark.parametrize("text", ["", "decoder", "decoder.self", "a.both.1", "a.self.-1", "a.self.1@x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        Place.parse(text)
    assert error.value.message.code == "place.malformed"


def test_places_are_found_by_place_address_or_parts() -> None:
    places = [Place("encoder", "self", 0), Place("decoder", "self", 0), Place("decoder", "self", 1)]
    places += [Place("decoder", "cross", 0), Place("decoder", "cross", 0, 2)]
    assert match_places(places, places[3]) == match_places(places, "decoder.cross.0") == [places[3]]
    assert match_places(places, "decoder.cross.0@2") == [places[4]]
    assert match_places(places) == places[:2]
    assert match_places(places, "decoder", layer=-1) == [places[2]]
    assert match_places(places, layer=-1) == [places[0], places[2]]
    assert match_places(places, "vision") == []


@pytest.mark.parametrize(
    "parts", [(0,), (("encoder", "self", 0),), ("encoder", None), ("encoder", "self", "2")]
)
def test_parts_of_another_type_are_refused(parts: Any) -> None:
    with pytest.raises(RecordingError) as error:
        match_places([Place("encoder", "self", 0)], *parts)
    assert error.value.message.code == "place.wrong_parts"


def test_an_address_that_is_missing_is_named_as_a_place() -> None:
    recording = from_arrays(np.eye(2)[None], ["a", "b"])
    with pytest.raises(RecordingError, match=r"There is no attention map at decoder layer 0, self, step 2\."):
        recording.map("decoder.self.0@2")
    with pytest.raises(InputError, match=r"no value at encoder layer 9, self\."):
        score(recording, "entropy").part("encoder.self.9")
