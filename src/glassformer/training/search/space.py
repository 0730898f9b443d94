"""The configurations of a search: which are possible, what they are made of, how large their networks are.

In:   the tables of a recipe, and values of the settings that are searched.
Out:  tables of a trial's recipe; why values are not possible, before anything is trained.
"""

import copy
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from glassformer.errors import ConfigurationError
from glassformer.messages import Message, message
from glassformer.settings import write_toml
from glassformer.tasks.task import Task, build_task, read_task
from glassformer.training.changes import override
from glassformer.training.initial_network import build_network
from glassformer.training.recipe import SEARCH, TOKENIZER, Recipe, find_tokenizer, make_recipe
from glassformer.training.search.settings import SearchSettings, Space

Tables = dict[str, Any]


class Configurations:
    """All configurations of one search."""

    def __init__(self, file: Path, tables: Tables, settings: SearchSettings, space: Space) -> None:
        self.file = file
        self.settings = settings
        self.space = space
        self.tables = {name: table for name, table in copy.deepcopy(tables).items() if name != SEARCH}
        self.recipe = self.make_recipe({})
        for name, where in space.items():
            for value in where.ends():
                self._check_value(name, value)
        self.own: dict[str, Any] = {}  # the recipe's own values
        self.own_parameters = 0
        self.task: Task | None = None

    def prepare(self, folder: Path) -> None:
        """Learn the vocabulary that all trials share, and measure the recipe's own network."""
        tokenizer = find_tokenizer(self.recipe, folder, known=None, first=True)
        table = self.tables["task"]
        self.task = build_task(table, tokenizer, seed=self.recipe.train.seed)
        if not self._chooses("tokenizer.") and "start" not in self.tables.get("model", {}):
            self.tables["tokenizer"] = {"path": str(folder / TOKENIZER)}
        config, self.own_parameters = self._measure(self.tables.get("model", {}))
        known = self.recipe.settings() | {f"model.{key}": value for key, value in config.items()}
        known |= {f"task.{key}": value for key, value in asdict(read_task(table)[1]).items()} | {
            f"{table}.{key}": value
            for table, content in self.tables.items()
            if isinstance(content, Mapping)  # not the list of plug-ins
            for key, value in content.items()
        }
        self.own = {name: known.get(name) for name in self.space}
        for name, where in self.space.items():
            for value in where.ends():
                problem = self.find_problem({name: value})
                if (
                    problem is not None and problem.code == "settings.wrong_value"
                ):  # in no combination possible
                    raise ConfigurationError("training.search.in_search", name=name, problem=problem)

    def own_is_inside(self) -> bool:
        """Whether the recipe's own values are in the space."""
        return all(where.contains(self.own[name]) for name, where in self.space.items())

    def find_problem(self, values: Mapping[str, Any]) -> Message | None:
        """Why these values cannot be trained; None where they can, as far as is known before."""
        try:
            recipe = self.make_recipe(values)
            if self._chooses("task.") or self._chooses("tokenizer."):
                return None  # its vocabulary is not known here
            _, count = self._measure(recipe.tables.get("model", {}))
        except ConfigurationError as error:
            return error.message
        share = self.settings.limits.get("parameters")
        if share is not None and count > share * self.own_parameters:
            return message(
                "training.search.too_large", count=count, limit=int(share * self.own_parameters), share=share
            )
        return None

    def make_recipe(self, values: Mapping[str, Any]) -> Recipe:
        """The recipe of a trial."""
        tables = copy.deepcopy(self.tables)
        for name, value in values.items():
            override(tables, name, value)
        return make_recipe(self.file, write_toml(tables), tables)

    def _check_value(self, name: str, value: Any) -> None:
        """Refuse a setting that a recipe does not have, and a value that it cannot have."""
        try:
            self.make_recipe({name: value})
        except ConfigurationError as error:
            raise ConfigurationError("training.search.in_search", name=name, problem=error.message) from error

    def _measure(self, table: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """The configuration of a network and the number of its parameters; no weights are made."""
        assert self.task is not None
        with torch.device("meta"):
            network, _ = build_network(table, self.task)
        self.task.accept(network.config)
        return asdict(network.config), sum(each.numel() for each in network.parameters())

    def _chooses(self, table: str) -> bool:
        return any(name.startswith(table) for name in self.space)
