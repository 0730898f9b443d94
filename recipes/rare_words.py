"""Vectors of rare Chinese characters, learnt while all else stays as it is: the last step of zoo/translator.

    python recipes/other_words.py data/translation
    python recipes/rare_words.py data/translation runs/translator-fourth/best

In:   the folder with en-zh/ and words/en-zh/ (training splits); the folder of a translator.
Out:  the same folder with other vectors for characters of those verbs that the data has in fewer than `RARE`
      pairs. Sentences without these characters are translated as before.
"""

import argparse
import gzip
import random
from collections import Counter
from pathlib import Path

import torch
from other_words import DONE, LASTING
from safetensors.torch import load_file, save_file
from torch import Tensor

import glassformer as gf
from glassformer.model.transformer import Transformer
from glassformer.text.encoder import Encoder
from glassformer.text.languages import find_language
from glassformer.text.sequences import find_frame
from glassformer.text.tokenizer import Tokenizer
from glassformer.weights.hub import find_folder

RARE, ROWS, RATE, SMOOTHING = 20, 32, 3e-3, 0.1
LONGEST = 40  # tokens of a sentence
Row = tuple[list[int], list[int]]  # ids of source and target


def main() -> None:
    """Learn for some steps, and write the vectors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=80)
    given = parser.parse_args()
    natural, made = (read_pairs(given.folder / name / "train.tsv.gz") for name in ("en-zh", "words/en-zh"))
    counts = Counter(character for _, chinese in natural for character in set(chinese))
    rare = {each for each in DONE + LASTING if "\u4e00" <= each <= "\u9fff" and counts[each] < RARE}
    model = gf.load(given.model)
    network, tokenizer = model.network, model.require_tokenizer()
    assert isinstance(network, Transformer)
    rows = make_rows([pair for pair in natural + made if rare & set(pair[1])], tokenizer)
    chosen = [int(Encoder(tokenizer)([each])[0][0]) for each in sorted(rare)]
    print(f"{len(rare)} characters, {len(rows)} rows: {''.join(sorted(rare))}")  # noqa: T201
    learn(network, rows, chosen, given.steps)
    path = find_folder(given.model) / "model.safetensors"
    weights = load_file(path)
    shared = weights["model.shared.weight"]
    shared[chosen] = network.embeddings.tokens.weight.detach()[chosen].to(shared.dtype)
    save_file(weights, path, metadata={"format": "pt"})


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """English and Chinese of every line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    return [(english, chinese) for english, chinese in pairs]


def make_rows(pairs: list[tuple[str, str]], tokenizer: Tokenizer) -> list[Row]:
    """Ids of the short pairs, in both directions."""
    before, after = find_frame(tokenizer)
    sides = [Encoder(tokenizer)([pair[side] for pair in pairs]) for side in (0, 1)]
    found: list[Row] = []
    for source, target, language in ((0, 1, "zh"), (1, 0, "en")):
        tag = find_language(tokenizer, language)
        for left, right in zip(sides[source], sides[target], strict=True):
            if max(len(left), len(right)) <= LONGEST:
                found.append(([tag, *before, *left.tolist(), *after], [*right.tolist(), *after]))
    return found


def learn(network: Transformer, rows: list[Row], chosen: list[int], steps: int) -> None:
    """Adam on the chosen vectors alone, with a rate that falls to nothing."""
    network.requires_grad_(False)
    vectors = network.embeddings.tokens.weight
    vectors.requires_grad_(True)
    mask = torch.zeros(len(vectors), 1)
    mask[chosen] = 1
    vectors.register_hook(lambda gradient: gradient * mask)
    optimiser = torch.optim.Adam([vectors], lr=RATE)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    draw = random.Random(1)
    for step in range(1, steps + 1):
        loss = measure(network, draw.sample(rows, ROWS))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
        if step % 20 == 0:
            print(step, round(float(loss.detach()), 3), flush=True)  # noqa: T201


def measure(network: Transformer, rows: list[Row]) -> Tensor:
    """The loss of a batch."""
    config = network.config
    assert network.decoder is not None
    assert config.start_id is not None
    sources, real = pad([source for source, _ in rows], config.padding_id)
    targets, there = pad([target for _, target in rows], config.padding_id)
    entered = torch.cat((torch.full_like(targets[:, :1], config.start_id), targets[:, :-1]), dim=1)
    positions = torch.arange(entered.shape[1]).expand(entered.shape)
    memory = network.memories(network.encode(sources, real), real)
    hidden = network.decoder(network.embeddings(entered, positions), positions, None, memory)
    logits = network.logits(hidden[there])
    return torch.nn.functional.cross_entropy(logits, targets[there], label_smoothing=SMOOTHING)


def pad(rows: list[list[int]], padding: int) -> tuple[Tensor, Tensor]:
    """Ids (row, token), and which of them are real."""
    longest = max(map(len, rows))
    ids = torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
    return ids, torch.arange(longest) < torch.tensor([[len(row)] for row in rows])


if __name__ == "__main__":
    main()
