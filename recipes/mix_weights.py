"""The weighted mean of two runs of one network: the last step of zoo/translator and of zoo/listener.

    python recipes/mix_weights.py runs/translator-characters-start runs/translator-characters/last 0.75

In:   two folders of weights, the second learnt on from the first, and the share of the second.
Out:  the second folder with the mean of both.
"""

import argparse
from pathlib import Path

from safetensors.torch import load_file, save_file


def main() -> None:
    """Mix the weights, and write the second folder anew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("share", type=float)
    given = parser.parse_args()
    first, second = (load_file(folder / "model.safetensors") for folder in (given.first, given.second))
    mixed = {
        name: weight.float().lerp(second[name].float(), given.share).to(second[name].dtype)
        if weight.is_floating_point()
        else weight
        for name, weight in first.items()
    }
    save_file(mixed, given.second / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
