"""Logit lens: what a network would write if it stopped after each of its layers.

In:   a model that `load` opens, a text, some tokens.
Out:  `LogitLens`: for every layer and position the likeliest token, and log-probability and rank of the given
      ones. Each layer is a real pass that ends there: what follows the last layer (the final norm, where the
      network has one, and its head) reads the states of that layer instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.loaded.reading import Inputs
from glassformer.messages import message
from glassformer.place import name_term
from glassformer.recorders.causes.outcomes import Token, find_token
from glassformer.recorders.edits.first_layers import FirstLayers
from glassformer.recorders.record import find_recorder, make_request
from glassformer.recording import Tokens


@dataclass(frozen=True, slots=True)
class LogitLens:
    """What would be written after each layer, the first included; the last row is the network as it is.

    >>> lens = gf.logit_lens("zoo/gpt2", "The cat sat on the", [" floor"])
    >>> lens.ranks.shape  # (layer, position, token); rank 0 is the likeliest
    (6, 5, 1)
    >>> lens.ranks[-1, -1, 0] < lens.ranks[0, -1, 0]
    np.True_
    """

    model: str
    tokens: Tokens  # whose positions have logits: the target, where there is one
    stack: str
    words: tuple[str, ...]  # the tokens asked for, as the vocabulary writes them
    log_probabilities: NDArray[np.float32]  # (layer, position, token)
    ranks: NDArray[np.int64]  # (layer, position, token): how many tokens are likelier
    best: NDArray[np.int64]  # (layer, position): id of the likeliest token
    best_words: tuple[tuple[str, ...], ...]  # the same as text

    def __str__(self) -> str:
        rows = [
            message(
                "recorders.attribution.lens_line",
                layer=layer,
                best=self.best_words[layer][-1],
                ranks=tuple(
                    f"{word!r} {rank}" for word, rank in zip(self.words, self.ranks[layer, -1], strict=True)
                ),
            )
            for layer in range(len(self.best))
        ]
        title = message("recorders.attribution.lens", stack=name_term(self.stack), text=self.tokens.texts[-1])
        return "\n".join(map(str, (title, *rows)))


def logit_lens(
    model: Any,
    inputs: Inputs,
    words: Sequence[Token] = (),
    target: Inputs | None = None,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> LogitLens:
    """Read what a network would write after each layer: log-probability and rank of tokens.

    Arguments:
        words: tokens whose log-probabilities and ranks are wanted; each a text that is one token, or its id.
        model, inputs, target, tokenizer, device, target_language, second_text: see `sweep`.

    >>> print(gf.logit_lens("zoo/gpt2", "The cat sat on the", [" floor"]))
    """
    loaded = load(model, tokenizer, device=device)
    loaded.require("records", "edits")
    if loaded.head not in ("language", "masked"):
        raise InputError("recorders.causes.no_words", name=loaded.name, shape=name_term(loaded.shape))
    ids = [find_token(loaded, word) for word in words]
    request = make_request(loaded, inputs, target, second_text=second_text, target_language=target_language)
    recorder = find_recorder(loaded)
    run = recorder.run(request)
    if run.target is not None:
        request = replace(request, target=loaded.reader.read(run.target.ids[1:], target=True))
    stack = run.maps[-1].stack
    depth = 1 + max(each.layer for each in run.maps if each.stack == stack)
    found = []
    with torch.no_grad():
        for count in range(1, depth):
            logits = recorder.measure(request, [[FirstLayers(count, stack)]], None, together=False)
            found.append(_read(logits[1], ids))
        found.append(_read(recorder.measure(request, (), None, together=False)[0], ids))
    best = np.stack([each[2] for each in found])
    return LogitLens(
        loaded.name,
        run.source if run.target is None else run.target,
        stack,
        tuple(loaded.reader.show(ids)),
        np.stack([each[0] for each in found]),
        np.stack([each[1] for each in found]),
        best,
        tuple(tuple(loaded.reader.show(row.tolist())) for row in best),
    )


def _read(
    logits: torch.Tensor, ids: Sequence[int]
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Log-probabilities and ranks (position, token) of some tokens, and the likeliest token (position,)."""
    scores = logits.float().log_softmax(-1)
    chosen = scores[:, list(ids)]
    ranks = torch.stack([(scores > each[:, None]).sum(-1) for each in chosen.T], -1) if ids else chosen.long()
    return chosen.cpu().numpy(), ranks.cpu().numpy(), scores.argmax(-1).cpu().numpy()
