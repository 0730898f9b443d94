"""Six words, one-hot targets, and a translator that is trained while one watches.

In:   which sentence is looked at, how many steps; both sentences are always learnt together.
Out:  the target, the output before and after, and the loss of every step.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.lessons.figures import Text, axis, matrix, percent, round_number, row, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Lines, Matrix
from glassformer.messages import message
from glassformer.model.transformer import Transformer
from glassformer.text.sequences import pad_rows

END = "<eos>"
WORDS = ("a", "am", "I", "thanks", "student", END)  # all that can be said
SOURCES = ("merci", "je", "suis", "étudiant")
PAIRS = {"thanks": ("merci", "thanks"), "student": ("je suis étudiant", "I am a student")}
PAD, START = "<pad>", "<s>"
VOCABULARY = (PAD, START, *SOURCES, *WORDS)
FIRST = len(VOCABULARY) - len(WORDS)  # of the words that can be said
RATE = 2e-3


class Batch(NamedTuple):
    """Both sentences at once; S source, T target."""

    ids: Tensor  # (2, S)
    source_real: Tensor  # (2, S)
    read: Tensor  # (2, T) what the decoder is given: the right words, one place later
    wanted: Tensor  # (2, T) what it should among the six
    real: Tensor  # (2, T)


def compute(inputs: Inputs) -> Result:
    """Train a small translator on both sentences, and look at one of them."""
    network = build(inputs.integer("seed"))
    chosen, steps, smoothing = inputs.text("pair"), inputs.integer("steps"), inputs.number("smoothing")
    place = list(PAIRS).index(chosen)
    length = len(PAIRS[chosen][1].split()) + 1  # with the end
    optimizer = Adam(list(network.parameters()))
    batch = read_batch()
    losses: list[float] = []
    outputs: list[Tensor] = []
    for step in range(steps + 1):
        logits = score(network, batch)
        loss = F.cross_entropy(logits[batch.real], batch.wanted[batch.real], label_smoothing=smoothing)
        losses.append(float(loss.detach()))
        outputs.append(logits.detach()[place, :length].softmax(-1))  # (position, word)
        rows = [list(row(line)) for line in outputs[-1]]
        inputs.report({"step": step, "loss": round_number(losses[-1]), "rows": rows})
        if step < steps:
            optimizer.step(loss)
    return _describe(chosen, outputs[0], outputs[-1], losses, smoothing)


class Adam:
    """Kingma and Ba's rule in a few lines; torch.optim would first load a compiler, which takes seconds."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self.parameters = parameters
        self.count = 0
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]

    def step(self, loss: Tensor, first: float = 0.9, second: float = 0.999) -> None:
        """Change every parameter a little, so that the loss falls."""
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        self.count += 1
        with torch.no_grad():
            for parameter, gradient, mean, square in zip(
                self.parameters, gradients, self.means, self.squares, strict=True
            ):
                if gradient is None:
                    continue
                mean.lerp_(gradient, 1 - first)
                square.lerp_(gradient.square(), 1 - second)
                size = (square / (1 - second**self.count)).sqrt() + 1e-8
                parameter.sub_(RATE * mean / (1 - first**self.count) / size)


def build(seed: int) -> Transformer:
    """A Transformer of one layer in each stack, as it starts."""
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary_size=len(VOCABULARY),
        layers=1,
        width=32,
        heads=2,
        feed_forward=64,
        max_length=8,
        dropout=0.0,
        padding_id=VOCABULARY.index(PAD),
        start_id=VOCABULARY.index(START),
        end_id=VOCABULARY.index(END),
        tie_embeddings=False,
    )
    return Transformer(config)


def read_batch() -> Batch:
    """Both sentences, the shorter one padded."""
    sources = [[VOCABULARY.index(word) for word in source.split()] for source, _ in PAIRS.values()]
    targets = [target.split() for _, target in PAIRS.values()]
    read = [[VOCABULARY.index(word) for word in (START, *target)] for target in targets]
    wanted = [[WORDS.index(word) for word in (*target, END)] for target in targets]
    (ids, source_real), (padded, real) = (pad_rows(rows, VOCABULARY.index(PAD)) for rows in (sources, read))
    assert source_real is not None  # the sentences differ in length
    assert real is not None
    return Batch(ids, source_real, padded, pad_rows(wanted, 0)[0], real)


def score(network: Transformer, batch: Batch) -> Tensor:
    """Logits of the six words at every position of the targets: (sentence, position, word)."""
    logits: Tensor = network(batch.ids, batch.source_real, target=batch.read, target_real=batch.real)
    return logits[..., FIRST:]


def _describe(chosen: str, first: Tensor, output: Tensor, losses: list[float], smoothing: float) -> Result:
    wanted = [*PAIRS[chosen][1].split(), END]
    places = torch.tensor([WORDS.index(word) for word in wanted])
    target = F.one_hot(places, len(WORDS)).float()
    right = output[range(len(wanted)), places]
    said = " ".join(WORDS[word] for word in output.argmax(-1).tolist())

    rows = axis([f"{place}: {word}" for place, word in enumerate(wanted)], "lessons.output.position")
    columns, mark = axis(WORDS, "lessons.output.word"), tuple(enumerate(places.tolist()))

    def draw(id: str, title: Text, values: Tensor) -> Matrix:
        made = matrix(id, title, values, rows, columns, ends=(0.0, 1.0))
        return made.model_copy(update={"mark": mark})

    steps = len(losses) - 1
    curve = Lines(
        id="loss",
        title=message("lessons.output.losses"),
        x=tuple(float(step) for step in range(len(losses))),
        x_title=message("lessons.output.step"),
        y_title=message("lessons.output.cross_entropy"),
        series=(series("lessons.output.loss", losses),),
    )
    figures = (
        draw("target", "lessons.output.target", target),
        draw("untrained", "lessons.output.untrained", first),
        draw("output", message("lessons.output.after_steps", steps=steps), output),
        curve,
    )
    reached, guess = percent(float(right.mean())), percent(1 / len(WORDS))
    found = message("lessons.output.found", steps=steps, reached=reached, guess=guess, said=said)
    if smoothing:
        found = message("lessons.output.smoothed", found=found)
    return Result(found, figures)
