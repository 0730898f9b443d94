"""Training over HTTP: off unless allowed; who may ask; no request reaches a file, a plug-in or a command."""

import asyncio
import copy
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import training_stand_in
from campaigns import rounds
from glassformer.api.routes.training import _begin
from glassformer.api.settings import Settings
from glassformer.api.training import Training
from glassformer.errors import ApiError
from glassformer.workbench import LocalTrainer, TrainerSettings
from recipe_mutants import RECIPE, mutate

ROUTES = (
    ("GET", "/schema"),
    ("GET", "/recipes"),
    ("GET", "/data"),
    ("POST", "/check"),
    ("POST", ""),
    ("GET", "/first/recipe"),
    ("POST", "/first/stop"),
    ("POST", "/first/resume"),
    ("POST", "/first/fork"),
    ("DELETE", "/first"),
)
BODIES = {
    "/check": {"recipe": RECIPE},
    "": {"name": "first", "recipe": RECIPE},
    "/first/resume": {},
    "/first/fork": {"name": "second"},
}


class CountingTrainer(LocalTrainer):
    """Counts the processes that it would start."""

    def __init__(self, settings: TrainerSettings) -> None:
        super().__init__(settings)
        self.command = (sys.executable, training_stand_in.__file__)
        self.spawned: list[tuple[Any, ...]] = []

    def _spawn(self, *given: Any, **named: Any) -> Any:
        self.spawned.append((given, named))
        return super()._spawn(*given, **named)


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[CountingTrainer]:
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (data / "text.txt").write_text("a\n" * 40)
    (data / "sub" / "more.txt").write_text("b\n" * 40)
    (data / ".hidden").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (data / "link.txt").symlink_to(tmp_path / "secret.txt")
    made = CountingTrainer(TrainerSettings(runs=tmp_path / "runs", data=data, offline=True))
    yield made
    for child in made._children.values():
        with suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()


@pytest.fixture
def site(build_site: Callable[..., Any], trainer: CountingTrainer) -> Any:
    return build_site(trainer=trainer, runs=trainer.runs)


def wait(site: Any, id: str, state: str) -> None:
    end = time.monotonic() + 300
    while {each["id"]: each["state"] for each in site.json("/api/training")["runs"]}.get(id) != state:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_without_permission_nothing_trains(build_site: Callable[..., Any], method: str, route: str) -> None:
    site = build_site()
    about = site.json("/api/training")
    assert about["allowed"] is False
    assert about["why_not"]["code"] == "api.no_training"
    error = site.refusal(f"/api/training{route}", 409, method=method, json=BODIES.get(route))
    assert "--train --data" in error["sentence"]


@pytest.mark.parametrize(("method", "route"), [each for each in ROUTES if each[0] != "GET"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://example.org"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "example.org"},
        {},
    ],
)
def test_strangers_cannot_train(
    build_site: Callable[..., Any],
    trainer: CountingTrainer,
    method: str,
    route: str,
    headers: dict[str, str],
) -> None:
    """The last one lacks the token."""
    site = build_site(trainer=trainer, token=None if headers else "0123456789abcdef")
    answer = site.client.request(method, f"/api/training{route}", json=BODIES.get(route, {}), headers=headers)
    assert answer.status_code in (401, 403, 421)
    assert trainer.spawned == []
    assert not trainer.runs.exists()


@pytest.mark.slow
def test_a_run_from_start_to_removal(site: Any, trainer: CountingTrainer) -> None:
    body = {"name": "first", "recipe": RECIPE}
    checked = site.client.post("/api/training/check", json={"recipe": RECIPE}).json()
    assert checked["faults"] == []
    started = site.client.post("/api/training", json=body)
    assert started.status_code == 202, started.text
    assert started.json()["state"] == "starting"
    wait(site, "first", "running")
    assert [each["id"] for each in site.json("/api/runs")] == ["first"]
    site.refusal("/api/training", 429, method="POST", json={**body, "name": "second"})
    site.refusal("/api/training/first", 409, method="DELETE")
    assert site.client.post("/api/training/first/stop").status_code == 202
    wait(site, "first", "ended")
    assert site.json("/api/training/first/recipe")["steps"] == [10]
    assert site.client.post("/api/training/first/resume", json={}).status_code == 202
    wait(site, "first", "running")
    site.client.post("/api/training/first/stop")
    wait(site, "first", "ended")
    forked = site.client.post("/api/training/first/fork", json={"name": "other", "step": 10})
    assert forked.status_code == 202
    wait(site, "other", "running")
    site.client.post("/api/training/other/stop")
    wait(site, "other", "ended")
    assert site.client.delete("/api/training/first").status_code == 204
    assert [each["id"] for each in site.json("/api/runs")] == ["other"]
    site.refusal("/api/training/first/recipe", 404)


def test_a_recipe_as_toml(site: Any, trainer: CountingTrainer) -> None:
    toml = site.client.post("/api/training/check", json={"recipe": RECIPE}).json()["toml"]
    body = {"name": "first", "toml": toml, "changes": {"train.steps": 7}}
    assert site.client.post("/api/training", json=body).status_code == 202
    [((name, given, _), _)] = trainer.spawned
    assert (name, "steps = 7" in given) == ("first", True)


@pytest.mark.slow
def test_one_client_has_its_share(build_site: Callable[..., Any], trainer: CountingTrainer) -> None:
    trainer.most = 2
    site = build_site(trainer=trainer, client_share=0.5)
    body = {"name": "first", "recipe": RECIPE}
    assert site.client.post("/api/training", json=body).status_code == 202
    error = site.refusal("/api/training", 429, method="POST", json={**body, "name": "second"})
    assert error["message"]["code"] == "api.too_many_trainings"


@pytest.mark.slow
def test_files_of_the_data_folder(site: Any) -> None:
    listed = site.json("/api/training/data")
    assert [each["path"] for each in listed["files"]] == ["text.txt", "sub/more.txt"]
    assert listed["more"] is False
    assert [each["path"] for each in site.json("/api/training/data?search=MORE")["files"]] == ["sub/more.txt"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"name": "x"},
        {"name": "x", "recipe": RECIPE, "toml": ""},
        {"name": "x", "toml": "["},
        {"name": "x", "toml": 'plugins = ["mine.py"]\n'},
        {"name": "x", "toml": "a = " + "[" * 5000},
        {"name": "x", "recipe": RECIPE, "more": 1},
        {"name": "x", "recipe": RECIPE, "changes": {"plugins": ["mine.py"]}},
        {"name": "x", "recipe": RECIPE, "changes": {"plugins.files": ["mine.py"]}},
        {"name": "x", "recipe": RECIPE, "changes": {"monitor.on_alarm": "touch seen"}},
        {"name": "x", "recipe": RECIPE, "changes": {"task.path": "../secret.txt"}},
        {"name": "x", "recipe": RECIPE, "changes": {"task.path": "link.txt"}},
        {"name": "x", "recipe": RECIPE, "changes": {"steps": 1}},
        {"name": "../x", "recipe": RECIPE},
        {"name": "x" * 300, "recipe": RECIPE},
    ],
)
def test_what_is_refused_starts_nothing(site: Any, trainer: CountingTrainer, body: Any) -> None:
    site.refusal("/api/training", 422, method="POST", json=body)
    assert trainer.spawned == []
    assert not trainer.runs.exists()


@pytest.mark.long
def test_mutants_are_refused_with_a_sentence_or_read_the_folder_alone(
    site: Any, trainer: CountingTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is sent: a 4xx with a sentence, or a start with a recipe that the rules let through."""
    given: list[Any] = []

    def pretend(name: str, toml: str | None, changes: Any, **_: Any) -> Any:
        given.append((toml, changes))
        return type(trainer)._describe(trainer, _Ended(name))  # type: ignore[arg-type]

    monkeypatch.setattr(trainer, "_spawn", pretend)
    chance = random.Random(1)
    for number in range(rounds(300, 20_000)):
        recipe = mutate(chance)
        body = json.dumps({"name": f"run-{number}", "recipe": recipe})
        answer = site.client.post("/api/training", content=body, headers={"content-type": "application/json"})
        if answer.status_code == 202:
            toml, changes = given.pop()
            assert changes["task.folder"] == str(trainer.places.data / recipe["task"].get("folder", "."))
            assert "plugins" not in toml
            assert "touch" not in toml
            assert "passwd" not in toml
            continue
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["sentence"]
        assert given == []
    assert not trainer.runs.exists()


class _Ended:
    """A process that has ended already."""

    def __init__(self, id: str) -> None:
        self.id, self.started, self.ended, self.problem = id, 0.0, True, None


def test_the_recipe_of_the_tests_is_left_alone() -> None:
    before = copy.deepcopy(RECIPE)
    mutate(random.Random(3))
    assert before == RECIPE


class PretendThreads:
    """Runs work after other requests had their turn; `gone`: the client leaves before the work is done."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone, self.working = gone, False
        self.left: list[Callable[[], object]] = []

    async def run(self, _: object, work: Callable[[], Any]) -> Any:
        await asyncio.sleep(0)
        if self.gone and work.__name__ == "work":
            self.left.append(work)
            raise ApiError("api.cancelled", "gone", 499)
        self.working = True
        try:
            return work()
        finally:
            self.working = False


def begin_all(threads: PretendThreads, count: int, *, fail: bool = False) -> tuple[list[Any], Any]:
    """What one client gets that begins several runs at once; the state of the server."""
    begun: list[Training] = []

    def trainings() -> list[Training]:
        assert threads.working, "folders are read in a thread, not on the event loop"
        return begun

    def begin(name: str) -> Training:
        if fail:
            raise ApiError("api.no_training")
        begun.append(Training(id=name, state="starting", started=0, problem=None))
        return begun[-1]

    state = SimpleNamespace(trainings={}, starting={})
    request: Any = SimpleNamespace(
        client=SimpleNamespace(host="a"), app=SimpleNamespace(state=state), scope={}
    )
    context: Any = SimpleNamespace(
        trainer=SimpleNamespace(most=2, trainings=trainings),
        threads=threads,
        settings=Settings(client_share=0.5),
        access=SimpleNamespace(owners=None, owner=None, limited=False),
    )

    async def ask() -> list[Any]:
        asked = (_begin(request, context, lambda name=str(number): begin(name)) for number in range(count))  # type: ignore[misc]
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(ask()), state


def test_requests_at_the_same_time_share_what_one_client_may_have() -> None:
    answers, state = begin_all(PretendThreads(), 3)
    assert [each.id for each in answers if isinstance(each, Training)] == ["0"]
    assert {each.message.code for each in answers[1:]} == {"api.too_many_trainings"}
    assert state.trainings == {"0": "a"}
    assert state.starting == {}


def test_what_could_not_begin_does_not_count() -> None:
    _, state = begin_all(PretendThreads(), 1, fail=True)
    assert state.trainings == state.starting == {}


def test_a_run_counts_whose_client_left() -> None:
    threads = PretendThreads(gone=True)
    _, state = begin_all(threads, 1)
    [work] = threads.left
    work()
    assert state.trainings == {"0": "a"}
    assert state.starting == {}
