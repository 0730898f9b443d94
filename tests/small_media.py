"""Pictures and sounds that are told apart at a glance, in the forms that tasks read."""

import tarfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

RATE = 8000


def draw_sides(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Grey noise (picture, 8, 8), bright on the left (0) or on the right (1)."""
    chance = np.random.default_rng(seed)
    images = chance.integers(0, 60, (count, 8, 8)).astype(np.uint8)
    labels = chance.integers(0, 2, count)
    for image, label in zip(images, labels, strict=True):
        image[:, 4 * label : 4 * label + 4] += 180
    return images, labels


def write_arrays(folder: Path, count: int = 200) -> None:
    """sides.npz, with train and test."""
    images, labels = draw_sides(count)
    more, others = draw_sides(40, seed=1)
    names = {"train_images": images, "train_labels": labels, "test_images": more, "test_labels": others}
    np.savez(folder / "sides.npz", **names)


def write_table(folder: Path, count: int = 60) -> None:
    """sides.tsv (file, base, en, fr) and sides.tar.gz; two pictures of the same base stand together."""
    images, labels = draw_sides(count)
    names = {0: ("left", "gauche"), 1: ("right", "droite")}
    rows = ["file\tbase\ten\tfr"]
    with tarfile.open(folder / "sides.tar.gz", "w:gz") as archive:
        for number, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
            rows.append("\t".join((f"p{number}", f"b{number // 2}", *names[label])))
            file = BytesIO()
            Image.fromarray(image).save(file, "PNG")
            member = tarfile.TarInfo(f"sides/p{number}.png")
            member.size = len(file.getvalue())
            file.seek(0)
            archive.addfile(member, file)
    (folder / "sides.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_tones(folder: Path, takes: int = 12) -> None:
    """tones.npz: two speakers, two words (a low and a high tone), some takes each."""
    pieces, digit, speaker, take = [], [], [], []
    chance = np.random.default_rng(0)
    for person, name in enumerate(("ada", "bob")):
        for label, hertz in enumerate((400, 1500)):
            for number in range(takes):
                length = int(chance.integers(700, 1200))
                tone = np.sin(2 * np.pi * hertz * (1 + 0.1 * person) / RATE * np.arange(length))
                pieces.append((tone * 12_000).astype(np.int16))
                digit.append(label)
                speaker.append(name)
                take.append(number)
    np.savez(
        folder / "tones.npz",
        samples=np.concatenate(pieces),
        ends=np.cumsum([len(piece) for piece in pieces]),
        digit=np.array(digit, np.uint8),
        speaker=np.array(speaker),
        take=np.array(take, np.uint8),
    )
