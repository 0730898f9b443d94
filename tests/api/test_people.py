"""The file of users: hashes alone, for the eyes of its owner; nobody learns who is in it."""

import os
import threading
from pathlib import Path

import pytest

from glassformer.api import people as module
from glassformer.api.people import (
    LONGEST_PASSWORD,
    People,
    Person,
    add_person,
    change_people,
    check_password,
    hash_password,
    hash_token,
    is_name,
    make_token,
    read_people,
)
from glassformer.errors import InputError

PASSWORD = "correct horse battery"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "_COST", 4)  # quick
    file = tmp_path / "users.json"

    def add(people: dict[str, Person]) -> None:
        add_person(people, "alice", "admin")
        people["alice"] = people["alice"].model_copy(update={"password": hash_password(PASSWORD)})
        add_person(people, "bot", "runner")

    change_people(file, add, create=True)
    return file


def test_passwords_are_kept_as_hashes_that_nobody_else_reads(path: Path) -> None:
    assert PASSWORD not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    [alice, bot] = read_people(path)
    assert hash_password(PASSWORD) != alice.password  # another salt
    assert str(alice.password) not in repr(alice)
    assert check_password(alice.password, PASSWORD)
    for wrong in ("", PASSWORD + "x", PASSWORD[:-1], "x" * (LONGEST_PASSWORD + 1), "\ud800"):
        assert not check_password(alice.password, wrong)
    assert not check_password(bot.password, "")  # who has no password has not the empty one
    for damaged in ("", "scrypt$4$x", "plain$4$AA==$AA==", "scrypt$4$!$!"):
        assert not check_password(damaged, "x")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root writes for others")
def test_what_root_writes_belongs_to_the_service_that_reads_it(path: Path, tmp_path: Path) -> None:
    def add(people: dict[str, Person]) -> None:
        add_person(people, "carol", "viewer")

    os.chown(path, 12345, 12346)
    change_people(path, add)
    folder = tmp_path / "state"
    folder.mkdir()
    os.chown(folder, 12345, 12346)
    change_people(folder / "users.json", add, create=True)
    for file in (path, folder / "users.json"):
        status = file.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (12345, 12346, 0o600)


def test_an_unknown_name_takes_the_same_work_as_a_wrong_password(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_DUMMY", hash_password("x"))
    work: list[int] = []
    derive = module._derive
    monkeypatch.setattr(
        module, "_derive", lambda given, salt, cost: (work.append(cost), derive(given, salt, cost))[1]
    )
    people = People(path)
    for name in ("alice", "bot", "nobody", "\0" * 1000):
        assert people.check(name, "x") is None
    assert len(work) == 4
    assert len(set(work)) == 1
    found = people.check("alice", PASSWORD)
    assert found is not None
    assert found.role == "admin"


def test_a_token_is_found_by_its_hash(path: Path) -> None:
    token = make_token()

    def change(people: dict[str, Person]) -> None:
        people["bot"] = people["bot"].model_copy(update={"tokens": (hash_token(token),)})

    people = People(path)
    assert people.find_token(token) is None
    change_people(path, change)
    found = people.find_token(token)  # read again: the file has changed
    assert found is not None
    assert found.name == "bot"
    assert token not in path.read_text()
    for wrong in ("", token[:-1], hash_token(token), "\ud800"):
        assert people.find_token(wrong) is None


def test_who_is_removed_is_out_and_a_damaged_file_changes_nothing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    people = People(path)
    change_people(path, lambda known: known.pop("bot") and None)
    assert people.find("bot") is None
    path.write_text('{"version": 1, "people": [{"name": "alice", "password": 7, "role": "king"}]}')
    assert people.find("alice") is not None
    assert "damaged" in caplog.text
    path.unlink()
    assert people.find("alice") is None  # nobody may come in


def test_who_is_removed_while_the_file_is_read_is_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_and_remove(file: Path) -> object:
        monkeypatch.undo()
        found = module._read_file(file)
        change_people(file, lambda known: known.pop("bot") and None)
        return found

    monkeypatch.setattr(module, "_read_file", read_and_remove)
    people = People(path)
    assert people.find("bot") is None


def test_nobody_is_found_among_those_of_before_while_the_file_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = People(path)
    known, read_file = people._stamp, module._read_file
    seen: list[object] = []

    def read(file: Path) -> object:
        seen.append(people._stamp)  # other threads that compare it now must wait
        return read_file(file)

    change_people(path, lambda known: known.pop("bot") and None)
    monkeypatch.setattr(module, "_read_file", read)
    assert people.find("bot") is None
    assert seen == [known]


def test_names(path: Path) -> None:
    for name in ("a", "Jane_Doe", "jane.doe+x@example.org", "x-1"):
        assert is_name(name)
    for name in ("", "a__b", "_a", "a_", "a b", "a/b", "é", "a\n", "a:b", "a~b", "x" * 65, "../x", "a\0"):
        assert not is_name(name)
    with pytest.raises(InputError, match="alice"):
        change_people(path, lambda people: add_person(people, "Alice", "viewer"))
    text = path.read_text().replace('"bot"', '"ALICE"')
    path.write_text(text)
    with pytest.raises(InputError, match="twice"):
        read_people(path)


def test_changes_at_the_same_time_are_all_kept(path: Path) -> None:
    names = [f"p{number}" for number in range(12)]
    threads = [
        threading.Thread(
            target=change_people, args=(path, lambda people, name=name: add_person(people, name, "viewer"))
        )
        for name in names
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {each.name for each in read_people(path)} == {"alice", "bot", *names}
    assert os.listdir(path.parent) == ["users.json"]
