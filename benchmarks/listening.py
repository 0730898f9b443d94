"""How well zoo/listener hears, and whether it listens to the digit that it writes.

    python benchmarks/listening.py [MODEL] --data FOLDER [--strings 500] [--first 0] [--aligned 200]

Strings are those of recipes/listener.toml: of takes never heard, joined with gaps, noise and other speeds.
errors:     word error rate of greedy transcripts, on dev and test, by the number of digits and by speaker;
            beside it that of what the encoder alone tells (CTC).
            --noise says how loud the white noise is at most (the first recipe: 0.01): the recordings of one
            speaker are so soft (root mean square 0.006) that it is often louder than he is. --snr says
            instead by how many decibels it is softer than the words, from and to.
            --first leaves out strings: 500 more than were ever read are newly drawn ones.
alignment:  the share of words whose row of cross-attention has its peak in a frame whose middle lies within
            the true word, 80 ms more on both sides. The true words are given; the row of a word is the one
            that writes it. Layer and head are those with the highest share on dev. Beside it, the same peaks
            with the words of the string before: chance.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.loaded.model import LoadedModel
from glassformer.loaded.perceiving import play_sound
from glassformer.media import Waveform
from glassformer.model.transformer import Transformer
from glassformer.recording import SpokenWord
from glassformer.tasks.answers import open_model
from glassformer.tasks.scores import compute_word_errors
from glassformer.tasks.speech_recognition import SpeechRecognition
from glassformer.tasks.task import build_task
from glassformer.training.recipe import read_recipe

RECIPE = Path(__file__).parents[1] / "recipes" / "listener.toml"
MARGIN = 0.08  # seconds around a word

Place = tuple[int, int]  # layer, head


def open_task(
    name: str, data: Path, strings: int, noise: float, snr: list[float] | None
) -> tuple[SpeechRecognition, LoadedModel, Transformer]:
    """The task of the recipe, but for the noise, with the network to judge."""
    model = open_model(name)
    changes = {"task.folder": str(data / "speech"), "task.held_out_strings": strings, "task.noise": noise}
    changes |= {} if snr is None else {"task.snr": snr}
    task = build_task(read_recipe(RECIPE, changes).tables["task"], model.tokenizer)
    assert isinstance(task, SpeechRecognition)
    assert isinstance(model.network, Transformer)
    task.accept(model.network.config)
    return task, model, model.network.eval()


def find_peaks(
    task: SpeechRecognition, model: LoadedModel, split: str, index: int
) -> dict[Place, list[float]]:
    """The second that each word's row looks at most, for every layer and head."""
    spoken = task.speak(split, index)
    heard = play_sound(task.network_config, Waveform(spoken.samples, task.network_config.sample_rate))
    assert heard.sound is not None
    text = " ".join(word.text for word in spoken.words)
    recording = model.record(heard.sound, text, want=("weights",))
    middles: NDArray[np.float64] = heard.sound.spans.mean(axis=1)
    found: dict[Place, list[float]] = {}
    crosses = [each for each in recording.maps if each.kind == "cross"]
    for layer, cross in enumerate(crosses):
        for head, weights in enumerate(cross.weights()):
            found[layer, head] = middles[weights[: len(spoken.words)].argmax(-1)].tolist()
    return found


def count_right(peaks: list[float], words: tuple[SpokenWord, ...]) -> int:
    """Peaks that lie within their words."""
    pairs = zip(peaks, words, strict=False)
    return sum(word.start - MARGIN <= peak <= word.end + MARGIN for peak, word in pairs)


def main() -> None:
    """Print errors, then alignment."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model", nargs="?", default="zoo/listener")
    options.add_argument("--strings", type=int, default=500, help="of each split that are written down")
    options.add_argument("--aligned", type=int, default=200, help="of each split whose attention is read")
    options.add_argument("--splits", nargs="+", default=["dev", "test"])
    options.add_argument("--noise", type=float, default=0.01, help="of white noise, at most")
    options.add_argument("--snr", type=float, nargs=2, help="decibels from the words to the noise")
    options.add_argument("--first", type=int, default=0, help="strings that are left out")
    options.add_argument("--data", type=Path, required=True)
    chosen = options.parse_args()
    last = chosen.first + chosen.strings
    task, model, network = open_task(chosen.model, chosen.data, last, chosen.noise, chosen.snr)
    for split in chosen.splits:
        numbers, written, wanted = task.transcribe(network, split, chosen.strings, chosen.first)
        print(f"{split}: word error rate {compute_word_errors(written, wanted):.2%}, {len(wanted)} strings")
        alone = task.transcribe_by_encoder(network, split, chosen.strings, chosen.first)
        print(f"   encoder alone: {compute_word_errors(alone, wanted):.2%}")
        speakers = [task.speak(split, number).speaker for number in numbers]
        kinds = [[f"{len(text.split())} digits" for text in wanted], speakers]
        for kind in sorted({*kinds[0]}) + sorted({*kinds[1]}):
            rows = [at for at, pair in enumerate(zip(*kinds, strict=True)) if kind in pair]
            errors = compute_word_errors([written[at] for at in rows], [wanted[at] for at in rows])
            print(f"   {kind}: {errors:.2%}, {len(rows)} strings", flush=True)
    if chosen.aligned:
        align(task, model, chosen.splits, range(chosen.first, chosen.first + chosen.aligned))


def align(task: SpeechRecognition, model: LoadedModel, splits: list[str], strings: range) -> None:
    """Print how many rows of cross-attention have their peak within their words."""
    shares: dict[str, dict[Place, float]] = {}
    for split in splits:
        right: dict[Place, int] = {}
        by_chance: dict[Place, int] = {}
        total = compared = 0
        before: tuple[SpokenWord, ...] = ()
        for index in strings:
            words = task.speak(split, index).words
            total += len(words)
            compared += min(len(words), len(before))
            for place, peaks in find_peaks(task, model, split, index).items():
                right[place] = right.get(place, 0) + count_right(peaks, words)
                by_chance[place] = by_chance.get(place, 0) + count_right(peaks, before)
            before = words
        shares[split] = {place: count / total for place, count in right.items()}
        best = max(shares[splits[0]], key=shares[splits[0]].__getitem__)
        print(
            f"{split}: layer {best[0]}, head {best[1]}: {shares[split][best]:.1%} of {total} words;", end=" "
        )
        chance = by_chance[best] / compared
        print(f"with the words of the string before {chance:.1%} of {compared}", flush=True)


if __name__ == "__main__":
    main()
