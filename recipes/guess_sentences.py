"""Sentences without labels, labelled by teachers: the second step of recipes/sentiment.toml.

    python recipes/guess_sentences.py data/classification runs/teacher-*/best --device cuda

In:   the folder with reviews/, subjectivity/ (training splits); folders of classifiers.
Out:  guessed/train.tsv.gz there: every sentence twice, each time with a label drawn by the teachers' mean
      probability, so that a sentence they doubt about has both labels.
"""

import argparse
import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import glassformer as gf

SHORTEST, LONGEST, COPIES = 4, 60, 2  # words of a sentence; times that each is written


def main() -> None:
    """Read sentences, ask the teachers, write guesses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("teachers", nargs="+")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    texts = [text for _, text in read_rows(arguments.folder / "subjectivity/train.tsv.gz")]
    for _, review in read_rows(arguments.folder / "reviews/train.tsv.gz"):
        texts += cut_sentences(review)
    texts = [text for text in dict.fromkeys(texts) if len(text.split()) >= SHORTEST]
    asked = []
    for name in arguments.teachers:
        answers = gf.classify(name, texts, long="truncate", device=arguments.device)
        asked.append([each.probabilities["positive"] for each in answers])
    draw = random.Random(1)
    (arguments.folder / "guessed").mkdir(exist_ok=True)
    with gzip.open(arguments.folder / "guessed/train.tsv.gz", "wt", encoding="utf-8") as file:
        for text, positive in zip(texts, np.mean(asked, axis=0), strict=True):
            for _ in range(COPIES):
                file.write(f"{'positive' if draw.random() < positive else 'negative'}\t{text}\n")


def read_rows(path: Path) -> list[list[str]]:
    """Label and text of every line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 1) for line in file]


def cut_sentences(review: str) -> Iterator[str]:
    """Pieces that end with a full stop and have six words at least; long ones are cut."""
    piece: list[str] = []
    for word in review.split():
        piece.append(word)
        if (word in ".!?" and len(piece) >= 6) or len(piece) >= LONGEST:
            yield " ".join(piece)
            piece = []


if __name__ == "__main__":
    main()
