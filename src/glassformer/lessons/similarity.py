"""Five similarity functions on the word vectors of a model that ships.

In:   a sentence, a function.
Out:  scores and weights (query, key). Bilinear similarity takes W = W_Q W_Kᵀ / √d_k of one head: learnt
      numbers; the additive one has random ones, and says so.
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
    percent,
    plain,
    write,
)
from glassformer.lessons.schema import Measure, Numbers, Range
from glassformer.messages import message
from glassformer.model.similarity import AdditiveSimilarity, additive, bilinear, cosine, dot, scaled_dot, soft
from glassformer.model.transformer import Transformer

MOST = 40  # tokens


@torch.no_grad()
def play(words: Words, models: Models) -> Outcome:
    """Compare every word of a sentence with every word."""
    model = models.find(_fits, "lessons.needs.word_vectors")
    assert isinstance(model.network, Transformer)
    tokens = model.reader.read_source(words.text("text"), None)
    if len(tokens) > MOST:
        raise InputError("lessons.sentence_too_long", count=len(tokens), most=MOST)
    vectors = embed(model.network, torch.tensor(tokens.ids))
    function, head = words.text("function"), min(words.integer("head"), model.network.config.heads - 1)
    scores = compare(function, vectors, model.network, head)
    weights = soft(scores)
    entropy = float(torch.special.entr(weights).sum(-1).mean())
    most = float(torch.tensor(float(len(tokens))).log())
    own = float(weights.diagonal().mean())
    labels = label_tokens(model, tokens.ids)
    rows, columns = (
        axis(labels, message("lessons.similarity.query")),
        axis(labels, message("lessons.similarity.key")),
    )
    notes = {
        "bilinear": message("lessons.similarity.w_head_was_learnt", head=head),
        "additive": message("lessons.similarity.w_u_v_are"),
    }
    figures = (
        matrix(
            "weights",
            message("lessons.similarity.weights_after_softmax"),
            weights,
            rows,
            columns,
            ends=(0.0, 1.0),
        ),
        matrix(
            "scores", message("lessons.similarity.scores"), scores, rows, columns, note=notes.get(function)
        ),
        Numbers(
            id="numbers",
            title=message("lessons.similarity.over_all_words"),
            items=(
                Measure(name=message("lessons.similarity.smallest_score"), value=plain(float(scores.min()))),
                Measure(name=message("lessons.similarity.largest_score"), value=plain(float(scores.max()))),
                Measure(name=message("lessons.similarity.weight_on_word_itself"), value=plain(own)),
                Measure(
                    name=message("lessons.similarity.entropy_share_largest"),
                    value=plain(entropy / most if most else 0.0),
                ),
            ),
        ),
    )
    low, high = write(float(scores.min()), ".2f"), write(float(scores.max()), ".2f")
    spread = percent(entropy / most if most else 0.0)
    found = message(
        "lessons.similarity.scores_from_on_average",
        low=low,
        high=high,
        own=percent(own),
        spread=spread,
        percent=percent(1),
    )
    ranges = {"head": Range(maximum=model.network.config.heads - 1)}
    return Outcome(found, figures, model.name, {"head": head}, ranges)


def embed(network: Transformer, ids: Tensor) -> Tensor:
    """Rows of the model's table (token, width), without positions; widened where the model does so."""
    part = network.embeddings
    vectors: Tensor = part.tokens(ids).float()
    return vectors if part.projection is None else part.projection(vectors)


def compare(function: str, vectors: Tensor, network: Transformer, head: int) -> Tensor:
    """Scores (query, key) of all words with all words."""
    width = vectors.shape[-1]
    match function:
        case "dot":
            return dot(vectors, vectors)
        case "scaled-dot":
            return scaled_dot(vectors, vectors)
        case "cosine":
            return cosine(vectors, vectors)
        case "bilinear":
            scaled = vectors * network.embeddings.factor  # as the head was trained to read them
            return bilinear(scaled, scaled, head_form(network, head))
        case _:
            torch.manual_seed(0)
            untrained = AdditiveSimilarity(1, width)
            return additive(
                vectors, vectors, untrained.query_weight[0], untrained.key_weight[0], untrained.vector[0]
            )


def head_form(network: Transformer, head: int) -> Tensor:
    """W = W_Q W_Kᵀ / √d_k of one head of the first layer: (width, width)."""
    stack = network.encoder or network.decoder
    assert stack is not None
    fused = stack.block(0).attention.qkv
    assert fused is not None
    config = network.config
    size = config.head_width
    queries, keys, _ = fused.weight.detach().float().chunk(3, dim=0)  # each (width, width), rows are outputs
    place = slice(head * size, (head + 1) * size)
    return queries[place].T @ keys[place] * size**-0.5


def _fits(network: Transformer) -> bool:
    return not network.config.basic_attention
