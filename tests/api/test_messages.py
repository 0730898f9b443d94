"""Errors in the language of the request; catalogues over HTTP; messages in every response that has texts."""

from typing import Any

import pytest
from starlette.types import Scope

from glassformer.api.languages import choose_language
from glassformer.messages import Message, known_languages, set_language
from texts import text_of


def scope(query: str = "", accept: str | None = None) -> Scope:
    headers = [] if accept is None else [(b"accept-language", accept.encode("latin-1"))]
    return {"type": "http", "query_string": query.encode(), "headers": headers}


@pytest.mark.parametrize(
    ("query", "accept", "language"),
    [
        ("", None, "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "fr, en;q=0.5, zh;q=0.7", "zh"),
        ("", "zh;q=0, en", "en"),
        ("", "zh;q=x", "en"),
        ("language=zh", "en", "zh"),
        ("language=tlh", "zh", "zh"),
    ],
)
def test_the_language_of_a_request(query: str, accept: str | None, language: str) -> None:
    assert choose_language(scope(query, accept)) == language


def test_the_language_of_the_server_counts_where_the_request_names_none() -> None:
    set_language("zh")
    try:
        assert choose_language(scope()) == "zh"
    finally:
        set_language(None)


def test_an_error_is_a_sentence_in_the_language_of_the_request_and_a_message(site: Any) -> None:
    english = site.refusal("/api/recordings/nowhere", 404)
    chinese = site.refusal("/api/recordings/nowhere", 404, headers={"accept-language": "zh-CN"})
    assert english["message"] == {
        "code": "api.no_recording",
        "parameters": {"id": "nowhere"},
        "default": None,
    }
    assert english["message"] == chinese["message"]
    for language, error in (("en", english), ("zh", chinese)):
        assert Message.from_json(error["message"]).text(language) == error["sentence"]


@pytest.mark.parametrize("path", ["/api/nothing", "/api/metrics?x=1", "/api/recordings"])
def test_errors_before_any_route_have_the_same_form(site: Any, path: str) -> None:
    foreign = {"origin": "http://elsewhere.example", "accept-language": "zh"}
    error = site.refusal(path, 403, headers=foreign)
    assert error["code"] == "foreign_origin"
    assert "elsewhere" in error["sentence"]
    assert error["sentence"] == text_of(error["message"], "zh")


def test_every_language_has_a_whole_catalogue(site: Any) -> None:
    languages = site.json("/api/languages")
    assert [each["code"] for each in languages] == list(known_languages())
    assert {"code": "zh", "name": "中文"} in languages
    catalogues = {each["code"]: site.json(f"/api/messages/{each['code']}") for each in languages}
    codes = set(catalogues["en"]["entries"])
    assert {"api.no_recording", "place.map", "list.and", "term.encoder"} <= codes
    assert not any(code.startswith("cli.") for code in codes)
    for code, catalogue in catalogues.items():
        assert catalogue["language"] == code
        assert set(catalogue["entries"]) == codes
    assert site.refusal("/api/messages/tlh", 404)["code"] == "no_language"


def test_a_catalogue_is_sent_once(site: Any) -> None:
    first = site.client.get("/api/messages/zh")
    again = site.client.get("/api/messages/zh", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    other = site.client.get("/api/messages/en")
    assert other.headers["etag"] != first.headers["etag"]


def test_evidence_and_undefined_values_are_messages(site: Any) -> None:
    evidence = site.json(site.of("decoder"))["evidence"]
    parts = [text_of(part) for part in evidence["messages"]["summary"]]
    assert " · ".join(parts) == site.recordings["decoder"].evidence.text("en")
    score = site.json(f"{site.of('single')}/scores/overall_sparsity?over=model")
    (part,) = score["parts"]
    assert part["values"] == [None]
    assert [text_of(each) for each in part["undefined"]] == [
        "No allowed weight is zero, so there is nothing to divide by."
    ]
    known = site.json(f"{site.of('decoder')}/scores/entropy?over=head")["parts"][0]
    assert known["undefined"] == []


def test_texts_that_a_page_shows_are_messages(site: Any) -> None:
    (first, *_) = site.json("/api/recordings")
    assert text_of(first["title"])
    plan = site.json(site.of("decoder") + "/walk")
    for note in plan["notes"]:
        assert text_of(note, "zh") != text_of(note, "en")
