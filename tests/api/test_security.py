"""Who may ask: hosts, origins, tokens; and what every answer carries."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glassformer.api.security import COOKIE, POLICY, split_host

HOST = "http://localhost:5000"
PATHS = ("/api/about", "/", "/api/docs", "/nothing", "/api/nothing")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_headers(site: Any, path: str) -> None:
    headers = site.client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:5000",
        "LOCALHOST:5000",
        "127.0.0.1:5000",
        "127.8.9.1",
        "[::1]:5000",
        "localhost.",
    ],
)
def test_its_own_names(site: Any, host: str) -> None:
    assert site.client.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example:5000",
        "192.168.1.7:5000",
        "127.0.0.1.evil.example",
        "a@localhost",
        "localhost:port",
        "localhost/x",
        "[::1",
        "",
        "0x7f.1",
    ],
)
@pytest.mark.parametrize("path", ["/api/about", "/"])
def test_a_foreign_name_is_refused(site: Any, host: str, path: str) -> None:
    answer = site.client.get(path, headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "foreign_host"


def test_names_can_be_allowed_and_addresses_where_others_reach_us(build_site: Callable[..., Any]) -> None:
    site = build_site(hosts=("Lab.example",), any_address=True)
    assert site.client.get("/api/about", headers={"host": "lab.example:5000"}).status_code == 200
    assert site.client.get("/api/about", headers={"host": "192.168.1.7:5000"}).status_code == 200
    assert site.client.get("/api/about", headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:3000", "file://", "http://[", "http://127.0.0.1:5000"],
)
def test_pages_of_other_origins_are_refused(site: Any, method: str, origin: str) -> None:
    answer = site.client.request(method, "/api/recordings", headers={"origin": origin})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "foreign_origin"


def test_its_own_page_is_welcome(site: Any) -> None:
    for origin in ("http://localhost:5000", "https://localhost:5000"):
        assert site.client.get("/api/about", headers={"origin": origin}).status_code == 200
    assert site.client.get("/api/about", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert site.client.get("/api/about", headers={"sec-fetch-site": "none"}).status_code == 200


def test_other_sites_may_link_here_but_not_call(site: Any) -> None:
    for where in ("cross-site", "same-site"):
        visit = {"sec-fetch-site": where, "sec-fetch-mode": "navigate"}
        assert site.client.get("/", headers=visit).status_code == 200
        assert site.refusal("/api/about", 403, headers=visit)["code"] == "foreign_site"
        assert site.refusal("/", 403, headers={"sec-fetch-site": where})["code"] == "foreign_site"
        assert site.refusal("/", 403, method="POST", headers=visit)["code"] == "foreign_site"


def test_a_token_is_asked_for_everywhere(build_site: Callable[..., Any]) -> None:
    site = build_site(token="swordfish-é")
    for path in PATHS:
        assert site.client.get(path).status_code == 401
    assert "此服务器需要令牌" in site.client.get("/", headers={"accept-language": "zh-CN"}).text
    assert site.refusal("/api/about", 401)["code"] == "no_token"
    assert "needs a token" in site.client.get("/").text
    for wrong in ("", "swordfish", "swordfish-éé", "\xff"):
        assert (
            site.client.get("/api/about", headers={"x-glassformer-token": wrong.encode()}).status_code == 401
        )
        assert site.client.get("/", params={"token": wrong}).status_code == 401
    assert site.client.get("/api/about", params={"token": "swordfish-é"}).status_code == 401
    assert site.client.post("/api/recordings", content=b"x").status_code == 401


def test_a_token_in_a_header_or_by_the_printed_address(build_site: Callable[..., Any]) -> None:
    site = build_site(token="swordfish")
    for headers in ({"x-glassformer-token": "swordfish"}, {"authorization": "Bearer swordfish"}):
        assert site.client.get("/api/about", headers=headers).status_code == 200
    answer = site.client.get("/?a=1&token=swordfish", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?a=1")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie
    assert "swordfish" not in site.client.cookies[f"{COOKIE}_5000"]
    assert site.client.get("/api/about").status_code == 200
    answer = site.client.get(f"{HOST}//evil.example/?token=swordfish", follow_redirects=False)
    assert answer.headers["location"] == "/evil.example/"


def test_a_host_header_is_taken_apart_carefully() -> None:
    assert split_host("[::1]:80") == "::1"
    assert split_host("LocalHost:80") == "localhost"
    for wrong in ("", "a b", "x:99999", "a@b", "a/b", "a?b", "a#b"):
        assert split_host(wrong) in (None, "a b"), wrong


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/.hidden",
        "/assets/.hidden",
        "/link.txt",
        "/%00",
        "/..\\secret.txt",
        "//etc/passwd",
        "/assets",
    ],
)
def test_nothing_outside_the_page_is_served(site: Any, tmp_path: Path, path: str) -> None:
    static = site.app.state.context.settings.static
    (static / "assets").mkdir()
    (static / ".hidden").write_text("secret")
    (static / "assets" / ".hidden").write_text("secret")
    (static.parent / "secret.txt").write_text("secret")
    (static / "link.txt").symlink_to(static.parent / "secret.txt")
    answer = site.client.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text.replace("secret.txt", "")
    assert answer.json()["error"]["code"] == "no_such_address"


def test_files_of_the_page(site: Any) -> None:
    static = site.app.state.context.settings.static
    (static / "assets").mkdir()
    (static / "assets" / "index-AbCd1234.js").write_text("let x = 1; " * 100)
    page = site.client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "private, no-cache"
    assert site.client.get("/", headers={"if-none-match": page.headers["etag"]}).status_code == 304
    script = site.client.get("/assets/index-AbCd1234.js", headers={"accept-encoding": "gzip"})
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-encoding"] == "gzip"
    assert site.client.head("/").status_code == 200
    (static / "index.html").unlink()
    assert "was not built" in site.client.get("/").text


def test_errors_of_the_wire_are_sentences(site: Any) -> None:
    assert site.refusal("/api/nothing", 404)["code"] == "no_such_address"
    answer = site.client.put("/api/about")
    assert answer.status_code == 405
    assert answer.headers["allow"]
    assert answer.json()["error"]["sentence"].endswith(".")


def test_a_bug_is_confessed_without_details(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(site.library, "entries", break_down)
    answer = site.client.get("/api/recordings")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "bug"
    assert "secret" not in answer.text


def test_a_cookie_ends_is_renewed_by_visits_and_cannot_be_made_up(
    build_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = build_site(token="swordfish", session_seconds=1000)
    site.client.get("/?token=swordfish")
    name = f"{COOKIE}_5000"
    first, now = site.client.cookies[name], time.time()
    assert "set-cookie" not in site.client.get("/api/about").headers
    monkeypatch.setattr("glassformer.api.security.time.time", lambda: now + 600)
    assert name in site.client.get("/api/about").headers["set-cookie"]
    renewed = site.client.cookies[name]
    end, _, signature = first.partition(".")
    site.client.cookies.clear()
    monkeypatch.setattr("glassformer.api.security.time.time", lambda: now + 1100)
    for value, status in (
        (renewed, 200),
        (first, 401),  # its time is over
        (f"{int(end) + 5000}.{signature}", 401),
        ("swordfish", 401),
        ("9" * 5000 + ".x", 401),
        ("", 401),
    ):
        answer = site.client.get("/api/about", headers={"cookie": f"{name}={value}"})
        assert answer.status_code == status, value[:50]


def test_cookies_of_others_are_not_taken_apart(
    build_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python and the framework read all of them: seconds for 60 kB with quotes, on the event loop."""
    site = build_site(token="swordfish")
    site.client.get("/?token=swordfish")
    name = f"{COOKIE}_5000"
    value = site.client.cookies[name]
    site.client.cookies.clear()

    def unquote(text: str) -> str:
        raise AssertionError(text)

    monkeypatch.setattr("http.cookies._unquote", unquote)
    for before, after in (
        ('prefs={"a": "b c"}; ', ""),  # of another application: it must not hide ours
        ('x="' + '\\"' * 100 + '"; ', "; y=1"),
        (f"not{name}=1;{name.upper()}=2; ;=;", ";"),
        ("", '; z="'),
    ):
        for quoted in (value, f'"{value}"'):
            cookie = {"cookie": f"{before}{name}={quoted}{after}"}
            answers = [site.client.get(path, headers=cookie) for path in ("/api/about", "/", "/healthz")]
            assert [each.status_code for each in answers] == [200] * 3, (before, after)
    assert site.client.get("/api/about", headers={"cookie": f"not{name}={value}"}).status_code == 401


@pytest.mark.slow
def test_behind_https_the_cookie_is_secure(build_site: Callable[..., Any]) -> None:
    site = build_site(token="swordfish", base="https://localhost:5000")
    answer = site.client.get("/?token=swordfish", follow_redirects=False)
    assert "secure" in answer.headers["set-cookie"].lower()


def test_who_guesses_tokens_has_to_wait(
    build_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = build_site(token="swordfish", attempts=3)
    now = time.monotonic()
    monkeypatch.setattr("glassformer.api.security.time.monotonic", lambda: now)
    right = {"x-glassformer-token": "swordfish"}
    for _ in range(3):
        assert site.client.get("/api/about", headers={"x-glassformer-token": "guess"}).status_code == 401
    assert site.refusal("/api/about", 429, headers=right)["code"] == "too_many_attempts"
    monkeypatch.setattr("glassformer.api.security.time.monotonic", lambda: now + 61)
    assert site.client.get("/api/about", headers=right).status_code == 200


def test_wrong_tokens_of_others_do_not_lock_out_who_is_signed_in(build_site: Callable[..., Any]) -> None:
    site = build_site(token="swordfish", attempts=3)
    proxy = {"authorization": "Basic dXNlcjpwYXNz"}  # of a proxy with a password of its own
    for _ in range(5):
        assert site.client.get("/api/about", headers=proxy).status_code == 401
    assert site.client.get("/?token=swordfish", headers=proxy).status_code == 200  # and has the cookie now
    wrong = {"authorization": "Bearer guess"}
    cookie = dict(site.client.cookies)
    site.client.cookies.clear()
    for status in (401, 401, 401, 429):
        assert site.client.get("/api/about", headers=wrong).status_code == status
    site.client.cookies.update(cookie)
    for headers in ({}, proxy, wrong):
        assert site.client.get("/api/about", headers=headers).status_code == 200


@pytest.mark.parametrize("strips", [False, True])
def test_below_a_path_of_a_proxy(build_site: Callable[..., Any], strips: bool) -> None:
    site = build_site(token="a long secret token", root_path="/glass")
    before = "" if strips else "/glass"
    answer = site.client.get(f"{before}/?token=a+long+secret+token", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/glass/")
    assert "Path=/glass/" in answer.headers["set-cookie"]
    given = {"x-glassformer-token": "a long secret token"}
    assert site.client.get(f"{before}/api/about", headers=given).status_code == 200
    site.client.cookies.clear()
    assert site.client.get(f"{before}/api/about").status_code == 401
    assert site.client.get("/glasses/api/about").status_code == 401
    assert site.client.get("/glass/glass/metrics", headers=given).status_code == 404  # taken off once
