"""Hidden states and outputs of a model of transformers."""

import pytest

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from their_models import ids_of, make_gpt2


def test_only_what_is_wanted_is_kept() -> None:
    subject = load(make_gpt2())
    each = subject.record(ids_of(8), want=("scores",)).maps[0]
    assert (each.dense, each.queries, each.keys, each.values) == (None, None, None, None)
    assert each.scores(0).shape == (8, 8)
    assert subject.record(ids_of(8), want=("hidden",)).output is None
    with pytest.raises(InputError, match="Did you mean 'weights'"):
        subject.record(ids_of(8), want=("weight",))
