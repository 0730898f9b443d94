"""The library: ids that stay, a budget that holds, files that are removed only if they are its own."""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer import bundle, from_arrays
from glassformer.api.cards import Card, estimate_bytes
from glassformer.api.effects import EffectsRequest, OutcomeRequest
from glassformer.api.index import FILE
from glassformer.api.inputs import FOLDER, InputStore
from glassformer.api.inspection import INSPECTOR
from glassformer.api.jobs import BranchRequest, JobRequest
from glassformer.api.leases import take_lease
from glassformer.api.library import Library
from glassformer.api.routes import recordings
from glassformer.errors import ApiError, BundleError
from glassformer.messages import literal
from glassformer.recording import Recording
from inventions import invent_decoder
from texts import text_of


def test_an_id_means_the_same_content_on_every_start(invented: dict[str, Path], tmp_path: Path) -> None:
    first, second = Library(shipped=None), Library(shipped=None)
    id = first.open_file(invented["decoder"])
    copy = tmp_path / "decoder.bundle"
    copy.write_bytes(invented["decoder"].read_bytes())
    assert id == second.open_file(copy) == second.open_file(copy)
    assert id.startswith("decoder-")
    assert len(second.entries()) == 1
    other = tmp_path / "other" / "decoder.bundle"
    other.parent.mkdir()
    bundle.save(invent_decoder(tokens=5), other)
    assert second.open_file(other) != id
    first.close()
    second.close()


def test_a_file_named_by_a_relative_path_can_be_opened(
    invented: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(invented["decoder"].parent)
    library = Library(shipped=None)
    id = library.open_file(invented["decoder"].name)
    assert library.get(id).maps
    library.close()


def test_files_of_a_relative_folder_are_found_from_elsewhere(
    invented: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers have a working folder of their own: branches, pictures and sounds were not found there."""
    monkeypatch.chdir(tmp_path)
    library = Library("kept", shipped=None)
    shutil.copy(invented["decoder"], part := library.new_partial_path())
    path = library.path(library.adopt(part))
    monkeypatch.chdir("/")
    assert path.is_file()
    assert InputStore(library.folder).new_path(None).parent == tmp_path / "kept" / FOLDER
    library.close()


def test_the_texts_of_a_description_count_as_memory(tmp_path: Path) -> None:
    recording = from_arrays(np.eye(3)[None], ["a" * 100_000, "b" * 200_000, "c" * 700_000])
    bundle.save(recording, tmp_path / "long.bundle")
    assert 1_000_000 < estimate_bytes(bundle.open(tmp_path / "long.bundle")) < 2_500_000


def test_memory_is_bounded_and_what_falls_out_comes_back_from_disk() -> None:
    made = [invent_decoder(tokens=20 + number) for number in range(4)]
    library = Library(shipped=None, memory=int(estimate_bytes(made[0]) * 2.5))
    ids = [library.add(recording) for recording in made]
    assert library.get(ids[3]) is made[3]
    assert len(list(library.folder.glob("*.bundle"))) == 2
    again = library.get(ids[0])
    assert again is not made[0]
    assert np.array_equal(again.maps[1].weights(), made[0].maps[1].weights())
    held = [id for id in ids if library._open.get(id)]
    assert sum(estimate_bytes(library.get(id)) for id in held) <= estimate_bytes(made[0]) * 2.5
    folder = library.folder
    library.close()
    assert not folder.exists()


def test_the_disk_is_bounded_too(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None, disk=1)
    ids = []
    for tokens in (5, 6, 7):
        path = library.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        ids.append(library.adopt(path))
    assert [entry.id for entry in library.entries()] == [ids[-1]]
    assert len(list(tmp_path.glob("*.bundle"))) == 1


def test_nobody_loses_recordings_for_the_disk_of_others(tmp_path: Path) -> None:
    sizes = []
    for tokens in range(9):
        bundle.save(invent_decoder(tokens=tokens + 5), tmp_path / f"{tokens}")
        sizes.append((tmp_path / f"{tokens}").stat().st_size)
    # Each has a card, beside its file and in the index.
    cards = 2 * sum(len(Card(owner=name).model_dump_json()) for name in ("alice",) * 3 + ("bob",))
    library = Library(tmp_path / "kept", shipped=None, disk=sum(sizes[:4]) + cards)

    def add(owner: str, number: int) -> str:
        return library.adopt((tmp_path / f"{number}").replace(library.new_path()), owner=owner)

    def list_ids() -> set[str]:
        return {entry.id for entry in library.entries()}

    alice = [add("alice", number) for number in range(3)]
    bob = add("bob", 3)  # the disk is full, and he has less than half of it
    with pytest.raises(ApiError) as caught:
        add("bob", 4)
    assert caught.value.message.code == "api.disk_full"
    assert list_ids() == {*alice, bob}
    assert len(list((tmp_path / "kept").glob("*.bundle"))) == 4
    more = add("alice", 5)  # she has more than half of it: her oldest leave
    assert {bob, more, alice[2]} <= list_ids() < {*alice, bob, more}
    library.close()


def test_what_a_request_takes_counts_as_its_owners(tmp_path: Path) -> None:
    def add(owner: str, made_by: JobRequest | EffectsRequest | None = None) -> str:
        path = library.new_path()
        bundle.save(invent_decoder(tokens=5), path)
        return library.adopt(path, request=made_by, owner=owner)

    library = Library(tmp_path, shipped=None)
    run = JobRequest(kind="record", model="zoo/tiny", text="狐" * 100_000)
    long = add("alice", run)
    add("bob")
    effects = EffectsRequest(
        run=run.model_copy(update={"text": "x"}), outcome=OutcomeRequest(), ids=(70_000,) * 50_000
    )
    add("carol", effects)
    taken = {name: library.bytes_of(name) for name in ("alice", "bob", "carol")}
    [bundled] = {path.stat().st_size for path in tmp_path.glob("*.bundle")}
    assert taken["alice"] - bundled > 2 * 300_000  # in its file, and in the index
    assert taken["alice"] - bundled == 2 * library.path(long).with_suffix(".json").stat().st_size
    for name in ("bob", "carol"):  # nobody reads again what was measured
        assert 0 < taken[name] - bundled < 8000
    library.share(long, "team")
    assert library.bytes_of("alice") == bundled + 2 * library.path(long).with_suffix(".json").stat().st_size
    taken["alice"] = library.bytes_of("alice")
    library.close()
    (tmp_path / ".index.sqlite").unlink()  # made again
    again = Library(tmp_path, shipped=None)
    assert {name: again.bytes_of(name) for name in taken} == taken
    again.remove(long)
    assert again.bytes_of("alice") == 0
    again.close()


def test_a_card_of_before_with_a_whole_measurement_is_read(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None)
    run = JobRequest(kind="record", model="zoo/tiny", text="x")
    asked = EffectsRequest(run=run, outcome=OutcomeRequest(position=2), ids=(1, 2))

    def add(tokens: int) -> str:
        path = library.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        return library.adopt(path, request=asked)

    path = library.path(add(5)).with_suffix(".json")
    library.close()
    old = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(old | {"measured": asked.model_dump(mode="json")}), encoding="utf-8")
    (tmp_path / ".index.sqlite").unlink()
    library = Library(tmp_path, shipped=None)
    add(6)  # the newest of the same measurement is kept alone
    assert len(list(tmp_path.glob("*.bundle"))) == 1
    library.close()


def test_a_file_of_somebody_is_never_removed(invented: dict[str, Path]) -> None:
    library = Library(shipped=None)
    id = library.open_file(invented["single"])
    library.remove(id)
    assert invented["single"].exists()
    with pytest.raises(ApiError, match="no recording"):
        library.get(id)
    library.close()


def test_what_was_made_is_kept_with_what_made_it(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None)
    path = library.new_path()
    bundle.save(invent_decoder(), path)
    request = JobRequest(kind="record", model="zoo/tiny", text="狐狸")
    id = library.adopt(path, title=literal("狐狸"), request=request)
    library.close()
    again = Library(tmp_path, shipped=None)
    assert text_of(again.entry(id).title) == "狐狸"
    assert again.entry(id).origin == "made"
    assert again.request(id) == request
    again.remove(id)
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


def test_what_a_view_made_on_the_way_is_in_no_list_and_there_once(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None)
    request = JobRequest(kind="record", model="zoo/tiny", text="fox")
    hidden = request.model_copy(update={"listed": False})
    ids = []
    for tokens, made_by in ((5, request), (6, hidden), (7, hidden), (8, request)):
        path = library.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        ids.append(library.adopt(path, request=made_by))
    assert [entry.id for entry in library.entries()] == [ids[3], ids[0]]
    assert len(library.get(ids[2]).source) == 7  # it can be opened all the same
    with pytest.raises(ApiError, match="no recording"):
        library.get(ids[1])
    assert len(list(tmp_path.glob("*.bundle"))) == 3
    library.close()
    again = Library(tmp_path, shipped=None)
    assert {entry.id for entry in again.entries()} == {ids[0], ids[3]}
    again.close()


def test_effects_are_kept_beside_other_effects_of_the_same_run(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None)
    branch = BranchRequest(step=1, name="other")
    run = JobRequest(kind="generate", model="zoo/tiny", text="fox", parent="a", branch=branch)
    plain = run.model_copy(update={"listed": False, "branch": None})

    def adopt(tokens: int, request: JobRequest | EffectsRequest) -> str:
        path = library.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        return library.adopt(path, request=request)

    def ask(token: int) -> EffectsRequest:
        return EffectsRequest(run=run, outcome=OutcomeRequest(token=token))

    kept = [adopt(4, plain), adopt(6, ask(6))]
    replaced = adopt(5, ask(5))
    kept.append(adopt(7, ask(5)))
    assert [len(library.get(each).source) for each in kept] == [4, 6, 7]
    with pytest.raises(ApiError, match="no recording"):
        library.get(replaced)
    assert library.request(kept[1]) == plain
    assert library.parents() == {}
    assert list(library.entries()) == []
    library.close()


def test_what_is_in_no_list_makes_room_first(tmp_path: Path) -> None:
    library = Library(tmp_path, shipped=None)
    request = JobRequest(kind="record", model="zoo/tiny", text="fox")
    ids = []
    for tokens, listed in ((5, True), (6, False)):
        path = library.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        ids.append(library.adopt(path, request=request.model_copy(update={"listed": listed})))
    library._disk = sum(each.stat().st_size for each in tmp_path.glob("*.bundle"))
    path = library.new_path()
    bundle.save(invent_decoder(tokens=4), path)
    newest = library.adopt(path, request=request)
    assert {entry.id for entry in library.entries()} == {ids[0], newest}
    with pytest.raises(ApiError, match="no recording"):
        library.get(ids[1])
    library.close()


def test_a_broken_bundle_is_refused_and_removed() -> None:
    library = Library(shipped=None)
    path = library.new_path()
    path.write_bytes(b"no bundle")
    with pytest.raises(BundleError, match="is no Glassformer recording"):
        library.adopt(path)
    assert not path.exists()
    library.close()


@pytest.mark.slow
def test_what_ships_opens_and_stays() -> None:
    library = Library()
    shipped = [entry for entry in library.entries() if entry.origin == "shipped"]
    assert shipped, "a page is never empty"
    for entry in shipped:
        assert text_of(entry.title, "en") != entry.title.code
        assert library.get(entry.id).maps
        with pytest.raises(ApiError, match="part of Glassformer"):
            library.remove(entry.id)
    library.close()


def test_what_ships_is_read_once_for_all_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    read = bundle.open
    monkeypatch.setattr(bundle, "open", lambda path, *rest: opened.append(path) or read(path, *rest))

    def count_tokens() -> int:
        library = Library(tmp_path / "made", shipped=tmp_path)
        (entry,) = library.entries()
        library.close()
        return entry.source_tokens

    path = tmp_path / "first.bundle"
    bundle.save(invent_decoder(tokens=3), path)
    assert [count_tokens(), count_tokens()] == [3, 3]
    assert opened == [path]
    bundle.save(invent_decoder(tokens=4), path)  # another content
    assert count_tokens() == 4
    assert opened == [path, path]


def test_the_newest_come_first(invented: dict[str, Path]) -> None:
    library = Library(shipped=None)
    opened = library.open_file(invented["decoder"])
    made = [library.add(invent_decoder(tokens=tokens)) for tokens in (3, 4)]
    assert [entry.id for entry in library.entries()] == [made[1], made[0], opened]
    assert library.path(made[0]).is_file()
    library.close()


def test_many_may_ask_at_once() -> None:
    made = {tokens: invent_decoder(tokens=tokens, layers=1) for tokens in (3, 4, 5)}
    library = Library(shipped=None, memory=1)  # only one stays open: everybody pushes others out
    ids = {tokens: library.add(recording) for tokens, recording in made.items()}
    with ThreadPoolExecutor(8) as pool:
        asked = [(3, 4, 5)[number % 3] for number in range(60)]
        found = list(pool.map(lambda tokens: len(library.get(ids[tokens]).source), asked))
    assert found == asked
    assert len(library._open) == 1
    library.close()


def test_a_broken_file_of_the_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken.bundle").write_bytes(b"?")
    bundle.save(invent_decoder(tokens=3), tmp_path / "whole.bundle")
    library = Library(tmp_path, shipped=None)
    assert len(library.entries()) == 1
    assert "broken.bundle" in library.broken[0]


def test_a_name_that_is_not_utf8_is_reported(tmp_path: Path, invented: dict[str, Path]) -> None:
    strange = tmp_path / os.fsdecode(b"\xff.bundle")
    try:
        strange.write_bytes(invented["single"].read_bytes())
    except OSError:
        pytest.skip("this file system refuses the name")
    bundle.save(invent_decoder(tokens=3), tmp_path / "whole.bundle")
    library = Library(tmp_path, shipped=None)
    assert len(library.entries()) == 1
    assert len(library.broken) == 1
    assert "\\xff.bundle" in library.broken[0]
    with pytest.raises(BundleError, match="not UTF-8"):
        library.open_file(strange)
    library.close()


def test_what_killed_servers_left_behind_is_swept_away(tmp_path: Path) -> None:
    old, fresh = tmp_path / ".0123.bundle.part", tmp_path / ".4567.bundle.part"
    job = tmp_path / ".job-89ab"
    job.mkdir()
    for each in (old, fresh, job / "recording.bundle"):
        each.write_bytes(b"half")
    for each in (old, job):
        os.utime(each, (0, 0))
    library = Library(tmp_path, shipped=None)
    assert {each.name for each in tmp_path.iterdir()} == {FILE, fresh.name}  # somebody may be writing it
    assert (library.entries(), library.broken) == ((), [])


def test_two_libraries_in_one_folder(tmp_path: Path, invented: dict[str, Path]) -> None:
    """What one of them takes away, the other one forgets; and one that starts meanwhile does not stumble."""
    first = Library(tmp_path / "kept", shipped=None)
    path = first.new_path()
    path.write_bytes(invented["single"].read_bytes())
    id = first.adopt(path)
    second = Library(tmp_path / "kept", shipped=None, memory=0)
    assert second.get(id).model == first.get(id).model
    second._open.clear()  # as when others needed the room
    first.remove(id)
    with pytest.raises(ApiError) as refused:
        second.get(id)
    assert (refused.value.code, str(tmp_path) in str(refused.value)) == ("no_recording", False)
    assert second.entries() == ()
    (tmp_path / "kept" / "gone.bundle").symlink_to(tmp_path / "nowhere")
    third = Library(tmp_path / "kept", shipped=None)
    assert len(third.broken) == 1
    for each in (first, second, third):
        each.close()


def test_a_folder_is_private_and_a_file_that_somebody_put_there_is_never_removed(tmp_path: Path) -> None:
    library = Library(tmp_path / "kept", shipped=None)
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
    library.close()
    bundle.save(invent_decoder(tokens=3), tmp_path / "kept" / "mine.bundle")
    again = Library(tmp_path / "kept", shipped=None, disk=1)
    [entry] = again.entries()
    for tokens in (4, 5):
        path = again.new_path()
        bundle.save(invent_decoder(tokens=tokens), path)
        newest = again.adopt(path)
    assert {each.id for each in again.entries()} == {entry.id, newest}
    again.remove(entry.id)
    assert (tmp_path / "kept" / "mine.bundle").exists()
    again.close()


def test_what_is_removed_for_room_is_logged_and_without_a_limit_nothing_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for disk, left in ((1, 1), (None, 3)):
        library = Library(tmp_path / str(disk), shipped=None, disk=disk)
        for tokens in (5, 6, 7):
            path = library.new_path()
            bundle.save(invent_decoder(tokens=tokens), path)
            library.adopt(path)
        assert len(library.entries()) == left
        library.close()
    assert sum("is removed" in line for line in caplog.messages) == 2


def test_a_file_that_is_overwritten_is_another_recording(tmp_path: Path) -> None:
    path = tmp_path / "fox.bundle"
    bundle.save(invent_decoder(tokens=5), path)
    library = Library(shipped=None)
    id = library.open_file(path)
    opened = library.get(id)
    path.write_bytes(b"")  # as `cp` begins: reading a mapped file would end this process now
    assert opened.maps[0].weights().shape[-1] == 5
    bundle.save(invent_decoder(tokens=6), tmp_path / "other")
    path.write_bytes((tmp_path / "other").read_bytes())
    with pytest.raises(ApiError, match="was overwritten") as refused:
        library.get(id)
    assert refused.value.status == 404
    [entry] = library.entries()
    assert entry.id != id
    assert len(library.get(entry.id).source) == 6
    library.close()


def read_link(path: Path) -> str:
    """What a descriptor leads to; nothing where another thread has closed it meanwhile."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def test_many_recordings_need_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.api.library.FILES", 3)
    monkeypatch.setattr("glassformer.api.library.COPIED", 0)  # map a copy of every file, which holds it open
    for tokens in range(1, 9):
        bundle.save(invent_decoder(tokens=tokens, layers=1), tmp_path / f"{tokens}.bundle")
    library = Library(tmp_path, shipped=None)
    for entry in library.entries():
        assert len(library.get(entry.id).source) == entry.source_tokens
    assert len(library._open) == 3
    descriptors = Path("/proc/self/fd")
    if descriptors.exists():
        names = map(read_link, descriptors.iterdir())
        assert sum(name.startswith(str(tmp_path)) and FILE not in name for name in names) == 3
    library.close()


_CUT = """
import os, sys
import numpy as np
from pathlib import Path
from glassformer.api import library as module

module.COPIED = 0  # as if the file were long
path = Path(sys.argv[1])
library = module.Library(shipped=None)
id = library.open_file(path)
opened = library.get(id)
before = path.read_bytes()
os.truncate(path, 0)
print(float(np.sum(opened.maps[-1].weights())))
with path.open("r+b") as file:
    file.write(bytes(len(before)))
print(float(np.sum(opened.maps[-1].weights())), [each.name for each in library.folder.iterdir()])
"""


@pytest.mark.slow
def test_a_long_file_that_is_cut_while_it_is_read_does_not_end_the_server(tmp_path: Path) -> None:
    path = tmp_path / "fox.bundle"
    recording = invent_decoder(tokens=50)
    bundle.save(recording, path)
    command = [sys.executable, "-c", _CUT, str(path)]  # in a process that may die of it
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    total = float(np.sum(recording.maps[-1].weights()))
    assert ended.stdout == f"{total}\n{total} []\n"


_OVERWRITTEN = """
import subprocess, sys
import numpy as np
from pathlib import Path
from glassformer.api import library as module

module.COPIED = module.COPIES = 0  # as if the file were very long
library = module.Library(shipped=None)
id = library.open_file(Path(sys.argv[1]))
opened = library.get(id)
writing = subprocess.Popen([sys.executable, "-c", "import sys; open(sys.argv[1], 'wb').close()", sys.argv[1]])
while id in library._open:
    assert writing.poll() is None
print(float(np.sum(opened.maps[-1].weights())), writing.poll())  # whoever writes still waits for this one
try:
    library.get(id)
except module.ApiError as error:
    print(error.status)  # mapped now, the file would be cut under it
del opened
print(writing.wait(300), Path(sys.argv[1]).stat().st_size, library._leases)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no leases of files")
def test_whoever_overwrites_a_file_that_is_mapped_waits_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "fox.bundle"
    recording = invent_decoder(tokens=50)
    bundle.save(recording, path)
    if (lease := take_lease(path)) is None:
        pytest.skip("this file system has no leases")
    lease.release()
    command = [sys.executable, "-c", _OVERWRITTEN, str(path)]  # in a process that may die of it
    begin = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    whole = f"{float(np.sum(recording.maps[-1].weights()))} None\n503\n0 0 {{}}\n"
    waits = float(Path("/proc/sys/fs/lease-break-time").read_text())
    if ended.stdout != whole and time.monotonic() - begin > waits:
        pytest.skip(f"this machine was so slow that the system let others write after {waits:.0f} seconds")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == whole


def test_copies_of_long_files_have_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tokens in (5, 6, 7):
        bundle.save(invent_decoder(tokens=tokens), tmp_path / f"{tokens}.bundle")
    size = (tmp_path / "7.bundle").stat().st_size
    library = Library(shipped=None)
    ids = [library.open_file(path) for path in sorted(tmp_path.iterdir())]
    monkeypatch.setattr("glassformer.api.library.COPIED", 0)
    monkeypatch.setattr("glassformer.api.library.COPIES", 2 * size)
    for id in ids:
        library.get(id)
    assert list(library._open) == ids[1:]
    monkeypatch.setattr("glassformer.bundle.reader._transfer", _fill_disk)
    assert len(library.get(ids[0]).source) == 5  # a full disk hides nothing
    library.close()


def test_what_the_index_has_no_room_for_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(tmp_path, shipped=None)
    path = library.new_partial_path()
    bundle.save(invent_decoder(tokens=5), path)
    before = {each.name for each in tmp_path.iterdir()} - {path.name}
    monkeypatch.setattr(library._index, "put", _fill_disk)
    with pytest.raises(OSError, match="No space left"):
        library.adopt(path)
    assert {each.name for each in tmp_path.iterdir()} == before
    library.close()


def _fill_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_card_and_index_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path, shipped=None)
    path = library.new_partial_path()
    bundle.save(invent_decoder(tokens=5), path)
    id = library.adopt(path)
    library.share(id, "public")
    with monkeypatch.context() as full:
        full.setattr(library._index, "set_card", _fill_disk)
        with pytest.raises(OSError, match="No space left"):
            library.share(id, "private")
    assert not list(tmp_path.glob(".*.part"))
    found = library.entry(id)
    library.close()
    (tmp_path / ".index.sqlite").unlink()  # made again from the cards
    again = Library(tmp_path, shipped=None)
    assert (found.visibility, again.entry(id).visibility) == ("public", "public")
    again.close()


def test_a_file_that_is_overwritten_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fox.bundle"
    bundle.save(invent_decoder(tokens=5), path)
    library = Library(shipped=None)
    id = library.open_file(path)
    read = Library._open_bundle

    def overwrite(self: Library, place: Path) -> Recording:
        opened = read(self, place)
        bundle.save(invent_decoder(tokens=6), place)
        return opened

    monkeypatch.setattr(Library, "_open_bundle", overwrite)
    with pytest.raises(ApiError, match="was overwritten"):
        library.get(id)
    library.close()


def test_a_start_looks_at_new_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    inspect = INSPECTOR.inspect
    monkeypatch.setattr(INSPECTOR, "inspect", lambda path: seen.append(path.name) or inspect(path))
    for number in (1, 2, 3):
        bundle.save(invent_decoder(tokens=number, layers=1), tmp_path / f"{number}.bundle")
    Library(tmp_path, shipped=None).close()
    bundle.save(invent_decoder(tokens=7, layers=1), tmp_path / "2.bundle")
    (tmp_path / "3.bundle").unlink()
    again = Library(tmp_path, shipped=None)
    assert sorted(seen) == ["1.bundle", "2.bundle", "2.bundle", "3.bundle"]
    assert sorted(entry.source_tokens for entry in again.entries()) == [1, 7]
    again.close()


def test_on_a_full_disk_recordings_can_be_removed(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    part = site.library.new_partial_path()
    bundle.save(invent_decoder(tokens=3), part)
    id = site.library.adopt(part)
    path, remove = site.library.path(id), site.library._index.remove
    monkeypatch.setattr(
        site.library._index, "remove", lambda id: _fill_disk() if path.exists() else remove(id)
    )
    assert site.client.delete(f"/api/recordings/{id}").status_code == 204
    assert not path.exists()
    assert site.client.get(f"/api/recordings/{id}").status_code == 404
    monkeypatch.setattr(site.library, "rename", _fill_disk)
    answer = site.client.put(f"{site.of('single')}/branch", json={"name": "x"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_a_file_that_is_removed_while_it_is_sent_is_sent_whole(
    site: Any, invented: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = invented["single"].read_bytes()
    id = site.client.post("/api/recordings", content=whole).json()["id"]
    path, address = site.library.path(id), f"/api/recordings/{id}/bundle"

    def remove(*_: object) -> None:
        path.unlink()

    with monkeypatch.context() as patched:
        patched.setattr(recordings, "_check_range", remove)  # after it was opened, before it is sent
        assert site.client.get(address).content == whole
    assert site.client.get(address).status_code == 404
