"""Published models that are offered by their names on the hub, beside those that ship.

In:   published.toml; whether a model is on this machine already, and whether the hub may be asked.
Out:  a `ModelDescription` of each, with what it needs before it can run.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.api.jobs import ModelDescription
from glassformer.messages import Message, message
from glassformer.workbench.cards import name_tasks
from glassformer.workbench.sequences import list_samples

FILE = Path(__file__).with_name("published.toml")
BYTES = 4  # of a parameter in memory


@cache
def read_published() -> dict[str, dict[str, Any]]:
    """What the file says of each model, by name."""
    models = tomllib.loads(FILE.read_text(encoding="utf-8"))["model"]
    return {model["name"]: model for model in models}


def describe_published(name: str, *, fetched: bool, offline: bool) -> ModelDescription:
    """A published model as it stands on this machine."""
    facts = dict(read_published()[name])
    task, languages = facts.pop("task"), tuple(facts.pop("languages", ()))
    megabytes, pickled = facts.pop("megabytes"), facts.pop("pickled", False)
    memory = facts["parameters"] * BYTES // 1_000_000
    needs = _tell_needs(megabytes, memory, fetched=fetched, offline=offline, pickled=pickled)
    return ModelDescription(
        **facts,
        label=name,
        one_pair=bool(languages),
        tasks=name_tasks(task),
        languages=languages,
        origin="hub",
        note=None,
        needs=needs,
        samples=list_samples(task, languages[:1]),
    )


def _tell_needs(megabytes: int, memory: int, *, fetched: bool, offline: bool, pickled: bool) -> Message:
    if fetched:
        return message("workbench.published.fetched", memory=memory)
    kind = "offline" if offline else "pickled" if pickled else "download"
    return message(f"workbench.published.{kind}", megabytes=megabytes, memory=memory)
