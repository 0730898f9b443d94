"""Messages: templates, parameters, JSON, languages."""

import json
import pickle
from pathlib import Path

import pytest

from glassformer.errors import ApiError, InputError
from glassformer.messages import Message, detect_language, get_language, literal, message, set_language
from glassformer.place import Place

FORMATS = json.loads(Path(__file__).with_name("formats.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def plain_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLASSFORMER_LANGUAGE", raising=False)
    set_language(None)


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


@pytest.mark.parametrize(("template", "parameters", "text"), FORMATS)
def test_templates(template: str, parameters: dict[str, object], text: str) -> None:
    """The page formats the same way: web/src/core/messages.test.ts."""
    found = Message.from_json({"code": "none.such", "parameters": parameters, "default": template})
    assert found.text("en") == text


def test_json_leads_back() -> None:
    one = message("place.map", stack=message("term.encoder"), layer=2, kind=("a", literal("b")))
    again = Message.from_json(json.loads(json.dumps(one.to_json())))
    assert again == one
    assert pickle.loads(pickle.dumps(one)) == one
    deep: dict[str, object] = {"code": "a.b"}
    for _ in range(20):
        deep = {"code": "a.b", "parameters": {"x": deep}}
    with pytest.raises(ValueError, match="nested"):
        Message.from_json(deep)


def test_errors_speak_the_language_of_the_process() -> None:
    error = InputError("place.malformed", address="x")
    assert "is not the address" in str(error)
    set_language("zh")
    assert "不是注意力图的地址" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message) == (InputError, error.message)
    refused = pickle.loads(pickle.dumps(ApiError("place.malformed", status=404, address="x")))
    assert (refused.code, refused.status) == ("malformed", 404)


def test_the_language_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert (detect_language(), get_language()) == ("zh", "en")
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "en")
    assert detect_language() == "en"
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "zh-Hans")
    assert (detect_language(), get_language()) == ("zh", "zh")
    monkeypatch.setenv("GLASSFORMER_LANGUAGE", "tlh")
    assert detect_language() == "en"
