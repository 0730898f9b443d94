"""Names of emoji that zoo/captioner has never seen, beside those of the emoji of train that look most alike.

    python benchmarks/captions.py [MODEL] --data FOLDER [--split test] [--show N]

The split is that of recipes/captioner.toml: an emoji stays in one split, whatever its skin tone.
written:  what the network writes, greedily.
pixels:   the name of the picture of train whose pixels are nearest (root of summed squares).
encoder:  the name of the picture of train whose features are nearest: outputs of the network's own frozen
          encoder, averaged over all patches, by cosine.
Exact matches in percent, sacreBLEU (Chinese: tok zh) and chrF2, each language apart.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.loaded.perceiving import scale_pixels
from glassformer.model.transformer import Transformer
from glassformer.tasks.answers import open_model
from glassformer.tasks.captioning import Captioning
from glassformer.tasks.scores import compute_accuracy, score_bleu, score_chrf
from glassformer.tasks.task import build_task
from glassformer.training.recipe import read_recipe

RECIPE = Path(__file__).parents[1] / "recipes" / "captioner.toml"
AT_ONCE = 64  # pictures


def open_task(name: str, data: Path) -> tuple[Captioning, Transformer]:
    """The task of the recipe with the network to judge."""
    model = open_model(name)
    recipe = read_recipe(RECIPE, {"task.folder": str(data / "images")})
    task = build_task(recipe.tables["task"], model.tokenizer)
    assert isinstance(task, Captioning)
    assert isinstance(model.network, Transformer)
    task.accept(model.network.config)
    return task, model.network.eval()


def find_pixels(task: Captioning, split: str) -> NDArray[np.float32]:
    """Pictures (picture, channel, row, column) from -1 to 1, as the network is shown them, undistorted."""
    pixels = task.media(split).pixels
    assert pixels is not None
    return scale_pixels(task.network_config, pixels.transpose(0, 3, 1, 2))


def find_features(network: Transformer, shown: NDArray[np.float32]) -> NDArray[np.float32]:
    """The encoder's outputs, averaged over patches, of length 1 (picture, width)."""
    with torch.inference_mode():
        found = [
            network.encode(torch.from_numpy(shown[start : start + AT_ONCE])).mean(1)
            for start in range(0, len(shown), AT_ONCE)
        ]
        return torch.nn.functional.normalize(torch.cat(found), dim=-1).numpy()


def find_nearest(wanted: NDArray[np.float32], known: NDArray[np.float32]) -> NDArray[np.int64]:
    """For each row the number of the nearest known one."""
    apart = (known**2).sum(1) - 2 * wanted @ known.T  # but for what is the same in a row
    return apart.argmin(1)


def main() -> None:
    """Print one line for each way and language."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model", nargs="?", default="zoo/captioner")
    options.add_argument("--split", default="test")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--show", type=int, default=0, help="print so many names as well")
    chosen = options.parse_args()
    task, network = open_task(chosen.model, chosen.data)
    shown = {split: find_pixels(task, split) for split in ("train", chosen.split)}
    flat = {split: pixels.reshape(len(pixels), -1) for split, pixels in shown.items()}
    features = {split: find_features(network, pixels) for split, pixels in shown.items()}
    nearest = {
        "pixels": find_nearest(flat[chosen.split], flat["train"]),
        "encoder": find_nearest(features[chosen.split], features["train"]),
    }
    languages, count = task.settings.languages, len(flat[chosen.split])
    print(f"{chosen.model}, {chosen.split}: {count} pictures; train has {len(flat['train'])}")
    for place, language in enumerate(languages):
        _, written, wanted = task.describe(network, chosen.split, place, count)
        names = [text for text, _ in task._sampled["train", 0][place :: len(languages)]]
        ways = {"written": written} | {way: [names[at] for at in found] for way, found in nearest.items()}
        for way, texts in ways.items():
            exact = 100 * compute_accuracy(texts, wanted)
            bleu, chrf = score_bleu(texts, wanted, language=language), score_chrf(texts, wanted)
            print(f"{language} {way:8} exact {exact:5.1f} %  BLEU {bleu.score:5.1f}  chrF {chrf.score:5.1f}")
        for at in np.linspace(0, count - 1, chosen.show).astype(int):
            print(f"   {wanted[at]!r}: " + ", ".join(f"{way} {texts[at]!r}" for way, texts in ways.items()))


if __name__ == "__main__":
    main()
