"""Pictures and sounds that people send: kept for their owner, for a while, and not too many."""

import os
import time
from pathlib import Path

import pytest

from glassformer.api import inputs
from glassformer.api.inputs import InputStore
from glassformer.errors import ApiError


def put(store: InputStore, owner: str | None, content: bytes = b"x", age: float = 0.0) -> str:
    path = store.new_path(owner)
    path.write_bytes(content)
    os.utime(path, (time.time() - age,) * 2)
    return path.stem


def test_a_file_is_found_by_its_owner_alone(tmp_path: Path) -> None:
    store = InputStore(tmp_path)
    mine, open_to_all = put(store, "ada"), put(store, None)
    assert store.find(mine, "ada").read_bytes() == b"x"
    assert store.find(open_to_all, None).is_file()
    for id, owner in ((mine, "bob"), (mine, None), (open_to_all, "ada")):
        with pytest.raises(ApiError, match="no picture or sound"):
            store.find(id, owner)
    again = InputStore(tmp_path)  # another server
    assert again.find(mine, "ada").is_file()
    again.remove(mine, "bob")
    assert again.find(mine, "ada").is_file()
    again.remove(mine, "ada")
    again.remove(mine, "ada")
    with pytest.raises(ApiError):
        store.find(mine, "ada")


@pytest.mark.parametrize("id", ["", ".", "..", "../x", "a/b", "a\0b", "ä", "x" * 200, "*"])
def test_an_id_leads_nowhere_else(tmp_path: Path, id: str) -> None:
    store = InputStore(tmp_path)
    put(store, None)
    (tmp_path / "x.all").write_bytes(b"secret")
    with pytest.raises(ApiError):
        store.find(id, None)


def test_what_is_old_goes_and_so_does_what_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "MOST_BYTES", 100)
    store = InputStore(tmp_path)
    old = put(store, "ada", age=inputs.KEPT + 5)
    large, other, newest = (
        put(store, owner, bytes(size), age)
        for owner, size, age in (("ada", 60, 20), ("bob", 90, 10), ("ada", 60, 0))
    )
    store.limit("ada")
    kept = {path.stem for path in store.folder.iterdir()}
    assert kept == {other, newest}, (old, large)
    put(store, "ada", bytes(500))  # larger than all that may be: the newest stays
    store.limit("ada")
    assert len(list(store.folder.iterdir())) == 2


def test_files_are_few_however_short_they_are(tmp_path: Path) -> None:
    store = InputStore(tmp_path)
    other, claimed = put(store, "bob"), put(store, "ada", b"")
    store.claim(claimed, "ada")
    ids = [
        put(store, "ada", b"", age=inputs.MOST_FILES + 5 - number) for number in range(inputs.MOST_FILES + 5)
    ]
    store.limit("ada")
    assert {path.stem for path in store.folder.iterdir()} == {other, claimed, *ids[5:]}


def test_what_a_job_waits_for_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_BYTES", 100)
    store = InputStore(tmp_path)
    waiting = [put(store, "ada", bytes(60)) for _ in range(2)]
    for id in waiting:
        store.claim(id, "ada")
    store.claim(waiting[0], "bob")  # not his: nothing happens
    put(store, "ada", age=inputs.KEPT + 5)  # the hour is over
    young = put(store, "ada", bytes(60))
    store.limit("ada")
    assert {path.stem for path in store.folder.iterdir()} == {*waiting, young}
    monkeypatch.setattr(inputs, "KEPT", -inputs.WAITS - 1.0)  # and so is the week: its server was killed
    store.limit("bob")
    assert not list(store.folder.iterdir())


def test_a_file_that_cannot_be_removed_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error would reach the thread that ends the job."""
    store = InputStore(tmp_path)
    id = put(store, None)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)
    store.remove(id, None)
    assert "cannot be removed: Operation not permitted" in caplog.text
