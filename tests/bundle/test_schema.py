"""The schema of a description: what is written follows it, and every type of a recording is in it."""

import json
from dataclasses import fields

import pytest

from bundles import make_recording
from glassformer import recording as types
from glassformer.bundle import schema
from glassformer.bundle.description import _FIELDS, _LATER, describe
from glassformer.errors import BundleError


def test_what_is_written_follows_the_schema():
    description = describe(make_recording(), lambda where, array: where)
    schema.check_description(json.loads(json.dumps(description)))


@pytest.mark.parametrize("name", sorted(_FIELDS))
def test_every_field_of_a_type_is_in_the_schema(name):
    parts = {"HeadStatistics": "Statistics", "AttentionMap": "Map"}
    model = getattr(schema, f"_{parts.get(name, name)}Fields")
    assert set(model.model_fields) == set(_FIELDS[name])
    later = {each for each, field in model.model_fields.items() if not field.is_required()}
    assert later == set(_LATER.get(name, {}))
    assert len(fields(getattr(types, name))) > 0


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("maps", 0, "fields", "layer"), schema.MOST_LAYERS),
        (("maps", 0, "fields", "step"), schema.MOST_STEPS),
        (("generation", "fields", "steps", 0, "fields", "index"), schema.MOST_STEPS),
        (("model",), "x" * (schema.LONGEST_NAME + 1)),
        (("evidence", "fields", "dtype"), "\ud800"),
        (("evidence", "fields", "notes"), ["note"] * 100_000),
        (("output", "fields", "vocabulary"), {"pairs": [["1", "one"]]}),
        (("maps", 0, "fields", "factors", "fields", "scale"), {"float": "nan"}),
    ],
)
def test_what_is_beyond_the_bounds_is_refused_by_its_name(place, value):
    description = json.loads(json.dumps(describe(make_recording(), lambda where, array: where)))
    inner = description["content"]["fields"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(BundleError, match=str(place[-1])):
        schema.check_description(description)
