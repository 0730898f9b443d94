"""Three texts of unequal length through one encoder as one batch: the padding, its mask, and the texts alone.

In:   which text is shown, whether the padding is masked; a layer and a head.
Out:  the batch; the weights of one text in it, and of the same text alone; how far the two are apart.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from glassformer.lessons.figures import axis, flags, format_number, matrix, measure, numbers, percent
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Range
from glassformer.loaded.model import LoadedModel
from glassformer.messages import message
from glassformer.model.transformer import Transformer
from glassformer.rounding import rounding
from glassformer.text.languages import list_languages

TITLES = ("青花瓷", "爱在西元前", "星晴")


def compute(inputs: Inputs) -> Result:
    """Run the batch, then the chosen text alone, and compare."""
    model, network = inputs.models.find(_fits, "lessons.needs.translator")
    layer = min(inputs.integer("layer"), network.config.layers - 1)
    head = min(inputs.integer("head"), network.config.heads - 1)
    masked, chosen = inputs.flag("mask"), TITLES.index(inputs.text("text"))
    texts = [read(model, text) for text in TITLES]
    ids, real = pad([ids for ids, _ in texts], network.config.padding_id)  # (B, S)
    own = len(texts[chosen][0])
    labels = [*texts[chosen][1], *["<pad>"] * (ids.shape[1] - own)]
    together = look(network, ids, real if masked else None, layer)
    alone = look(network, ids[chosen : chosen + 1, :own], None, layer)
    weights, states = together.weights[chosen, head], together.states[chosen, :own]
    lost = float(weights[:own, own:].sum(-1).mean())  # of the real rows
    apart = float((states - alone.states[0]).abs().max())
    allowed = rounding(
        layers=network.config.layers,
        summands=network.config.width,
        magnitude=max(1.0, float(alone.states.abs().max())),
        scores=alone.largest_score,
    )
    title = "lessons.padding.masked" if masked else "lessons.padding.unmasked"
    shown = weights.masked_fill(~real[chosen], float("nan")) if masked else weights
    figures = (
        flags(
            "batch",
            "lessons.padding.batch",
            real,
            axis(TITLES, "lessons.padding.text"),
            axis(range(ids.shape[1]), "lessons.padding.position"),
        ),
        matrix(
            "weights",
            message(title, layer=layer, head=head),
            shown,
            axis(labels, "lessons.padding.query"),
            axis(labels, "lessons.padding.key"),
            ends=(0.0, 1.0),
            note="lessons.padding.rows",
        ),
        matrix(
            "alone",
            message("lessons.padding.alone", layer=layer, head=head),
            alone.weights[0, head],
            axis(labels[:own], "lessons.padding.query"),
            axis(labels[:own], "lessons.padding.key"),
            ends=(0.0, 1.0),
        ),
        numbers(
            "numbers",
            "lessons.padding.compared",
            measure("lessons.padding.lost", lost, good=lost == 0),
            measure("lessons.padding.apart", apart, good=apart <= allowed),
            measure("lessons.padding.allowed", allowed),
        ),
    )
    found = message(
        "lessons.padding.same" if apart <= allowed else "lessons.padding.different",
        text=TITLES[chosen],
        tokens=own,
        padding=len(labels) - own,
        lost=percent(lost),
        apart=format_number(apart, ".1e"),
        allowed=format_number(allowed, ".1e"),
    )
    ranges = {
        "layer": Range(maximum=network.config.layers - 1),
        "head": Range(maximum=network.config.heads - 1),
    }
    return Result(found, figures, model.name, {"layer": layer, "head": head}, ranges)


class Pass:
    """What one pass through the encoder showed."""

    def __init__(self, weights: Tensor, states: Tensor, largest_score: float) -> None:
        self.weights = weights  # (B, H, T, S) of one layer
        self.states = states  # (B, T, D) after the last layer
        self.largest_score = largest_score  # of all layers


def read(model: LoadedModel, text: str) -> tuple[tuple[int, ...], list[str]]:
    """The token ids of a text and their labels; where languages are named, with the one to write in front."""
    named = model.tokenizer is not None and "en" in list_languages(model.tokenizer)
    encoding = model.reader.read_source(text, None, "en" if named else None)
    return encoding.ids, [each.strip() or "␣" for each in encoding.texts]


def pad(texts: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
    """Ids (text, token) filled up to the longest, and where they are real."""
    longest = max(map(len, texts))
    real = torch.tensor([[place < len(each) for place in range(longest)] for each in texts])
    return torch.tensor([[*each, *[padding] * (longest - len(each))] for each in texts]), real


@torch.no_grad()
def look(network: Transformer, ids: Tensor, real: Tensor | None, layer: int) -> Pass:
    """A pass through the encoder, watched through the windows of its attention."""
    assert network.encoder is not None
    patterns: list[Tensor] = []
    scores: list[float] = []
    handles = []
    for block in {network.encoder.block(each) for each in range(network.config.layers)}:
        window = block.attention
        handles.append(window.pattern.register_forward_hook(lambda _, __, seen: patterns.append(seen)))
        handles.append(
            window.scores.register_forward_hook(lambda _, __, seen: scores.append(float(seen.abs().max())))
        )
    try:
        states = network.eval().encode(ids, real)
    finally:
        for handle in handles:
            handle.remove()
    return Pass(patterns[layer].float(), states.float(), max(scores))


def _fits(network: Transformer) -> bool:
    return network.config.shape == "encoder-decoder"
