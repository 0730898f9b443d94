"""Answers before routing: the same as those of the routes, and never one that a route would refuse."""

from typing import Any

import pytest

from glassformer.api import library, shortcuts


@pytest.fixture
def routed(site: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that reached a route."""
    seen: list[str] = []
    find = site.app.router.__call__

    async def watch(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(scope["path"])
        await find(scope, receive, send)

    monkeypatch.setattr(type(site.app.router), "__call__", lambda _, *words: watch(*words))
    return seen


def read(site: Any, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    answer = site.client.get(path, headers=headers)
    changing = ("x-request-id",)
    return answer.status_code, {k: v for k, v in answer.headers.items() if k not in changing}, answer.content


def test_the_second_answer_is_the_first_without_a_route(site: Any, routed: list[str]) -> None:
    id = site.library.entries()[0].id
    for path in (f"/api/recordings/{id}/tokens/source", f"/api/recordings/{id}/maps/0/weights?head=0"):
        routed.clear()
        first, second = read(site, path), read(site, path)
        assert first == second
        assert first[0] == 200
        assert len(routed) == 1
        known = read(site, path, **{"if-none-match": first[1]["etag"]})
        assert (known[0], known[2], len(routed)) == (304, b"", 1)
        plain = read(site, path, **{"accept-encoding": "gzip, br"})
        assert plain[2] == first[2]  # httpx has unpacked the first
        assert len(routed) == 2
    metrics = site.client.get("/metrics").text
    assert (
        'glassformer_requests_total{method="GET",route="/api/recordings/{id}/tokens/{side}",status="200"} 3.0'
        in metrics
    )


def test_files_of_the_page_are_answered_without_a_route_until_they_change(
    site: Any, routed: list[str]
) -> None:
    folder = site.app.state.context.settings.static
    script = folder / "more.js"
    script.write_text("let a = 1;\n" * 100)
    for path in ("/", "/more.js"):
        routed.clear()
        first, second = read(site, path), read(site, path)
        assert first == second
        assert (first[0], len(routed)) == (200, 1)
        known = read(site, path, **{"if-none-match": first[1]["etag"]})
        assert (known[0], known[2], len(routed)) == (304, b"", 1)
    old = read(site, "/more.js")[1]["etag"]
    script.write_text("let b = 2;\n" * 101)
    assert read(site, "/more.js", **{"if-none-match": old})[2] == script.read_bytes()
    (folder.parent / "secret.js").write_text("secret " * 100)
    script.unlink()
    script.symlink_to(folder.parent / "secret.js")
    assert read(site, "/more.js")[0] == 404
    script.unlink()
    assert read(site, "/more.js")[0] == 404


def test_long_addresses_are_answered_and_not_remembered(site: Any, routed: list[str]) -> None:
    id = site.library.entries()[0].id
    path = f"/api/recordings/{id}/tokens/source?x={'a' * shortcuts.LONGEST}"
    assert read(site, path)[0] == read(site, path)[0] == 200
    assert len(routed) == 2
    assert not site.app.state.context.shortcuts._known


def test_a_removed_recording_is_gone_at_once(site: Any, routed: list[str]) -> None:
    id = site.library.entries()[0].id
    path = f"/api/recordings/{id}/tokens/source"
    mark = read(site, path)[1]["etag"]
    assert read(site, path)[0] == 200
    site.library.remove(id)
    assert read(site, path)[0] == 404
    assert read(site, path, **{"if-none-match": mark})[0] == 404


def test_a_recording_that_was_written_again_is_read_again(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/api/recordings/{site.library.entries()[0].id}/tokens/source"
    first = read(site, path)
    monkeypatch.setitem(site.library._hashes, site.library.entries()[0].id, "another content")
    assert read(site, path)[1]["etag"] != first[1]["etag"]


def test_few_are_remembered(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "MOST", 2)
    id = site.library.entries()[0].id
    for head in range(4):
        site.client.get(f"/api/recordings/{id}/maps/0/weights?head={head % 2}&n={head}")
    assert len(site.app.state.context.shortcuts._known) <= 2


def test_lists_and_descriptions_are_kept_until_something_changes(
    site: Any, routed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, id = next(iter(site.ids.items()))
    description, listed = f"/api/recordings/{id}", "/api/recordings?count=2"
    for path in (description, listed, "/api/about"):
        routed.clear()
        first, second = read(site, path), read(site, path)
        assert first == second
        assert first[0] == 200
        known = read(site, path, **{"if-none-match": first[1]["etag"]})
        assert (known[0], known[2], len(routed)) == (304, b"", 1)
    count = int(read(site, listed)[1]["x-total-count"])
    site.library.add(site.recordings[name])
    assert int(read(site, listed)[1]["x-total-count"]) == count + 1
    before = read(site, description)
    state = site.library.state(id)
    site.library.share(id, "public")
    assert site.library.state(id) != state
    assert read(site, description)[:2] == before[:2]  # made again, and the same: so is its mark
    monkeypatch.setattr(library, "_stamp", lambda _: (1, 2, 3))
    assert read(site, description)[0] == 404  # as after every change of a file
