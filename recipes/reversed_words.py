"""Random words and the same words reversed: "tram" and "mart". A task for networks that train in a minute.

    python recipes/reversed_words.py data/reversed

In:   nothing.
Out:  train.tsv and dev.tsv there, with two columns; no word is in both.
"""

import argparse
import itertools
import random
from pathlib import Path

LETTERS = "abdegiklmnorstu"
SIZES = {"train": 6000, "dev": 200}
SHORTEST, LONGEST = 4, 8  # letters


def main() -> None:
    """Make words, and write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    words = iter(make_words(random.Random(1), sum(SIZES.values())))
    for split, size in SIZES.items():
        lines = (f"{word}\t{word[::-1]}\n" for word in itertools.islice(words, size))
        (folder / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")


def make_words(chance: random.Random, count: int) -> list[str]:
    """Different words in random order; letters may repeat."""
    found: dict[str, None] = {}
    while len(found) < count:
        length = chance.randint(SHORTEST, LONGEST)
        found["".join(chance.choices(LETTERS, k=length))] = None
    return list(found)


if __name__ == "__main__":
    main()
