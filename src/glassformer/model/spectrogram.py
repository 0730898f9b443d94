"""How loud each band of frequencies is at each moment: the log-mel spectrogram, by torch alone.

In:   samples (batch, sample) from -1 to 1.
      `real` (batch, token), False behind the end of a shorter sound; None: all have one length.
Out:  (batch, band, column): 0 is silence (80 decibels below a full tone, and less), 2 a full tone.

    column c is centred on the samples from c · hop to (c + 1) · hop; its window is 2.5 hops wide
    number = (log₁₀ max(power in the band, 10⁻⁸) + 8) / 4

The standardised one says how each band differs from its mean over the sound, in standard deviations of the
band: neither loudness nor a microphone changes it, and voices differ less.

The relative one is Whisper's (Radford et al. 2022, section 2.2, and the code published with it): column c is
centred on sample c · hop, the ends are mirrored, and what is 80 decibels below the loudest is silence.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FLOOR = 8.0  # powers of ten below a full tone that count as silence
WINDOW = 2.5  # hops
LEAST_DEVIATION = 0.01  # added to that of a band: one that never changes stays silent
KNEE = 0.6  # share of frequencies that are warped by the factor itself; above it the highest stays in place


def mel_filters(bands: int, rate: int, size: int) -> Tensor:
    """Triangles, evenly spread over the mel scale from 0 to half the rate: (band, size / 2 + 1), float64."""
    highest = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (torch.linspace(0, highest, bands + 2, dtype=torch.float64) / 2595) - 1)
    hertz = torch.arange(size // 2 + 1, dtype=torch.float64) * rate / size
    left, middle, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (hertz - left) / (middle - left), (right - hertz) / (right - middle)
    return torch.minimum(rising, falling).clamp(min=0)


def slaney_filters(bands: int, rate: int, size: int) -> Tensor:
    """Triangles of equal area, spread over Slaney's mel scale: evenly below 1 kHz, by a logarithm above."""
    step = math.log(6.4) / 27
    highest = rate / 2
    last = highest * 3 / 200 if highest < 1000 else 15 + math.log(highest / 1000) / step
    mels = torch.linspace(0, last, bands + 2, dtype=torch.float64)
    corners = torch.where(mels < 15, mels * 200 / 3, 1000 * ((mels - 15) * step).exp())
    hertz = torch.linspace(0, highest, size // 2 + 1, dtype=torch.float64)
    left, middle, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (hertz - left) / (middle - left), (right - hertz) / (right - middle)
    return torch.minimum(rising, falling).clamp(min=0) * 2 / (right - left)


def warp_filters(filters: Tensor, factors: Tensor) -> Tensor:
    """Filters (band, frequency) for vocal tracts of other lengths: (factor, band, frequency).

    Vocal tract length perturbation (Jaitly and Hinton 2013): what lies at f is read at factor · f.
    """
    bins = torch.arange(filters.shape[1], dtype=filters.dtype, device=filters.device)
    factor, highest = factors.to(filters.dtype)[:, None], len(bins) - 1
    knee = KNEE * highest * factor.clamp(max=1) / factor
    above = highest - (highest - knee * factor) / (highest - knee) * (highest - bins)
    read = torch.where(bins <= knee, bins * factor, above).clamp(0, highest)  # (factor, frequency)
    lower = read.floor().clamp(max=highest - 1)
    share = (read - lower)[:, None]  # between the two nearest
    place = lower.long()[:, None].expand(-1, len(filters), -1)
    warped = filters.new_zeros(len(factor), *filters.shape)
    warped.scatter_add_(2, place, filters * (1 - share))
    return warped.scatter_add_(2, place + 1, filters * share)


class LogMel(nn.Module):
    """The spectrogram of a batch; nothing in it is learnt."""

    warped: Tensor | None = None  # filters of each sound, inside `warp`

    def __init__(self, *, rate: int, hop: int, bands: int) -> None:
        super().__init__()
        self.rate, self.hop, self.bands = rate, hop, bands
        self.length = round(WINDOW * hop)
        self.size = self._find_size()
        self._set_tables(torch.zeros(()))

    def forward(
        self,
        samples: Tensor,
        columns: int | None = None,
        real: Tensor | None = None,  # noqa: ARG002 - a column hears its own moment alone
    ) -> Tensor:
        """So many columns; None: as many as begin before the end."""
        power = self.find_powers(samples, columns)
        with torch.autocast(samples.device.type, enabled=False):
            loud = self.find_filters() @ power
            return (loud.clamp(min=10**-FLOOR).log10() + FLOOR) / 4

    def find_powers(self, samples: Tensor, columns: int | None = None) -> Tensor:
        """Of each frequency in each column (batch, frequency, column); 1 is a full tone."""
        columns = columns or -(-samples.shape[1] // self.hop)
        before = (self.size - self.hop) // 2
        whole = columns * self.hop + self.size - self.hop
        window = self.get_buffer("window")
        with torch.autocast(samples.device.type, enabled=False):
            padded = F.pad(samples.to(window.dtype), (before, whole - before - samples.shape[1]))
            spectrum = torch.stft(
                padded, self.size, self.hop, self.length, window, center=False, return_complex=True
            )
            return (spectrum.real**2 + spectrum.imag**2) / (self.length / 4) ** 2

    def find_filters(self) -> Tensor:
        """Those of all sounds, or of each."""
        return self.get_buffer("filters") if self.warped is None else self.warped

    @contextmanager
    def warp(self, factors: Tensor) -> Iterator[None]:
        """Inside this context each sound of a batch has its own factor of vocal tract length."""
        self.warped = warp_filters(self.get_buffer("filters"), factors)
        try:
            yield
        finally:
            self.warped = None

    def _find_size(self) -> int:
        """Of the Fourier transform."""
        return 1 << max(5, (self.length - 1).bit_length())

    def _make_filters(self) -> Tensor:
        return mel_filters(self.bands, self.rate, self.size)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "LogMel":
        """Never below single precision, as `RotaryPositions`."""
        super()._apply(fn, recurse)
        self._set_tables(self.get_buffer("window"))
        return self

    def _set_tables(self, like: Tensor) -> None:
        kind = torch.promote_types(like.dtype, torch.float32)
        window = torch.hann_window(self.length, dtype=torch.float64)
        filters = self._make_filters()
        self.register_buffer("window", window.to(like.device, kind), persistent=False)
        self.register_buffer("filters", filters.to(like.device, kind), persistent=False)


class StandardisedLogMel(LogMel):
    """Each band with mean 0 and variance 1 over a sound: cepstral normalisation (CMVN), of bands."""

    def forward(self, samples: Tensor, columns: int | None = None, real: Tensor | None = None) -> Tensor:
        loud = super().forward(samples, columns)
        counted = torch.ones_like(loud[:, :1])
        if real is not None:
            counted = real.repeat_interleave(loud.shape[2] // real.shape[1], dim=1)[:, None].to(loud.dtype)
        count = counted.sum(2, keepdim=True)
        loud = (loud - (loud * counted).sum(2, keepdim=True) / count) * counted
        deviation = (loud.square().sum(2, keepdim=True) / count).sqrt()
        return loud / (deviation + LEAST_DEVIATION)


class RelativeLogMel(LogMel):
    """Whisper's spectrogram: numbers fall at most by 2 below that of the loudest moment of a sound."""

    def forward(
        self,
        samples: Tensor,
        columns: int | None = None,
        real: Tensor | None = None,  # noqa: ARG002 - all are as long as the longest
    ) -> Tensor:
        columns = columns or -(-samples.shape[1] // self.hop)
        window, filters = self.get_buffer("window"), self.find_filters()
        with torch.autocast(samples.device.type, enabled=False):
            whole = F.pad(samples.to(window.dtype), (0, columns * self.hop - samples.shape[1]))
            spectrum = torch.stft(whole, self.size, self.hop, self.length, window, return_complex=True)
            power = spectrum[..., :columns].abs() ** 2
            logarithm = (filters @ power).clamp(min=1e-10).log10()
            loudest = logarithm.amax((1, 2), keepdim=True)
            return (torch.maximum(logarithm, loudest - FLOOR) + 4) / 4

    def _find_size(self) -> int:
        return self.length

    def _make_filters(self) -> Tensor:
        return slaney_filters(self.bands, self.rate, self.size)
