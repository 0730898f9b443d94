"""Who may do what: every route × role × owner, from the table of routes itself."""

import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from atlases.invented import invent_atlas
from glassformer.api.app import GROUPS, create_app
from glassformer.api.identity import Found
from glassformer.api.inputs import InputStore
from glassformer.api.inspection import INSPECTOR
from glassformer.api.jobs import Event as JobEvent
from glassformer.api.library import Library
from glassformer.api.owners import Visibility
from glassformer.api.people import People, Person, add_person, change_people, hash_token
from glassformer.api.responses import _get_context
from glassformer.api.roles import PERSON
from glassformer.api.rules import RULES, Rule, authorise
from glassformer.api.security import Guard
from glassformer.api.settings import Settings
from glassformer.api.training import Training
from glassformer.errors import ApiError, InputError
from glassformer.runlog import Event, RunWriter
from glassformer.workbench import LocalTrainer, TrainerSettings

ROLES = {"vera": "viewer", "rita": "runner", "rob": "runner", "adam": "admin"}
PEOPLE = (None, *ROLES)
LEVELS: tuple[Visibility, ...] = ("private", "team", "public")
FILLED = {
    "side": "source", "place": "decoder.self.0", "head": "0", "level": "0", "row": "0", "column": "0",
    "what": "queries", "stack": "decoder", "layer": "0", "metric": "entropy", "name": "x", "step": "x",
    "topic": "lookup", "language": "en", "path": "nothing", "other": "none",
}  # fmt: skip
ROUTES = [
    (method, route.path)
    for group in GROUPS
    for route in group.router.routes
    for method in sorted(route.methods)
]
MISSING = {"recording": "no-0123456789ab", "run": "none", "training": "none", "search": "none", "job": "999",
           "atlas": "none"}  # fmt: skip


@dataclass
class Team:
    """A server with users, each of whom has one of everything in each visibility."""

    app: Any
    library: Library
    tokens: dict[str, str]
    ids: dict[tuple[str, str, Visibility], str]  # by kind, owner and visibility
    client: TestClient

    def ask(self, who: str | None, method: str, path: str, **words: Any) -> Any:
        headers = {} if who is None else {"authorization": f"Bearer {self.tokens[who]}"}
        return self.client.request(method, path, headers={**headers, **words.pop("headers", {})}, **words)


@pytest.fixture(scope="module")
def team(invented: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, pretend: Any) -> Iterator[Team]:
    yield from build_team(invented, tmp_path_factory.mktemp("team"), pretend)


@pytest.fixture
def fresh(invented: dict[str, Path], tmp_path: Path, pretend: Any) -> Iterator[Team]:
    """One for tests that change it."""
    yield from build_team(invented, tmp_path, pretend)


def build_team(invented: dict[str, Path], folder: Path, pretend: Any) -> Iterator[Team]:
    tokens = {name: f"gft_{name}" for name in ROLES}

    def add(people: dict[str, Person]) -> None:
        for name, role in ROLES.items():
            add_person(people, name, role)  # type: ignore[arg-type]
            people[name] = people[name].model_copy(update={"tokens": (hash_token(tokens[name]),)})

    change_people(folder / "users.json", add, create=True)
    library = Library(folder / "library", shipped=None)
    bench = pretend(library, invented["single"], queue=1000)
    for each in ("static", "data"):
        (folder / each).mkdir()
    (folder / "static" / "index.html").write_text("the page")
    trainer = LocalTrainer(TrainerSettings(runs=folder / "runs", data=folder / "data"))
    settings = Settings(
        static=folder / "static",
        runs=folder / "runs",
        shipped_runs=None,
        atlases=folder / "atlases",
        client_share=1.0,
    )
    app = create_app(library, bench, settings, trainer=trainer, people=People(folder / "users.json"))
    owners = app.state.context.access.owners
    invent_atlas(layers=1, heads=2).save(folder / "atlas")
    ids: dict[tuple[str, str, Visibility], str] = {}
    for owner in ROLES:
        for level, bundle in zip(LEVELS, ("single", "decoder", "translation"), strict=True):
            copy = library.new_partial_path()
            shutil.copy(invented[bundle], copy)
            ids["recording", owner, level] = library.adopt(copy, "file", owner=owner)
            library.share(ids["recording", owner, level], level)
            run = ids["run", owner, level] = ids["training", owner, level] = f"{owner}__{level}"
            with RunWriter(folder / "runs" / run) as writer:
                writer.write_event(Event(0, "started", "It began."))
                writer.write_event(Event(1, "finished", "Done."))
            ids["search", owner, level] = f"{run}-search"
            (folder / "runs" / f"{run}-search").mkdir()
            (folder / "runs" / f"{run}-search" / "search.json").write_text("{}")
            atlas = ids["atlas", owner, level] = f"{run}-atlas"
            shutil.copytree(folder / "atlas", folder / "atlases" / atlas)
            for kind, name in (("run", run), ("search", f"{run}-search"), ("atlas", atlas)):
                owners.claim(kind, name, owner)
                owners.share(kind, name, level)
        job = bench.submit(SimpleNamespace(kind="record", model="zoo/tiny"), owner)
        ids |= {("job", owner, level): job.id for level in LEVELS}
    client = TestClient(app, "http://localhost:5000", raise_server_exceptions=False)
    yield Team(app, library, tokens, ids, client)
    client.close()
    owners.close()
    library.close()


def expect(rule: Rule, who: str | None, owner: str, level: Visibility) -> int:
    """What a rule means, told a second time: 0 for a request that may pass, else the status."""
    ranks = {None: 0, "viewer": 1, "runner": 2, "admin": 3}
    rank = 0 if who is None else ranks[ROLES[who]]
    if rank < ranks[rule.role]:
        return 401 if who is None else 403
    if rule.subject is None or who == "adam" or who == owner:
        return 0
    if rule.subject == "job" or level == "private" or (level == "team" and who is None):
        return 404
    return 403 if rule.change else 0


def fill(path: str, id: str) -> str:
    return re.sub(r"\{(\w+)(:path)?\}", lambda found: id if found[1] == "id" else FILLED[found[1]], path)


def test_every_route_has_a_rule_and_every_rule_a_route() -> None:
    assert set(RULES) == set(ROUTES)
    for (method, path), rule in RULES.items():
        named = re.match(r"/api/(recordings|runs|searches|jobs|training|atlases)/\{id\}", path)
        assert (rule.subject is not None) == (named is not None), path  # whatever has an owner is checked
        if method in ("PUT", "DELETE") and path not in ("/api/session", "/api/jobs/{id}"):
            assert rule.change, path
            assert rule.role == "runner"
        if method == "POST" and path != "/sign-in":
            assert rule.role == "runner", path


@pytest.mark.slow
@pytest.mark.parametrize("who", PEOPLE)
def test_every_route_role_and_owner(team: Team, who: str | None) -> None:
    """What is refused is asked for over HTTP; what is allowed too, where that changes nothing."""
    asked = 0
    for (method, path), rule in RULES.items():
        cases = [("rita", level) for level in LEVELS]
        cases += [(who, "private")] if who else []
        for owner, level in cases if rule.subject else cases[:1]:
            id = team.ids[rule.subject or "recording", owner, level]
            wanted, place = expect(rule, who, owner, level), (method, path, who, owner, level)
            if not wanted and (method not in ("GET", "HEAD") or path.endswith("/events")):
                assert authorise_directly(team, who, method, path, id) is None, place
                continue
            answer = team.ask(who, method, fill(path, id), json={} if method in ("PUT", "POST") else None)
            code = answer.json()["error"]["code"] if answer.status_code == wanted and wanted else ""
            asked += 1
            if wanted:
                assert answer.status_code == wanted, (place, answer.text)
                if wanted == 404:
                    missing = MISSING[rule.subject or "recording"]
                    other = team.ask(who, method, fill(path, missing), json={})
                    assert other.status_code == 404, place
                    assert other.text.replace(missing, id) == answer.text, place  # nobody can tell them apart
                assert code in ("not_signed_in", "role_needed", "not_yours", "no_recording", "no_run",
                                "no_search", "no_job", "no_atlas"), place  # fmt: skip
            else:
                assert answer.status_code < 500, (place, answer.text)
                assert answer.status_code not in (401, 403) or path == "/sign-in", (place, answer.text)
    assert asked > 100


@pytest.mark.parametrize(("who", "status"), [(None, 401), ("vera", 403)])
def test_who_may_not_send_anything_is_refused_before_it_is_read(
    team: Team, who: str | None, status: int
) -> None:
    def pieces() -> Iterator[bytes]:
        raise AssertionError("read")
        yield b""

    for method, path in (
        ("POST", "/api/jobs"),
        ("POST", "/api/training/check"),
        ("PUT", "/api/runs/x/visibility"),
    ):
        answer = team.ask(who, method, path, content=pieces())
        assert answer.status_code == status, path


def test_what_a_removed_person_made_is_never_somebody_elses(fresh: Team) -> None:
    path = fresh.app.state.identity.people.path
    addresses = [
        f"/api/recordings/{fresh.ids['recording', 'rita', 'private']}",
        f"/api/runs/{fresh.ids['run', 'rita', 'private']}",
        f"/api/jobs/{fresh.ids['job', 'rita', 'private']}",
    ]

    def add_another(people: dict[str, Person]) -> None:
        add_person(people, "rita", "runner")
        people["rita"] = people["rita"].model_copy(update={"tokens": (hash_token("gft_another"),)})

    def ask(token: str) -> list[int]:
        fresh.tokens["rita"] = token
        return [fresh.ask("rita", "GET", address).status_code for address in addresses]

    assert ask("gft_rita") == [200] * 3
    change_people(path, lambda people: people.pop("rita") and None)
    with pytest.raises(InputError, match="rita") as refused:
        change_people(path, add_another)
    assert refused.value.message.code == "api.people.removed"
    assert 200 not in ask("gft_another")
    change_people(path, add_another, same_person=True)
    assert ask("gft_another") == [200] * 3
    assert 200 not in ask("gft_rita")


@pytest.mark.parametrize("address", ["runs/{}", "training/{}/recipe", "searches/{}", "atlases/{}"])
def test_a_name_longer_than_any_folders_is_not_there(team: Team, address: str) -> None:
    for name in ("x" * 256, "x" * 5000, "é" * 128):
        assert team.ask("rita", "GET", f"/api/{address.format(name)}").status_code in (404, 422), len(name)


def test_a_full_disk_is_told_where_owners_are_kept(fresh: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = fresh.app.state.context.access.owners

    def fill(*_: object) -> None:
        with sqlite3.connect(":memory:") as database:
            database.execute("PRAGMA max_page_count = 1")
            database.execute("CREATE TABLE x (y)")

    monkeypatch.setattr(owners, "share", fill)
    path = f"/api/runs/{fresh.ids['run', 'rita', 'private']}/visibility"
    answer = fresh.ask("rita", "PUT", path, json={"visibility": "team"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), answer.text


def authorise_directly(team: Team, who: str | None, method: str, path: str, id: str) -> ApiError | None:
    person = None if who is None else Person(name=who, role=ROLES[who])  # type: ignore[arg-type]
    scope = {"type": "http", "method": method, "app": team.app, "path_params": {"id": id}, "headers": [],
             "route": SimpleNamespace(path=path), PERSON: person}  # fmt: skip
    request = Request(scope)
    try:
        anyio.run(authorise, request, _get_context(request))
    except ApiError as error:
        return error
    return None


def test_a_route_without_a_rule_answers_nobody(team: Team) -> None:
    error = authorise_directly(team, "adam", "GET", "/api/new", "x")
    assert error is not None
    assert error.status == 404


@pytest.mark.parametrize("who", PEOPLE)
def test_lists_show_what_one_may_see(team: Team, who: str | None) -> None:
    def sees(owner: str, level: Visibility) -> bool:
        return who == "adam" or who == owner or (who is not None and level != "private")

    answer = team.ask(who, "GET", "/api/recordings")
    for kind in ("recording", "run", "search", "atlas"):
        visible = {id for (each, owner, level), id in team.ids.items() if each == kind and sees(owner, level)}
        address = {"recording": "recordings", "run": "runs", "atlas": "atlases"}.get(kind)
        if address is not None:  # these are no searches that can be read
            listed = team.ask(who, "GET", f"/api/{address}").json()
            found = {each["id"] for each in listed if not each.get("shipped")}
            assert found == visible, kind
    assert int(answer.headers["x-total-count"]) == len(answer.json())
    jobs = {each["id"] for each in team.ask(who, "GET", "/api/jobs").json()}
    mine = {team.ids["job", each, "private"] for each in ROLES if who in (each, "adam")}
    assert jobs == mine
    own = {each["owner"] for each in team.ask(who, "GET", "/api/jobs?mine=1").json()}
    assert own == ({who} if who in ROLES else set())  # the page of an admin follows their own alone
    assert team.ask(who, "GET", "/api/recordings?search=zzz").json() == []


def test_ids_that_are_made_of_others_obey_them(team: Team) -> None:
    mine, shared = team.ids["recording", "rob", "private"], team.ids["recording", "rita", "team"]
    hers = team.ids["recording", "rita", "private"]
    for id in (f"{mine}~{hers}", f"{hers}~{mine}", f"{shared}~{hers}", "rita__private:0:0"):
        for path in ("", "/thumbnails", "/branches", "/bundle", "/scores/entropy"):
            assert team.ask("rob", "GET", f"/api/recordings/{id}{path}").status_code == 404, (id, path)
    assert team.ask("rita", "GET", f"/api/recordings/{hers}~{hers}").status_code == 200
    assert (
        team.ask("rob", "PUT", f"/api/recordings/{mine}~{shared}/branch", json={"name": "x"}).status_code
        == 403
    )
    run = {"kind": "record", "model": "zoo/tiny", "text": "x"}
    outcome = {"token": "x"}
    for changes, code in (
        ({"parent": hers}, "no_recording"),
        ({"parent": f"{mine}~{hers}"}, "no_recording"),
        ({"parent": "no-0123456789ab"}, "no_recording"),
        ({"kind": "generate", "parent": hers, "branch": {"step": 0}}, "no_recording"),
        ({"sequence": "media", "text": None, "media_of": hers}, "no_recording"),
        ({"sequence": "media", "text": None, "media_of": f"{mine}~{hers}"}, "no_recording"),
        ({"model": "run:rita__private"}, "no_model"),
        ({"model": "run:none"}, "no_model"),
    ):
        asked = {**run, **changes}
        for path, body in (
            ("jobs", asked),
            ("effects", {"run": asked, "outcome": outcome}),
            ("patching", {"run": asked, "outcome": outcome, "corrupted": "y"}),
        ):
            answer = team.ask("rob", "POST", f"/api/{path}", json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, code), (path, changes)
    answer = team.ask("rob", "POST", "/api/jobs", json={**run, "parent": shared})
    assert (answer.status_code, answer.json()["owner"]) == (202, "rob")


def test_a_file_that_is_sent_belongs_to_its_sender(fresh: Team) -> None:
    sent = fresh.ask("rita", "POST", "/api/inputs", content=b"a picture")
    id, store = sent.json()["id"], InputStore(fresh.library.folder)
    assert sent.status_code == 201
    assert store.find(id, "rita").read_bytes() == b"a picture"
    for other in ("rob", "adam", None):
        with pytest.raises(ApiError):
            store.find(id, other)
    form = fresh.ask("rita", "POST", "/api/inputs", files={"file": b"a picture"})
    large = fresh.ask("rita", "POST", "/api/inputs", content=bytes((64 << 20) + 1))
    pieces = fresh.ask("rita", "POST", "/api/inputs", content=iter([bytes(1 << 20)] * 65))
    assert [each.status_code for each in (form, large, pieces)] == [415, 413, 413]
    assert [path.stem for path in store.folder.iterdir()] == [id]  # nothing is left of what was refused


def test_the_same_file_of_two_people_is_two_recordings(fresh: Team, invented: dict[str, Path]) -> None:
    body = invented["long"].read_bytes()
    first, second = (
        fresh.ask(who, "POST", "/api/recordings", content=body).json()["id"] for who in ("rita", "rob")
    )
    assert first != second
    assert fresh.ask("rob", "GET", f"/api/recordings/{first}").status_code == 404
    assert fresh.ask("rob", "DELETE", f"/api/recordings/{first}").status_code == 404
    assert fresh.ask("rob", "DELETE", f"/api/recordings/{second}").status_code == 204
    assert fresh.ask("rita", "GET", f"/api/recordings/{first}").status_code == 200
    again = Library(fresh.library.folder, shipped=None)  # as after a restart
    try:
        whose = again.ownership(first)
        assert whose is not None
        assert whose.owner == "rita"
    finally:
        again.close()


def test_a_link_opens_the_page_for_a_visitor_where_they_may_see_what_it_names(team: Team) -> None:
    for name, kind in (("recording", "recording"), ("run", "run"), ("study", "atlas")):
        for level, status in (("public", 200), ("team", 401), ("private", 401)):
            link = {name: team.ids[kind, "rita", level], "view": "x"}
            assert team.client.get("/", params=link).status_code == status, (name, level)
    assert team.client.get("/", params={"recording": "x" * 5000}).status_code == 401
    mine, hers = team.ids["run", "rob", "public"], team.ids["run", "rita", "public"]
    secret = team.ids["run", "rita", "team"]
    for runs, status in ((f"{mine},{hers}", 200), (f"{mine},{secret}", 401), (f"{mine},", 401)):
        assert team.client.get("/", params={"run": runs}).status_code == status, runs


def test_viewers_and_visitors_are_told_that_they_do_not_run_models(team: Team) -> None:
    for who, runs in ((None, False), ("vera", False), ("rita", True), ("adam", True), ("vera", False)):
        about = team.ask(who, "GET", "/api/about").json()
        assert (about["workbench"], about["training"], about["why_no_workbench"] is None) == (runs,) * 3


def test_no_worker_starts_for_people_who_run_nothing(fresh: Team) -> None:
    for who, starts in ((None, False), ("vera", False), ("rob", True)):
        assert fresh.ask(who, "GET", "/api/models").status_code == 200
        assert fresh.app.state.warm is starts


def test_sharing_and_taking_back(fresh: Team) -> None:
    id = fresh.ids["recording", "rita", "private"]
    seen: list[list[int]] = []
    for level in ("team", "public", "private"):
        path = f"/api/recordings/{id}/visibility"
        assert fresh.ask("rob", "PUT", path, json={"visibility": level}).status_code in (403, 404)
        assert fresh.ask("rita", "PUT", path, json={"visibility": level}).status_code == 204
        answers = [fresh.ask(who, "GET", f"/api/recordings/{id}/thumbnails") for who in (None, "vera", "rob")]
        seen.append([each.status_code for each in answers])
        assert all("immutable" not in each.headers.get("cache-control", "") for each in answers)
    assert seen == [[404, 200, 200], [200, 200, 200], [404, 404, 404]]
    known = {"if-none-match": answers[0].headers.get("etag", '"x"')}
    assert fresh.ask("rob", "GET", f"/api/recordings/{id}/thumbnails", headers=known).status_code == 404
    fresh.ask("rita", "DELETE", f"/api/recordings/{id}")
    assert fresh.ask("rita", "PUT", path, json={"visibility": "team"}).status_code == 404
    assert not list(fresh.library.folder.glob("*.json")) or len(
        list(fresh.library.folder.glob("*.json"))
    ) == len(list(fresh.library.folder.glob("*.bundle")))  # no card without its bundle


def test_messages_about_training_do_not_name_the_runs_of_others(fresh: Team) -> None:
    answer = fresh.ask("rob", "POST", "/api/training/rita__privat/fork", json={"name": "mine"})
    assert answer.status_code == 404
    assert "rita__private" not in answer.text
    fresh.app.state.context.access.owners.claim("run", "rob__gone", "rob")  # its folder was removed by hand
    answer = fresh.ask("rob", "DELETE", "/api/training/rob__gone")
    assert (answer.status_code, "rita" in answer.text) == (404, False)
    answer = fresh.ask("rob", "GET", "/api/training").json()
    assert answer["allowed"]
    access = fresh.app.state.context.access.of(Person(name="a.b@example.org", role="runner"))
    assert access.name_run("first") == "a.b_at_example.org__first"
    assert access.name_run(access.name_run("first")) == access.name_run("first")


def test_without_users_everything_is_as_it_was(build_site: Callable[..., Any]) -> None:
    site = build_site()
    session = site.json("/api/session")
    assert (session["users"], session["name"], session["signs_out"]) == (False, None, False)
    assert site.client.put(f"{site.of('single')}/visibility", json={"visibility": "team"}).status_code == 409
    assert site.client.get(f"{site.of('single')}/thumbnails").headers["cache-control"].endswith("immutable")
    assert site.client.post("/sign-in", content="name=a&password=b").status_code == 409


@pytest.mark.slow
def test_atlases_that_nobody_has_claimed_are_the_teams_until_an_admin_says_otherwise(
    fresh: Team, tmp_path: Path
) -> None:
    invent_atlas(layers=1, heads=2).save(tmp_path / "atlases" / "ours")
    for who, names in ((None, {"gpt2"}), ("vera", {"gpt2", "ours"})):
        assert {each["id"] for each in fresh.ask(who, "GET", "/api/atlases").json()} >= names
    ours = ("/api/atlases/ours", "/api/atlases/ours/heads", "/api/atlases/gpt2/beside/ours",
            "/api/recordings/ours:example:0")  # fmt: skip
    for path in ours:
        assert fresh.ask(None, "GET", path).status_code == 404, path
        assert fresh.ask("vera", "GET", path).status_code == 200, path
    assert "ours" not in fresh.ask(None, "GET", "/api/atlases").text
    assert fresh.ask(None, "GET", "/api/recordings/gpt2:example:0").status_code == 200
    assert fresh.ask("adam", "DELETE", "/api/recordings/ours:example:0").status_code == 403
    for level, statuses in (("private", (404, 404, 200)), ("public", (200, 200, 200))):
        asked = {"visibility": level}
        assert fresh.ask("rita", "PUT", "/api/atlases/ours/visibility", json=asked).status_code in (403, 404)
        assert fresh.ask("adam", "PUT", "/api/atlases/ours/visibility", json=asked).status_code == 204
        for path in ours:
            answers = tuple(fresh.ask(who, "GET", path).status_code for who in (None, "vera", "adam"))
            assert answers == statuses, (level, path)
    assert fresh.ask("adam", "PUT", "/api/atlases/gpt2/visibility", json=asked).status_code == 409


def test_quotas_of_one_person(fresh: Team, invented: dict[str, Path]) -> None:
    context = fresh.app.state.context
    body, used = invented["long"].read_bytes(), context.library.bytes_of("rita")
    assert fresh.ask("rita", "GET", "/api/session").json()["storage"] == used > 0
    limited = replace(context.settings, person_bytes=used + len(body) - 1, person_jobs=3)
    fresh.app.state.context = replace(context, settings=limited)
    for content in (body, iter([body])):  # with a length, and in pieces
        answer = fresh.ask("rita", "POST", "/api/recordings", content=content)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (413, "storage_full")
        assert error["message"]["code"] == "api.storage_left"
    assert not list(fresh.library.folder.glob(".*.part"))
    asked = {"kind": "record", "model": "zoo/tiny", "text": "x"}
    statuses = [
        fresh.ask(who, "POST", "/api/jobs", json=asked).status_code for who in ("rob",) * 3 + ("rita",)
    ]
    assert statuses == [202, 202, 429, 202]  # each had a job before; another's quota is not mine
    full = replace(limited, person_bytes=used)
    fresh.app.state.context = replace(context, settings=full)
    answer = fresh.ask("rita", "POST", "/api/jobs", json=asked)
    assert (answer.status_code, answer.json()["error"]["message"]["code"]) == (413, "api.storage_full")


def test_files_that_come_at_the_same_time_share_one_quota(
    fresh: Team, invented: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, bodies = fresh.app.state.context, [invented[name].read_bytes() for name in ("long", "wide")]
    used = context.library.bytes_of("rita")
    most = used + max(map(len, bodies)) + 4096  # for one of them, with its card
    assert min(map(len, bodies)) > 4096
    fresh.app.state.context = replace(context, settings=replace(context.settings, person_bytes=most))
    inspect, both = INSPECTOR.inspect, threading.Barrier(2)

    def inspect_both(path: Path) -> Any:
        both.wait(300)  # each has been found to fit
        return inspect(path)

    monkeypatch.setattr(INSPECTOR, "inspect", inspect_both)
    statuses: list[int] = []

    def send(body: bytes) -> None:
        statuses.append(fresh.ask("rita", "POST", "/api/recordings", content=body).status_code)

    threads = [threading.Thread(target=send, args=(body,)) for body in bodies]
    for each in threads:
        each.start()
    for each in threads:
        each.join(300)
    assert sorted(statuses) == [201, 413]
    assert used < context.library.bytes_of("rita") <= most


@pytest.mark.parametrize(
    ("path", "method"), [("/api/jobs", "submit"), ("/api/effects", "measure")], ids=["jobs", "effects"]
)
def test_hanging_up_and_a_restart_leave_the_quota_of_jobs(
    fresh: Team, monkeypatch: pytest.MonkeyPatch, path: str, method: str
) -> None:
    context = fresh.app.state.context
    fresh.app.state.context = replace(context, settings=replace(context.settings, person_jobs=2))
    bench: Any = context.workbench
    before = len(bench.asked)  # one of them is his
    submit, go, made = bench.submit, threading.Event(), threading.Event()
    run = {"kind": "record", "model": "zoo/tiny", "text": "x"}
    asked = run if method == "submit" else {"run": run, "outcome": {}}

    def submit_slowly(request: Any, owner: str | None = None) -> Any:
        assert go.wait(300)
        job = submit(request if method == "submit" else request.run, owner)
        made.set()
        return job

    monkeypatch.setattr(bench, method, submit_slowly, raising=False)

    async def ask(*last: dict[str, Any]) -> int:
        heard = [{"type": "http.request", "body": json.dumps(asked).encode()}, *last]
        sent: list[Any] = []
        headers = {"host": "localhost", "authorization": "Bearer gft_rob", "content-type": "application/json"}
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip

        async def receive() -> dict[str, Any]:
            if not heard:
                await anyio.sleep_forever()
            return heard.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        await fresh.app(scope, receive, send)
        return int(sent[0]["status"])

    async def ask_all() -> list[int]:
        statuses = [await ask({"type": "http.disconnect"}), await ask()]  # its thread goes on
        go.set()
        assert await anyio.to_thread.run_sync(made.wait, 300)
        while fresh.app.state.submitting.total:
            await anyio.sleep(0.001)
        fresh.app.state.jobs.clear()  # as after a restart with a kept queue
        return [*statuses, await ask()]

    assert anyio.run(ask_all) == [499, 429, 429]
    assert len(bench.asked) == before + 1


@pytest.mark.parametrize("who", ["rob", "nobody"])  # a visitor is counted by the address
def test_requests_of_one_person_at_the_same_time_are_limited(who: str) -> None:
    async def wait(scope: Any, receive: Any, send: Any) -> None:
        waiting.append(scope)
        await done.wait()

    async def ask(name: str) -> int:
        sent: list[Any] = []
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {name}".encode())]
        scope = {"type": "http", "method": "GET", "path": "/x", "query_string": b"", "headers": headers}

        async def send(message: Any) -> None:
            sent.append(message)

        await guard(scope, None, send)  # type: ignore[arg-type]
        return sent[0]["status"] if sent else 0

    async def ask_all() -> list[int]:
        found: list[int] = []

        async def keep(name: str) -> None:
            found.append(await ask(name))
            if len(found) + len(waiting) == 4:
                done.set()

        async with anyio.create_task_group() as tasks:
            for name in ("rita", who, who, who):
                tasks.start_soon(keep, name)
                await anyio.sleep(0)
        return [*found, await ask(who)]

    waiting: list[Any] = []
    done = anyio.Event()
    people = {name: Person(name=name, role="runner") for name in ("rob", "rita")}
    identity: Any = SimpleNamespace(
        attempts=SimpleNamespace(check=lambda _: None),
        find=lambda scope, headers, cookie, tokens: Found(people.get(tokens[0])),
    )
    guard = Guard(wait, Settings(person_requests=2), identity)
    statuses = anyio.run(ask_all)
    assert sorted(statuses) == [0, 0, 0, 0, 429]
    assert len(waiting) == 4


@pytest.mark.parametrize("what", ["job", "run"])
def test_an_open_stream_ends_when_its_listener_is_removed(
    fresh: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr("glassformer.api.responses.LOOK", 0.0)
    fresh.app.state.context.access.owners.claim("run", "rita__live", "rita")

    async def wait(_: str) -> Any:
        yield JobEvent(name="progress", data={})
        await anyio.sleep_forever()

    fresh.app.state.context.workbench.events = wait
    id = {"job": fresh.ids["job", "rita", "private"], "run": "rita__live"}[what]
    heard: list[bytes] = []

    async def send(message: Any) -> None:
        heard.append(message.get("body", b""))
        if b"event:" in heard[-1]:  # she listens
            change_people(tmp_path / "users.json", lambda people: people.__delitem__("rita"))

    async def listen() -> None:
        path = f"/api/{what}s/{id}/events"
        headers = [(b"host", b"localhost"), (b"authorization", b"Bearer gft_rita")]
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
                 "query_string": b"", "headers": headers}  # fmt: skip
        with anyio.fail_after(300):
            await fresh.app(scope, anyio.sleep_forever, send)

    with RunWriter(tmp_path / "runs" / "rita__live") as writer:
        writer.write_event(Event(0, "started", "It began."))
        anyio.run(listen)
    assert [b"event:" in each for each in heard] == [False, True, False]  # no other event after she is out


def test_of_two_equal_starts_the_one_that_fails_leaves_the_owner(fresh: Team) -> None:
    context, first, begun = fresh.app.state.context, threading.Event(), threading.Event()

    def start(request: Any) -> Training:
        if not first.is_set():
            first.set()
            begun.wait(0.2)  # gives the other one time to begin meanwhile, where it may
            raise ApiError("workbench.training.name_taken", "name", 409, name=request.name)
        begun.set()
        return Training(id=request.name, state="starting", started=0.0, problem=None)

    trainer = SimpleNamespace(most=4, trainings=list, start=start)
    fresh.app.state.context = replace(context, trainer=trainer)
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(fresh.ask("rita", "POST", "/api/training", json={"name": "twin"}).status_code)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(300)
    assert sorted(statuses) == [202, 409]
    assert context.access.owners.find("run", "rita__twin").owner == "rita"
    context.access.owners.claim("run", "rob__mine", "somebody")  # whose name gives the same names of runs
    assert fresh.ask("rob", "POST", "/api/training", json={"name": "mine"}).status_code == 409
