"""One sentence, one word, all heads of a layer: what each looks at, and what their mean would.

In:   a sentence, a layer, a word.
Out:  weights (head, key) of that word with the mean below, and how different heads are from one another.
"""

import torch
from torch import Tensor

from glassformer.lessons.encoder import watch_encoder
from glassformer.lessons.figures import axis, matrix, measure, numbers, read_sentence, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars, Range
from glassformer.messages import message


def compute(inputs: Inputs) -> Result:
    """Record the sentence, and lay the heads side by side."""
    model, network = inputs.models.find(lambda each: each.config.shape == "encoder", "lessons.needs.encoder")
    ids, labels = read_sentence(model, inputs.text("text"))
    layer = min(inputs.integer("layer"), network.config.layers - 1)
    query = min(inputs.integer("query"), len(ids) - 1)
    weights = watch_encoder(network, torch.tensor([ids]), layer).weights[0]  # (H, T, S)
    rows = weights[:, query]
    shown = torch.cat((rows, rows.mean(0, keepdim=True)))  # the mean stands below
    entropies = torch.special.entr(shown).sum(-1)
    apart = differ(weights)
    names = [*map(str, range(len(rows))), "Ø"]
    best = rows.argmax(-1).tolist()
    words = [message("lessons.heads.favourite", head=head, word=labels[key]) for head, key in enumerate(best)]
    count = len(set(best))
    figures = (
        matrix(
            "heads",
            message("lessons.heads.attention_of_word", word=labels[query], layer=layer),
            shown,
            axis(names, "lessons.heads.head"),
            axis(labels, "lessons.heads.key"),
            ends=(0.0, 1.0),
            note="lessons.heads.last_row",
        ),
        Bars(
            id="entropy",
            title=message("lessons.heads.spread"),
            labels=tuple(names),
            value_title=message("lessons.heads.entropy_nats"),
            series=(series("lessons.heads.entropy", entropies),),
        ),
        numbers(
            "numbers",
            "lessons.heads.whole_layer",
            measure("lessons.heads.difference", apart),
            measure("lessons.heads.different_words", count),
        ),
    )
    found = message(
        "lessons.heads.found",
        heads=len(rows),
        layer=layer,
        count=count,
        favourites=words,
        of_mean=float(entropies[-1]),
        of_heads=float(entropies[:-1].mean()),
    )
    ranges = {
        "query": Range(maximum=len(labels) - 1, labels=tuple(labels)),
        "layer": Range(maximum=network.config.layers - 1),
    }
    return Result(found, figures, model.name, {"layer": layer, "query": query}, ranges)


def differ(weights: Tensor) -> float:
    """The mean Jensen–Shannon divergence of every two heads, over all queries."""
    pairs = torch.combinations(torch.arange(len(weights)))
    if not len(pairs):
        return 0.0
    first, second = weights[pairs[:, 0]], weights[pairs[:, 1]]
    middle = (first + second) / 2
    spread = torch.special.entr(middle).sum(-1)
    own = (torch.special.entr(first).sum(-1) + torch.special.entr(second).sum(-1)) / 2
    return float((spread - own).mean())
