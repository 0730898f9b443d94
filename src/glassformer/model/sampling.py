"""The choice of the next token: rules that change its scores, then the best token or a random draw.

In:   scores (row, vocabulary) of the next token, and the tokens before it.
Out:  scores after the rules; the best or a drawn token of each row.

The order of the rules is that of `transformers`: repetition, n-grams, minimum length; then, for sampling
only, temperature, top-k, top-p. Greedy search and sampling apply them to logits, beam search to
log-probabilities.
"""

import hashlib

import torch
from torch import Tensor

from glassformer.model.generation_settings import GenerationSettings

CHUNK = 128  # tokens per chunk when the best of a large vocabulary are searched
MANY = 256  # rows; with fewer a GPU is faster without chunks
LOWEST_TEMPERATURE = 1e-30  # below it, float32 overflows
NEVER = float("-inf")
PADDING = -1  # stands for padding in a history: no token has this id


class Rules:
    """The rules that hold for one generation."""

    def __init__(self, settings: GenerationSettings, end_id: int | None) -> None:
        self.settings = settings
        self.end_id = end_id
        self.forbidden = list(settings.forbidden)
        self.forces_end = settings.force_end and end_id is not None
        self.reads_history = settings.repetition_penalty != 1.0 or settings.no_repeat_ngram > 0

    def hold(self, step: int) -> bool:
        """Whether any rule applies at this step."""
        short = self.end_id is not None and step < self.settings.min_new_tokens
        return short or bool(self.forbidden) or self.reads_history or self.forces_end

    def apply(self, scores: Tensor, history: Tensor | None, step: int, last: Tensor) -> None:
        """Lower what is unwanted and set what is not allowed to -∞, in place.

        `history` (row, token) are the tokens so far; `last` (row,) is True where a row takes its last one.
        """
        if history is not None and self.settings.repetition_penalty != 1.0:
            _lower_repeated(scores, history, self.settings.repetition_penalty)
        if history is not None and self.settings.no_repeat_ngram:
            _forbid_ngrams(scores, history, self.settings.no_repeat_ngram)
        if self.forbidden:
            scores[:, self.forbidden] = NEVER
        if self.end_id is not None and step < self.settings.min_new_tokens:
            scores[:, self.end_id] = NEVER
        if self.forces_end:
            scores.masked_fill_(last[:, None], NEVER)
            scores[last, self.end_id] = 0.0

    def narrow(self, logits: Tensor) -> Tensor:
        """Temperature, top-k and top-p: the logits of the distribution that is drawn from."""
        settings = self.settings
        if settings.temperature != 1.0:
            logits = logits / max(settings.temperature, LOWEST_TEMPERATURE)
        if settings.top_k is not None:
            least = best_of(logits, min(settings.top_k, logits.shape[-1]))[0][:, -1:]
            logits = logits.masked_fill(logits < least, NEVER)
        if settings.top_p < 1.0:
            ordered, order = logits.sort(dim=-1, descending=True)
            share = ordered.softmax(dim=-1)
            surplus = share.cumsum(dim=-1) - share >= settings.top_p  # better tokens have enough already
            logits = logits.masked_fill(surplus.scatter(1, order, surplus), NEVER)
        return logits


def _lower_repeated(scores: Tensor, history: Tensor, penalty: float) -> None:
    """Divide what is positive, multiply what is negative (Keskar 2019); in place."""
    seen = torch.where(history == PADDING, history[:, -1:], history)  # the last token is always real
    values = scores.gather(1, seen)
    scores.scatter_(1, seen, torch.where(values < 0, values * penalty, values / penalty))


def _forbid_ngrams(scores: Tensor, history: Tensor, size: int) -> None:
    """Where the last n-1 tokens have stood before, what followed them may not follow again; in place."""
    if history.shape[1] < size:
        return
    windows = history.unfold(1, size, 1)  # (row, window, n)
    start = history[:, history.shape[1] - size + 1 :]  # (row, n-1)
    matches = (windows[..., :-1] == start[:, None]).all(dim=-1) & (windows[..., -1] != PADDING)
    rows, places = matches.nonzero(as_tuple=True)
    scores[rows, windows[rows, places, -1]] = NEVER


def draw(logits: Tensor, uniforms: Tensor) -> Tensor:
    """One token (row,) by its probability: where `uniforms` (row,), from [0, 1), fall among the sums."""
    sums = logits.double().softmax(dim=-1).cumsum(dim=-1)
    thresholds = uniforms.double()[:, None] * sums[:, -1:]
    # The first sum that is larger: never a token of probability 0.
    return torch.searchsorted(sums, thresholds, right=True)[:, 0]


def draw_uniforms(seed: int | None, rows: int, steps: int) -> Tensor:
    """Uniform numbers (row, step): a row's depend on the seed and its number, not on the rows beside it."""
    generator = torch.Generator()
    if seed is None:
        generator.seed()
        seed = generator.initial_seed()
    uniforms = []
    for row in range(rows):
        digest = hashlib.sha256(f"{seed}, {row}".encode()).digest()
        generator.manual_seed(int.from_bytes(digest[:7]))
        uniforms.append(torch.rand(steps, generator=generator))  # float32: never rounded up to 1
    return torch.stack(uniforms)


def likeliest(scores: Tensor) -> Tensor:
    """The best token (row,), the first of equals; `argmax`, but fast for large vocabularies on a CPU."""
    chunks = _chunks(scores)
    if chunks is None:
        return scores.argmax(dim=-1)
    count, rest = chunks.shape[1], chunks[0].numel()  # tokens from `rest` on are compared one by one
    first = torch.cat((chunks.amax(dim=-1), scores[:, rest:]), dim=1).argmax(dim=-1, keepdim=True)
    chunk = first.clamp(max=count - 1)
    inside = chunks.gather(1, chunk[..., None].expand(-1, -1, CHUNK)).argmax(dim=-1)  # (row, 1)
    return torch.where(first < count, chunk * CHUNK + inside, first + rest - count)[:, 0]


def best_of(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` best scores of each row and their tokens, best first: a `topk` for large vocabularies.

    The best words lie in the chunks with the highest maxima: only as many chunks are looked through.
    """
    chunks = _chunks(scores)
    if chunks is None or chunks.shape[1] <= count:
        values, tokens = scores.topk(count)
        return values, tokens
    leading = chunks.amax(dim=-1).topk(count).indices  # (row, count)
    within = chunks.gather(1, leading[..., None].expand(-1, -1, CHUNK)).flatten(1)  # (row, count · CHUNK)
    values, places = torch.cat((within, scores[:, chunks[0].numel() :]), dim=1).topk(count)
    chunk = leading.gather(1, (places // CHUNK).clamp(max=count - 1))
    left_over = places - count * CHUNK + chunks[0].numel()
    return values, torch.where(places < count * CHUNK, chunk * CHUNK + places % CHUNK, left_over)


def _chunks(scores: Tensor) -> Tensor | None:
    """(row, chunk, CHUNK) of all but what is left over; None where the plain way is as fast."""
    chunks = scores.shape[1] // CHUNK
    if chunks < 8 or (scores.device.type != "cpu" and len(scores) < MANY):
        return None
    return scores[:, : chunks * CHUNK].unflatten(1, (chunks, CHUNK))
