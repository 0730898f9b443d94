"""Errors carry messages: in the language of the process, also after pickling."""

import pickle
from collections.abc import Iterator

import pytest

from glassformer.errors import ApiError, InputError
from glassformer.messages import set_language


@pytest.fixture(autouse=True)
def plain_language(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("GLASSFORMER_LANGUAGE", raising=False)
    set_language(None)
    yield
    set_language(None)


def test_errors_speak_the_language_of_the_process() -> None:
    error = InputError("place.malformed", address="x")
    assert "is not the address" in str(error)
    set_language("zh")
    assert "不是注意力图的地址" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message) == (InputError, error.message)
    refused = pickle.loads(pickle.dumps(ApiError("place.malformed", status=404, address="x")))
    assert (refused.code, refused.status) == ("malformed", 404)
