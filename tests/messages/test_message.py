"""Messages: templates, parameters, JSON, languages."""

import json
import pickle
from pathlib import Path

import pytest

from glassformer.messages import Message, detect_language, get_language, literal, message, set_language

FORMATS = json.loads(Path(__file__).with_name("formats.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def plain_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLASSFORMER_LANGUAGE", raising=False)
    set_language(None)


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
