"""Maps by their place: routes, descriptions, scores, frames; indices of old links mean the same."""

from typing import Any

import numpy as np
import pytest

from glassformer.api.frames import Frame, decode_frame, dequantise, encode_frame, quantise_signed
from glassformer.api.library import Library
from glassformer.place import Place
from inventions import invent_decoder


@pytest.mark.parametrize("name", ["decoder", "translation"])
def test_a_place_and_an_index_lead_to_the_same_map(site: Any, name: str) -> None:
    described = site.json(site.of(name))["maps"]
    for index, each in enumerate(described):
        place = each["place"]
        assert Place.parse(place["address"]) == Place(
            *(place[key] for key in ("stack", "kind", "layer", "step"))
        )
        assert Place.parse(place["address"]) == site.recordings[name].maps[index].place
        for rest in ("statistics", "weights?as=float32"):
            by_place = site.client.get(f"{site.of(name)}/maps/{place['address']}/{rest}").content
            assert by_place == site.client.get(f"{site.of(name)}/maps/{index}/{rest}").content
    address = described[-1]["place"]["address"]
    one = site.json(f"{site.of(name)}/distribution?of=attention&place={address}")
    assert one == site.json(f"{site.of(name)}/distribution?of=attention&place={len(described) - 1}")


@pytest.mark.parametrize("address", ["decoder.self.99", "99", "-1", "decoder.self", "decoder.both.0", "²"])
def test_what_is_no_map_is_refused_with_an_example(site: Any, address: str) -> None:
    error = site.refusal(f"{site.of('decoder')}/maps/{address}/statistics", 404)
    assert error["code"] == "no_map"
    assert "decoder.self.0" in error["sentence"]


def test_frames_and_scores_name_places(site: Any) -> None:
    addresses = [each.place.address for each in site.recordings["translation"].maps]
    assert list(site.frame(site.of("translation") + "/thumbnails").arrays) == addresses
    frame = site.frame(f"{site.of('translation')}/maps/{addresses[1]}/weights?head=0")
    assert frame.meta["place"] == addresses[1]
    assert frame.arrays["weights"].content == "weights"
    parts = site.json(f"{site.of('translation')}/scores/entropy?over=head")["parts"]
    assert [part["place"]["address"] for part in parts] == addresses
    whole = site.json(f"{site.of('translation')}/scores/entropy?over=model")["parts"]
    assert all(part["place"] is None for part in whole)


def test_signed_values_travel_as_bytes_around_a_zero() -> None:
    values = np.array([[-2.0, -1e-9, 0.0], [1e-9, 0.5, 2.0]], dtype=np.float32)
    sent = decode_frame(encode_frame(Frame({"effects": quantise_signed(values)}))).arrays["effects"]
    assert (sent.scale, sent.content, sent.maximum) == ("signed_sqrt", "signed", 2.0)
    back = dequantise(sent)
    np.testing.assert_array_equal(np.sign(back), np.sign(values))
    np.testing.assert_allclose(back, values, atol=2 * 2.0 / 127)
    assert dequantise(quantise_signed(np.zeros((2, 2), np.float32))).tolist() == [[0, 0], [0, 0]]


def test_exactly_one_recording_is_the_default(site: Any) -> None:
    entries = site.json("/api/recordings")
    assert [each["id"] for each in entries if each["default"]] == [
        site.ids["decoder"]
    ]  # the first file given


def test_a_first_visitor_sees_what_ships_and_not_what_was_made_last() -> None:
    library = Library()
    try:
        made = library.add(invent_decoder(tokens=2, layers=1))
        entries = library.entries()
        (default,) = [entry for entry in entries if entry.default]
        assert entries[0].id == made != default.id
        assert (default.origin, default.id.partition("-")[0]) == ("shipped", "red")
        assert default.selection is not None
        assert default.selection["place"] in [each.place.address for each in library.get(default.id).maps]
    finally:
        library.close()
