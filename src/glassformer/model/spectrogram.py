"""How loud each band of frequencies is at each moment: the log-mel spectrogram, by torch alone.

In:   samples (batch, sample) from -1 to 1.
Out:  (batch, band, column): 0 is silence (80 decibels below a full tone, and less), 2 a full tone.

    column c is centred on the samples from c · hop to (c + 1) · hop; its window is 2.5 hops wide
    number = (log₁₀ max(power in the band, 10⁻⁸) + 8) / 4
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FLOOR = 8.0  # powers of ten below a full tone that count as silence
WINDOW = 2.5  # hops


def mel_filters(bands: int, rate: int, size: int) -> Tensor:
    """Triangles, evenly spread over the mel scale from 0 to half the rate: (band, size / 2 + 1), float64."""
    highest = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (torch.linspace(0, highest, bands + 2, dtype=torch.float64) / 2595) - 1)
    hertz = torch.arange(size // 2 + 1, dtype=torch.float64) * rate / size
    left, middle, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (hertz - left) / (middle - left), (right - hertz) / (right - middle)
    return torch.minimum(rising, falling).clamp(min=0)


class LogMel(nn.Module):
    """The spectrogram of a batch; nothing in it is learnt."""

    def __init__(self, *, rate: int, hop: int, bands: int) -> None:
        super().__init__()
        self.rate, self.hop, self.bands = rate, hop, bands
        self.length = round(WINDOW * hop)
        self.size = 1 << max(5, (self.length - 1).bit_length())  # of the Fourier transform
        self._set_tables(torch.zeros(()))

    def forward(self, samples: Tensor, columns: int | None = None) -> Tensor:
        """So many columns; None: as many as begin before the end."""
        columns = columns or -(-samples.shape[1] // self.hop)
        before = (self.size - self.hop) // 2
        whole = columns * self.hop + self.size - self.hop
        window, filters = self.get_buffer("window"), self.get_buffer("filters")
        with torch.autocast(samples.device.type, enabled=False):
            padded = F.pad(samples.to(window.dtype), (before, whole - before - samples.shape[1]))
            spectrum = torch.stft(
                padded, self.size, self.hop, self.length, window, center=False, return_complex=True
            )
            power = (spectrum.real**2 + spectrum.imag**2) / (self.length / 4) ** 2  # 1: a full tone
            return ((filters @ power).clamp(min=10**-FLOOR).log10() + FLOOR) / 4

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "LogMel":
        """Never below single precision, as `RotaryPositions`."""
        super()._apply(fn, recurse)
        self._set_tables(self.get_buffer("window"))
        return self

    def _set_tables(self, like: Tensor) -> None:
        kind = torch.promote_types(like.dtype, torch.float32)
        window = torch.hann_window(self.length, dtype=torch.float64)
        filters = mel_filters(self.bands, self.rate, self.size)
        self.register_buffer("window", window.to(like.device, kind), persistent=False)
        self.register_buffer("filters", filters.to(like.device, kind), persistent=False)
