"""Sounds as an encoder reads them: a spectrogram, then two convolutions that make a token of some columns.

In:   samples (batch, sample) from -1 to 1; `real` (batch, token), False where a shorter sound has ended.
Out:  vectors (batch, token, width). A padded sound gives what it gives alone: silence is 0, and what
      follows the end is set to 0 before each convolution. With a relative spectrogram all sounds
      come padded to one length.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.layers import build_norm
from glassformer.model.positions import build_positions, count_positions
from glassformer.model.spectrogram import LogMel, RelativeLogMel, StandardisedLogMel

SPECTROGRAMS: dict[str, type[LogMel]] = {
    "absolute": LogMel,
    "standardised": StandardisedLogMel,
    "relative": RelativeLogMel,
}


class FrameEmbeddings(nn.Module):
    """Frame + position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.spectrogram = SPECTROGRAMS[config.spectrogram](
            rate=config.sample_rate, hop=config.hop, bands=config.mel_bins
        )
        second = min(2, config.frame_stride)
        first = config.frame_stride // second
        self.first = nn.Conv1d(config.mel_bins, config.width, 3, stride=first, padding=1)
        self.second = nn.Conv1d(config.width, config.width, 3, stride=second, padding=1)
        self.positions = build_positions(config, config.width, config.longest_sound)
        self.norm = build_norm(config, config.width) if config.embedding_norm else None
        self.limit = config.longest_sound if self.positions is not None else None

    def forward(self, samples: Tensor, real: Tensor | None = None) -> Tensor:
        tokens = self.count(samples)
        columns = tokens * self.config.frame_stride
        hidden = self.spectrogram(samples, columns, real).to(self.first.weight.dtype)  # (B, band, column)
        for layer in (self.first, self.second):
            if real is not None:  # (B, 1, column)
                hidden = hidden * real.repeat_interleave(hidden.shape[2] // tokens, dim=1)[:, None]
            hidden = F.gelu(layer(hidden))
        hidden = hidden.transpose(1, 2)  # (B, token, width)
        if self.positions is not None:
            hidden = hidden + self.positions(count_positions(hidden[..., 0], real))
        if self.norm is not None:
            hidden = self.norm(hidden, real)
        return F.dropout(hidden, self.config.dropout, self.training)

    def count(self, samples: Tensor) -> int:
        """How many tokens a batch has; refuses what is no batch of sounds."""
        if samples.dim() != 2 or samples.numel() == 0 or not samples.is_floating_point():
            raise InputError("model.samples", type=samples.dtype, shape=str(tuple(samples.shape)))
        tokens = -(-samples.shape[1] // self.config.token_samples)
        if self.limit is not None and tokens > self.limit:
            longest = self.limit * self.config.token_samples / self.config.sample_rate
            seconds = samples.shape[1] / self.config.sample_rate
            raise InputError("model.sound_too_long", seconds=seconds, limit=longest)
        return tokens


def count_frames(config: ModelConfig, samples: int) -> int:
    """How many tokens a sound of so many samples becomes."""
    return -(-samples // config.token_samples)


def frame_mask(config: ModelConfig, lengths: Tensor) -> Tensor:
    """`real` (batch, token) of sounds of different lengths (batch,) in samples."""
    counts = -(-lengths // config.token_samples)
    return torch.arange(int(counts.max()), device=lengths.device) < counts[:, None]
