"""Large arrays are stored in their own file, also if it is closed meanwhile, or not at all."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.recorders import store as keeping
from glassformer.recorders.store import Put, store_in_bundle, store_temporarily


def test_what_is_large_is_in_a_file_and_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    states = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(0)).transpose(1, 2)
    with BundleWriter(tmp_path / "a.bundle") as writer:
        for keep in (store_temporarily, store_in_bundle(writer)):
            kept = keep("states", states)
            assert not kept.flags.owndata
            assert np.array_equal(kept, states.numpy())


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="elsewhere files are filled through their mapping")
def test_a_system_that_takes_less_than_it_is_given_is_given_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(keeping, "LARGE", 100)
    monkeypatch.setattr(os, "pwrite", lambda file, given, place: write(file, given[:33], place))
    states = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(0))
    assert np.array_equal(store_temporarily("states", states), states.numpy())


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="elsewhere files are filled through their mapping")
def test_a_writer_closed_meanwhile_lets_no_byte_into_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LARGE", 100)
    store, other = keeping._write, tmp_path / "other"
    writer = BundleWriter(tmp_path / "a.bundle")

    def close_first(tensor: Tensor, put: Put) -> None:
        number = writer.find("states")[0]
        with other.open("xb") as file:
            writer.discard()
            os.dup2(file.fileno(), number)  # as if the system had given it away again
            store(tensor, put)
        os.close(number)

    monkeypatch.setattr(keeping, "_write", close_first)
    store_in_bundle(writer)("states", torch.ones(2, 100, 5))
    assert other.read_bytes() == b""
