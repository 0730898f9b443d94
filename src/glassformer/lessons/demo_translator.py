"""The demo: a tiny translator that is trained in seconds, so that its attention has a meaning.

In:   a seed; the sentences are made up here.
Out:  a network and its tokenizer, ready to be recorded.

French puts the colour after the noun, so that cross-attention has to leave the diagonal.
"""

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.lessons.run import one_thread
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.text.sequences import pad_rows
from glassformer.text.tokenizer import LibraryTokenizer

SENTENCE = "the white cat follows the black dog"
STEPS = 200

_NOUNS = {
    "cat": "chat",
    "dog": "chien",
    "horse": "cheval",
    "boy": "garçon",
    "train": "train",
    "garden": "jardin",
}
_COLOURS = {"white": "blanc", "black": "noir", "green": "vert", "red": "rouge", "grey": "gris"}
_VERBS = {"sees": "voit", "loves": "aime", "follows": "suit", "seeks": "cherche"}
_BATCH = 64
_RATE = 3e-3
_WARM_UP = 30  # steps until the rate is reached


def train_translator(
    report: Callable[[int, float], None], *, steps: int = STEPS, seed: int = 2
) -> tuple[Transformer, LibraryTokenizer]:
    """Train from scratch on `steps` batches of new sentences; `report` gets the number and loss of each."""
    book = {"the": "le", **_NOUNS, **_COLOURS, **_VERBS}
    tokenizer = build_words([*book, *book.values()])
    config = ModelConfig(
        vocabulary_size=tokenizer.size,
        layers=1,
        width=64,
        heads=2,
        feed_forward=128,
        max_length=32,
        dropout=0.0,
        padding_id=tokenizer.roles["padding"],
        start_id=tokenizer.roles["start"],
        end_id=tokenizer.roles["end"],
    )
    with one_thread(), torch.random.fork_rng():
        torch.manual_seed(seed)
        network, random = Transformer(config), Random(seed)
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = _RATE * min(1.0, (step + 1) / _WARM_UP)
            loss = _loss(network, tokenizer, [invent_pair(random) for _ in range(_BATCH)])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            report(step, loss.item())
    return network.eval(), tokenizer


def invent_pair(random: Random) -> tuple[str, str]:
    """A sentence and its translation."""
    subject, verb, thing = _invent_phrase(random), random.choice(list(_VERBS)), _invent_phrase(random)
    return f"{subject[0]} {verb} {thing[0]}", f"{subject[1]} {_VERBS[verb]} {thing[1]}"


def _invent_phrase(random: Random) -> tuple[str, str]:
    noun = random.choice(list(_NOUNS))
    if random.random() < 0.35:
        return f"the {noun}", f"le {_NOUNS[noun]}"
    colour = random.choice(list(_COLOURS))
    return f"the {colour} {noun}", f"le {_NOUNS[noun]} {_COLOURS[colour]}"


def _loss(network: Transformer, tokenizer: LibraryTokenizer, pairs: list[tuple[str, str]]) -> Tensor:
    """Teacher forcing: the decoder reads the right words, shifted by one, and predicts each next one."""
    padding, start = tokenizer.roles["padding"], tokenizer.roles["start"]
    sources, targets = zip(*[map(tokenizer.encode, pair) for pair in pairs], strict=True)
    source, real = pad_rows([encoding.ids for encoding in sources], padding)
    target, _ = pad_rows([encoding.ids for encoding in targets], padding)
    read = torch.cat((torch.full((len(pairs), 1), start), target[:, :-1]), dim=1)  # (B, T)
    logits = network(source, real, target=read)  # (B, T, V)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=padding)
