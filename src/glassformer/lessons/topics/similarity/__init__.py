"""Five similarity functions on the word vectors of a model that ships.

In:   a sentence, a function.
Out:  scores and weights (query, key). Bilinear similarity takes W = W_Q W_Kᵀ / √d_k of one head: learnt
      numbers; the additive one has random ones, and says so.
"""

import math

import torch
from torch import Tensor

from glassformer.lessons.figures import axis, format_number, matrix, measure, numbers, percent, read_sentence
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Range
from glassformer.messages import message
from glassformer.model.similarity import AdditiveSimilarity, additive, bilinear, cosine, dot, scaled_dot, soft
from glassformer.model.transformer import Stack, Transformer


@torch.no_grad()
def compute(inputs: Inputs) -> Result:
    """Compare every word of a sentence with every word."""
    model, network = inputs.models.find(
        lambda each: not each.config.basic_attention, "lessons.needs.word_vectors"
    )
    ids, labels = read_sentence(model, inputs.text("text"))
    function, head = inputs.text("function"), min(inputs.integer("head"), network.config.heads - 1)
    scores = compare(function, network, torch.tensor(ids), head)
    weights = soft(scores)
    entropy = float(torch.special.entr(weights).sum(-1).mean())
    most = math.log(len(ids))
    spread = entropy / most if most else 0.0
    low, high, own = (float(number) for number in (scores.min(), scores.max(), weights.diagonal().mean()))
    rows, columns = axis(labels, "lessons.similarity.query"), axis(labels, "lessons.similarity.key")
    notes = {
        "bilinear": message("lessons.similarity.learnt_weights", head=head),
        "additive": message("lessons.similarity.random_weights"),
    }
    figures = (
        matrix("weights", "lessons.similarity.weights", weights, rows, columns, ends=(0.0, 1.0)),
        matrix("scores", "lessons.similarity.scores", scores, rows, columns, note=notes.get(function)),
        numbers(
            "numbers",
            "lessons.similarity.over_all_words",
            measure("lessons.similarity.smallest_score", low),
            measure("lessons.similarity.largest_score", high),
            measure("lessons.similarity.own_weight", own),
            measure("lessons.similarity.relative_entropy", spread),
        ),
    )
    found = message(
        "lessons.similarity.found",
        low=format_number(low, ".2f"),
        high=format_number(high, ".2f"),
        own=percent(own),
        spread=percent(spread),
        whole=percent(1),
    )
    ranges = {"head": Range(maximum=network.config.heads - 1)}
    return Result(found, figures, model.name, {"head": head}, ranges)


def embed(network: Transformer, ids: Tensor) -> Tensor:
    """Rows of the model's table (token, width), without positions; widened where the model does so."""
    part = network.embeddings
    vectors: Tensor = part.tokens(ids).float()
    return vectors if part.projection is None else part.projection(vectors)


def read_by_heads(network: Transformer, ids: Tensor) -> Tensor:
    """The same rows as the heads of the first layer read them: scaled and normed, but without positions."""
    part = network.embeddings
    hidden: Tensor = part.tokens(ids).float() * part.factor
    if part.segments is not None:
        hidden = hidden + part.segments.weight[0]
    if part.norm is not None:
        hidden = part.norm(hidden)
    if part.projection is not None:
        hidden = part.projection(hidden)
    residual = find_stack(network).block(0).attention_residual
    return residual.norm(hidden) if residual.before else hidden


def find_stack(network: Transformer) -> Stack:
    """The encoder; of a decoder alone, the decoder."""
    stack = network.encoder or network.decoder
    assert stack is not None
    return stack


def compare(function: str, network: Transformer, ids: Tensor, head: int) -> Tensor:
    """Scores (query, key) of all words with all words."""
    vectors = embed(network, ids)
    width = vectors.shape[-1]
    match function:
        case "dot":
            return dot(vectors, vectors)
        case "scaled-dot":
            return scaled_dot(vectors, vectors)
        case "cosine":
            return cosine(vectors, vectors)
        case "bilinear":
            known = read_by_heads(network, ids)
            return bilinear(known, known, head_form(network, head))
        case _:
            torch.manual_seed(0)
            untrained = AdditiveSimilarity(1, width)
            return additive(
                vectors, vectors, untrained.query_weight[0], untrained.key_weight[0], untrained.vector[0]
            )


def head_form(network: Transformer, head: int) -> Tensor:
    """W = W_Q W_Kᵀ / √d_k of one head of the first layer: (width, width)."""
    fused = find_stack(network).block(0).attention.qkv
    assert fused is not None
    config = network.config
    size = config.head_width
    queries, keys, _ = fused.weight.detach().float().chunk(3, dim=0)  # each (width, width), rows are outputs
    place = slice(head * size, (head + 1) * size)
    return queries[place].T @ keys[place] * size**-0.5
