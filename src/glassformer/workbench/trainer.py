"""Training for the page: each run in a process of its own, which goes on when the server ends.

In:   checked requests to start, stop, resume, fork or remove a run; a folder of runs, a folder of data.
Out:  processes, and how they stand. What a process prints is in `output.log` in the folder of its run.

How a run stands is read from its folder, so a run that another server or a terminal started is known as well:
it counts, can be followed and can be stopped.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.api.training import (
    CheckedRecipe,
    CheckRequest,
    DataFiles,
    ForkRequest,
    RecipeSchema,
    ResumeRequest,
    RunRecipe,
    ShippedRecipe,
    StartRequest,
    Training,
    TrainingState,
)
from glassformer.errors import ApiError
from glassformer.messages import Message, message
from glassformer.registry import suggestion
from glassformer.runlog import RECIPE, find_process, find_runs, find_state, is_run, read_events
from glassformer.runlog.alive import hold_run
from glassformer.settings import parse_toml
from glassformer.workbench.process import PROBLEM, make_environment, measure_memory
from glassformer.workbench.recipe_fields import FORK, drop_hidden
from glassformer.workbench.recipe_places import Places
from glassformer.workbench.recipes import SEARCH, RecipeRules, change, read_request, read_shipped
from glassformer.workbench.settings import TrainerSettings

LOG = "output.log"
SETTINGS = "settings.json"
POLL = 0.5  # seconds between two looks at a process
TAIL = 64 << 10  # bytes at the end of a log in which the problem is looked for
KEPT = 50  # processes that have ended and are remembered
NAME = re.compile(r"\w[\w.-]{0,79}")


@dataclass(slots=True)
class _Child:
    """A process that this server has started."""

    id: str
    process: subprocess.Popen[bytes]
    log: Path
    started: float = field(default_factory=time.time)
    begun: bool = False  # whether the process was seen to write its run
    stopping: bool = False
    problem: Message | None = None
    ended: bool = False


class LocalTrainer:
    """Trains on this machine. Safe to use from several threads."""

    command = (sys.executable, "-P", "-m", "glassformer.workbench.training_process")

    def __init__(self, settings: TrainerSettings) -> None:
        self.settings = settings
        self.runs = settings.runs
        self.most = settings.jobs
        self.places = Places(settings.data, settings.models, offline=settings.offline, allows=settings.allows)
        self.rules = RecipeRules(self.places, settings.runs, steps=settings.steps, memory=settings.memory)
        self._children: dict[str, _Child] = {}  # the last one of each run
        self._stopping: set[tuple[str, int]] = set()  # runs and processes that were asked to stop
        self._lock = threading.RLock()

    # What there is

    def schema(self) -> RecipeSchema:
        return self.rules.schema

    def recipes(self) -> list[ShippedRecipe]:
        return read_shipped(self.places)

    def data(self, search: str) -> DataFiles:
        return self.places.list_files(search)

    def check(self, request: CheckRequest) -> CheckedRecipe:
        return self.rules.check(request.recipe)

    def recipe_of(self, id: str) -> RunRecipe:
        folder = self._find(id)
        return RunRecipe(id=id, tables=self._read_tables(folder), steps=tuple(_find_steps(folder)))

    def trainings(self) -> list[Training]:
        with self._lock:
            own = [self._describe(child) for child in self._children.values()]
        known = {each.id for each in own if each.state not in ("ended", "failed")}
        others = [
            Training(
                id=path.name,
                state="stopping" if (path.name, number) in self._stopping else "running",
                started=_started(path),
                problem=None,
            )
            for path in find_runs(self.runs)
            if path.name not in known and (number := find_process(path)) is not None
        ]
        return [*(each for each in own if each.id not in {other.id for other in others}), *others]

    # What can be done

    def start(self, request: StartRequest) -> Training:
        self._require_free(request.name)
        ready = self.rules.require(read_request(request.recipe, request.toml, request.changes))
        with self._lock:  # checking reads files and takes time: only what may have changed is checked again
            return self._spawn(self._require_free(request.name), ready.toml, ready.places)

    def resume(self, id: str, request: ResumeRequest) -> Training:
        folder = self._require_idle(id)
        self._require_slot()
        ready = self.rules.require(change(self._read_tables(folder), request.changes))
        with self._lock:
            self._require_idle(id)
            self._require_slot()
            if not _find_steps(folder):
                raise ApiError("workbench.training.no_checkpoint", "no_checkpoint", 409, id=id)
            return self._spawn(id, None, {**request.changes, **ready.places}, resume=True)

    def fork(self, id: str, request: ForkRequest) -> Training:
        folder = self._find(id)
        self._require_free(request.name)
        for each in request.changes:
            if each.partition(".")[0] not in FORK:
                raise ApiError("workbench.training.fork_changes", "recipe", 422, name=each[:200], tables=FORK)
        ready = self.rules.require(change(self._read_tables(folder), request.changes))
        with self._lock:
            self._find(id)
            name = self._require_free(request.name)
            steps = _find_steps(folder)
            if not steps or (request.step is not None and request.step not in steps):
                raise ApiError(
                    "workbench.training.no_state",
                    "no_checkpoint",
                    409,
                    id=id,
                    step=request.step,
                    steps=tuple(steps),
                )
            return self._spawn(name, None, {**request.changes, **ready.places}, fork=id, step=request.step)

    def stop(self, id: str) -> Training:
        with self._lock:
            child = self._children.get(id)
            number = None
            if child is not None and not child.ended:
                child.stopping, number = True, child.process.pid
            elif is_run(folder := self._find(id)):
                number = find_process(folder)
            if number is None:
                raise ApiError("workbench.training.not_running", "not_running", 409, id=id)
            if (id, number) not in self._stopping:  # a second signal would end it without a checkpoint
                self._stopping.add((id, number))
                _signal(number, signal.SIGTERM)
                threading.Thread(target=self._kill_later, args=(id, number), daemon=True).start()
            return Training(
                id=id, state="stopping", started=child.started if child else time.time(), problem=None
            )

    def remove(self, id: str) -> None:
        with self._lock:
            folder = self._require_idle(id)
            with hold_run(folder) as free:
                if not free or find_state(folder, read_events(folder)[0]) == "running":
                    raise ApiError("workbench.training.is_running", "is_running", 409, id=id)
                removed = folder.with_name(f".removed-{time.time_ns()}")
                os.replace(folder, removed)  # in one step: nobody sees half a run
            self._children.pop(id, None)
        shutil.rmtree(removed, ignore_errors=True)  # may take long: without the lock

    # Checks

    def _find(self, id: str) -> Path:
        """The folder of a run; a link is none."""
        folder = self.runs / id
        if not _is_name(id) or folder.is_symlink() or not is_run(folder):
            near = suggestion(id[:80], [path.name for path in find_runs(self.runs)])
            raise ApiError("workbench.training.no_run", "no_run", 404, id=id[:80], suggestion=near)
        return folder

    def _require_idle(self, id: str) -> Path:
        folder = self._find(id)
        child = self._children.get(id)
        busy = child is not None and not child.ended
        if busy or find_state(folder, read_events(folder)[0]) == "running":
            raise ApiError("workbench.training.is_running", "is_running", 409, id=id)
        return folder

    def _require_free(self, name: str) -> str:
        """A name that a new run can have, where one more run may be trained."""
        if not _is_name(name):
            raise ApiError("workbench.training.wrong_name", "name", 422, name=name[:80])
        child = self._children.get(name)
        if os.path.lexists(self.runs / name) or (child is not None and not child.ended):
            raise ApiError("workbench.training.name_taken", "name", 409, name=name)
        self._require_slot()
        return name

    def _require_slot(self) -> None:
        running = [each.id for each in self.trainings() if each.state in ("starting", "running", "stopping")]
        if len(running) >= self.most:
            raise ApiError(
                "workbench.training.busy",
                "busy",
                409,
                count=len(running),
                names=tuple(running),
                most=self.most,
            )

    def _read_tables(self, folder: Path) -> dict[str, Any]:
        """The settings of a run as tables, with paths as seen from the data folder."""
        try:
            saved = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            pairs = [(*name.partition(".")[::2], value) for name, value in saved.items()]
        except (OSError, ValueError, AttributeError) as error:
            raise ApiError("workbench.training.no_settings", "no_settings", 409, id=folder.name) from error
        tables: dict[str, Any] = {}
        for table, key, value in pairs:
            if key:
                tables.setdefault(table, {})[key] = value
            else:  # no table: a name that is refused
                tables[table] = value
        with suppress(
            OSError, ValueError
        ):  # what stands beside the tables, such as plug-ins, is refused, too
            tables = {**parse_toml((folder / RECIPE).read_text(encoding="utf-8")), **tables}
        tables.pop(SEARCH, None)
        return self.places.shorten(drop_hidden(tables))

    # Processes

    def _spawn(
        self,
        name: str,
        toml: str | None,
        changes: Mapping[str, Any],
        *,
        resume: bool = False,
        fork: str | None = None,
        step: int | None = None,
    ) -> Training:
        request = {
            "name": name,
            "toml": toml,
            "changes": dict(changes),
            "resume": resume,
            "fork": fork,
            "step": step,
            "runs": str(self.runs),
            "download": self.settings.download,
        }
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            # a new run makes its folder itself; its log follows once the folder is there
            log = self.runs / name / LOG if resume else self.runs / f".{name}.log"
            with log.open("ab" if resume else "wb") as output:
                process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=make_environment(offline=self.settings.offline, hub_token=self.settings.hub_token),
                    start_new_session=True,  # a signal to the server is not one to its runs
                )
        except OSError as error:
            raise ApiError(
                "workbench.training.not_started", "not_started", 409, reason=str(error.strerror)
            ) from error
        assert process.stdin is not None
        with suppress(OSError), process.stdin as pipe:
            pipe.write(json.dumps(request).encode() + b"\n")
        child = _Child(name, process, log)
        self._forget()
        self._children[name] = child
        threading.Thread(target=self._watch, args=(child,), daemon=True).start()
        return self._describe(child)

    def _watch(self, child: _Child) -> None:
        """Until a process ends: its memory and its log."""
        while True:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(POLL)
                break
            if measure_memory(child.process.pid) > self.settings.memory:
                child.problem = message("workbench.training.memory", most=self.settings.memory / 1e9)
                _signal(child.process.pid, signal.SIGKILL)
            self._move_log(child)
        self._move_log(child)
        if child.process.returncode != 0 and child.problem is None and not child.stopping:
            child.problem = _find_problem(child.log, child.process.returncode).replace(
                f"{self.places.data}{os.sep}", ""
            )
        if not is_run(self.runs / child.id):
            child.log.unlink(missing_ok=True)
        child.ended = True

    def _move_log(self, child: _Child) -> None:
        """Once there is a folder of the run, its log is in it."""
        target = self.runs / child.id / LOG
        if child.log != target and is_run(target.parent):
            with suppress(OSError):
                os.replace(child.log, target)
                child.log = target

    def _kill_later(self, id: str, number: int) -> None:
        """Kill a process that was asked to stop and has not."""
        end = time.monotonic() + self.settings.stop_seconds
        try:
            while time.monotonic() < end:
                time.sleep(POLL)
                child = self._children.get(id)
                own = child is not None and child.process.pid == number
                if child.ended if own and child else find_process(self.runs / id) != number:
                    return
            _signal(number, signal.SIGKILL)
        finally:
            self._stopping.discard((id, number))

    def _describe(self, child: _Child) -> Training:
        state: TrainingState
        folder = self.runs / child.id
        if child.ended:
            state = "failed" if child.problem is not None else "ended"
        elif child.stopping:
            state = "stopping"
        else:
            writing = find_process(folder) == child.process.pid
            child.begun |= writing
            state = "running" if writing else "stopping" if child.begun else "starting"
        return Training(id=child.id, state=state, started=child.started, problem=child.problem)

    def _forget(self) -> None:
        ended = [id for id, child in self._children.items() if child.ended]
        for id in ended[: max(0, len(ended) - KEPT)]:
            del self._children[id]


def _is_name(text: str) -> bool:
    """Whether a text can be the name of a run: one folder, not hidden, the same in every file system."""
    whole = NAME.fullmatch(text) is not None and len(text.encode("utf-8", "replace")) <= 200
    return whole and unicodedata.normalize("NFC", text) == text and not text.endswith(".")


def _find_steps(folder: Path) -> list[int]:
    """Steps whose checkpoints have the state of training."""
    names = (path.parent.name for path in folder.glob("checkpoints/step-*/training.json"))
    return sorted(int(name.removeprefix("step-")) for name in names if name.removeprefix("step-").isdecimal())


def _started(folder: Path) -> float:
    return next((event.time for event in reversed(read_events(folder)[0]) if event.time is not None), 0.0)


def _signal(number: int, which: int) -> None:
    """Send a signal to a process; where it leads a group, to all that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        if which == signal.SIGKILL and os.getpgid(number) == number:
            os.killpg(number, which)
        else:
            os.kill(number, which)


def _find_problem(log: Path, code: int) -> Message:
    """Why a process failed: what it wrote last, or how it ended."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            line = file.read().rstrip().rpartition(b"\n")[2]
        return Message.from_json(json.loads(line)[PROBLEM])
    if code == -signal.SIGKILL:
        return message("workbench.training.killed")
    return message("workbench.training.crashed", code=code)
