"""Cross-entropy over a vocabulary, without ever holding the logits of a whole batch on a CPU.

In:   states (token, width) as the head prepared them, output vectors (vocabulary, width), labels (token,).
Out:  the mean loss of the labelled tokens, in nats.

The logits of a batch are the largest tensor of a training step. On a CPU they are formed a block of rows at
a time, while the block is in cache, and turned into gradients on the spot. On a GPU one product is best, with
the vocabulary padded to a size that its matrix units like.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.model.linear import multiply

IGNORED = -100  # the label of a token that is not to be predicted
BLOCK = 8_000_000  # logits formed at a time on a CPU
ALIGNMENT = 64  # vocabulary rows on a GPU come in multiples of this


def word_loss(
    states: Tensor, vectors: Tensor, labels: Tensor, bias: Tensor | None = None, smoothing: float = 0.0
) -> Tensor:
    """Mean of −log p(label), with `smoothing` of the target spread over the vocabulary (section 5.4)."""
    states, labels = states.flatten(0, -2), labels.flatten()
    if states.device.type == "cpu" and not torch.compiler.is_compiling():
        loss: Tensor = _BlockedLoss.apply(states, vectors, labels, bias, smoothing)
        return loss
    return _whole_loss(states, vectors, labels, bias, smoothing)


def _whole_loss(
    states: Tensor, vectors: Tensor, labels: Tensor, bias: Tensor | None, smoothing: float
) -> Tensor:
    words = vectors.shape[0]
    spare = -words % ALIGNMENT
    if spare:
        vectors = F.pad(vectors, (0, 0, 0, spare))
        bias = F.pad(vectors.new_zeros(words) if bias is None else bias, (0, spare), value=float("-inf"))
    logits = F.linear(states, vectors, None if bias is None else bias.to(states.dtype))
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(logits, labels, ignore_index=IGNORED)
    if smoothing:
        labelled = labels != IGNORED
        even = logits.logsumexp(-1) - logits[:, :words].mean(-1)
        loss = (1 - smoothing) * loss + smoothing * (even * labelled).sum() / labelled.sum()
    return loss


def two_pass_loss(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    """Of two passes through a network: the mean cross-entropy, and how far apart their distributions are.

    Logits (2 · batch, token, vocabulary): of the first pass, then of the second; labels (batch, token).
    Apart is, in nats, ½ KL(p‖q) + ½ KL(q‖p) = ½ Σ (p − q)(log p − log q), the mean over the labelled tokens.
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    first, second = logits.log_softmax(-1).chunk(2)
    counted = (labels != IGNORED).to(first.dtype)  # multiplied, not chosen: shapes follow from no label
    picked = labels.clamp(min=0)[..., None]
    both = first + second
    losses = -(1 - smoothing) * both.gather(-1, picked).squeeze(-1)
    if smoothing:
        losses = losses - smoothing * both.mean(-1)
    apart = ((first.exp() - second.exp()) * (first - second)).sum(-1)
    return (losses * counted).sum() / (2 * counted.sum()), (apart * counted).sum() / (2 * counted.sum())


class _BlockedLoss(torch.autograd.Function):
    """Loss and gradients in one sweep over blocks of rows."""

    @staticmethod
    def forward(
        context: Any, states: Tensor, vectors: Tensor, labels: Tensor, bias: Tensor | None, smoothing: float
    ) -> Tensor:
        labelled = (labels != IGNORED).nonzero().squeeze(1)
        everything = len(labelled) == len(labels)
        chosen, targets = (states, labels) if everything else (states[labelled], labels[labelled])
        wanted = any(context.needs_input_grad)
        to_states = torch.empty_like(chosen) if wanted else None
        to_vectors = torch.zeros_like(vectors) if wanted else None
        to_bias = torch.zeros_like(bias) if wanted and bias is not None else None
        total = states.new_zeros((), dtype=torch.float64)
        scale = 1 / max(1, len(chosen))
        block = max(1, BLOCK // len(vectors))
        for start in range(0, len(chosen), block):
            rows = slice(start, start + block)
            logits = multiply(chosen[rows], vectors, bias)
            losses, gradient = _block_loss(logits, targets[rows], smoothing)
            total += losses.sum(dtype=torch.float64)
            if to_states is not None and to_vectors is not None:
                torch.mul(multiply(gradient, vectors.t(), None), scale, out=to_states[rows])
                to_vectors.addmm_(gradient.t(), chosen[rows], alpha=scale)
                if to_bias is not None:
                    to_bias.add_(gradient.sum(0), alpha=scale)
        if to_states is not None and not everything:
            to_states = torch.zeros_like(states).index_copy_(0, labelled, to_states)
        context.save_for_backward(to_states, to_vectors, to_bias, states, vectors, labels, bias)
        context.smoothing = smoothing
        return (total * scale if len(chosen) else total * float("nan")).to(states.dtype)

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        *gradients, states, vectors, labels, bias = context.saved_tensors
        if torch.is_grad_enabled():  # gradients of gradients are wanted: by what torch can differentiate
            inputs = [each for each in (states, vectors, bias) if each is not None and each.requires_grad]
            loss = _whole_loss(states, vectors, labels, bias, context.smoothing)
            found = iter(torch.autograd.grad(loss, inputs, upstream, create_graph=True))
            needed = (context.needs_input_grad[place] for place in (0, 1, 3))
            gradients = [next(found) if need else None for need in needed]
        elif upstream != 1:
            gradients = [None if saved is None else saved * upstream for saved in gradients]
        to_states, to_vectors, to_bias = gradients
        return to_states, to_vectors, None, to_bias, None


def _block_loss(logits: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Losses (row,) and the gradient of their sum with respect to the logits."""
    largest, place = logits.max(-1, keepdim=True)
    picked = logits.gather(1, labels[:, None])
    average = logits.mean(-1, keepdim=True) if smoothing else None
    share = torch.softmax(logits, -1)
    log_sum = largest - share.gather(1, place).log()  # the largest share is ≥ 1 / vocabulary: no underflow
    losses = log_sum - picked if average is None else log_sum - (1 - smoothing) * picked - smoothing * average
    if smoothing:
        share -= smoothing / logits.shape[-1]
    share.scatter_add_(1, labels[:, None], torch.full_like(picked, smoothing - 1))
    return losses.squeeze(1), share
