"""What a workbench may use."""

from pathlib import Path

import pytest

from glassformer.workbench.settings import GIGABYTE, WorkbenchSettings, find_memory


def test_models_take_a_third_of_the_memory_unless_it_is_said() -> None:
    assert WorkbenchSettings(memory=3 * GIGABYTE).loaded_bytes == GIGABYTE
    assert WorkbenchSettings(memory=3 * GIGABYTE, loaded=5).loaded_bytes == 5


def test_the_memory_of_a_container_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: "max\n")
    whole = find_memory()
    assert whole > 1000
    monkeypatch.setattr(Path, "read_text", lambda _: "1000\n")
    assert find_memory() == 1000
