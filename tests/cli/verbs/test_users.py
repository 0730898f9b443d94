"""`glassformer users`: people are added, changed and removed; hashes are never shown."""

import io
import sys
from pathlib import Path

import pytest

from glassformer.api import people as module
from glassformer.api.people import People, read_people
from glassformer.cli import main


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "_COST", 4)
    return tmp_path / "new" / "users.json"


def users(path: Path, *words: str) -> int:
    return main(["users", *words, "--file", str(path)])


def test_from_adding_to_removing(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def type_in(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    assert users(path) == 2  # there is no file yet
    type_in("short\n")
    assert users(path, "add", "alice", "--role", "admin") == 2
    type_in("correct horse battery\n")
    assert users(path, "add", "alice", "--role", "admin") == 0
    assert users(path, "add", "Alice") == 2
    assert users(path, "add", "a b", "--no-password") == 2
    assert users(path, "add", "bot", "--no-password") == 0
    assert path.stat().st_mode & 0o777 == 0o600
    people = People(path)
    assert people.check("alice", "correct horse battery") is not None
    type_in("another long password\n")
    assert users(path, "passwd", "alice") == 0
    assert people.check("alice", "correct horse battery") is None
    assert people.check("alice", "another long password") is not None
    assert users(path, "role", "bot", "runner") == 0
    assert users(path, "role", "bot", "king") == 2
    capsys.readouterr()
    assert users(path, "token", "bot") == 0
    token = capsys.readouterr().out.strip()
    found = people.find_token(token)
    assert found is not None
    assert (found.name, found.role) == ("bot", "runner")
    assert users(path, "token", "bot", "--revoke") == 0
    assert people.find_token(token) is None
    capsys.readouterr()
    assert users(path, "list") == 0
    listed = capsys.readouterr().out
    assert "alice" in listed
    for each in read_people(path):
        for kept in (each.password, *each.tokens):
            assert kept is None or kept not in listed
    assert users(path, "remove", "alice") == 0
    assert users(path, "remove", "alice") == 2
    assert users(path, "dance") == 2
    assert [each.name for each in read_people(path)] == ["bot"]


def test_the_name_of_somebody_who_was_removed_is_for_them_alone(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("add", "alice"), ("add", "bot"), ("remove", "alice")):
        assert users(path, *words, *["--no-password"] * (words[0] == "add")) == 0
    assert users(path, "add", "ALICE", "--no-password") == 2  # it would have what alice made
    assert "--same-person" in capsys.readouterr().err
    assert users(path, "add", "ALICE", "--no-password", "--same-person") == 0
    assert [each.name for each in read_people(path)] == ["bot", "alice"]  # as it was written
    assert users(path, "remove", "alice") == 0
    assert users(path, "add", "alice", "--no-password") == 2
