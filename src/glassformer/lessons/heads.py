"""One sentence, one word, all heads of a layer: what each looks at, and what their mean would.

In:   a sentence, a layer, a word.
Out:  weights (head, key) of that word with the mean below, and how different heads are from one another.
"""

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.lessons.outcome import (
    Models,
    Outcome,
    Words,
    axis,
    label_tokens,
    matrix,
    plain,
    say,
    series,
)
from glassformer.lessons.schema import Bars, Measure, Numbers, Range
from glassformer.model.transformer import Transformer

MOST = 40  # tokens


def play(words: Words, models: Models) -> Outcome:
    """Record the sentence, and lay the heads side by side."""
    model = models.find(lambda network: network.config.shape == "encoder", "a Transformer of BERT's kind")
    tokens = model.reader.read_source(words.text("text"), None)
    if len(tokens) > MOST:
        raise InputError(f"The sentence has {len(tokens)} tokens; at most {MOST} can be shown. Shorten it.")
    assert isinstance(model.network, Transformer)
    layer = min(words.integer("layer"), model.network.config.layers - 1)
    query = min(words.integer("query"), len(tokens) - 1)
    weights = look(model.network, tokens.ids, layer)  # (H, T, S)
    rows = weights[:, query]
    mean = rows.mean(0)
    labels = label_tokens(model, tokens.ids)
    word = labels[query]
    entropies = torch.special.entr(torch.cat((rows, mean[None]))).sum(-1)
    apart = differ(weights)
    names = [*map(str, range(len(rows))), "Ø"]
    favourites = [labels[int(place)] for place in rows.argmax(-1)]
    count = len(set(rows.argmax(-1).tolist()))
    figures = (
        matrix(
            "heads",
            say(f"Where “{word}” looks, layer {layer}", f"第 {layer} 层：“{word}”在看哪里"),
            torch.cat((rows, mean[None])),
            axis(names, say("head", "头")),
            axis(labels, say("key", "键")),
            ends=(0.0, 1.0),
            note=say("The last row, Ø, is the mean of the heads.", "最后一行 Ø 是各头的平均。"),
        ),
        Bars(
            id="entropy",
            title=say("How spread each row is", "每一行有多分散"),
            labels=tuple(names),
            value_title=say("entropy in nats", "熵（奈特）"),
            series=(series("entropy", "熵", entropies),),
        ),
        Numbers(
            id="numbers",
            title=say("The whole layer", "整层"),
            items=(
                Measure(
                    name=say(
                        "mean difference of two heads (Jensen–Shannon, 0 to ln 2)",
                        "两个头的差异（JS 散度，0 到 ln 2）",
                    ),
                    value=plain(apart),
                ),
                Measure(
                    name=say("different words that heads look at most", "各头最关注的不同词数"),
                    value=float(count),
                ),
            ),
        ),
    )
    seen = ", ".join(f"{head}: {name}" for head, name in enumerate(favourites))
    chinese = "、".join(f"头 {head}：{name}" for head, name in enumerate(favourites))
    found = say(
        f"The {len(rows)} heads of layer {layer} look most at {count} different words ({seen}); "
        "their mean has an entropy "
        f"of {float(entropies[-1]):.2f}, the heads {float(entropies[:-1].mean()):.2f} on average.",
        f"第 {layer} 层的 {len(rows)} 个头最关注的是 {count} 个不同的词（{chinese}）；平均行的熵为 "
        f"{float(entropies[-1]):.2f}，"
        f"各头的熵平均为 {float(entropies[:-1].mean()):.2f}。",
    )
    ranges = {
        "query": Range(maximum=len(labels) - 1, labels=tuple(labels)),
        "layer": Range(maximum=model.network.config.layers - 1),
    }
    return Outcome(found, figures, model.name, {"layer": layer, "query": query}, ranges)


@torch.no_grad()
def look(network: Transformer, ids: tuple[int, ...], layer: int) -> Tensor:
    """Weights (head, query, key) of one layer of the encoder, through its window."""
    assert network.encoder is not None
    kept: list[Tensor] = []
    block = network.encoder.block(layer)
    handle = block.attention.pattern.register_forward_hook(lambda _, __, pattern: kept.append(pattern[0]))
    try:
        network.eval().encode(torch.tensor([list(ids)]))
    finally:
        handle.remove()
    return kept[layer if network.config.share_layers else 0].float()


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
