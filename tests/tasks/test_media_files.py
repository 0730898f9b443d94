"""Pictures and recordings from arrays, tables, folders and archives; splits never share an example."""

import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.tasks import media_files
from glassformer.tasks.media_files import (
    Library,
    MediaSettings,
    SoundSettings,
    divide_arrays,
    fit_pictures,
    read_arrays,
    read_pictures,
    read_recordings,
)
from small_media import RATE, write_arrays, write_table, write_tones

GREY, COLOUR = (
    ModelConfig(reads="picture", shape="encoder", head="none", picture_size=8, patch_size=4, color=color)
    for color in (False, True)
)


def test_what_an_npz_file_lacks_is_held_out_of_train(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    settings = MediaSettings(path="sides.npz", folder=str(tmp_path), held_out=0.2)
    arrays = read_arrays(settings)
    found = {split: divide_arrays(settings, arrays, split)[0] for split in ("train", "dev", "test")}
    assert len(found["test"]) == 40
    assert len(found["train"]) + len(found["dev"]) == 200
    assert 20 < len(found["dev"]) < 60
    seen = {image.tobytes() for image in found["train"]}
    assert not seen & {image.tobytes() for image in found["dev"]}
    with pytest.raises(InputError, match="has no pictures or recordings of the split 'other'"):
        divide_arrays(settings, arrays, "other")


def test_tables_name_files_in_archives_and_folders(tmp_path: Path) -> None:
    write_table(tmp_path)
    table = {"path": "sides.tsv", "folder": str(tmp_path), "file": "file", "split_by": "base"}
    packed = MediaSettings(**table, archive="sides.tar.gz")
    with tarfile.open(tmp_path / "sides.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    loose = MediaSettings(**table, archive="sides")
    splits = {}
    for split in ("train", "dev"):
        one, rows, _ = read_pictures(packed, split, ["base", "en"], GREY)
        other, _, _ = read_pictures(loose, split, ["base", "en"], GREY)
        assert np.array_equal(one, other)
        assert one.shape == (len(rows), 8, 8, 3)
        splits[split] = {base for base, _ in rows}
    assert splits["dev"]
    assert not splits["train"] & splits["dev"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    write_table(tmp_path)
    table = {"path": "sides.tsv", "folder": str(tmp_path), "file": "file"}
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match=r"names 'p0'.*not in"):
        read_pictures(MediaSettings(**table, archive="empty"), "train", ["en"], COLOUR)
    with pytest.raises(InputError, match="is missing"):
        read_pictures(MediaSettings(**table, archive="other.tar"), "train", ["en"], COLOUR)
    with pytest.raises(InputError, match="cannot be read"):
        read_arrays(MediaSettings(path="broken.npz", folder=str(tmp_path)))
    with pytest.raises(InputError, match="uint8"):
        fit_pictures(np.zeros((2, 8, 8)), GREY)


def test_takes_and_speakers_decide_the_split(tmp_path: Path) -> None:
    write_tones(tmp_path)
    common = {"path": "tones.npz", "folder": str(tmp_path), "words": ["low", "high"]}
    takes = SoundSettings(**common, dev_takes=[0], test_takes=[1, 2])
    sizes = {split: len(read_recordings(takes, split, RATE)) for split in ("train", "dev", "test")}
    assert sizes == {"train": 36, "dev": 4, "test": 8}
    alone = SoundSettings(**common, dev_takes=[0], test_takes=[1, 2], speaker="bob")
    heard = {split: read_recordings(alone, split, RATE) for split in ("train", "dev", "test")}
    assert [set(each.speakers) for each in heard.values()] == [{"ada"}, {"ada"}, {"bob"}]
    assert [len(each) for each in heard.values()] == [22, 2, 24]
    assert set(heard["test"].labels) == {"low", "high"}
    assert abs(float(np.abs(heard["dev"].take(0)).max()) - 12_000 / 2**15) < 1e-3
    with pytest.raises(ConfigurationError, match="A label is 1"):
        read_recordings(SoundSettings(**{**common, "words": ["low"]}), "train", RATE)
    with pytest.raises(ConfigurationError, match="no speaker 'eve'"):
        read_recordings(SoundSettings(**common, speaker="eve"), "train", RATE)
    with pytest.raises(ConfigurationError, match="sample_rate = 8000"):
        read_recordings(takes, "train", 16_000)


@pytest.mark.parametrize(
    "given", [{"speaker": "bob"}, {"dev_takes": [0], "test_takes": [1]}, {"words": ["low", "high"]}]
)
def test_a_table_refuses_what_only_arrays_heed(given: dict[str, Any]) -> None:
    assert SoundSettings(path="tones.npz", **given).is_arrays()
    with pytest.raises(ConfigurationError, match=rf"{next(iter(given))}.* npz file, but tones.tsv"):
        SoundSettings(path="tones.tsv", **given)


def test_links_lead_nowhere_outside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for each in (folder, outside):
        each.mkdir()
        (each / "own.png").write_bytes(b"own")
    (folder / "secret.png").symlink_to(outside / "own.png")
    (folder / "more").symlink_to(outside)
    (folder / "other.png").symlink_to(folder / "own.png")
    (tmp_path / "link").symlink_to(folder)
    for place in ("folder", "link"):  # the folder itself may be a link: a person named it
        library = Library(MediaSettings(path="t.tsv", folder=str(tmp_path), archive=place))
        for name in ("own", "other.png"):
            found = library.find(name)
            assert isinstance(found, Path)
            assert found.read_bytes() == b"own"
        for name in ("secret", "secret.png", "more/own", "../outside/own.png"):
            with pytest.raises(InputError, match="is not in"):
                library.find(name)


def pack(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, f"w:{path.suffix[1:].replace('tar', '')}") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = {"cat/1.png": b"cat", "./dog/1.png": b"dog", "dog/2.png": b"two", "3.png": b"3", "3.jpg": b"j"}
    pack(tmp_path / "a.tar", files)
    library = Library(MediaSettings(path="t.tsv", folder=str(tmp_path), archive="a.tar"))
    names = ("cat/1.png", "cat/1", "dog/1.png", "dog/1", "2.png", "2", "3.jpg")
    assert [library.find(name) for name in names] == [b"cat", b"cat", b"dog", b"dog", b"two", b"two", b"j"]
    for name in ("1", "1.png", "3"):
        with pytest.raises(InputError, match=rf"names '{name}', but .* several such files"):
            library.find(name)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.xz"])
def test_damaged_archives_are_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    noise = np.random.default_rng(0).integers(0, 9, 200_000).astype(np.uint8)
    pack(tmp_path / name, {"1.png": noise.tobytes()})  # gz: can be unpacked, but has another checksum
    damage(tmp_path / name, 1 / 3)
    with pytest.raises(InputError, match=f"{name} cannot be read"):
        Library(MediaSettings(path="t.tsv", folder=str(tmp_path), archive=name))


def test_damaged_arrays_are_refused_with_a_sentence(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", train_images=np.arange(1000))
    damage(tmp_path / "a.npz", 66 / (tmp_path / "a.npz").stat().st_size)  # behind the first header
    with pytest.raises(InputError, match=r"a\.npz cannot be read"):
        read_arrays(MediaSettings(path="a.npz", folder=str(tmp_path)))


def damage(path: Path, place: float) -> None:
    content = bytearray(path.read_bytes())
    start = round(place * len(content))
    content[start : start + 40] = bytes(each ^ 0x55 for each in content[start : start + 40])
    path.write_bytes(content)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_files, "MOST_IN_ALL", 3 << 20)
    for count in (3, 4):
        pack(tmp_path / f"{count}.tar.xz", {f"{number}.png": bytes(1 << 20) for number in range(count)})
    Library(MediaSettings(path="t.tsv", folder=str(tmp_path), archive="3.tar.xz"))
    with pytest.raises(InputError, match="more than 3 MiB"):
        Library(MediaSettings(path="t.tsv", folder=str(tmp_path), archive="4.tar.xz"))
    np.savez_compressed(tmp_path / "a.npz", one=np.zeros(2 << 20, np.uint8), two=np.zeros(2 << 20, np.uint8))
    with pytest.raises(InputError, match="more than 3 MiB"):
        read_arrays(MediaSettings(path="a.npz", folder=str(tmp_path)))


def test_labels_that_are_missing_or_too_few_are_refused(tmp_path: Path) -> None:
    images, labels = np.zeros((3, 2, 2), np.uint8), np.zeros(3, int)
    settings = MediaSettings(path="a.npz")
    train = {"train_images": images, "train_labels": labels}
    for arrays, split in (
        ({**train, "test_images": images}, "test"),
        ({**train, "test_images": images, "test_labels": labels[:2]}, "test"),
        ({"train_images": images, "train_labels": labels[:2]}, "train"),
        ({"train_images": images, "train_labels": labels[:2]}, "dev"),
    ):
        with pytest.raises(InputError, match=f"of the split '{split}'"):
            divide_arrays(settings, arrays, split)
    write_tones(tmp_path)
    sounds = SoundSettings(path="tones.npz", folder=str(tmp_path))
    whole = read_arrays(sounds)
    for name in ("digit", "speaker", "take", "ends"):
        np.savez(tmp_path / "tones.npz", **{**whole, name: whole[name][:-1]})
        with pytest.raises(InputError, match="of the split 'train'"):
            read_recordings(sounds, "train", RATE)
