"""Commands that continue, fork or remove a run, for advice: what is printed can be pasted into a terminal.

In:   the folder of a run; settings to change.
Out:  the text of a command.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

Changes = Sequence[str] | Mapping[str, Any]  # as `--set` takes them, or by name


def resume_command(run: Path) -> str:
    """The command that continues a run from its newest checkpoint."""
    return _join("train", "--resume", "--name", run.name, *_folder(run))


def fork_command(
    run: Path, changes: Changes = (), *, step: int | None = None, recipe: Path | None = None
) -> str:
    """The command that starts a run at a checkpoint of another one (the newest), with other settings."""
    names = (f"{run.name}-{number}" for number in count(2))
    name = next(name for name in names if not (run.parent / name).exists())
    words = [] if recipe is None else [str(recipe)]
    words += ["--fork", name, "--from", run.name]
    words += [] if step is None else ["--step", str(step)]
    return _join("train", *words, *_folder(run), *_set(changes))


def remove_command(run: Path) -> str:
    """The command that removes a run."""
    return _join("runs", "rm", run.name, *_folder(run))


def _set(changes: Changes) -> list[str]:
    if isinstance(changes, Mapping):
        changes = [f"{name}={_as_toml(value)}" for name, value in changes.items()]
    return [word for change in changes for word in ("--set", change)]


def _as_toml(value: Any) -> str:
    """A value as TOML: what JSON writes of strings, numbers and lists of them is TOML, too."""
    return json.dumps(value, ensure_ascii=False)


def _folder(run: Path) -> tuple[str, ...]:
    return () if run.parent == Path("runs") else ("--folder", str(run.parent))


def _join(*words: str) -> str:
    return shlex.join(("glassformer", *words))
