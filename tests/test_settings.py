"""Settings check themselves: types, limits, unknown and missing names, each with the way out."""

import tomllib
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError
from glassformer.settings import (
    AtLeastZero,
    Count,
    Fraction,
    Limits,
    Positive,
    Settings,
    Share,
    UpToOne,
    describe_type,
    fits,
    read_settings,
    read_toml,
    write_toml,
)


@dataclass(frozen=True, slots=True)
class Pair(Settings):
    low: Count = 1
    high: Count | None = None

    def check(self) -> None:
        if self.high is not None and self.high < self.low:
            raise ConfigurationError("settings.missing", kind="Pair", names=("order",))


@pytest.mark.parametrize(
    ("hint", "allowed", "refused"),
    [
        (Count, (1, 9, 2**63 - 1), (0, 2**63, 1.0, True, "1", None)),
        (Count | None, (1, None), (0, False)),
        (Share, (0, 0.5), (1, -0.1, nan, "0")),
        (UpToOne, (0, 1), (1.1, nan)),
        (Fraction, (0.5,), (0, 1)),
        (Positive, (1e-9,), (0, inf, nan)),
        (AtLeastZero, (0,), (-1, inf, nan)),
        (Annotated[float, Limits(least=-1, most=1)], (-1, 1), (-2, 2)),
        (bool, (True,), (1,)),
        (Literal["a", 1], ("a", 1), ("b", True)),
        (list[int | str], ([1, "a"], []), ([True], (1,), None)),
        (tuple[Count, ...], ((1, 2), ()), ((0,), [1])),
        (list[dict[str, Any]], ([{}],), ([1],)),
    ],
    ids=str,
)
def test_a_value_fits_its_type_and_limits(hint: Any, allowed: tuple[Any], refused: tuple[Any]) -> None:
    assert all(fits(value, hint) for value in allowed)
    assert not any(fits(value, hint) for value in refused)


def test_a_type_is_described_with_its_limits() -> None:
    assert str(describe_type(Count | None)) == "a whole number (at least 1) or nothing"
    assert str(describe_type(Positive)) == "a number (above 0, finite)"
    assert str(describe_type(tuple[Count, ...])) == "a list, each of which is a whole number (at least 1)"
    assert describe_type(Count | None).text("zh") == "整数（至少 1）或空"


def test_values_are_checked_alone_and_together() -> None:
    assert Pair(2, 3).high == 3
    with pytest.raises(ConfigurationError, match=r"low = 0 is not possible; it must be a whole number \(at"):
        Pair(low=0)
    with pytest.raises(ConfigurationError, match="needs order"):
        Pair(3, 2)


def test_settings_come_from_a_mapping() -> None:
    assert read_settings(ModelConfig, {"vocabulary_size": 9, "dropout": 0}) == ModelConfig(9, dropout=0)
    with pytest.raises(ConfigurationError, match=r"no setting 'haeds'\. Did you mean 'heads'\?"):
        read_settings(ModelConfig, {"vocabulary_size": 9, "haeds": 3})
    with pytest.raises(ConfigurationError, match="needs vocabulary_size"):
        read_settings(RecurrentConfig, {})


def test_settings_come_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("[model]\nheads = 4\n", encoding="utf-8")
    assert read_toml(path) == {"model": {"heads": 4}}
    path.write_text("heads = = 4\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        read_toml(path)
    with pytest.raises(ConfigurationError, match="Check the path"):
        read_toml(tmp_path / "absent.toml")


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 2000, "{a=" * 2000])
def test_what_no_parser_can_hold_is_not_toml(tmp_path: Path, value: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(f"[train]\nsteps = {value}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        read_toml(path)
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        read_toml("a\0b.toml")


@pytest.mark.parametrize("value", [[1] * 100_000, 16**6000, {"a": "b" * 9999}], ids=type)
def test_an_error_shows_the_beginning_of_a_long_value(value: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"low = .* is not possible") as error:
        Pair(low=value)
    assert len(str(error.value)) < 400


def test_values_outside_of_tables_are_written_before_them() -> None:
    tables = {"train": {"rate": 1e-3}, "plugins": ["mine.py"], "model": {"heads": 2}}
    assert tomllib.loads(write_toml(tables)) == tables
