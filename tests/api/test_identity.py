"""Who sends a request: signing in and out over HTTP, tokens, and the header of a proxy."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest
from starlette.testclient import TestClient

from glassformer.api import people as module
from glassformer.api.app import create_app
from glassformer.api.identity import Forwarded
from glassformer.api.library import Library
from glassformer.api.people import (
    People,
    Person,
    add_person,
    change_people,
    hash_password,
    hash_token,
)
from glassformer.api.routes.session import clean_goal
from glassformer.api.security import SESSION
from glassformer.api.settings import Settings

HOST = "http://localhost:5000"
PASSWORD = "correct horse battery"
COOKIE = f"{SESSION}_5000"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TestClient]]:
    """Make a server with users, and a client of it: `build(client="10.0.0.1", user_header="X-User")`."""
    monkeypatch.setattr(module, "_COST", 4)
    monkeypatch.setattr(module, "_DUMMY", hash_password("nobody's"))

    def add(people: dict[str, Person]) -> None:
        add_person(people, "alice", "admin")
        people["alice"] = people["alice"].model_copy(update={"password": hash_password(PASSWORD)})
        add_person(people, "bot", "runner")
        people["bot"] = people["bot"].model_copy(update={"tokens": (hash_token("gft_bot"),)})

    change_people(tmp_path / "users.json", add, create=True)
    opened: list[Any] = []

    def make(client: str = "testclient", base: str = HOST, **settings: Any) -> TestClient:
        static = tmp_path / "static"
        static.mkdir(exist_ok=True)
        (static / "index.html").write_text("the page")
        library = Library(tmp_path / "library", shipped=None)
        chosen = Settings(**{"static": static, "runs": tmp_path / "runs", "shipped_runs": None, **settings})
        app = create_app(library, None, chosen, people=People(tmp_path / "users.json"))
        asking = TestClient(app, base, client=(client, 50000), raise_server_exceptions=False)
        opened.extend((asking, app.state.context.access.owners, library))
        return asking

    yield make
    for each in opened:
        each.close()


def sign_in(client: TestClient, name: str = "alice", password: str = PASSWORD, goal: str = "/") -> Any:
    body = urlencode({"name": name, "password": password, "next": goal})
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": str(client.base_url)}
    return client.post("/sign-in", content=body, headers=headers, follow_redirects=False)


def who(client: TestClient, **headers: str) -> str | None:
    answer = client.get("/api/session", headers=headers)
    assert answer.status_code == 200, answer.text
    name: str | None = answer.json()["name"]
    return name


def test_signing_in_and_out(build: Callable[..., TestClient]) -> None:
    client = build()
    page = client.get("/?view=heatmap&recording=x")
    assert (page.status_code, page.headers["cache-control"]) == (401, "no-store")
    assert 'value="/?view=heatmap&amp;recording=x"' in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "same-origin"  # else browsers send "Origin: null" with the form
    assert "<script" not in page.text
    assert client.get("/api/recordings/x").status_code == 404
    assert client.post("/api/jobs", json={}).status_code == 401
    answer = sign_in(client, goal="/?view=heatmap")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?view=heatmap")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/").text == client.get("/").text == "the page"
    visitor = TestClient(client.app, HOST)
    assert visitor.get("/").status_code == 401  # the page that is cached is not for everybody
    session = client.get("/api/session").json()
    assert (session["name"], session["role"], session["signs_out"]) == ("alice", "admin", True)
    assert sign_in(client, "Alice").status_code == 303  # the same person, by the same rule as behind a proxy
    assert who(client) == "alice"
    stolen = client.cookies[COOKIE]
    answer = client.delete("/api/session")
    assert (answer.status_code, answer.headers["clear-site-data"]) == (204, '"cache"')
    assert COOKIE not in client.cookies
    assert who(client, cookie=f"{COOKIE}={stolen}") is None


def test_what_a_link_says_behind_its_hash_comes_along(build: Callable[..., TestClient]) -> None:
    """Browsers keep it where they are led on and where a form is sent to its own address."""
    client = build(root_path="/glass")
    answer = client.get("/glass/?view=heatmap&language=zh", follow_redirects=False)
    assert (answer.status_code, answer.headers["cache-control"]) == (303, "no-store")
    assert answer.headers["location"] == (
        "/glass/sign-in?next=%2F%3Fview%3Dheatmap%26language%3Dzh&language=zh"
    )
    page = client.get(answer.headers["location"]).text
    assert "action=" not in page
    assert "密码" in page
    long = client.get("/", params={"recording": "x" * 60_000}, follow_redirects=False)
    assert long.headers["location"] == "/glass/sign-in?next=%2F"


def test_the_page_to_sign_in_is_in_both_languages_and_escapes(build: Callable[..., TestClient]) -> None:
    client = build()
    assert "密码" in client.get("/", headers={"accept-language": "zh-CN"}).text
    page = client.get("/sign-in", params={"language": "zh", "next": '/?"><script>'}).text
    assert 'lang="zh"' in page
    assert "<script" not in page
    assert client.get("/sign-in.css").headers["content-type"].startswith("text/css")


def test_wrong_names_and_passwords_cannot_be_told_apart_and_are_throttled(
    build: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = build(attempts=4)
    now = time.monotonic()
    monkeypatch.setattr("glassformer.api.attempts.time.monotonic", lambda: now)
    answers = [sign_in(client, *pair) for pair in (("alice", "x"), ("nobody", "x"), ("bot", ""), ("", ""))]
    assert {each.status_code for each in answers} == {401}
    texts = {
        re.sub(r' value="\w*"| autofocus', "", each.text) for each in answers
    }  # the name that was written
    assert len(texts) == 1
    assert "set-cookie" not in answers[0].headers
    round_it = client.get(f"{str(client.base_url).rstrip('/')}//index.html")
    assert round_it.status_code == 404  # no way round the page to sign in on
    waits = sign_in(client)
    assert waits.status_code == 429  # the right one has to wait, too
    assert int(waits.headers["retry-after"]) > 0
    now += 61
    assert sign_in(client).status_code == 303


def test_one_name_is_not_guessed_from_many_addresses(
    build: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = build(attempts=2, proxies=("testclient",))
    now = time.monotonic()
    monkeypatch.setattr("glassformer.api.attempts.time.monotonic", lambda: now)
    statuses = []
    for number in range(11):
        client.headers["x-forwarded-for"] = f"10.0.0.{number}"
        statuses.append(sign_in(client, "alice", "guess").status_code)
    assert statuses == [401] * 10 + [429]


def test_a_form_of_another_site_does_not_sign_in(build: Callable[..., TestClient]) -> None:
    client = build()
    body = urlencode({"name": "alice", "password": PASSWORD})
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ):
        assert client.post("/sign-in", content=body, headers=headers).status_code == 403
    assert client.post("/sign-in", content=b"x" * 9000).status_code == 413
    sign_in(client)
    assert client.delete("/api/session", headers={"origin": "http://evil.example"}).status_code == 403
    assert who(client) == "alice"


def test_a_session_that_a_browser_brought_along_is_not_taken_over(build: Callable[..., TestClient]) -> None:
    client = build()
    sign_in(client)
    planted = client.cookies[COOKIE]
    assert sign_in(client).headers["set-cookie"].partition(";")[0] != f"{COOKIE}={planted}"
    assert sign_in(client, "alice", "wrong").status_code == 401
    assert "Secure" in sign_in(build(base="https://localhost:5000")).headers["set-cookie"]


@pytest.mark.parametrize(
    "goal",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "", "/\r\nx: y", "/é"],
)
def test_signing_in_never_leads_to_another_server(goal: str) -> None:
    assert clean_goal(goal) == "/"


def test_tokens_of_people(build: Callable[..., TestClient]) -> None:
    client = build(attempts=3, token="a token of the server")
    assert who(client, authorization="Bearer gft_bot") == "bot"
    assert who(client, **{"x-glassformer-token": "gft_bot"}) == "bot"
    counters = {"authorization": "Bearer a token of the server"}  # opens the counters, and nothing else
    assert client.get("/metrics", headers=counters).status_code == 200
    assert client.get("/metrics", headers={"authorization": "Bearer gft_bot"}).status_code == 403
    assert client.get("/metrics").status_code == 401
    assert client.get("/?token=a+token+of+the+server").status_code == 401
    for status in (401, 401, 429):
        assert client.get("/api/session", headers=counters).status_code == status
        client.get("/api/session", headers={"authorization": "Bearer guess"})
    assert client.get("/api/session", headers={"authorization": "Bearer gft_bot"}).status_code == 429
    assert client.get("/metrics", headers=counters).status_code == 429  # nor is this token guessed there


@pytest.mark.parametrize(("proxies", "believed"), [(("10.0.0.1",), False), (("127.0.0.1",), True)])
def test_only_a_named_proxy_says_whom_a_request_comes_from(proxies: tuple[str, ...], believed: bool) -> None:
    seen: list[tuple[str, str]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["client"][0], scope["scheme"]))

    headers = [(b"x-forwarded-for", b"203.0.113.7"), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": ("127.0.0.1", 40000), "scheme": "http", "headers": headers}
    anyio.run(Forwarded(app, trusted_hosts=list(proxies)), scope, None, None)
    assert seen == [("203.0.113.7", "https") if believed else ("127.0.0.1", "http")]


def test_the_header_of_a_proxy_is_believed_from_the_proxy_alone(
    build: Callable[..., TestClient], tmp_path: Path
) -> None:
    proxied = {"proxies": ("10.0.0.0/8",), "user_header": "X-Forwarded-User"}
    through = build("10.0.0.7", **proxied)
    assert who(through, **{"x-forwarded-user": "alice"}) == "alice"
    assert who(through) is None
    assert who(through, **{"x-forwarded-user": "stranger"}) is None  # not in the file
    assert who(through, **{"x-forwarded-user": "alice", "x-forwarded-for": "203.0.113.9"}) == "alice"
    twice = [("x-forwarded-user", "alice"), ("x-forwarded-user", "bot")]
    assert through.get("/api/session", headers=twice).json()["name"] is None
    assert who(through, **{"x-forwarded-user": "alice, bot"}) is None
    direct = build("203.0.113.9", **proxied)
    for spoofed in ({}, {"x-forwarded-for": "10.0.0.7"}, {"x-real-ip": "10.0.0.7"}):
        assert who(direct, **{"x-forwarded-user": "alice", **spoofed}) is None
    assert who(build("10.0.0.7", proxies=("10.0.0.0/8",)), **{"x-forwarded-user": "alice"}) is None
    assert who(through, **{"x-forwarded-user": "ALICE"}) == "alice"
    roles = build("10.0.0.7", **proxied, header_role="viewer")
    assert who(roles, **{"x-forwarded-user": "New"}) == who(roles, **{"x-forwarded-user": "new"}) == "new"
    assert roles.get("/api/session", headers={"x-forwarded-user": "new"}).json()["role"] == "viewer"
    assert roles.get("/api/session", headers={"x-forwarded-user": "alice"}).json()["role"] == "admin"
    change_people(tmp_path / "users.json", lambda people: people.pop("alice") and None)
    assert who(roles, **{"x-forwarded-user": "alice"}) is who(roles, **{"x-forwarded-user": "Alice"}) is None
    assert who(roles, **{"x-forwarded-user": "new"}) == "new"


@pytest.mark.parametrize("body", [b"x=1&" * 30, b"name=%ff&password=%00&next=%0d", b"\xff\xfe", b"&=&;", b""])
def test_a_form_of_any_bytes_is_a_wrong_name(build: Callable[..., TestClient], body: bytes) -> None:
    client = build()
    answer = client.post("/sign-in", content=body, headers={"origin": str(client.base_url)})
    assert answer.status_code == 401
