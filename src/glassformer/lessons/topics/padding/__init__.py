"""Three texts of unequal length through one encoder as one batch: the padding, its mask, and the texts alone.

In:   which text is shown, whether the padding is masked; a layer and a head.
Out:  the batch; the weights of one text in it, and of the same text alone; how far the two are apart.
"""

import torch

from glassformer.lessons.encoder import watch_encoder
from glassformer.lessons.figures import axis, flags, format_number, matrix, measure, numbers, percent
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Range
from glassformer.loaded.model import LoadedModel
from glassformer.messages import message
from glassformer.model.transformer import Transformer
from glassformer.rounding import rounding
from glassformer.text.languages import list_languages
from glassformer.text.sequences import pad_rows

TITLES = ("青花瓷", "爱在西元前", "星晴")


def compute(inputs: Inputs) -> Result:
    """Run the batch, then the chosen text alone, and compare."""
    model, network = inputs.models.find(_fits, "lessons.needs.translator")
    layer = min(inputs.integer("layer"), network.config.layers - 1)
    head = min(inputs.integer("head"), network.config.heads - 1)
    masked, chosen = inputs.flag("mask"), TITLES.index(inputs.text("text"))
    texts = [read(model, text) for text in TITLES]
    ids, real = pad_rows([ids for ids, _ in texts], network.config.padding_id)  # (B, S)
    real = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    own = len(texts[chosen][0])
    labels = [*texts[chosen][1], *["<pad>"] * (ids.shape[1] - own)]
    together = watch_encoder(network, ids, layer, real if masked else None)
    alone = watch_encoder(network, ids[chosen : chosen + 1, :own], layer)
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
            note="lessons.padding.rows" if masked else "lessons.padding.rows_read",
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


def read(model: LoadedModel, text: str) -> tuple[tuple[int, ...], list[str]]:
    """The token ids of a text and their labels; where languages are named, with the one to write in front."""
    named = model.tokenizer is not None and "en" in list_languages(model.tokenizer)
    encoding = model.reader.read_source(text, None, "en" if named else None)
    return encoding.ids, [each.strip() or "␣" for each in encoding.texts]


def _fits(network: Transformer) -> bool:
    return network.config.shape == "encoder-decoder"
