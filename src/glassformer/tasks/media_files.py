"""Examples that are pictures or sounds: from npz files, or from files that a table names.

In:   the settings of a task. An npz file has TRAIN_images and TRAIN_labels (and the same of other splits), or
      samples, ends and labels of recordings. A table has a column with the names of files, which are in a
      folder or a tar archive; their endings may be left out.
Out:  pixels, waveforms and the cells that belong to them, by split.
"""

import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.perceiving import fit
from glassformer.media import read_picture
from glassformer.settings import Count, CountOrZero, Share
from glassformer.tasks.sources import PARTS, SourceSettings
from glassformer.tasks.task import Split
from glassformer.text.files import Problems
from glassformer.text.table import Column, Row

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz")
ARRAYS_ONLY = ("words", "dev_takes", "test_takes", "speaker")  # settings that tables of files do not have
MOST_BYTES = 64 << 20  # of a file in an archive
MOST_IN_ALL = 2 << 30  # bytes of all files of an archive, or of all arrays of an npz file
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError)  # what unpacking a damaged file ends with

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class MediaSettings(SourceSettings):
    """What the tables `[task]` of these tasks share."""

    path: str  # an npz file, or a table that names files
    archive: str = "."  # the folder or tar archive with the files that a table names
    file: int | str = 0  # the column with their names
    split_by: int | str | None = None  # the column whose equal cells stay in one split; None: the names

    def is_arrays(self) -> bool:
        """Whether all is in one npz file."""
        return self.path.endswith(".npz")

    def list_files(self, split: Split) -> list[Path]:
        """The files that are read for a split."""
        found = self.find_files(self.path, split)
        place = Path(self.folder).expanduser() / self.archive
        return [*found, place] if not self.is_arrays() and place.is_file() else found

    def read_rows(self, split: Split, columns: list[Column], problems: Problems) -> Iterator[tuple[str, Row]]:
        """The name of a file, and the cells of these columns, for each row of a split."""
        by = self.file if self.split_by is None else self.split_by
        names = tuple(str(each) for each in (self.file, by, *columns) if isinstance(each, str))
        wanted = [self.file, by, *columns]
        for _, _, row in self.read(self.path, split, wanted, problems, key=lambda row: row[1], names=names):
            yield row[0], row[2:]


@dataclass(frozen=True, slots=True)
class PictureSettings(MediaSettings):
    """Pictures, and how they are distorted while the network learns."""

    shift: CountOrZero = 0  # pixels by which they are moved, at most, in each direction
    turn: Share = 0.0  # of a right angle, by which they are turned, at most
    zoom: Share = 0.0  # share by which they are made larger or smaller, at most
    inverted: Share = 0.0  # share of them whose dark and light are exchanged: ink on paper, chalk on a board


def read_arrays(settings: MediaSettings) -> Arrays:
    """The arrays of an npz file, without running anything in it."""
    (path,) = settings.find_files(settings.path, "train")
    try:
        with zipfile.ZipFile(path) as packed:  # sizes as the file states them; no more is ever unpacked
            if sum(member.file_size for member in packed.infolist()) > MOST_IN_ALL:
                raise InputError("tasks.media.large_archive", path=path, most=MOST_IN_ALL >> 20)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError as error:
        raise InputError("tasks.media.missing", path=path) from error
    except (*BROKEN, ValueError, MemoryError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError("tasks.media.broken", path=path, reason=str(error)) from error


def divide_arrays(settings: MediaSettings, arrays: Arrays, split: Split) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pictures and labels of a split; one that the file lacks is held out of train, by digests."""
    own = split if f"{split}_images" in arrays else "train"
    images, labels = arrays.get(f"{own}_images"), arrays.get(f"{own}_labels")
    if images is None or labels is None or not _are_as_many(images, labels) or split not in (own, *PARTS):
        raise InputError("tasks.media.no_arrays", path=settings.path, split=split, seen=sorted(arrays))
    if own != "train":
        return images, labels
    held_out = {"dev": settings.held_out, "test": settings.held_out_test}
    shares = {name: share for name, share in held_out.items() if f"{name}_images" not in arrays}
    places = np.array([_place(image.tobytes(), settings.split_seed) for image in images])
    first = 0.0
    taken = np.zeros(len(images), dtype=bool)
    for name, share in shares.items():
        chosen = (places >= first) & (places < first + share)
        if name == split:
            return images[chosen], labels[chosen]
        taken |= chosen
        first += share
    return images[~taken], labels[~taken]


def _are_as_many(*arrays: NDArray[Any]) -> bool:
    """Whether arrays have one entry each for the same things."""
    return all(array.ndim > 0 and len(array) == len(arrays[0]) for array in arrays)


def _place(content: bytes, seed: int) -> float:
    digest = hashlib.blake2b(content, digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "big") / 2**64


class Library:
    """The files that a table names, in a folder or an archive."""

    def __init__(self, settings: MediaSettings) -> None:
        self.place = Path(settings.folder).expanduser() / settings.archive
        self._files: dict[str, bytes] | dict[str, Path]  # by their paths
        self._short: dict[str, list[str]] = {}  # paths by paths without endings
        self._bare: dict[str, list[str]] = {}  # and, of an archive, by names without folders
        packed = self.place.name.endswith(ARCHIVES)
        if packed:
            self._files = _unpack(self.place)
        elif self.place.is_dir():
            inside = self.place.resolve()
            self._files = {
                path.relative_to(self.place).as_posix(): path
                for path in sorted(self.place.rglob("*"))
                if path.is_file() and path.resolve().is_relative_to(inside)
            }
        else:
            raise InputError("tasks.media.missing", path=self.place) from FileNotFoundError(str(self.place))
        for name in self._files:
            path = PurePosixPath(name)
            self._short.setdefault((path.parent / path.stem).as_posix(), []).append(name)
            for bare in {path.name, path.stem} if packed else ():
                self._bare.setdefault(bare, []).append(name)

    def find(self, name: str) -> bytes | Path:
        """A file by its name, with or without its ending; never one outside, nor one of several."""
        found = [name] if name in self._files else self._short.get(name) or self._bare.get(name)
        if not found:
            raise InputError("tasks.media.no_file", name=name, place=self.place)
        if len(found) > 1:
            raise InputError("tasks.media.several_files", name=name, place=self.place, seen=found[:2])
        return self._files[found[0]]


def _unpack(path: Path) -> dict[str, bytes]:
    """Every file of an archive, by its path."""
    found: dict[str, bytes] = {}
    kept = 0
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if not member.isfile():
                    continue
                kept += member.size
                if member.size > MOST_BYTES:
                    raise InputError("tasks.media.large_member", path=path, name=member.name)
                if kept > MOST_IN_ALL:
                    raise InputError("tasks.media.large_archive", path=path, most=MOST_IN_ALL >> 20)
                file = archive.extractfile(member)
                assert file is not None
                found[PurePosixPath(member.name).as_posix()] = file.read()
            while archive.fileobj is not None and archive.fileobj.read(1 << 20):
                pass  # the checksum is behind the last byte
    except FileNotFoundError as error:
        raise InputError("tasks.media.missing", path=path) from error
    except (*BROKEN, tarfile.TarError) as error:
        raise InputError("tasks.media.broken", path=path, reason=str(error)) from error
    return found


def read_pictures(
    settings: MediaSettings, split: Split, columns: list[Column], config: ModelConfig
) -> tuple[NDArray[np.uint8], list[Row], Problems]:
    """Pictures of a split that a table names (picture, size, size, 3), and their cells."""
    problems, library = Problems(settings.on_error), Library(settings)
    pixels, rows = [], []
    for name, row in settings.read_rows(split, columns, problems):
        pixels.append(fit(config, read_picture(library.find(name))))
        rows.append(row)
    if not rows:
        raise InputError("tasks.no_rows", path=settings.path, split=split)
    return np.stack(pixels), rows, problems


def fit_pictures(images: NDArray[Any], config: ModelConfig) -> NDArray[np.uint8]:
    """Arrays of pictures (picture, height, width[, channel]) as a network sees them."""
    if images.dtype != np.uint8 or images.ndim not in (3, 4):
        raise InputError("tasks.media.not_pictures", type=str(images.dtype), shape=str(images.shape))
    size = (config.picture_size, config.picture_size)
    if not config.color and images.ndim == 3 and images.shape[1:] == size:  # nothing to do, as for MNIST
        return images[..., None]
    fitted = np.stack([fit(config, image) for image in images])
    return fitted if config.color else fitted[..., :1]


@dataclass(frozen=True, slots=True)
class SoundSettings(MediaSettings):
    """Short recordings, each of one word; see `Recordings`."""

    label: int | str = "digit"  # the array or column with the word of each recording
    words: list[str] | None = None  # npz: what labels that are numbers stand for, from 0; None: the numbers
    rate: Count = 8000  # samples per second in an npz file
    dev_takes: list[int] | None = None  # npz: which takes are dev; None: as `held_out` says
    test_takes: list[int] | None = None  # npz: and test
    speaker: str | None = None  # npz: who is left out of train and dev, and is all of test

    def check(self) -> None:
        SourceSettings.check(self)
        if (self.dev_takes is None) != (self.test_takes is None):
            raise ConfigurationError("tasks.media.takes")
        given = [name for name in ARRAYS_ONLY if getattr(self, name) is not None]
        if given and not self.is_arrays():  # a split that does not heed them would train on what is left out
            raise ConfigurationError("tasks.media.arrays_only", path=self.path, names=given)


@dataclass(frozen=True)
class Recordings:
    """Recordings of one word each, one after another; int16, as files have them."""

    samples: NDArray[np.int16]
    starts: NDArray[np.int64]  # (recording + 1,)
    labels: tuple[str, ...]
    speakers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def by_speaker(self) -> list[NDArray[np.int64]]:
        """The numbers of the recordings of each speaker."""
        names = np.array(self.speakers)
        return [np.flatnonzero(names == name) for name in sorted(set(self.speakers))]

    def take(self, number: int) -> NDArray[np.float32]:
        """The samples of one."""
        part = self.samples[self.starts[number] : self.starts[number + 1]]
        return part.astype(np.float32) / np.float32(2**15)


def read_recordings(settings: SoundSettings, split: Split, rate: int) -> Recordings:
    """The recordings of a split at a rate."""
    if settings.is_arrays():
        return _read_recorded_arrays(settings, split, rate)
    from glassformer.media import read_sound

    problems, library = Problems(settings.on_error), Library(settings)
    pieces, labels = [], []
    for name, (label,) in settings.read_rows(split, [settings.label], problems):
        heard = read_sound(library.find(name)).at_rate(rate)
        pieces.append((heard.samples * 2**15).clip(-(2**15), 2**15 - 1).astype(np.int16))
        labels.append(label)
    if not labels:
        raise InputError("tasks.no_rows", path=settings.path, split=split)
    return _join(pieces, labels, [""] * len(labels))


def _read_recorded_arrays(settings: SoundSettings, split: Split, rate: int) -> Recordings:
    arrays, name = read_arrays(settings), str(settings.label)
    missing = [each for each in ("samples", "ends", name) if each not in arrays]
    described = [arrays[each] for each in ("ends", name, "speaker", "take") if each in arrays]
    if missing or not _are_as_many(*described) or split not in PARTS:
        raise InputError("tasks.media.no_arrays", path=settings.path, split=split, seen=sorted(arrays))
    if rate != settings.rate:
        raise ConfigurationError("tasks.media.other_rate", rate=settings.rate, network=rate)
    ends = arrays["ends"].astype(np.int64)
    starts = np.concatenate(([0], ends[:-1]))
    speakers = [str(each) for each in arrays.get("speaker", np.full(len(ends), ""))]
    takes = arrays.get("take", np.zeros(len(ends), int)).tolist()
    if settings.speaker is not None and settings.speaker not in speakers:
        raise ConfigurationError("tasks.media.no_speaker", name=settings.speaker, known=sorted(set(speakers)))
    pieces, labels, heard = [], [], []
    for number, label in enumerate(arrays[name].tolist()):
        piece = arrays["samples"][starts[number] : ends[number]]
        if _find_split(settings, speakers[number], int(takes[number]), piece) == split:
            pieces.append(piece)
            labels.append(_name(settings, label))
            heard.append(speakers[number])
    if not labels:
        raise InputError("tasks.no_rows", path=settings.path, split=split)
    return _join(pieces, labels, heard)


def _find_split(settings: SoundSettings, speaker: str, take: int, piece: NDArray[np.int16]) -> Split:
    if settings.speaker is not None and speaker == settings.speaker:
        return "test"
    if settings.dev_takes is None or settings.test_takes is None:
        place = _place(piece.tobytes(), settings.split_seed)
        found = "dev" if place < settings.held_out else "train"
        found = "test" if settings.held_out <= place < settings.held_out + settings.held_out_test else found
    else:
        found = "dev" if take in settings.dev_takes else "test" if take in settings.test_takes else "train"
    return "train" if found == "test" and settings.speaker is not None else found


def _name(settings: SoundSettings, label: object) -> str:
    if settings.words is None or not isinstance(label, int):
        return str(label)
    if not 0 <= label < len(settings.words):
        raise ConfigurationError("tasks.media.few_words", label=label, count=len(settings.words))
    return settings.words[label]


def _join(pieces: list[NDArray[np.int16]], labels: list[str], speakers: list[str]) -> Recordings:
    starts = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces]))).astype(np.int64)
    return Recordings(np.concatenate(pieces), starts, tuple(labels), tuple(speakers))
