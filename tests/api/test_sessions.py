"""Sessions: they end, can be ended, and cannot be made up."""

import base64
import time
from pathlib import Path
from typing import Any

import pytest

from glassformer.api.people import People, Person, add_person, change_people
from glassformer.api.sessions import ENDED, KEY, LONGEST, Sessions


@pytest.fixture
def people(tmp_path: Path) -> People:
    def add(people: dict[str, Person]) -> None:
        for name in ("alice", "bob"):
            add_person(people, name, "runner")
            people[name] = people[name].model_copy(update={"password": "scrypt$x"})

    change_people(tmp_path / "users.json", add, create=True)
    return People(tmp_path / "users.json")


def name_of(sessions: Sessions, cookie: str) -> str | None:
    session = sessions.find(cookie)
    return None if session is None else session.person.name


def test_a_cookie_names_who_signed_in_and_no_other_can_be_made(people: People) -> None:
    sessions = Sessions(people, 1000)
    alice = people.find("alice")
    assert alice is not None
    cookie = sessions.begin(alice)
    assert name_of(sessions, cookie) == "alice"
    assert sessions.begin(alice) != cookie  # each has an id of its own
    name, begin, end, id, signature = cookie.split(".")
    bob = base64.urlsafe_b64encode(b"bob").decode()
    for forged in (
        ".".join((bob, begin, end, id, signature)),
        ".".join((name, begin, str(int(end) + 1), id, signature)),
        ".".join((name, "0", end, id, signature)),
        ".".join((name, begin, end, "0" * 32, signature)),
        ".".join((name, begin, end, id, "")),
        ".".join((name, begin, end, id, signature[:-1])),
        ".".join(("!", begin, end, id, signature)),
        ".".join((name, "²", end, id, signature)),
        "", "....", "x" * 10_000, "é.1.2.3.4",
    ):  # fmt: skip
        assert sessions.find(forged) is None, forged
    assert Sessions(people, 1000).find(cookie) is None  # without a folder every server has its own key


def test_a_session_ends_is_renewed_by_visits_and_not_for_ever(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, now = Sessions(people, 100_000), time.time()
    alice: Any = people.find("alice")
    cookie, visits = sessions.begin(alice), 0
    monkeypatch.setattr("glassformer.api.sessions.time.time", lambda: now + visits * 60_000)
    session = sessions.find(cookie)
    assert session is not None
    assert sessions.renew(session) is None
    for visits in range(1, 30):  # noqa: B007 - the clock reads it
        session = sessions.find(cookie)
        if session is None:
            break
        cookie = sessions.renew(session) or cookie
    assert LONGEST <= visits * 60_000 < LONGEST + 60_000


def test_signing_out_ends_every_copy_of_the_cookie_also_after_a_restart(
    people: People, tmp_path: Path
) -> None:
    sessions, alice = Sessions(people, 1000, tmp_path), people.find("alice")
    assert alice is not None
    first, second = sessions.begin(alice), sessions.begin(alice)
    session = sessions.find(first)
    assert session is not None
    sessions.end(session)
    for each in (sessions, Sessions(people, 1000, tmp_path)):
        assert each.find(first) is None
        assert name_of(each, second) == "alice"
    for name in (KEY, ENDED):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    (tmp_path / ENDED).write_text("not json\n{}\n")
    (tmp_path / KEY).write_bytes(b"short")
    assert Sessions(people, 1000, tmp_path).find(second) is None  # another key: all sign in again


def test_a_new_password_or_removal_ends_the_sessions_of_a_person(people: People) -> None:
    sessions = Sessions(people, 1000)
    cookies = {name: sessions.begin(people.find(name)) for name in ("alice", "bob")}  # type: ignore[arg-type]

    def change(known: dict[str, Person]) -> None:
        known["alice"] = known["alice"].model_copy(update={"password": "scrypt$y"})

    change_people(people.path, change)
    assert sessions.find(cookies["alice"]) is None
    assert name_of(sessions, cookies["bob"]) == "bob"
    change_people(people.path, lambda known: known.pop("bob") and None)
    assert sessions.find(cookies["bob"]) is None
    change_people(people.path, lambda known: add_person(known, "bob", "viewer"), same_person=True)
    assert sessions.find(cookies["bob"]) is None  # bob has come back, and has to sign in
