"""A recording becomes JSON and comes back; a description that cannot be is refused in words."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundles import assert_same, describe, make_recording, read_table
from glassformer import bundle
from glassformer.errors import BundleError
from glassformer.messages import Message, literal
from glassformer.place import Place
from glassformer.recording import Recording


def test_messages_are_kept_with_their_parameters(tmp_path):
    recording = make_recording()
    place = Place("decoder", "self", 1)
    noted = Message("recording.evidence.edited", {"edit": place, "names": ("a", literal("b"))})
    bundle.save(replace(recording, evidence=replace(recording.evidence, notes=(noted,))), tmp_path / "x")
    assert bundle.open(tmp_path / "x").evidence.notes == (noted,)


def test_shared_things_stay_shared_and_are_written_once(saved):
    opened = bundle.open(saved)
    assert opened.maps[0].query is opened.maps[1].key is opened.target
    names = set(read_table(saved)) - {"__metadata__"}
    assert sum("log_sum_exp" in name for name in names) == 1
    assert sum("queries" in name for name in names) == 1


def test_one_mask_for_all_heads_is_written_once(tmp_path):
    recording = make_recording()
    statistics = replace(recording.maps[0].statistics, allowed=np.arange(1, 13))
    recording = replace(recording, maps=(replace(recording.maps[0], statistics=statistics),))
    bundle.save(recording, tmp_path / "x.bundle")
    assert read_table(tmp_path / "x.bundle")["content/maps/0/statistics/allowed"]["shape"] == [12]
    assert_same(recording, bundle.open(tmp_path / "x.bundle"))


def first(description):
    return description["content"]["fields"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("tokens") and None, "tokens: it is missing"),
        (lambda d: b"{", "description cannot be read"),
        (lambda d: b"\xff", "description cannot be read"),
        (lambda d: b"[" * 100_000, "description cannot be read"),
        (lambda d: first(d).pop("model") and None, "fields.model: it is missing"),
        (lambda d: first(d).update(extra=1), "fields.extra: there is no such field"),
        (lambda d: first(d)["output"]["fields"].update(ids={"array": "nowhere"}), "'nowhere' is missing"),
        (lambda d: first(d).update(model={"array": []}), "description cannot be read"),
        (lambda d: first(d).update(model={"type": "os.system", "fields": {}}), "fields.model: expected text"),
        (lambda d: first(d).update(model={"a": 1, "b": 2}), "fields.model: expected text"),
        (lambda d: first(d).update(source={"tokens": 9}), "no tokens of number 9"),
        (lambda d: first(d).update(source={"tokens": "0"}), "source.tokens: expected a whole number"),
        (lambda d: first(d).update(source=None), "source: expected an object"),
        (lambda d: first(d).update(generation="x"), "generation: expected an object"),
        (lambda d: first(d)["evidence"]["fields"].update(kernel=5), "kernel.*expected text"),
        (
            lambda d: first(d)["evidence"]["fields"].update(kernel={"message": 5}),
            "description cannot be read",
        ),
        (
            lambda d: first(d)["evidence"]["fields"].update(kernel={"message": {"code": 5}}),
            "description cannot be read",
        ),
        (
            lambda d: first(d)["maps"][1]["fields"]["statistics"]["fields"].update(content="both"),
            "content: expected one of 'weights' or 'signed'",
        ),
        (lambda d: first(d).update(hidden={"pairs": 7}), "description cannot be read"),
        (lambda d: first(d).update(hidden={"pairs": [[["a"], 1]]}), "description cannot be read"),
        (lambda d: first(d).update(evidence="trust me"), "evidence: expected an object"),
        (lambda d: first(d)["maps"][1]["fields"].update(layer="1"), "layer: expected a whole number"),
        (lambda d: first(d)["maps"][1]["fields"].update(query=3), "query: expected an object"),
        (
            lambda d: first(d)["maps"][1]["fields"].update(dense={"array": "tokens/0/ids"}),
            "cannot be true.*dense",
        ),
        (lambda d: first(d)["maps"][1]["fields"].update(statistics={}), "description cannot be read"),
        (lambda d: d.update(tokens=[first(d)["evidence"]]), "tokens.0.type: expected one of 'Tokens'"),
        (lambda d: d.update(content=first(d)["evidence"]), "content.type: expected one of 'Recording'"),
        (lambda d: d["tokens"][0]["fields"].update(texts=5), "description cannot be read"),
        (lambda d: d["tokens"][0]["fields"].update(text=5), "text: expected text"),
        (lambda d: first(d)["maps"][1]["fields"].update(layer=5_000_000_000), "layer: expected less than"),
        (lambda d: first(d).update(model="x" * 20_000_000), "model: expected at most 4096 characters"),
        (lambda d: first(d).update(model="\ud800"), "model: expected text in Unicode"),
        (lambda d: first(d).update(architecture={"pairs": [["width", []]]}), "architecture.*expected"),
        (lambda d: b'{"tokens": [], "content": NaN}', "description cannot be read.*NaN"),
    ],
)
def test_a_hostile_description(saved, change, message):
    describe(saved, change)
    with pytest.raises(BundleError, match=message):
        bundle.open(saved)


STRANGE = (
    None, 0, -1, 1e300, 2**70, True, "x", "é", [], {}, [[]], {"array": "nope"}, {"array": []},
    {"float": "nan"}, {"float": []}, {"tokens": 99}, {"tokens": True}, {"pairs": 3}, {"pairs": [[{}, 1]]},
    {"pairs": [["a", {"float": "inf"}]]}, {"type": "Tokens", "fields": {}},
)  # fmt: skip


def list_places(value, place=()):
    """The way to every value inside a description."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*place, key)
        yield from list_places(each, (*place, key))


@given(st.data())
def test_a_description_changed_anywhere_is_refused_or_harmless(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("changed") / "x.bundle"
    bundle.save(make_recording(), path)

    def change(description):
        *way, last = data.draw(st.sampled_from(list(list_places(description))))
        inner = description
        for key in way:
            inner = inner[key]
        inner[last] = data.draw(st.sampled_from(STRANGE))

    describe(path, change)
    with suppress(BundleError):
        assert isinstance(bundle.open(path), Recording)
