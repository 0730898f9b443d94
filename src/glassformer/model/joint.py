"""Joint decoding: the decoder and the encoder, by CTC, choose the next word together.

In:   a decoding under way, and the encoder's logits of a word, or of none, in each frame.
Out:  the same decoding, whose logits are (1 − weight) · log p(decoder) + weight · log p(encoder).

p(encoder) of a next word is the probability of all strings that begin with the words so far and it, divided
by that of all that begin with the words so far (Graves 2012, section 7.5); the end token has the probability
that nothing follows. So words come in the order in which they are heard, each as often as it is heard, where
a decoder alone may repeat or skip some (Watanabe et al. 2017, hybrid CTC/attention).

    ends(t), rests(t)    log-probability of the words so far in the first t frames, when the last of these
                         frames tells the last word, or none
    before(t, w)         log(exp ends(t) + exp rests(t)); of the last word itself rests(t), since without a
                         rest it would be the same word
    log p(words + w)     log of the sum, over t, of exp(before(t, w) + log p(w in the next frame))
"""

import torch
from torch import Tensor

from glassformer.model.decoding import Decoding

NEVER = -1e5  # log-probability of what cannot be: finite, so that differences of sums stay numbers


class JointDecoding:
    """A decoding that heeds what the encoder tells."""

    logits: Tensor

    def __init__(
        self,
        decoding: Decoding,
        frames: Tensor,
        real: Tensor | None,
        ids: Tensor,
        *,
        weight: float,
        blank: int,
        end: int | None,
    ) -> None:
        """`frames` (source, frame, word); `ids` (source, token) start and first words; `blank`: no word."""
        self.decoding = decoding
        self.weight, self.blank, self.end = weight, blank, end
        self.heard = frames.double().log_softmax(-1).clamp(min=NEVER)  # sums over many frames
        if real is not None:  # behind the end of a sound there is no word
            silence = torch.full_like(self.heard[0, 0], NEVER)
            silence[blank] = 0.0
            self.heard = torch.where(real[..., None], self.heard, silence)
        self.chances = self.heard.exp()
        # (row, frames so far): a source has one row at first, then one for each beam
        nothing = torch.zeros_like(self.heard[:, :1, blank])
        self.rests = torch.cat((nothing, self.heard[..., blank].cumsum(1)), dim=1)
        self.ends = torch.full_like(self.rests, NEVER)
        self.last = torch.full_like(ids[:, 0], blank)
        for words in ids[:, 1:].unbind(1):
            self._hear(words)
        self.logits = self._weigh()

    def step(self, ids: Tensor) -> Tensor:
        self.decoding.step(ids)
        self._hear(ids)
        self.logits = self._weigh()
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.decoding.select(rows)
        self.ends, self.rests, self.last = (part[rows] for part in (self.ends, self.rests, self.last))

    def keep(self, sources: Tensor) -> None:
        self.decoding.keep(sources)
        count = len(self.heard)
        self.heard, self.chances = self.heard[sources], self.chances[sources]
        for name in ("logits", "ends", "rests", "last"):
            part = getattr(self, name).unflatten(0, (count, -1))[sources].flatten(0, 1)
            setattr(self, name, part)

    def _hear(self, words: Tensor) -> None:
        """Append a word (row,) to each row: where it may end, and where a rest may follow it."""
        said = self._read(words)
        before = torch.where((words == self.last)[:, None], self.rests, self._before())[:, :-1]
        self.ends = _add_up(before, said)
        self.rests = _add_up(self.ends[:, :-1], self._read(torch.full_like(words, self.blank)))
        self.last = words

    def _weigh(self) -> Tensor:
        """Logits (row, word) of the next word, by both."""
        before = self._before()
        told = self._sum_frames(before[:, :-1])
        again = (self._read(self.last) + self.rests[:, :-1]).logsumexp(1, keepdim=True)
        told = told.scatter(1, self.last[:, None], again)
        told[:, self.blank] = NEVER
        if self.end is not None:
            told[:, self.end] = before[:, -1]
        own = self.decoding.logits.float().log_softmax(-1)
        return (1 - self.weight) * own + self.weight * told.log_softmax(-1).float()

    def _before(self) -> Tensor:
        """(row, frames so far) The words so far, however the last of these frames tells them."""
        return self.ends.logaddexp(self.rests)

    def _read(self, words: Tensor) -> Tensor:
        """log p of a word of each row (row,) in each frame (row, frame)."""
        sources, frames, _ = self.heard.shape
        places = words.view(sources, 1, -1).expand(-1, frames, -1)  # (source, frame, beam)
        return self.heard.gather(2, places).transpose(1, 2).flatten(0, 1)

    def _sum_frames(self, before: Tensor) -> Tensor:
        """log of the sum, over frames, of exp(before + log p(word)) (row, word).

        By a matrix product: numbers for each row, frame and word would take much memory.
        """
        highest = before.amax(1, keepdim=True)
        shares = (before - highest).exp().unflatten(0, (len(self.chances), -1))  # (source, beam, frame)
        return ((shares @ self.chances).flatten(0, 1).log() + highest).clamp(min=NEVER)


def _add_up(before: Tensor, now: Tensor) -> Tensor:
    """x(0) = never, x(t + 1) = log(exp x(t) + exp before(t)) + now(t): for all frames at once."""
    sums = now.cumsum(1)
    found = (before - (sums - now)).logcumsumexp(1) + sums
    return torch.cat((torch.full_like(found[:, :1], NEVER), found), dim=1)
