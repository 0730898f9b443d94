"""Backups: what comes back is what was there, or nothing does."""

import os
import tarfile
from pathlib import Path

import pytest

from glassformer import bundle, cli
from glassformer.api.backups import back_up, restore
from glassformer.api.jobs import JobRequest
from glassformer.api.library import Library
from glassformer.errors import InputError
from glassformer.workbench.job_table import open_table
from glassformer.workbench.jobs import JobStore
from glassformer.workbench.models import Model
from inventions import invent_decoder

REQUEST = JobRequest(kind="record", model="zoo/decoder", text="the animal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a server that is running."""
    folder = tmp_path / "server"
    (folder / "below").mkdir(parents=True)
    bundle.save(invent_decoder(tokens=5), folder / "fox.bundle")
    (folder / "below" / "log").write_text("a line\n")
    (folder / "best").symlink_to("below")
    (folder / "elsewhere").symlink_to("/etc")
    (folder / ".x.bundle.part").write_text("half")
    (folder / ".job-1").mkdir()
    (folder / ".job-1" / "recording.bundle").write_text("half")
    return folder


@pytest.mark.slow
def test_what_comes_back_is_what_was_there(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = Library(folder, shipped=None)
    store = JobStore(queue=5, kept=5, table=open_table(folder))
    waiting = store.submit(REQUEST, Model("zoo/decoder", None, None))
    file, again = tmp_path / "monday.tar", tmp_path / "again"
    cli.main(["backup", str(folder), str(file)])  # while library and queue are open
    ids = [entry.id for entry in library.entries()]
    store.close()
    library.close()
    assert file.stat().st_mode & 0o077 == 0
    cli.main(["restore", str(file), str(again)])
    assert "Restored 4 files" in capsys.readouterr().out
    assert {path.name for path in again.iterdir()} == {"below", "best", "fox.bundle", ".jobs.sqlite"}
    assert (again / "best" / "log").read_text() == "a line\n"
    assert again.stat().st_mode & 0o077 == 0
    library, store = Library(again, shipped=None), JobStore(queue=5, kept=5, table=open_table(again))
    assert [entry.id for entry in library.entries()] == ids
    assert store.job(waiting.id).state == "queued"
    store.close()
    library.close()


@pytest.mark.slow
def test_a_wrong_byte_anywhere_leaves_no_folder(folder: Path, tmp_path: Path) -> None:
    file, again = tmp_path / "monday.tar", tmp_path / "again"
    back_up(folder, file)
    whole = file.read_bytes()
    with tarfile.open(file) as tar:
        starts = [member.offset_data for member in tar if member.isfile()]
    wrong = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in starts]
    for damaged in (
        *wrong,
        whole[: starts[-1]],
        whole[: starts[-1] - 512],
        whole[:100],
        b"",
        b"no tar" * 500,
    ):
        file.write_bytes(damaged)
        with pytest.raises(InputError) as caught:
            restore(file, again)
        assert caught.value.message.code == "api.backup.damaged"
        assert [each.name for each in tmp_path.iterdir() if "again" in each.name] == []


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside-of-the-folder"])
def test_a_file_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "hostile.tar"
    with tarfile.open(file, "w") as tar:
        tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(InputError):
        restore(file, tmp_path / "again")
    assert sorted(os.listdir(tmp_path)) == ["hostile.tar"]


def test_nothing_is_overwritten(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "monday.tar"
    back_up(folder, file)
    for act, code in (
        (lambda: back_up(folder, file), "exists"),
        (lambda: back_up(folder, folder / "inside.tar"), "inside"),
        (lambda: back_up(tmp_path / "none", tmp_path / "other.tar"), "no_folder"),
        (lambda: restore(file, folder), "not_empty"),
    ):
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.message.code == f"api.backup.{code}"


def test_a_second_backup_leaves_the_first_alone_and_a_damaged_database_is_named(
    folder: Path, tmp_path: Path
) -> None:
    part = tmp_path / ".monday.tar.part"
    part.write_text("half of the first")
    with pytest.raises(InputError) as caught:
        back_up(folder, tmp_path / "monday.tar")
    assert caught.value.message.code == "api.backup.under_way"
    assert part.read_text() == "half of the first"
    (folder / "owners.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match=r"owners\.sqlite") as caught:
        back_up(folder, tmp_path / "tuesday.tar")
    assert caught.value.message.code == "api.backup.not_copied"
    assert sorted(os.listdir(tmp_path)) == [part.name, "server"]
