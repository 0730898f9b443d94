"""Vectors of a few characters, taken from another run of the same network: the last step of zoo/translator.

    python recipes/take_vectors.py runs/translator-fourth/best runs/translator-fifth/best 逐

In:   two folders of Marian weights, the second learnt on from the first; characters that are tokens in both.
Out:  the first folder with the second's vectors of these characters. Texts without them are translated as
      before.
"""

import argparse
from pathlib import Path

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer


def main() -> None:
    """Take the vectors, and write the first folder anew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("characters")
    given = parser.parse_args()
    folders = (given.model, given.other)
    tokenizers = [Tokenizer.from_file(str(folder / "tokenizer.json")) for folder in folders]
    weights, other = (load_file(folder / "model.safetensors") for folder in folders)
    vectors = weights["model.shared.weight"]
    for character in given.characters:
        (place,), (source,) = (each.encode(character, add_special_tokens=False).ids for each in tokenizers)
        vectors[place] = other["model.shared.weight"][source].to(vectors.dtype)
    save_file(weights, given.model / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
