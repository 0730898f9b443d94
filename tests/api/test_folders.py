"""Errors say nothing about where things lie on the machine of the server."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glassformer import bundle
from glassformer.api.folders import hide_folders
from glassformer.errors import InputError
from glassformer.messages import literal
from inventions import invent_decoder


@pytest.mark.parametrize("folder", ["library", "models", "runs"])
def test_no_error_says_where_a_folder_of_the_server_lies(
    build_site: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    site = build_site(hidden=(tmp_path / "models",), runs=tmp_path / "runs")

    def refuse(_: str) -> None:
        raise InputError("bundle.not_opened", path=tmp_path / folder / "x", reason="no")

    monkeypatch.setattr(site.library, "get", refuse)
    answer = site.client.get(f"{site.of('decoder')}/maps/0/statistics")
    assert answer.status_code == 422
    assert answer.json()["error"]["sentence"].startswith(f"{folder}/x ")
    assert str(tmp_path) not in answer.text


def test_a_file_that_became_unreadable_has_a_name_and_no_place(site: Any, tmp_path: Path) -> None:
    path = tmp_path / "fox.bundle"
    bundle.save(invent_decoder(tokens=5), path)
    id = site.library.open_file(path)
    before = path.stat()
    path.write_bytes(bytes(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # nothing but its content shows it
    answer = site.client.get(f"/api/recordings/{id}/maps/0/statistics")
    assert answer.status_code == 422
    assert "fox.bundle" in answer.text
    assert str(tmp_path) not in answer.text


def test_short_folders_stay() -> None:
    text = literal("https://example.org/models/x")
    assert hide_folders(text, [Path("/models"), Path("/")]) == text
